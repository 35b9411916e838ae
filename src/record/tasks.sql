-- Yields the statements that make the view tasks anew. Its last columns are the
-- parameters of a sweep. Columns that a query does not use are not looked up;
-- with joins that would hold only without GROUP BY. A task runs while it has no
-- result of the current session.

SELECT printf('DROP VIEW IF EXISTS main.tasks;
CREATE VIEW tasks AS -- cost: of its machine for the time it ran, by the
    -- charge of a window; further columns: the parameters of a sweep
  SELECT n.number, CASE
      WHEN n.removed THEN ''removed''
      WHEN n.session IS NOT (SELECT session FROM now) AND
        n.task IN (SELECT task FROM running) THEN ''running''
      WHEN n.state = 0 THEN ''pending'' WHEN n.state = 1 THEN ''done''
      WHEN n.state = 2 THEN ''failed'' ELSE ''skipped'' END AS state,
    n.attempts, n.exit_status, n.signal, n.wall_us / 1e6 AS wall_s,
    n.cpu_us / 1e6 AS cpu_s, n.max_rss_kib, n.host, n.cluster,
    n.start_us, n.reason, n.task AS id, n.cost / 1e6 AS cost,
    (SELECT line FROM task WHERE id = n.task) AS line,
    (SELECT command FROM task WHERE id = n.task) AS command,
    (SELECT parameters FROM point WHERE task = n.task) AS parameters%s
  FROM task_now n;', coalesce(group_concat(printf(',
    json_extract((SELECT parameters FROM point WHERE task = n.task),
      ''$."%q"'') AS "%w"', name, place), ''), ''))
  FROM (SELECT name, place FROM parameter
    WHERE name NOT NULL AND place NOT NULL ORDER BY id);
