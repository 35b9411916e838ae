-- The workflows of the last session that have budgets of their own. The options
-- have the tasks' as [workflow, tasks, workflow, tasks, ...].

CREATE TEMP TABLE IF NOT EXISTS flow (last INTEGER PRIMARY KEY, account);
DELETE FROM temp.flow;
WITH part AS (SELECT key, value AS workflow,
    lead(value) OVER (ORDER BY key) AS n FROM json_each((SELECT options
      FROM session ORDER BY id DESC LIMIT 1), '$.engine.workflow'))
INSERT OR IGNORE INTO temp.flow SELECT sum(n) OVER (ORDER BY key), workflow + 1
  FROM part WHERE key % 2 = 0 AND n > 0;
WITH e AS MATERIALIZED (SELECT task, ended_us FROM execution
    WHERE session = (SELECT max(id) FROM session) AND outcome = 0),
  t AS (SELECT id, state, reason, (SELECT account FROM temp.flow
      WHERE last >= number ORDER BY last LIMIT 1) AS account
    FROM tasks WHERE state != 'removed'),
  n AS (SELECT account, count(*) FILTER (WHERE state = 'done') AS done,
      count(*) FILTER (WHERE state = 'failed') AS failed,
      count(*) FILTER (WHERE state = 'skipped') AS skipped,
      count(*) FILTER (WHERE state = 'skipped' AND reason = 'unpaid')
        AS unpaid,
      count(*) FILTER (WHERE state IN ('pending', 'running')) AS open,
      max(ended_us) AS ended
    FROM t LEFT JOIN e ON e.task = t.id GROUP BY account)
SELECT name, coalesce(budget, 9223372036854775807), before + charged, held,
    deadline_us, coalesce(iif(open = 0, ended, NULL), 9223372036854775807),
    done, failed, skipped, unpaid, open
  FROM account a LEFT JOIN n ON n.account = a.id
  WHERE session = (SELECT max(id) FROM session) AND id > 0 ORDER BY id;
