-- The runtimes of the tasks that are done, scaled to the first cluster.

WITH d AS (SELECT number, cluster, wall_us FROM task_now
    WHERE state = 1 AND NOT removed AND wall_us > 0),
  m AS (SELECT cluster, avg(wall_us) AS mean FROM d GROUP BY cluster),
  s AS (SELECT id, time_scale FROM session ORDER BY id DESC LIMIT 1),
  first AS (SELECT mean FROM m JOIN s JOIN cluster c
    ON c.session = s.id AND c.name = m.cluster ORDER BY c.id LIMIT 1)
SELECT max(1, CAST(wall_us * time_scale
    * coalesce((SELECT mean FROM first) / mean, 1) + 0.5 AS INTEGER))
  FROM s JOIN d JOIN m ON m.cluster IS d.cluster ORDER BY number;
