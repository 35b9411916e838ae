-- The executions that have ended, on the axis, those that were lost last: pool,
-- when it was sent and ended, and the task first sent; how it ended (enum in
-- axis.h); whether it is the result of a task that is done. Then clusters have
-- their kind in temp.pool: above 0, they are the pool 0.

CREATE TEMP TABLE IF NOT EXISTS pool (name PRIMARY KEY, kind, noticed);
DELETE FROM temp.pool;
INSERT OR IGNORE INTO temp.pool SELECT name,
    coalesce(json_extract(options, '$.engine.unreliable[' || c.id || ']'), 0),
    coalesce(json_extract(options, '$.engine.noticed_us[' || c.id || ']'), 0)
  FROM session s JOIN cluster c ON c.session = s.id
  WHERE s.id = (SELECT max(id) FROM session);
WITH x AS (SELECT coalesce(kind, 0) = 0 AS pool, e.seq, e.outcome, e.task,
    coalesce(e.given_us, e.ended_us) + begin AS sent,
    e.ended_us + begin AS ended, e.exit_status BETWEEN -3 AND -1 AS timed_out,
    coalesce(signal, 0) != 0 AS was_killed,
    coalesce(exit_status, 0) != 0 OR coalesce(signal, 0) != 0 AS failed
  FROM execution e JOIN axis USING (session)
    JOIN seat t ON t.session = e.session AND t.machine = e.machine
    JOIN machine m ON m.session = e.session AND m.id = e.machine
    JOIN cluster c ON c.session = m.session AND c.id = m.cluster
    LEFT JOIN temp.pool p ON p.name = c.name
  WHERE outcome NOT NULL AND e.slot BETWEEN 0 AND t.slots - 1)
SELECT pool, sent, ended, min(sent) OVER (PARTITION BY task),
    CASE WHEN timed_out THEN 2 WHEN outcome = 6 THEN 1
      WHEN outcome = 1 THEN iif((SELECT min(noticed) FROM temp.pool
        WHERE kind > 0) > 0, 1, 3)
      WHEN outcome = 3 THEN iif(was_killed, 3, 0)
      WHEN failed OR outcome = 4 THEN 3 ELSE 0 END,
    outcome = 0 AND NOT failed
  FROM x ORDER BY outcome = 6, seq;
