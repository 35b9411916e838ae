-- Jobs without a bill.

SELECT machine, mark, held FROM lease WHERE kind = 'job'
  AND state NOT IN ('ended', 'killed') AND session = (SELECT max(id)
    FROM session WHERE jobs_name NOT NULL) ORDER BY machine, id;
