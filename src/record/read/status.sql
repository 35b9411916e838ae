-- The last session, and the counts of the run.

SELECT s.id, bag, policy, currency, coalesce(budget, 9223372036854775807),
  window_us, time_scale, seed, started_us, ended_us NOT NULL,
  coalesce(ended_us, n.time_us), finish, signal, exit_code,
  done + failed + running + pending + skipped, done, failed, running,
  pending, skipped, removed, preempted, ending, choosing,
  (SELECT sum(charged) FROM account WHERE id = 0),
  (SELECT held FROM account WHERE session = s.id AND id = 0)
  FROM session s JOIN now n ORDER BY s.id DESC LIMIT 1;
