-- Memory, likewise.

SELECT k.at, asked_kib, used_kib, cores, slots, node_kib, tasks, sum_s,
    limit_s, most_s
  FROM memory m JOIN (SELECT *, row_number() OVER (ORDER BY id) - 1
    AS at FROM kind) k ON k.id = m.kind
  WHERE tasks > 0 AND sum_s > 0
  ORDER BY k.at, asked_kib, used_kib;
