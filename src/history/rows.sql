-- Rows refer to kinds and places by order. Rows with invalid references, in an
-- edited file, are left out.

SELECT k.at, c.at, month, r.run, n.name, bags, r.ended_s, tasks, sum_s,
    squares, log_sum, log_squares, p10_s, p50_s, p90_s, w.sums
  FROM runtime r JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1
    AS at FROM kind) k ON k.id = r.kind
  JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1
    AS at FROM cluster) c ON c.id = r.cluster
  LEFT JOIN run n ON n.id = r.run
  LEFT JOIN sweep w ON w.kind = r.kind AND w.cluster = r.cluster
    AND w.run = r.run
  WHERE tasks > 0 AND sum_s > 0 ORDER BY r.ended_s, r.run;
