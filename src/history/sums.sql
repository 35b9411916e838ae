-- Columns beside max() are those of its row.

SELECT k.name, c.name, sum(bags), sum(tasks), max(ended_s),
    sum_s / tasks, p10_s, p90_s
  FROM runtime r JOIN kind k ON k.id = r.kind
  JOIN cluster c ON c.id = r.cluster
  WHERE tasks > 0 AND sum_s > 0 GROUP BY 1, 2 ORDER BY 1, 2;
