UPDATE task_now SET state = ?2, executions = executions + 1,
    attempts = attempts + 1, failures = 0, losses = 0, yields = 0,
    reason = NULL, session = ?3, machine = ?4, cluster = ?5, host = ?6,
    exit_status = ?7, signal = ?8, start_us = ?9, wall_us = ?10,
    cpu_us = ?11, max_rss_kib = ?12, cost = ?13
  WHERE place = ?1;
