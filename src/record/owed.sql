-- What the last session would be charged beyond its charges if it was killed:
-- for leases of machines; and for its own job, with how that is billed. No row:
-- it has ended.

SELECT s.id, (SELECT time_us FROM now),
  (SELECT coalesce(sum(if_killed), 0) FROM lease WHERE session = s.id
    AND state NOT IN ('ended', 'killed')), l.id, l.charged,
  json_extract(options, '$.engine.billing.rate'),
  json_extract(options, '$.engine.billing.before'),
  json_extract(options, '$.engine.billing.least_us')
  FROM session s LEFT JOIN lease l ON l.session = s.id
    AND kind = 'allocation' AND state = 'begun'
  WHERE s.id = (SELECT max(id) FROM session) AND s.ended_us IS NULL
    AND finish IS NULL;
