-- Yields a sentence for each difference in a record, attached as rec: at most 10
-- of each kind.

SELECT * FROM (
  SELECT 'the file: ' || integrity_check FROM pragma_integrity_check(10, 'rec')
  WHERE integrity_check != 'ok')

UNION ALL SELECT * FROM (
  WITH x(state, said) AS (SELECT 'pending', pending FROM now UNION ALL
    SELECT 'running', running FROM now UNION ALL
    SELECT 'done', done FROM now UNION ALL
    SELECT 'failed', failed FROM now UNION ALL
    SELECT 'skipped', skipped FROM now UNION ALL
    SELECT 'removed', removed FROM now),
   n AS MATERIALIZED (SELECT state, count(*) AS n FROM tasks GROUP BY state)
  SELECT printf('%d tasks are said to be %s, %d are', said, state,
    coalesce(n, 0)) FROM x LEFT JOIN n USING (state)
    WHERE said != coalesce(n, 0))

UNION ALL SELECT * FROM (
  SELECT printf('task %d has %d results in session %d', t.number, n,
    e.session) FROM (SELECT task, session, count(*) AS n FROM execution
    WHERE outcome = 0 GROUP BY task, session HAVING n > 1) e
   JOIN task t ON t.id = e.task LIMIT 10)

UNION ALL SELECT * FROM (
  SELECT printf('task %d is not as its executions have ended', n.number)
   FROM task_now n LEFT JOIN (SELECT task,
    max(CASE outcome WHEN 0 THEN seq END) AS seq, count(attempt) AS n
    FROM execution GROUP BY task) x ON x.task = n.task
   LEFT JOIN execution e ON e.seq = x.seq
   WHERE n.executions != coalesce(x.n, 0)
    OR (n.session, n.machine, n.exit_status, n.signal, n.wall_us,
     n.start_us, n.max_rss_kib) IS NOT (e.session, e.machine,
     e.exit_status, e.signal, e.wall_us, e.start_us, e.max_rss_kib)
    OR (e.seq IS NOT NULL AND n.state != 1 + (e.exit_status != 0
     OR e.signal != 0)) LIMIT 10)

UNION ALL SELECT * FROM (
  SELECT printf('execution %d of session %d: its times contradict each other',
    e.seq, e.session) FROM execution e, now n
   WHERE e.given >= e.seq OR e.given_us > e.ended_us OR e.seq > n.seq
    OR (e.session = n.session AND e.ended_us > n.time_us) LIMIT 10)

UNION ALL SELECT * FROM (
  SELECT printf('task %d runs, but the session is over', t.number)
   FROM running r JOIN task t ON t.id = r.task WHERE (SELECT ended_us
    FROM session ORDER BY id DESC LIMIT 1) IS NOT NULL LIMIT 10)

UNION ALL SELECT * FROM (
  SELECT printf('session %d: %d is charged to account %d, but %d by its charges',
    session, charged, id, sum) FROM (SELECT session, id, charged,
    (SELECT coalesce(sum(amount), 0) FROM charge c
     WHERE c.session = a.session AND c.account = a.id) AS sum
    FROM account a) WHERE charged != sum LIMIT 10)

UNION ALL SELECT * FROM (
  SELECT printf('session %d: account %d begins with %d, the sessions before have charged %d',
    session, id, before, sum) FROM (SELECT session, id,
    before, coalesce(sum(charged) OVER (PARTITION BY id > 0, name
     ORDER BY session ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
     AS sum FROM account) WHERE before != sum LIMIT 10)

UNION ALL SELECT * FROM (
  SELECT printf('session %d: account %d holds %d, but %d by its leases',
    session, id, held, sum) FROM (SELECT a.session, a.id, a.held,
    CASE a.id WHEN 0 THEN (SELECT coalesce(sum(held), 0) FROM lease l
     WHERE l.session = a.session)
    ELSE (SELECT coalesce(sum(s.held), 0) FROM stake s JOIN lease l
     ON l.id = s.lease WHERE l.session = a.session AND s.account = a.id)
    END AS sum FROM account a) WHERE held != sum LIMIT 10)

UNION ALL SELECT * FROM (
  WITH charged AS MATERIALIZED (SELECT k.name, sum(amount) AS n FROM charge
    h JOIN machine m ON m.session = h.session AND m.id = h.machine
    JOIN cluster k ON k.session = m.session AND k.id = m.cluster
    WHERE h.account = 0 GROUP BY k.name)
  SELECT printf('cluster %s is charged %d, but %d by its charges', k.name,
    c.charged, coalesce(s.n, 0)) FROM now JOIN cluster_now c
    USING (session) JOIN cluster k ON k.session = c.session
     AND k.id = c.cluster LEFT JOIN charged s ON s.name = k.name
   WHERE c.charged != coalesce(s.n, 0) LIMIT 10)
