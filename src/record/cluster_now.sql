-- Makes the rows of cluster_now for the last session, unless they exist.

INSERT OR IGNORE INTO cluster_now
 SELECT k.session, k.id, (SELECT count(*) FROM machine m
   WHERE m.session = k.session AND m.cluster = k.id), 0, 0,
  coalesce(l.n, 0), coalesce(l.amount, 0), coalesce(t.done, 0),
  coalesce(t.failed, 0), coalesce(t.wall, 0), coalesce(t.runtime, 0)
 FROM cluster k LEFT JOIN (SELECT c.name, count(*) AS n,
   sum(h.amount) AS amount FROM charge h JOIN machine m
    ON m.session = h.session AND m.id = h.machine JOIN cluster c
    ON c.session = m.session AND c.id = m.cluster WHERE h.account = 0
   GROUP BY c.name) l ON l.name = k.name
  LEFT JOIN (SELECT n.cluster AS name, sum(n.state != 2) AS done,
    sum(n.state = 2) AS failed, sum(n.wall_us) AS wall,
    CAST(sum(n.wall_us * s.time_scale) AS INTEGER) AS runtime
   FROM task_now n JOIN session s ON s.id = n.session
   GROUP BY n.cluster) t ON t.name = k.name
 WHERE k.session = (SELECT max(id) FROM session);
