-- Where the output of the tasks in the bag is.

SELECT n.number, e.attempt, json_extract(s.options, '$.run.output_dir'),
  s.run_id, e.stream, e.out_begin,
  e.out_end, e.exit_status, e.signal, e.out_bytes, e.err_bytes
  FROM (SELECT *, max(seq) FROM execution WHERE outcome = 0
   GROUP BY task) e JOIN session s ON s.id = e.session
  JOIN task_now n ON n.task = e.task AND n.removed IS NOT 1
  WHERE e.stream NOT NULL ORDER BY n.number;
