-- What sessions that buy jobs have bought, and paid for the job ?1 around them.

WITH s AS (SELECT id, jobs_name AS name, job, started_us +
    coalesce(last_us, (SELECT time_us FROM now)) / time_scale AS last
    FROM session WHERE name NOT NULL)
SELECT (SELECT coalesce(max(id), 0) + 1 FROM session),
  (SELECT name FROM s ORDER BY id DESC LIMIT 1),
  (SELECT coalesce(sum(amount), 0) FROM charge
    WHERE account = 0 AND session IN (SELECT id FROM s)),
  (SELECT coalesce(sum(amount), 0) FROM charge
    WHERE account = 0 AND machine IS NULL AND lease NOT NULL
      AND session IN (SELECT id FROM s WHERE job = ?1)),
  (SELECT group_concat(job) FROM (SELECT DISTINCT job FROM s)),
  (SELECT max(last) FROM s);
