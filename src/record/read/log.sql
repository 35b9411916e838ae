-- Fills the table log, with rows after seq ?3: all, or of the machine of the name
-- ?1, or of the task with the id ?2 (0: any).

INSERT INTO temp.log SELECT l.seq, l.session, l.time, l.what, m.name, t.number,
  l.text, CASE WHEN (SELECT removed FROM now) > 0
    THEN l.task IN (SELECT task FROM task_now WHERE removed) ELSE 0 END
FROM (
  SELECT seq, session, time_us AS time, what, machine, task,
    coalesce(sentence, '') AS text
  FROM happened WHERE seq > ?3 AND what NOT IN ('idle', 'reserved')

  UNION ALL SELECT seq, (SELECT max(id) FROM session), given_us,
    iif(copy > 0, 'copy', 'run'), machine, task, ''
  FROM running

  -- Executions begun after ?3 also ended after it.
  UNION ALL SELECT given, session, given_us, iif(copy > 0, 'copy', 'run'),
    machine, task, ''
  FROM execution WHERE seq > ?3 AND given > ?3

  UNION ALL SELECT seq, session, ended_us,
    CASE WHEN outcome = 1 THEN 'preempted' WHEN outcome = 3 THEN 'superseded'
      WHEN outcome = 4 THEN 'checkpointed'
      WHEN exit_status = 0 AND signal = 0 THEN 'done' ELSE 'failed' END,
    machine, task,
    CASE WHEN exit_status = -2 THEN 'too long, '
      WHEN exit_status = -4 THEN 'out of memory, '
      WHEN exit_status < 0 THEN 'timed out, '
      WHEN signal THEN printf('signal %d, ', signal)
      WHEN exit_status THEN printf('exit %d, ', exit_status)
      ELSE '' END || printf('%.3f s', wall_us / 1e6)
  FROM execution WHERE seq > ?3 AND outcome < 6

  UNION ALL SELECT seq, session, time_us, iif(account > 0, 'share', 'charged'),
    machine, NULL,
    rtrim(rtrim(printf('%.6f', amount / 1e6), '0'), '.') ||
    CASE WHEN account > 0 THEN ' by workflow ' || (SELECT name FROM account a
        WHERE a.session = charge.session AND a.id = account)
      WHEN cushion > 0 THEN ', ' ||
        rtrim(rtrim(printf('%.6f', cushion / 1e6), '0'), '.') ||
        ' of it from the cushion'
      ELSE '' END
  FROM charge WHERE seq > ?3

  -- Without decisions that were replaced before anything was carried out.
  UNION ALL SELECT seq, session, time_us, 'decided', NULL, NULL,
    printf('%s%s: machines that go on %s, for %d window%s; %d task%s left',
      reason, coalesce(' (' || cause || ')', ''), machines, windows,
      iif(windows = 1, '', 's'), n, iif(n = 1, '', 's')) ||
    CASE WHEN end_us IS NULL THEN '' ELSE '; to end after ' ||
      CASE WHEN end_us >= 3600000000 THEN printf('%dh%dm', end_us / 3600000000,
          end_us / 60000000 % 60)
        WHEN end_us >= 60000000 THEN printf('%dm%ds', end_us / 60000000,
          end_us / 1000000 % 60)
        ELSE printf('%ds', end_us / 1000000) END ||
      ' for ' || rtrim(rtrim(printf('%.6f', cost / 1e6), '0'), '.') END ||
    CASE WHEN feasible THEN '' ELSE ', more than the budget can pay' END
  FROM (SELECT *, coalesce(tasks_open, tasks_left) AS n,
      lead(replaces) OVER (PARTITION BY session ORDER BY seq) AS is_gone
    FROM decision) WHERE is_gone IS NOT 1
) l LEFT JOIN machine m ON m.session = l.session AND m.id = l.machine
  LEFT JOIN task t ON t.id = l.task
WHERE (?1 IS NULL OR m.name = ?1) AND (?2 = 0 OR l.task = ?2) AND l.seq > ?3;
