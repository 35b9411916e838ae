-- What the last session would be charged beyond its charges if it was killed:
-- for leases of machines; and for its own job, with how that is billed.

SELECT (SELECT coalesce(sum(if_killed), 0) FROM lease WHERE session = s.id
    AND state NOT IN ('ended', 'killed')), l.id, l.charged,
  json_extract(options, '$.engine.billing.rate'),
  json_extract(options, '$.engine.billing.before'),
  json_extract(options, '$.engine.billing.least_us')
  FROM session s LEFT JOIN lease l ON l.session = s.id
    AND kind = 'allocation' AND state = 'begun' ORDER BY s.id DESC LIMIT 1;
