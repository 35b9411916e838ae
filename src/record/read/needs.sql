-- The options of an open bag know the tasks that were there when the session
-- began. This has the categories of all tasks, and their needs: those that they
-- were given, or else the default, which is the need of category 0. (A limit
-- makes SQLite keep the order.)

WITH u AS (SELECT json_extract(options, '$.engine.needs[0]') AS usual
    FROM session ORDER BY id DESC LIMIT 1),
  g AS (SELECT n.number, iif(json_valid(s.given), s.given, '{}') AS g,
    json_extract(s.given, '$.memory') AS m
    FROM task_now n LEFT JOIN submission s ON s.task = n.task
    WHERE NOT n.removed),
  k AS (SELECT number, coalesce(json_extract(g, '$.class'), '-') AS class,
    json_array(
      coalesce(json_extract(g, '$.cores'), json_extract(usual, '$[0]')),
      coalesce(json_extract(g, '$.gpus'), json_extract(usual, '$[1]')),
      coalesce((m * CASE substr(m, -1) WHEN 'K' THEN 1024
          WHEN 'M' THEN 1 << 20 WHEN 'G' THEN 1 << 30 ELSE 1 END + 1023)
        / 1024, json_extract(usual, '$[2]')),
      json_extract(g, '$.limit')) AS need FROM g JOIN u),
  r AS (SELECT number, dense_rank() OVER (ORDER BY class, need) - 1
    AS kind, class, need FROM k ORDER BY number LIMIT -1),
  d AS (SELECT DISTINCT kind, class, need FROM r ORDER BY kind LIMIT -1)
SELECT json_object('categories', (SELECT json_group_array(class) FROM d),
    'engine', json_object(
      'needs', (SELECT json_group_array(json(need)) FROM d),
      'categories', (SELECT json('[' || group_concat(kind || ',1') || ']')
        FROM r)))
  FROM u WHERE usual IS NOT NULL AND EXISTS (SELECT 1 FROM submission);
