-- Forgets the kind ?1; NULL: all kinds and runs. Yields how many rows of
-- runtimes are gone.

DROP TABLE IF EXISTS temp.gone;
CREATE TEMP TABLE gone AS SELECT count(*) AS n FROM runtime
  WHERE ?1 IS NULL OR kind = (SELECT id FROM kind WHERE name = ?1);
DELETE FROM runtime
  WHERE ?1 IS NULL OR kind = (SELECT id FROM kind WHERE name = ?1);
DELETE FROM run WHERE ?1 IS NULL;
DELETE FROM sweep WHERE (kind, cluster, run) NOT IN
  (SELECT kind, cluster, run FROM runtime);
DELETE FROM memory WHERE kind NOT IN (SELECT kind FROM runtime);
DELETE FROM kind WHERE id NOT IN (SELECT kind FROM runtime);
DELETE FROM cluster WHERE id NOT IN (SELECT cluster FROM runtime);
SELECT n FROM temp.gone;
