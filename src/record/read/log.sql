-- The log, in no order: rows after seq ?3, of the machine named ?1 (NULL: any)
-- and of the task with the id ?2 (0: any). An execution is one row for its two
-- entries: how it ended (seq 0: it has not), and when it was given.

SELECT l.seq, l.given, l.given_us, l.copy, l.session, l.time, l.what, m.name,
  t.number, CASE WHEN (SELECT removed FROM now) > 0
    THEN l.task IN (SELECT task FROM task_now WHERE removed) ELSE 0 END, l.text
FROM (
  SELECT seq, 0 AS given, 0 AS given_us, 0 AS copy, session, time_us AS time,
    what, machine, task, sentence AS text
  FROM happened WHERE seq > ?3 AND what NOT IN ('idle', 'reserved')

  UNION ALL SELECT 0, seq, given_us, copy, (SELECT max(id) FROM session), 0, '',
    machine, task, ''
  FROM running WHERE seq > ?3

  -- Executions begun after ?3 also ended after it.
  UNION ALL SELECT iif(outcome < 6, seq, 0), iif(given > ?3, given, 0),
    given_us, copy, session, ended_us,
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
  FROM execution WHERE seq > ?3 AND (?2 = 0 OR task = ?2)

  UNION ALL SELECT seq, 0, 0, 0, session, time_us, iif(account > 0, 'share', 'charged'),
    machine, NULL,
    rtrim(rtrim(printf('%.6f', amount / 1e6), '0'), '.') ||
    CASE WHEN account > 0 THEN ' by workflow ' || (SELECT name FROM account a
        WHERE a.session = charge.session AND a.id = account)
      ELSE '' END
  FROM charge WHERE seq > ?3

  -- Without decisions that were replaced before anything was carried out.
  UNION ALL SELECT seq, 0, 0, 0, session, time_us, 'decided', NULL, NULL,
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
    FROM decision) WHERE is_gone IS NOT 1 AND seq > ?3
) l LEFT JOIN machine m ON m.session = l.session AND m.id = l.machine
  LEFT JOIN task t ON t.id = l.task
WHERE (?1 IS NULL OR m.name = ?1) AND (?2 = 0 OR l.task = ?2)
