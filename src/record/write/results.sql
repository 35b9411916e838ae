-- The results of the tasks in the bag, in the order in which they came. (With
-- max(), SQLite takes the other columns from the same row.)

SELECT n.number, n.host, n.start_us, n.wall_us, e.out_bytes, n.exit_status,
    n.signal, t.command
  FROM (SELECT task, max(seq) AS seq, out_bytes FROM execution
      WHERE outcome = 0 GROUP BY task) e
    JOIN task_now n ON n.task = e.task JOIN task t ON t.id = n.task
  WHERE NOT n.removed AND n.session NOT NULL ORDER BY e.seq;
