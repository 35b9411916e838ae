-- What became of each task; counts saturate at 255. A task that was skipped, or
-- done without a run because its outputs existed, is pending. x counts the
-- executions of a task that had too little memory or time, and were repeated.

SELECT t.id, iif(t.number BETWEEN 1 AND 4294967295, t.number, 0), line,
  hash, place, NOT removed, state, CASE WHEN n.session IS NULL THEN 0
  WHEN state = 2 THEN 2 ELSE 1 END, executions, min(failures, 255),
  min(losses, 255), min(yields, 255), n.session IS NULL AND reason NOT
  NULL, min(coalesce(memory, 0), 255), min(coalesce(time, 0), 255)
  FROM task_now n JOIN task t ON t.id = n.task LEFT JOIN (SELECT task,
   total(exit_status = -4) AS memory, total(cancelled = 2) AS time
   FROM execution WHERE outcome = 2 GROUP BY task) x ON x.task = n.task;
