-- The tables of a history. The comments within the statements are stored in the
-- file: `.schema` of sqlite3 shows them.

CREATE TABLE IF NOT EXISTS run ( -- that were added, so that each counts once
  id INTEGER PRIMARY KEY, name TEXT UNIQUE,
  ended_s INTEGER); -- since 1970

CREATE TABLE IF NOT EXISTS kind ( -- of tasks, see bats-mpi history --help
  id INTEGER PRIMARY KEY, name TEXT UNIQUE);

CREATE TABLE IF NOT EXISTS cluster (
  id INTEGER PRIMARY KEY, name TEXT,
  site TEXT, hardware TEXT, -- '': not known
  UNIQUE (name, site, hardware));

CREATE TABLE IF NOT EXISTS runtime ( -- of tasks that were done
  kind INTEGER, cluster INTEGER,
  month INTEGER,   -- 202611
  run INTEGER,     -- run.id; 0: several, merged
  bags INTEGER, ended_s INTEGER, tasks INTEGER,
  sum_s REAL, squares REAL, -- of runtimes in seconds, and
  log_sum REAL, log_squares REAL, -- of their natural logarithms
  p10_s REAL, p50_s REAL, p90_s REAL, -- merged: their mean
  UNIQUE (kind, cluster, month, run));

CREATE VIEW IF NOT EXISTS past AS SELECT k.name AS kind, c.name AS cluster, c.site,
    c.hardware, month, bags, tasks, sum_s / tasks AS mean_s,
    p10_s, p50_s, p90_s, datetime(ended_s, 'unixepoch') AS ended
  FROM runtime r JOIN kind k ON k.id = r.kind
    JOIN cluster c ON c.id = r.cluster ORDER BY ended_s;

-- Since version 2.
CREATE TABLE IF NOT EXISTS sweep ( -- runtimes by parameters, see bats/factors.h
  kind INTEGER, cluster INTEGER, run INTEGER, -- as in runtime
  sums TEXT, -- names of parameters, their number, and sums
  UNIQUE (kind, cluster, run));

-- Since version 3.
CREATE TABLE IF NOT EXISTS memory ( -- of tasks that were done, of all bags
  kind INTEGER,
  asked_kib INTEGER, -- 0: nothing
  used_kib INTEGER,  -- no more than this, 0: than a worker; history/moments.h
  cores INTEGER,     -- of each task
  slots INTEGER, node_kib INTEGER, -- of its machine; 0: not counted
  tasks INTEGER, sum_s REAL, -- and their runtimes
  UNIQUE (kind, asked_kib, used_kib, cores, slots, node_kib));

-- Since version 4.
ALTER TABLE kind ADD COLUMN -- the time limit of a task of its last bag; 0: none
  limit_s REAL NOT NULL DEFAULT 0;
ALTER TABLE kind ADD COLUMN -- the longest runtime of all bags
  most_s REAL NOT NULL DEFAULT 0;
