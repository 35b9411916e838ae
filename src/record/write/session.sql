INSERT INTO session (id, run_id, bag, version, policy, seed, budget, window_us,
    time_scale, currency, resume, options, started_us, n_tasks, job, life,
    jobs_name)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?12, ?, ?, nullif(?, ''), ?,
    json_extract(?12, '$.run.jobs_name'));
