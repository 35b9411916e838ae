-- Ended executions, in the order in which the master heard of it: place, slot,
-- end, length, kind, task, memory. Kinds: 0 done, 1 stopped by bats-mpi,
-- 2 failed and run again, 3 superseded by a replica, 4 checkpointed, 5 failed
-- beside a replica, 6 failed.

SELECT t.place, e.slot, e.ended_us + begin,
  e.ended_us - CAST(max(e.ended_us - coalesce(e.wall_us, 0) * scale, 0)
  AS INTEGER), iif(outcome = 0 AND (coalesce(exit_status, 0) != 0
  OR coalesce(signal, 0) != 0), 6, outcome), task.number, e.max_rss_kib
  FROM execution e JOIN axis USING (session) JOIN seat t
  ON t.session = e.session AND t.machine = e.machine
  JOIN task ON task.id = e.task
  WHERE outcome BETWEEN 0 AND 5 AND e.slot BETWEEN 0 AND t.slots - 1
  ORDER BY e.seq;
