-- The tables of a run record, and views for those who query it. Users rely on
-- the comments within the statements: they are stored in the file, and
-- `.schema` of sqlite3 shows them. The view tasks is made by schema.c.

CREATE TABLE meta (
  key TEXT PRIMARY KEY, -- 'created_us', 'version'
  value);

CREATE TABLE session ( -- one per start or resume of the run
  id INTEGER PRIMARY KEY, -- 1, 2, ...
  run_id TEXT, bag TEXT, version TEXT, policy TEXT,
  seed INTEGER,
  budget INTEGER,    -- millionths of the currency; NULL: unlimited
  window_us INTEGER, time_scale REAL, currency TEXT,
  resume TEXT,       -- 'resume', 'resume-failed', 'retry-failed' or 'new'
  options TEXT,      -- a JSON object: 'run' has those of the command line,
                     -- 'engine' what the scheduling engine was given,
                     -- 'promise' what the chosen schedule was to cost and
                     -- take from chosen_us on: millionths, and virtual time
  job TEXT,          -- of the batch system that it was in; NULL: none
  life INTEGER,      -- lives of that job before
  jobs_name TEXT,    -- of the jobs that it has bought; NULL: none
  started_us INTEGER, -- real time since 1970
  n_tasks INTEGER,
  last_us INTEGER,   -- virtual time of its last commit; of the last
                     -- session see the table now
  ended_us INTEGER,  -- virtual time; NULL: it runs, or was killed
  finish TEXT,       -- 'all done', 'budget', 'stopped', 'no machines';
                     -- 'killed' is written by the next session
  signal INTEGER, exit_code INTEGER);

CREATE TABLE cluster (
  session INTEGER, id INTEGER, name TEXT,
  charge INTEGER, -- millionths, per machine and window
  max INTEGER,    -- NULL: no limit
  speed REAL,     -- that it was made to have; 1: as it is
  UNIQUE (session, id));

CREATE TABLE machine (
  session INTEGER, id INTEGER, cluster INTEGER, slots INTEGER,
  name TEXT, -- as the tasks see it in BATS_MACHINE
  host TEXT,
  state TEXT, -- 'waiting', 'held', 'parked', 'released' or 'lost'
  since_us INTEGER, -- virtual time
  quarantine INTEGER, -- 1: it is given no task
  UNIQUE (session, id));

CREATE TABLE task ( -- the text, written once
  id INTEGER PRIMARY KEY,
  number INTEGER,  -- in the bag, from 1; the last one if it was removed
  line INTEGER,    -- of the bag's file, where it was seen last
  hash INTEGER,    -- FNV-1a, 64 bits, of what is run
  command TEXT,
  session INTEGER); -- the first that had it

-- In draw order, so that tasks that end one after the other share pages;
-- ordered by number, each would dirty a page of its own.
CREATE TABLE task_now ( -- what has become of each task
  place INTEGER PRIMARY KEY, -- in the order of the first draw
  task INTEGER,       -- task.id
  number INTEGER,     -- as in task
  removed INTEGER,    -- 1: it is no longer in the bag
  state INTEGER,      -- 0: pending, 1: done, 2: failed, 3: skipped;
                      -- whether it runs is told by running
  executions INTEGER, -- that ended, of any kind
  attempts INTEGER,   -- those of them that count as tries
  failures INTEGER, losses INTEGER, -- since the last result,
  yields INTEGER,     -- or those in a row without progress
  reason TEXT,        -- why it was skipped: 'parent', 'unpaid',
                      -- 'withdrawn'
  -- of the result; NULL: it has none
  session INTEGER, machine INTEGER,
  cluster TEXT,       -- its name
  host TEXT,
  exit_status INTEGER, signal INTEGER,
  start_us INTEGER,   -- real time since 1970
  wall_us INTEGER, cpu_us INTEGER, max_rss_kib INTEGER,
  cost REAL);         -- millionths: of its machine for the time it ran,
                      -- by the charge of a window

CREATE TABLE now ( -- counts, written with each commit
  id INTEGER PRIMARY KEY, -- 1
  session INTEGER,
  seq INTEGER,     -- the last one used
  time_us INTEGER, -- virtual time, of the last event of the session
  -- tasks in the bag, each in one of these:
  pending INTEGER, running INTEGER, done INTEGER, failed INTEGER,
  skipped INTEGER,
  removed INTEGER, -- tasks that are no longer in the bag
  preempted INTEGER, -- executions
  ending INTEGER,  -- 1: told to drain or to stop
  choosing INTEGER); -- 1: a schedule is to be chosen first

