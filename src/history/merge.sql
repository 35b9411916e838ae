-- Merges bags of each kind and cluster into one row per month, but for the last
-- eight (BATS_PAST_BAGS).

CREATE TEMP TABLE old AS SELECT rowid AS id FROM (SELECT rowid,
    row_number() OVER (PARTITION BY kind, cluster
      ORDER BY ended_s DESC, run DESC) AS place
  FROM runtime WHERE run > 0) WHERE place > 8;
INSERT INTO runtime SELECT kind, cluster, month, 0, sum(bags),
    max(ended_s), sum(tasks), sum(sum_s), sum(squares), sum(log_sum),
    sum(log_squares), sum(tasks * p10_s) / sum(tasks),
    sum(tasks * p50_s) / sum(tasks), sum(tasks * p90_s) / sum(tasks)
  FROM runtime WHERE rowid IN (SELECT id FROM old)
  GROUP BY kind, cluster, month
  ON CONFLICT (kind, cluster, month, run) DO UPDATE SET
    p10_s = (tasks * p10_s + excluded.tasks * excluded.p10_s)
      / (tasks + excluded.tasks),
    p50_s = (tasks * p50_s + excluded.tasks * excluded.p50_s)
      / (tasks + excluded.tasks),
    p90_s = (tasks * p90_s + excluded.tasks * excluded.p90_s)
      / (tasks + excluded.tasks),
    bags = bags + excluded.bags,
    ended_s = max(ended_s, excluded.ended_s),
    tasks = tasks + excluded.tasks, sum_s = sum_s + excluded.sum_s,
    squares = squares + excluded.squares,
    log_sum = log_sum + excluded.log_sum,
    log_squares = log_squares + excluded.log_squares;
DELETE FROM runtime WHERE rowid IN (SELECT id FROM old);
DROP TABLE old;
DELETE FROM sweep WHERE (kind, cluster, run) NOT IN
  (SELECT kind, cluster, run FROM runtime);
