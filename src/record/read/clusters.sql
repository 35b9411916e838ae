-- The clusters of the last session, with the sums of all sessions.

SELECT name, charge, machines, held, lost, windows, n.charged, done,
  failed, wall_us / max(done + failed, 1),
  runtime_us / max(done + failed, 1), (SELECT sum(energy_j) FROM lease l
    LEFT JOIN machine m ON m.session = l.session AND m.id = l.machine
    JOIN cluster k ON k.session = l.session AND k.id = ifnull(m.cluster, k.id)
    WHERE energy_j NOT NULL AND k.name = c.name)
  FROM cluster c LEFT JOIN cluster_now n ON n.session = c.session AND
  n.cluster = c.id WHERE c.session = (SELECT max(id) FROM session)
  ORDER BY c.id;
