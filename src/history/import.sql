-- Adds those of temp.line that are of new runs, and yields the number of these.
-- A row of merged runs is a run of its own. Texts are cut as store.h does.

DROP TABLE IF EXISTS temp.new;
CREATE TEMP TABLE new AS SELECT n, substr(coalesce(nullif(
      json_extract(text, '$.run'), ''), run), 1, 79) AS of,
    substr(json_extract(text, '$.kind'), 1, 159) AS kind,
    substr(json_extract(text, '$.cluster'), 1, 63) AS cluster,
    substr(coalesce(json_extract(text, '$.site'), ''), 1, 95) AS site,
    substr(coalesce(json_extract(text, '$.hardware'), ''), 1, 95) AS hardware,
    CAST(max(coalesce(json_extract(text, '$.ended_s'), 0), 0) AS INTEGER)
      AS ended_s,
    max(CAST(coalesce(json_extract(text, '$.bags'), 1) AS INTEGER), 1) AS bags,
    CAST(json_extract(text, '$.tasks') AS INTEGER) AS tasks,
    CAST(json_extract(text, '$.sum_s') AS REAL) AS sum_s,
    CAST(max(coalesce(json_extract(text, '$.squares'), 0), 0) AS REAL)
      AS squares,
    CAST(coalesce(json_extract(text, '$.log_sum'), 0) AS REAL) AS log_sum,
    CAST(coalesce(json_extract(text, '$.log_squares'), 0) AS REAL)
      AS log_squares,
    CAST(max(coalesce(json_extract(text, '$.p10_s'), 0), 0) AS REAL) AS p10_s,
    CAST(max(coalesce(json_extract(text, '$.p50_s'), 0), 0) AS REAL) AS p50_s,
    CAST(max(coalesce(json_extract(text, '$.p90_s'), 0), 0) AS REAL) AS p90_s,
    json_extract(text, '$.sweep') AS sweep
  FROM temp.line WHERE of NOT IN (SELECT name FROM run);
INSERT INTO run (name, ended_s) SELECT of, max(ended_s) FROM temp.new
  GROUP BY of ORDER BY min(n);
INSERT OR IGNORE INTO kind (name) SELECT kind FROM temp.new ORDER BY n;
INSERT OR IGNORE INTO cluster (name, site, hardware)
  SELECT cluster, site, hardware FROM temp.new ORDER BY n;
INSERT OR IGNORE INTO runtime SELECT k.id, c.id,
    coalesce(CAST(strftime('%Y%m', w.ended_s, 'unixepoch') AS INTEGER), 0),
    r.id, bags, w.ended_s, tasks, sum_s, squares, log_sum, log_squares, p10_s,
    p50_s, p90_s
  FROM temp.new w JOIN kind k ON k.name = w.kind JOIN run r ON r.name = w.of
    JOIN cluster c ON c.name = w.cluster AND c.site = w.site
      AND c.hardware = w.hardware ORDER BY n;
INSERT OR IGNORE INTO sweep SELECT k.id, c.id, r.id, w.sweep
  FROM temp.new w JOIN kind k ON k.name = w.kind JOIN run r ON r.name = w.of
    JOIN cluster c ON c.name = w.cluster AND c.site = w.site
      AND c.hardware = w.hardware WHERE w.sweep NOT NULL;
SELECT count(DISTINCT of) FROM temp.new;
