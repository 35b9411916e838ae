-- The kinds of the tasks of session ?1, or of the last one: of all numbers up
-- to `last`, from the row before on. The options have them as [category, tasks,
-- category, tasks, ...].

CREATE TEMP TABLE IF NOT EXISTS kind (last INTEGER PRIMARY KEY, name);
DELETE FROM temp.kind;
WITH s AS (SELECT iif(json_valid(options), options, '{}') AS options
    FROM session WHERE id = coalesce(?1, (SELECT max(id) FROM session))),
  part AS (SELECT key, value AS category, lead(value) OVER (ORDER BY key) AS n
    FROM s, json_each(options, '$.engine.categories'))
INSERT OR IGNORE INTO temp.kind SELECT sum(n) OVER (ORDER BY key),
    json_extract(options, '$.categories[' || category || ']')
  FROM s, part WHERE key % 2 = 0 AND n > 0;
