-- What earlier sessions were charged in the job ?1 of the batch system.

WITH s AS (SELECT *, coalesce(last_us, (SELECT time_us FROM now)) AS
    last FROM session WHERE job = ?),
  l AS (SELECT session, sum(amount) AS amount, max(time_us) AS time
    FROM charge JOIN s ON s.id = session WHERE account = 0
    GROUP BY session)
SELECT (SELECT sum(amount) FROM l),
  iif(l.time IS NULL,
    json_extract(options, '$.engine.billing.before'), 0),
  json_extract(options, '$.engine.billing.rate'),
  started_us + coalesce(l.time, 0) / time_scale,
  started_us + max(coalesce(l.time, 0), last) / time_scale, life
FROM s LEFT JOIN l ON l.session = s.id ORDER BY s.id DESC LIMIT 1;
