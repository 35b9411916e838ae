-- If session ?1 buys jobs, it takes over those left by earlier ones.

UPDATE lease SET state = 'killed', held = 0 WHERE kind = 'job'
  AND state NOT IN ('ended', 'killed') AND session < ?1
  AND (SELECT jobs_name NOT NULL FROM session WHERE id = ?1);

DELETE FROM stake WHERE lease IN (SELECT id FROM lease WHERE state = 'killed');

UPDATE account SET held = 0 WHERE held != 0
  AND session IN (SELECT session FROM lease WHERE state = 'killed');
