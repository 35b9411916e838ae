-- Tables of sums may also lose rows. They are rebuilt from the other tables as
-- far as possible; saved rows are kept, as they may be more complete. Only the
-- table now is recounted. cluster_now.sql follows.

WITH x AS (SELECT task, max(CASE outcome WHEN 0 THEN seq END) AS seq,
  count(attempt) AS executions,
  total(outcome NOT IN (1, 3, 6)) AS attempts
  FROM execution GROUP BY task)
INSERT INTO task_now (task, number, removed, state, executions, attempts,
  failures, losses, yields, session, machine, cluster, host, exit_status,
  signal, start_us, wall_us, cpu_us, max_rss_kib, cost)
 SELECT t.id, t.number,
  t.number IN (SELECT number FROM task_now WHERE NOT removed),
  iif(e.seq IS NULL, 0, 1 + (e.exit_status != 0 OR e.signal != 0)),
  coalesce(x.executions, 0), CAST(coalesce(x.attempts, 0) AS INTEGER),
  0, 0, 0, e.session, e.machine, c.name, coalesce(e.host, m.host),
  e.exit_status,
  e.signal, e.start_us, e.wall_us, e.user_us + e.system_us,
  e.max_rss_kib, e.wall_us * s.time_scale / s.window_us
   * c.charge / m.slots
 FROM task t LEFT JOIN x ON x.task = t.id
  LEFT JOIN execution e ON e.seq = x.seq
  LEFT JOIN session s ON s.id = e.session
  LEFT JOIN machine m ON m.session = e.session AND m.id = e.machine
  LEFT JOIN cluster c ON c.session = m.session AND c.id = m.cluster
 WHERE t.id NOT IN (SELECT task FROM task_now WHERE task NOT NULL);

INSERT OR IGNORE INTO account (session, id, budget, before, charged)
 SELECT id, 0, budget, (SELECT coalesce(sum(amount), 0) FROM charge
   WHERE account = 0 AND session < s.id),
  (SELECT coalesce(sum(amount), 0) FROM charge
   WHERE account = 0 AND session = s.id) FROM session s;

INSERT OR IGNORE INTO now (id, session, time_us, ending, choosing)
 SELECT 1, id, max(coalesce(ended_us, 0), (SELECT coalesce(max(ended_us),
  0) FROM execution WHERE session = s.id)), 0, 0 FROM session s
  ORDER BY id DESC LIMIT 1;
UPDATE now SET
 pending = (SELECT count(*) FROM tasks WHERE state = 'pending'),
 running = (SELECT count(*) FROM tasks WHERE state = 'running'),
 done = (SELECT count(*) FROM tasks WHERE state = 'done'),
 failed = (SELECT count(*) FROM tasks WHERE state = 'failed'),
 skipped = (SELECT count(*) FROM tasks WHERE state = 'skipped'),
 removed = (SELECT count(*) FROM tasks WHERE state = 'removed'),
 preempted = (SELECT count(*) FROM execution WHERE outcome = 1);
