-- What else a kill changes, after charge_killed.sql. ?4: the last seq; ?5: the
-- sentence.

INSERT INTO happened SELECT ?4 - 1, ?2, ?3, 'killed', NULL, NULL, NULL, NULL;

INSERT INTO happened SELECT ?4, ?2, ?3, 'notice', NULL, NULL, NULL, ?5
  WHERE ?5 NOT NULL;

UPDATE cluster_now SET held = 0, (windows, charged) =
    (SELECT windows + count(*), charged + coalesce(sum(amount), 0)
     FROM charge c JOIN machine m ON m.session = ?2 AND m.id = c.machine
     WHERE c.account = 0 AND c.seq > ?1 AND c.session = ?2
       AND m.cluster = cluster_now.cluster)
  WHERE session = ?2;

DELETE FROM stake;

UPDATE lease SET state = 'killed', held = 0, if_killed = 0, ended_us = ?3
  WHERE session = ?2 AND state NOT IN ('ended', 'killed') AND kind != 'job';

UPDATE account SET held = CASE id WHEN 0 THEN (SELECT
      coalesce(sum(held), 0) FROM lease WHERE session = ?2) ELSE 0 END,
    charged = charged + (SELECT coalesce(sum(amount), 0) FROM charge
      WHERE account = account.id AND session = ?2 AND seq > ?1)
  WHERE session = ?2;

DELETE FROM running;

UPDATE now SET seq = ?4, running = 0, pending = n0, done = n1, failed = n2,
    skipped = n3 FROM (SELECT count(*) FILTER (WHERE state = 0) AS n0,
      count(*) FILTER (WHERE state = 1) AS n1,
      count(*) FILTER (WHERE state = 2) AS n2,
      count(*) FILTER (WHERE state = 3) AS n3
    FROM task_now WHERE NOT removed)
  WHERE running > 0 OR ?4 > ?1;

UPDATE session SET finish = 'killed', last_us = ?3 WHERE id = ?2;
