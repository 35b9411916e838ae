-- The last 20000 results. Runtimes of tasks that ran on several clusters come
-- first: they give the regression lines (sample.h).

WITH good AS NOT MATERIALIZED (SELECT * FROM execution
    WHERE exit_status = 0 AND signal = 0 AND runtime_us NOT NULL),
  again AS MATERIALIZED (SELECT task FROM good WHERE task IN
    (SELECT task FROM task_now WHERE executions > 1)
    GROUP BY task HAVING count(*) > 1)
SELECT c.name, e.runtime_us, t.number - 1 FROM (SELECT *,
    task IN again AS is_repeated FROM good
    ORDER BY is_repeated DESC, seq DESC LIMIT 20000) e
  JOIN task t ON t.id = e.task
  JOIN machine m ON m.session = e.session AND m.id = e.machine
  JOIN cluster c ON c.session = m.session AND c.id = m.cluster
WHERE e.task NOT IN (SELECT task FROM task_now WHERE removed)
ORDER BY e.is_repeated DESC, e.seq DESC;