CREATE TABLE cluster_now ( -- likewise
  session INTEGER, cluster INTEGER,
  machines INTEGER, held INTEGER, lost INTEGER, -- of this session
  windows INTEGER, charged INTEGER, -- of all sessions, by its name;
  done INTEGER, failed INTEGER, wall_us INTEGER, -- likewise: results
  runtime_us INTEGER, -- the same in virtual time
  UNIQUE (session, cluster));

CREATE TABLE account (
  session INTEGER,
  id INTEGER, -- 0: the run; 1, ...: a workflow that has a budget
  name TEXT,
  budget INTEGER,  -- millionths, as the following; NULL: unlimited
  before INTEGER,  -- charged by earlier sessions
  charged INTEGER, -- by this one
  held INTEGER,    -- for what may be charged yet; NULL: not known
  deadline_us INTEGER, begin_us INTEGER, -- virtual time; NULL: none
  UNIQUE (session, id));

CREATE TABLE lease ( -- the contracts under which machines are held
  id INTEGER PRIMARY KEY, session INTEGER,
  machine INTEGER,   -- NULL: the job that the run is in
  kind TEXT,         -- 'window', 'use', 'second', 'job', 'allocation'
  state TEXT,        -- 'asked', 'begun', 'ending', 'ended', 'killed':
                     -- with its session; a later one has taken over a job
  mark TEXT,         -- of a job, as the batch system knows it
  length_us INTEGER, -- a job may work for so long: virtual time, as
  asked_us INTEGER, begun_us INTEGER,
  until_us INTEGER,  -- the end of what is paid
  ended_us INTEGER,
  charged INTEGER,   -- millionths, as the following
  held INTEGER,      -- of the run's account
  if_killed INTEGER, -- is charged if the run is killed now
  energy_j INTEGER); -- that the job used; NULL: not measured

CREATE TABLE stake ( -- what workflows hold for a lease
  lease INTEGER, account INTEGER, held INTEGER,
  UNIQUE (lease, account));

-- The log: seq is one counter over all tables below.
CREATE TABLE running ( -- executions that were given to a machine and
    -- have not ended; a task may have several
  seq INTEGER PRIMARY KEY,
  task INTEGER,    -- task.id
  copy INTEGER,    -- replica number; 0: the original
  machine INTEGER, slot INTEGER,
  given_us INTEGER, -- virtual time
  cancelled INTEGER); -- 1: told to stop, 2: for it has run too long

CREATE TABLE execution ( -- executions that have ended
  seq INTEGER PRIMARY KEY, session INTEGER,
  task INTEGER,    -- task.id
  attempt INTEGER, -- 1: the first of the run; NULL: it never began,
                   -- or was lost
  copy INTEGER,    -- replica number; 0: the original
  machine INTEGER, slot INTEGER,
  host TEXT,       -- NULL: that of the machine
  given INTEGER,   -- the seq that it had in running
  given_us INTEGER, ended_us INTEGER, runtime_us INTEGER, -- virtual
  start_us INTEGER, -- real time since 1970
  wall_us INTEGER, user_us INTEGER, system_us INTEGER,
  max_rss_kib INTEGER,
  exit_status INTEGER, signal INTEGER,
  outcome INTEGER, -- 0: the task's result, 1: stopped by bats-mpi,
      -- 2: failed and run again, 3: another replica was first,
      -- 4: checkpointed and run again, 5: failed while another replica
      -- went on, 6: lost with its machine; NULL: not known yet
  cancelled INTEGER, -- as in running
  out_bytes INTEGER, err_bytes INTEGER, -- written by the task
  stream INTEGER,  -- --output stream: the rank in whose file they are,
      -- stream-RUN_ID-RANK.out, the rank with 4 digits; and where in it
  out_begin INTEGER, out_end INTEGER);

