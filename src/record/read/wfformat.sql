-- A run as WfFormat 1.5 of WfCommons, in one row. ?1: the name of the workflow,
-- ?2: the version of bats-mpi; the table kind is of the last session. Tasks that
-- are done are executed tasks; others have no runtime, which the format requires
-- of executed tasks, and hence no command. One that was not run, because its
-- outputs existed, took no time.

WITH RECURSIVE
  last AS (SELECT *, coalesce(ended_us, (SELECT time_us FROM now)) AS end_us
    FROM session ORDER BY id DESC LIMIT 1),
  t AS MATERIALIZED (SELECT *, printf('ID%07d', number) AS name,
    trim(command) AS words, coalesce(nullif(host, ''), 'unknown') AS place
    FROM tasks WHERE state <> 'removed'),
  size(n) AS (SELECT max(number) FROM t),
  -- Nodes above the tasks are barriers. Where a task waits for one barrier and
  -- is waited for by the next, that waits for the first one anyway.
  node(a, b) AS MATERIALIZED (SELECT node, value
    FROM graph g, json_each(g.children) WHERE session = (SELECT id FROM last)),
  needed(a, b) AS MATERIALIZED (SELECT a, b FROM node
    WHERE a <= (SELECT n FROM size) OR b <= (SELECT n FROM size)
    UNION SELECT a, b FROM node EXCEPT SELECT x.a, y.b
    FROM node x JOIN node y ON y.a = x.b WHERE x.b <= (SELECT n FROM size)
      AND x.a > (SELECT n FROM size) AND y.b > (SELECT n FROM size)),
  reached(a, b) AS (SELECT a, b FROM needed WHERE a <= (SELECT n FROM size)
    UNION SELECT r.a, n.b FROM reached r JOIN needed n ON n.a = r.b
      WHERE r.b > (SELECT n FROM size)),
  edge AS MATERIALIZED (SELECT a, b, printf('ID%07d', a) AS parent,
    printf('ID%07d', b) AS child FROM reached
    WHERE b <= (SELECT n FROM size) ORDER BY a, b),
  execution AS (SELECT t.*, instr(words || ' ', ' ') AS blank,
    -- Behind "", which is cut off: each argument begins behind a blank; further
    -- blanks belong to it.
    substr(replace(replace(json_quote(substr(words, instr(words || ' ', ' '))),
      '  ', ' \u0020'), ' ', '","'), 4) AS arguments
    FROM t WHERE state = 'done')
SELECT json_patch(json_object('name', ?1,
    'createdAt', strftime('%Y-%m-%dT%H:%M:%fZ'), 'schemaVersion', '1.5',
    'runtimeSystem', json_object('name', 'bats-mpi', 'version', ?2),
    'workflow', json_object('specification', json_object('tasks',
      (SELECT json_group_array(json_object('name', coalesce(
            (SELECT k.name FROM temp.kind k WHERE last >= number
              ORDER BY last LIMIT 1), 'task'),
          'id', name,
          'parents', (SELECT json_group_array(parent) FROM edge
            WHERE b = number),
          'children', (SELECT json_group_array(child) FROM edge
            WHERE a = number))) FROM t)))),
  iif((SELECT count(*) FROM execution) = 0, '{}',
    json_object('workflow', json_object('execution', json_object(
      'makespanInSeconds', (SELECT total(coalesce(ended_us, iif(id =
          (SELECT id FROM last), (SELECT end_us FROM last), last_us), 0)
          / time_scale) / 1e6 FROM session),
      'executedAt', (SELECT strftime('%Y-%m-%dT%H:%M:%fZ',
          min(started_us) / 1e6, 'unixepoch') FROM session),
      'tasks', (SELECT json_group_array(json(json_patch('{}', json_object(
          'id', name, 'runtimeInSeconds', max(coalesce(wall_s, 0), 0),
          'command', json_object('program', substr(words, 1, blank - 1),
            -- A first argument that is the program is taken for a repetition.
            'arguments', json('[' || iif(substr(words, 1, blank - 1)
                = substr(words, blank + 1, blank - 1)
                AND substr(words, 2 * blank, 1) IN ('', ' '),
                json_quote(substr(words, 1, blank - 1)) || ',', '')
              || iif(blank > length(words), '', arguments) || ']')),
          'executedAt', iif(wall_s NOT NULL, strftime('%Y-%m-%dT%H:%M:%fZ',
            start_us / 1e6, 'unixepoch'), NULL),
          'machines', iif(wall_s NOT NULL, json_array(place), NULL),
          'avgCPU', iif(wall_s > 0, 100 * cpu_s / wall_s, NULL),
          'memoryInBytes', iif(max_rss_kib > 0, max_rss_kib * 1024, NULL)))))
        FROM execution),
      'machines', (SELECT json(nullif(json_group_array(json_object(
          'nodeName', place, 'system', 'linux')), '[]'))
        FROM (SELECT DISTINCT place FROM execution WHERE wall_s NOT NULL)))))
  ));
