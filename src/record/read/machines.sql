-- The machines of the last session, or the one with the name ?1. (With max(),
-- SQLite takes the other columns from the same row.)

WITH s AS (SELECT max(id) AS id FROM session),
  paid AS (SELECT machine, count(*) AS n, sum(amount) AS amount,
    max(time_us) AS began FROM charge JOIN s ON session = s.id
    WHERE account = 0 GROUP BY machine),
  busy AS (SELECT machine, min(number) AS number FROM running
    JOIN task ON task.id = running.task GROUP BY machine),
  said AS (SELECT machine, max(seq), sentence FROM happened JOIN s
    ON session = s.id WHERE what = 'notice' GROUP BY machine),
  shunned AS (SELECT machine, max(time_us) AS since FROM happened JOIN s
    ON session = s.id WHERE what = 'quarantine' GROUP BY machine),
  idle AS (SELECT machine, sentence, value FROM happened
    JOIN s ON session = s.id WHERE what = 'idle')
SELECT m.name, m.host, c.name, c.charge, m.slots, CASE m.state
    WHEN 'held' THEN 1 WHEN 'parked' THEN 2 WHEN 'released' THEN 3
    WHEN 'lost' THEN 4 END, m.since_us,
  paid.n, coalesce(paid.began, -1), paid.amount,
  iif(?1 IS NULL, 0, (SELECT count(*) FROM execution WHERE session = s.id
    AND machine = m.id AND attempt NOT NULL)), busy.number,
  iif(m.quarantine, shunned.since, -1), said.sentence,
  idle.sentence, coalesce(idle.value, -1)
  FROM machine m JOIN s ON m.session = s.id
  JOIN cluster c ON c.session = s.id AND c.id = m.cluster
  LEFT JOIN paid ON paid.machine = m.id
  LEFT JOIN busy ON busy.machine = m.id
  LEFT JOIN said ON said.machine = m.id
  LEFT JOIN shunned ON shunned.machine = m.id
  LEFT JOIN idle ON idle.machine = m.id
  WHERE m.name = coalesce(?1, m.name) ORDER BY m.cluster, m.id;