CREATE TABLE happened ( -- all that is rare; what: joined lost drain
    -- stop hold go shut chosen (value: place in the list offered) ends
    -- (value: may work for so long) billed (value: millionths) closed
    -- retired preempt-notice (value: is taken after so long) found
    -- killed acquire (value: of a job: will work for so long) park
    -- release quarantine readmit lose skip sampled finished notice (a
    -- sentence), or idle: why a slot of the machine has no task
    -- (value: until then). There is one of these for each machine, with
    -- the latest. reserved: the machine is kept for the task (value: until
    -- then); likewise one. Times in microseconds
  seq INTEGER PRIMARY KEY, session INTEGER, time_us INTEGER,
  what TEXT, machine INTEGER, task INTEGER, value INTEGER,
  sentence TEXT); -- of skip: 'unpaid', 'withdrawn'; of finished as in
    -- session

CREATE TABLE charge ( -- a row for every window of every machine
  seq INTEGER PRIMARY KEY, session INTEGER, time_us INTEGER,
  lease INTEGER,   -- NULL: a job of an earlier session
  machine INTEGER, -- NULL: of an allocation, since the row before
  account INTEGER, -- 0: the run; else a share of that, for a workflow
  amount INTEGER); -- millionths

CREATE TABLE decision ( -- new configurations, and why
  seq INTEGER PRIMARY KEY, session INTEGER, time_us INTEGER,
  reason TEXT, feasible INTEGER, tasks_left INTEGER,
  tasks_paid INTEGER, budget_left INTEGER, windows INTEGER,
  machines TEXT, -- that go on, by cluster, a JSON array
  cause TEXT, -- what had changed; NULL: the reason says it
  tasks_open INTEGER, -- without a result
  -- when the bag was expected to be done, and what would be charged by
  -- then in all, millionths; NULL: not known
  end_us INTEGER, cost INTEGER,
  replaces INTEGER); -- the one before, of which nothing was carried out

CREATE TABLE parameter ( -- names of the values of a sweep
  id INTEGER PRIMARY KEY,
  name TEXT UNIQUE, -- in point.parameters
  place TEXT);      -- column of the view tasks

CREATE TABLE point ( -- a task of a sweep
  task INTEGER PRIMARY KEY, -- task.id
  parameters TEXT); -- its values, a JSON object

CREATE TABLE graph ( -- which task waits for which others
  session INTEGER,
  node INTEGER,  -- number of the task in the bag of the session; larger
                 -- ones stand for no task, but for a barrier
  any INTEGER,   -- 1: it starts when those that it waits for have ended,
                 -- however they have; 0: when they are done
  children TEXT, -- JSON array: the nodes that wait for it
  UNIQUE (session, node));

CREATE TABLE submission ( -- of a task that was added to an open bag
  task INTEGER PRIMARY KEY, -- task.id
  given TEXT);  -- what it was given beside its command, a JSON object:
                -- key, class, after (an array of numbers)

CREATE TABLE stderr ( -- the end of standard error of executions that
    -- failed, at most 4096 bytes of each
  seq INTEGER PRIMARY KEY, session INTEGER, time_us INTEGER,
  task INTEGER, attempt INTEGER, -- as in execution
  same INTEGER, -- if text is NULL: the seq of one of the same kind
  text TEXT, UNIQUE (task, attempt));

CREATE VIEW failed_tasks AS SELECT number, exit_status, signal, host,
    attempts, wall_s, line, command
  FROM tasks WHERE state = 'failed' ORDER BY number;

CREATE VIEW slowest_tasks AS SELECT number, state, wall_s, cpu_s, host,
    cluster, command
  FROM tasks WHERE wall_s IS NOT NULL ORDER BY wall_s DESC, number;

CREATE VIEW cost_by_cluster AS
  SELECT c.name AS cluster, count(DISTINCT l.session || '/' || m.id)
      AS machines, count(*) AS windows, sum(l.amount) / 1e6 AS charged
  FROM charge l JOIN machine m ON m.session = l.session
      AND m.id = l.machine
    JOIN cluster c ON c.session = m.session AND c.id = m.cluster
  WHERE l.account = 0 GROUP BY c.name ORDER BY c.name;

CREATE VIEW progress AS SELECT
    pending + running + done + failed + skipped AS tasks,
    done, failed, running, pending,
    (SELECT coalesce(sum(amount), 0) / 1e6 FROM charge
      WHERE account = 0) AS charged,
    (SELECT budget / 1e6 FROM session ORDER BY id DESC LIMIT 1)
      AS budget,
    (SELECT count(*) FROM session) AS sessions,
    (SELECT finish FROM session ORDER BY id DESC LIMIT 1) AS finish
  FROM now;
