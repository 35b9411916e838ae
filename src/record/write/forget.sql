-- A failure of the task at place ?1 in an earlier session no longer counts for
-- its cluster in session ?2.

UPDATE cluster_now SET failed = failed - 1,
    wall_us = cluster_now.wall_us - n.wall_us,
    runtime_us = runtime_us - CAST(n.wall_us * s.time_scale AS INTEGER)
  FROM task_now n JOIN session s ON s.id = n.session
    JOIN cluster p ON p.session = ?2 AND p.name = n.cluster
  WHERE n.place = ?1 AND cluster_now.session = ?2
    AND cluster_now.cluster = p.id;
