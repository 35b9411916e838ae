-- After pools.sql: the clusters and machines of the last session.

SELECT max(kind > 0), max(kind > 1), iif(min(noticed) FILTER (WHERE kind > 0)
      > 0, max(noticed) FILTER (WHERE kind > 0), 0),
    json_extract(s.options, '$.engine.billing.jobs'), s.window_us, s.currency,
    (SELECT pending + running + done + failed + skipped FROM now),
    (SELECT sum(length) FROM axis), count(*),
    sum(slots) FILTER (WHERE kind > 0), sum(slots) FILTER (WHERE kind = 0),
    sum(charge) FILTER (WHERE kind > 0), sum(charge) FILTER (WHERE kind = 0),
    sum(slots) FILTER (WHERE kind > 0 AND state != 'waiting'),
    sum(slots) FILTER (WHERE kind = 0 AND state != 'waiting'),
    sum(slots) FILTER (WHERE kind > 0 AND state != 'lost'),
    sum(slots) FILTER (WHERE kind = 0 AND state != 'lost')
  FROM session s JOIN machine m ON m.session = s.id
    JOIN cluster c ON c.session = s.id AND c.id = m.cluster
    JOIN temp.pool p ON p.name = c.name
  WHERE s.id = (SELECT max(id) FROM session);
