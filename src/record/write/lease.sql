-- ?6: the mark of a job of this session.

INSERT INTO lease VALUES (?, ?, ?, ?4, ?5,
    iif(?4 = 'job', coalesce(?6, (SELECT
      json_extract(options, '$.run.jobs_taken."' || ?3 || '"')
      FROM session WHERE id = ?2)), NULL), ?, ?, ?, ?, ?, ?, ?, ?, NULL)
  ON CONFLICT (id) DO UPDATE SET (state, length_us, asked_us, begun_us,
      until_us, ended_us, charged, held, if_killed)
    = (excluded.state, excluded.length_us, excluded.asked_us,
      excluded.begun_us, excluded.until_us, excluded.ended_us,
      excluded.charged, excluded.held, excluded.if_killed);
