-- The executions that have ended, on the axis; those that were lost come last.

SELECT coalesce(e.given_us, e.ended_us) + begin, e.ended_us + begin,
  task.number, c.name, e.outcome,
  coalesce(exit_status, 0) != 0 OR coalesce(signal, 0) != 0,
  exit_status BETWEEN -3 AND -1, signal != 0 FROM execution e
  JOIN axis USING (session) JOIN seat t ON t.session = e.session
  AND t.machine = e.machine JOIN task ON task.id = e.task
  JOIN machine m ON m.session = e.session AND m.id = e.machine
  JOIN cluster c ON c.session = m.session AND c.id = m.cluster
  WHERE outcome NOT NULL AND e.slot BETWEEN 0 AND t.slots - 1
  ORDER BY outcome = 6, e.seq;
