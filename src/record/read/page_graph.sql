-- As page.sql, where tasks depend on others.

SELECT json_array(node, json(children)) AS "children" FROM graph
  WHERE session = (SELECT max(id) FROM session) ORDER BY node;

-- They say more than the executions of a task.
SELECT json_array(number, state) AS "states" FROM tasks
  WHERE state IN ('running', 'skipped')
  OR state = 'pending' AND attempts > 0;

-- where no kinds of tasks are recorded
SELECT json_array(number, substr(command, 1, 80)) AS "programs" FROM tasks
  WHERE state != 'removed' AND (SELECT json_valid(options)
    AND json_type(options, '$.categories') IS NULL
    FROM session ORDER BY id DESC LIMIT 1);
