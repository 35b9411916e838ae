-- The beginning of a list of tasks: view_tasks.c adds how the state is told,
-- and a condition. A task that runs has no result of this session yet; busy has
-- its oldest execution. ?1: the time.

WITH busy AS MATERIALIZED (SELECT task, CAST((?1 - since) / time_scale
    AS INTEGER) AS wall, m.host AS host, c.name AS cluster
  FROM (SELECT task, machine, min(given_us) AS since FROM running
    WHERE task NOT NULL GROUP BY task) r
  JOIN session s ON s.id = (SELECT session FROM now)
  LEFT JOIN machine m ON m.session = s.id AND m.id = r.machine
  LEFT JOIN cluster c ON c.session = s.id AND c.id = m.cluster)
SELECT n.task, n.number, %s AS state, n.attempts,
  iif(b.task NOT NULL, b.wall, coalesce(n.wall_us, -1)), n.start_us,
  n.cpu_us, n.max_rss_kib, n.exit_status, n.signal,
  iif(b.task NOT NULL, b.host, n.host),
  iif(b.task NOT NULL, b.cluster, n.cluster), n.reason IS 'unpaid', n.cost
FROM task_now n LEFT JOIN busy b ON b.task = n.task AND NOT n.removed
  AND n.session IS NOT (SELECT session FROM now) WHERE 
