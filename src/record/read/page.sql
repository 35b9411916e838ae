-- What a page draws: each statement is a member of a JSON object, an array of
-- its rows. ?1: costs are charged by windows; ?2: leases end with their time.

SELECT json_object('end_us', (SELECT sum(length) FROM axis),
    'window_us', window_us, 'pace', time_scale,
    'sampled_us', (SELECT time_us + begin
      FROM happened JOIN axis USING (session) WHERE what = 'sampled'
      ORDER BY seq DESC LIMIT 1),
    'started_s', (SELECT min(started_us) FROM session) / 1e6,
    'ended_s', (started_us + coalesce(ended_us, (SELECT time_us FROM now))
      / iif(time_scale > 0, time_scale, 1)) / 1e6) AS "session"
  FROM session ORDER BY id DESC LIMIT 1;

-- machines, with the charge of the last session
SELECT json_array(m.name, c.name, t.slots, (SELECT charge FROM cluster
      WHERE name = c.name ORDER BY session DESC LIMIT 1) / 1e6) AS "places"
  FROM seat t JOIN machine m ON m.session = t.session
  AND m.id = t.machine JOIN cluster c ON c.session = m.session
  AND c.id = m.cluster GROUP BY t.place ORDER BY t.place;

SELECT json_array((time_us + begin) / 1e6, reason ||
    coalesce(' (' || cause || ')', '') || iif(feasible, '',
      ' (more than the budget can pay)'),
    coalesce((SELECT group_concat(c.name || ' ' || j.value, ', ')
      FROM json_each(d.machines) j JOIN cluster c ON c.session = d.session
      AND c.id = j.key WHERE j.value > 0), 'no machines'), windows,
    coalesce(tasks_open, tasks_left), budget_left / 1e6,
    iif(end_us > 0, (end_us + begin) / 1e6, NULL),
    iif(end_us > 0, cost / 1e6, NULL)) AS "decisions"
  FROM (SELECT *, lead(replaces) OVER (PARTITION BY session ORDER BY seq)
    AS is_gone, count(*) OVER (ORDER BY seq DESC) AS n FROM decision) d
  JOIN axis USING (session) WHERE is_gone IS NOT 1 AND n <= 4000
  ORDER BY seq;

-- all, or the slowest and the first failed ones
SELECT json_array(number, state, attempts, exit_status, signal, wall_s,
    max_rss_kib, host, command,
    iif(json_valid(parameters), json(parameters), NULL)) AS "tasks"
  FROM tasks WHERE ((SELECT count(*) FROM task_now) <= 2000
    OR id IN (SELECT task FROM task_now WHERE removed IS NOT 1
      AND wall_us NOT NULL ORDER BY wall_us DESC, number LIMIT 20)
    OR id IN (SELECT task FROM task_now WHERE removed IS NOT 1
      AND state = 2 ORDER BY number LIMIT 50)) AND state != 'removed'
  ORDER BY number;

-- of the parameters of a sweep
WITH v AS (SELECT j.key AS name, iif(j.type = 'text', j.value,
      p.parameters -> j.fullkey) AS value, count(*) AS n,
    count(*) FILTER (WHERE state = 2) AS failed,
    count(done) AS n_done, total(done) AS wall, max(done) AS longest,
    total(cost) FILTER (WHERE state = 1) AS cost,
    max(max_rss_kib) FILTER (WHERE state = 1) AS rss
    FROM (SELECT *, iif(state = 1, wall_us, NULL) AS done FROM task_now) n
    JOIN point p ON p.task = n.task, json_each(p.parameters) j
    WHERE NOT removed GROUP BY 1, 2 ORDER BY min(number) LIMIT 200)
SELECT json_array(name, value, n, failed, wall / n_done / 1e6,
    longest / 1e6, iif(n_done, wall / 1e6, NULL), cost / n_done / 1e6,
    iif(n_done, cost / 1e6, NULL), rss) AS "values"
  FROM v ORDER BY name, value GLOB '*[^-+.0-9eE]*', CAST(value AS REAL),
  value;

-- of windows, or where costs are not charged by windows (?1), sums of 2000 parts
SELECT json_array(min(time_us + begin), coalesce(t.place, -1),
    sum(amount) / 1e6) AS "charges"
  FROM charge c JOIN axis USING (session) LEFT JOIN seat t
  ON t.session = c.session AND t.machine = c.machine
  WHERE account = 0 GROUP BY iif(?1, seq,
    (time_us + begin) * 2000 / (SELECT max(1, sum(length)) FROM axis))
  ORDER BY min(seq);

-- where they end with their time (?2)
SELECT json_array(t.place, l.begun_us + begin,
    coalesce(l.ended_us, length) + begin) AS "leases"
  FROM lease l JOIN axis USING (session) JOIN seat t
  ON t.session = l.session AND t.machine = l.machine
  WHERE ?2 AND l.begun_us < coalesce(l.ended_us, length) ORDER BY l.id;

-- where tasks depend on others
SELECT json_array(node, json(children)) AS "children" FROM graph
  WHERE session = (SELECT max(id) FROM session) ORDER BY node;

-- there: they say more than the executions of a task
SELECT json_array(number, state) AS "states" FROM tasks
  WHERE EXISTS (SELECT 1 FROM graph) AND (state IN ('running', 'skipped')
    OR state = 'pending' AND attempts > 0);

-- there, where no kinds of tasks are recorded
SELECT json_array(number, substr(command, 1, 80)) AS "programs" FROM tasks
  WHERE EXISTS (SELECT 1 FROM graph) AND state != 'removed'
    AND (SELECT json_valid(options)
      AND json_type(options, '$.categories') IS NULL
      FROM session ORDER BY id DESC LIMIT 1);
