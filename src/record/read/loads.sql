-- What runs in each slot of the machines that are held. (With min(), SQLite
-- takes the other columns from the same row.)

SELECT m.id, m.name, r.number FROM machine m LEFT JOIN
  (SELECT machine, slot, min(seq), number FROM running
   JOIN task ON task.id = running.task GROUP BY machine, slot) r
  ON r.machine = m.id
  WHERE m.session = (SELECT max(id) FROM session)
  AND m.state = 'held' ORDER BY m.id;
