-- The tasks that were done in session ?1. The table kind is of that session.

SELECT t.command, n.cluster, n.wall_us * s.time_scale / 1e6, n.number,
    coalesce(json_extract(u.given, '$.class'), (SELECT name FROM temp.kind
      WHERE last >= n.number ORDER BY last LIMIT 1))
  FROM task_now n JOIN task t ON t.id = n.task
    JOIN session s ON s.id = n.session
    LEFT JOIN submission u ON u.task = n.task
  WHERE n.state = 1 AND n.wall_us > 0 AND n.cluster IS NOT NULL
    AND n.session = ?1 ORDER BY n.place;
