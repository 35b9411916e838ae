#include "record/schema.h"

#include <stdio.h>

#include "bats/sched.h"
#include "record/write/record.h"
#include "util/now.h"

/* Users rely on the column comments for queries. They are stored in the file:
 * `.schema` of sqlite3 shows them. */
static const char tables_sql[] =
    "CREATE TABLE meta (\n"
    "  key TEXT PRIMARY KEY, -- 'created_us', 'version'\n"
    "  value);\n"

    "CREATE TABLE session ( -- one per start or resume of the run\n"
    "  id INTEGER PRIMARY KEY, -- 1, 2, ...\n"
    "  run_id TEXT, bag TEXT, version TEXT, policy TEXT,\n"
    "  seed INTEGER,\n"
    "  budget INTEGER,    -- millionths of the currency; NULL: unlimited\n"
    "  window_us INTEGER, time_scale REAL, currency TEXT,\n"
    "  resume TEXT,       -- 'resume', 'resume-failed', 'retry-failed' or "
    "'new'\n"
    "  options TEXT,      -- a JSON object: 'run' has those of the command "
    "line,\n"
    "                     -- 'engine' what the scheduling engine was given,\n"
    "                     -- 'promise' what the chosen schedule was to cost "
    "and\n"
    "                     -- take from chosen_us on: millionths, and virtual "
    "time\n"
    "  job TEXT,          -- of the batch system that it was in; NULL: none\n"
    "  life INTEGER,      -- lives of that job before\n"
    "  jobs_name TEXT,    -- of the jobs that it has bought; NULL: none\n"
    "  started_us INTEGER, -- real time since 1970\n"
    "  n_tasks INTEGER,\n"
    "  last_us INTEGER,   -- virtual time of its last commit; of the last\n"
    "                     -- session see the table now\n"
    "  ended_us INTEGER,  -- virtual time; NULL: it runs, or was killed\n"
    "  finish TEXT,       -- 'all done', 'budget', 'stopped', 'no machines';\n"
    "                     -- 'killed' is written by the next session\n"
    "  signal INTEGER, exit_code INTEGER);\n"

    "CREATE TABLE cluster (\n"
    "  session INTEGER, id INTEGER, name TEXT,\n"
    "  charge INTEGER, -- millionths, per machine and window\n"
    "  max INTEGER,    -- NULL: no limit\n"
    "  speed REAL,     -- that it was made to have; 1: as it is\n"
    "  UNIQUE (session, id));\n"

    "CREATE TABLE machine (\n"
    "  session INTEGER, id INTEGER, cluster INTEGER, slots INTEGER,\n"
    "  name TEXT, -- as the tasks see it in BATS_MACHINE\n"
    "  host TEXT,\n"
    "  state TEXT, -- 'waiting', 'held', 'parked', 'released' or 'lost'\n"
    "  since_us INTEGER, -- virtual time\n"
    "  quarantine INTEGER, -- 1: it is given no task\n"
    "  UNIQUE (session, id));\n"

    "CREATE TABLE task ( -- the text, written once\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  number INTEGER,  -- in the bag, from 1; the last one if it was removed\n"
    "  line INTEGER,    -- of the bag's file, where it was seen last\n"
    "  hash INTEGER,    -- FNV-1a, 64 bits, of what is run\n"
    "  command TEXT,\n"
    "  session INTEGER); -- the first that had it\n"

    /* In draw order, so that tasks that end one after the other share pages;
     * ordered by number, each would dirty a page of its own. */
    "CREATE TABLE task_now ( -- what has become of each task\n"
    "  place INTEGER PRIMARY KEY, -- in the order of the first draw\n"
    "  task INTEGER,       -- task.id\n"
    "  number INTEGER,     -- as in task\n"
    "  removed INTEGER,    -- 1: it is no longer in the bag\n"
    "  state INTEGER,      -- 0: pending, 1: done, 2: failed, 3: skipped;\n"
    "                      -- whether it runs is told by running\n"
    "  executions INTEGER, -- that ended, of any kind\n"
    "  attempts INTEGER,   -- those of them that count as tries\n"
    "  failures INTEGER, losses INTEGER, -- since the last result,\n"
    "  yields INTEGER,     -- or those in a row without progress\n"
    "  reason TEXT,        -- why it was skipped: 'parent', 'unpaid',\n"
    "                      -- 'withdrawn'\n"
    "  -- of the result; NULL: it has none\n"
    "  session INTEGER, machine INTEGER,\n"
    "  cluster TEXT,       -- its name\n"
    "  host TEXT,\n"
    "  exit_status INTEGER, signal INTEGER,\n"
    "  start_us INTEGER,   -- real time since 1970\n"
    "  wall_us INTEGER, cpu_us INTEGER, max_rss_kib INTEGER,\n"
    "  cost REAL);         -- millionths: of its machine for the time it ran,\n"
    "                      -- by the charge of a window\n"

    "CREATE TABLE now ( -- counts, written with each commit\n"
    "  id INTEGER PRIMARY KEY, -- 1\n"
    "  session INTEGER,\n"
    "  seq INTEGER,     -- the last one used\n"
    "  time_us INTEGER, -- virtual time, of the last event of the session\n"
    "  -- tasks in the bag, each in one of these:\n"
    "  pending INTEGER, running INTEGER, done INTEGER, failed INTEGER,\n"
    "  skipped INTEGER,\n"
    "  removed INTEGER, -- tasks that are no longer in the bag\n"
    "  preempted INTEGER, -- executions\n"
    "  ending INTEGER,  -- 1: told to drain or to stop\n"
    "  choosing INTEGER); -- 1: a schedule is to be chosen first\n"

    "CREATE TABLE cluster_now ( -- likewise\n"
    "  session INTEGER, cluster INTEGER,\n"
    "  machines INTEGER, held INTEGER, lost INTEGER, -- of this session\n"
    "  windows INTEGER, charged INTEGER, -- of all sessions, by its name;\n"
    "  done INTEGER, failed INTEGER, wall_us INTEGER, -- likewise: results\n"
    "  runtime_us INTEGER, -- the same in virtual time\n"
    "  UNIQUE (session, cluster));\n"

    "CREATE TABLE account (\n"
    "  session INTEGER,\n"
    "  id INTEGER, -- 0: the run; 1, ...: a workflow that has a budget\n"
    "  name TEXT,\n"
    "  budget INTEGER,  -- millionths, as the following; NULL: unlimited\n"
    "  before INTEGER,  -- charged by earlier sessions\n"
    "  charged INTEGER, -- by this one\n"
    "  held INTEGER,    -- for what may be charged yet; NULL: not known\n"
    "  deadline_us INTEGER, begin_us INTEGER, -- virtual time; NULL: none\n"
    "  UNIQUE (session, id));\n"

    "CREATE TABLE lease ( -- the contracts under which machines are held\n"
    "  id INTEGER PRIMARY KEY, session INTEGER,\n"
    "  machine INTEGER,   -- NULL: the job that the run is in\n"
    "  kind TEXT,         -- 'window', 'use', 'second', 'job', 'allocation'\n"
    "  state TEXT,        -- 'asked', 'begun', 'ending', 'ended', 'killed':\n"
    "                     -- with its session; a later one has taken over a job\n"
    "  mark TEXT,         -- of a job, as the batch system knows it\n"
    "  length_us INTEGER, -- a job may work for so long: virtual time, as\n"
    "  asked_us INTEGER, begun_us INTEGER,\n"
    "  until_us INTEGER,  -- the end of what is paid\n"
    "  ended_us INTEGER,\n"
    "  charged INTEGER,   -- millionths, as the following\n"
    "  held INTEGER,      -- of the run's account\n"
    "  if_killed INTEGER); -- is charged if the run is killed now\n"

    "CREATE TABLE stake ( -- what workflows hold for a lease\n"
    "  lease INTEGER, account INTEGER, held INTEGER,\n"
    "  UNIQUE (lease, account));\n"

    /* The log: seq is one counter over all tables below. */
    "CREATE TABLE running ( -- executions that were given to a machine and\n"
    "    -- have not ended; a task may have several\n"
    "  seq INTEGER PRIMARY KEY,\n"
    "  task INTEGER,    -- task.id\n"
    "  copy INTEGER,    -- replica number; 0: the original\n"
    "  machine INTEGER, slot INTEGER,\n"
    "  given_us INTEGER, -- virtual time\n"
    "  cancelled INTEGER); -- 1: told to stop, 2: for it has run too long\n"

    "CREATE TABLE execution ( -- executions that have ended\n"
    "  seq INTEGER PRIMARY KEY, session INTEGER,\n"
    "  task INTEGER,    -- task.id\n"
    "  attempt INTEGER, -- 1: the first of the run; NULL: it never began,\n"
    "                   -- or was lost\n"
    "  copy INTEGER,    -- replica number; 0: the original\n"
    "  machine INTEGER, slot INTEGER,\n"
    "  host TEXT,       -- NULL: that of the machine\n"
    "  given INTEGER,   -- the seq that it had in running\n"
    "  given_us INTEGER, ended_us INTEGER, runtime_us INTEGER, -- virtual\n"
    "  start_us INTEGER, -- real time since 1970\n"
    "  wall_us INTEGER, user_us INTEGER, system_us INTEGER,\n"
    "  max_rss_kib INTEGER,\n"
    "  exit_status INTEGER, signal INTEGER,\n"
    "  outcome INTEGER, -- 0: the task's result, 1: stopped by bats-mpi,\n"
    "      -- 2: failed and run again, 3: another replica was first,\n"
    "      -- 4: checkpointed and run again, 5: failed while another replica\n"
    "      -- went on, 6: lost with its machine; NULL: not known yet\n"
    "  cancelled INTEGER, -- as in running\n"
    "  out_bytes INTEGER, err_bytes INTEGER, -- written by the task\n"
    "  stream INTEGER,  -- --output stream: the rank in whose file they are,\n"
    "      -- stream-RUN_ID-RANK.out, the rank with 4 digits; and where in it\n"
    "  out_begin INTEGER, out_end INTEGER);\n"

    "CREATE TABLE happened ( -- all that is rare; what: joined lost drain\n"
    "    -- stop hold go shut chosen (value: place in the list offered) ends\n"
    "    -- (value: may work for so long) billed (value: millionths) closed\n"
    "    -- retired preempt-notice (value: is taken after so long) found\n"
    "    -- killed acquire (value: of a job: will work for so long) park\n"
    "    -- release quarantine readmit lose skip sampled finished notice (a\n"
    "    -- sentence), or idle: why a slot of the machine has no task\n"
    "    -- (value: until then). There is one of these for each machine, with\n"
    "    -- the latest. reserved: the machine is kept for the task (value: until\n"
    "    -- then); likewise one. Times in microseconds\n"
    "  seq INTEGER PRIMARY KEY, session INTEGER, time_us INTEGER,\n"
    "  what TEXT, machine INTEGER, task INTEGER, value INTEGER,\n"
    "  sentence TEXT); -- of skip: 'unpaid', 'withdrawn'; of finished as in\n"
    "    -- session\n"

    "CREATE TABLE charge ( -- a row for every window of every machine\n"
    "  seq INTEGER PRIMARY KEY, session INTEGER, time_us INTEGER,\n"
    "  lease INTEGER,   -- NULL: a job of an earlier session\n"
    "  machine INTEGER, -- NULL: of an allocation, since the row before\n"
    "  account INTEGER, -- 0: the run; else a share of that, for a workflow\n"
    "  amount INTEGER,  -- millionths\n"
    "  cushion INTEGER); -- part of it from the cushion\n"

    "CREATE TABLE decision ( -- new configurations, and why\n"
    "  seq INTEGER PRIMARY KEY, session INTEGER, time_us INTEGER,\n"
    "  reason TEXT, feasible INTEGER, tasks_left INTEGER,\n"
    "  tasks_paid INTEGER, budget_left INTEGER, windows INTEGER,\n"
    "  machines TEXT, -- that go on, by cluster, a JSON array\n"
    "  cause TEXT, -- what had changed; NULL: the reason says it\n"
    "  tasks_open INTEGER, -- without a result\n"
    "  -- when the bag was expected to be done, and what would be charged by\n"
    "  -- then in all, millionths; NULL: not known\n"
    "  end_us INTEGER, cost INTEGER,\n"
    "  replaces INTEGER); -- the one before, of which nothing was carried out\n"

    "CREATE TABLE parameter ( -- names of the values of a sweep\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  name TEXT UNIQUE, -- in point.parameters\n"
    "  place TEXT);      -- column of the view tasks\n"
    "CREATE TABLE point ( -- a task of a sweep\n"
    "  task INTEGER PRIMARY KEY, -- task.id\n"
    "  parameters TEXT); -- its values, a JSON object\n"

    "CREATE TABLE submission ( -- of a task that was added to an open bag\n"
    "  task INTEGER PRIMARY KEY, -- task.id\n"
    "  given TEXT);  -- what it was given beside its command, a JSON object:\n"
    "                -- key, class, after (an array of numbers)\n"

    "CREATE TABLE stderr ( -- the end of standard error of executions that\n"
    "    -- failed, at most 4096 bytes of each\n"
    "  seq INTEGER PRIMARY KEY, session INTEGER, time_us INTEGER,\n"
    "  task INTEGER, attempt INTEGER, -- as in execution\n"
    "  same INTEGER, -- if text is NULL: the seq of one of the same kind\n"
    "  text TEXT, UNIQUE (task, attempt));\n"

    "CREATE VIEW failed_tasks AS SELECT number, exit_status, signal, host,\n"
    "    attempts, wall_s, line, command\n"
    "  FROM tasks WHERE state = 'failed' ORDER BY number;\n"

    "CREATE VIEW slowest_tasks AS SELECT number, state, wall_s, cpu_s, host,\n"
    "    cluster, command\n"
    "  FROM tasks WHERE wall_s IS NOT NULL ORDER BY wall_s DESC, number;\n"

    "CREATE VIEW cost_by_cluster AS\n"
    "  SELECT c.name AS cluster, count(DISTINCT l.session || '/' || m.id)\n"
    "      AS machines, count(*) AS windows, sum(l.amount) / 1e6 AS charged,\n"
    "      total(l.cushion) / 1e6 AS from_cushion\n"
    "  FROM charge l JOIN machine m ON m.session = l.session\n"
    "      AND m.id = l.machine\n"
    "    JOIN cluster c ON c.session = m.session AND c.id = m.cluster\n"
    "  WHERE l.account = 0 GROUP BY c.name ORDER BY c.name;\n"

    "CREATE VIEW progress AS SELECT\n"
    "    pending + running + done + failed + skipped AS tasks,\n"
    "    done, failed, running, pending,\n"
    "    (SELECT coalesce(sum(amount), 0) / 1e6 FROM charge\n"
    "      WHERE account = 0) AS charged,\n"
    "    (SELECT budget / 1e6 FROM session ORDER BY id DESC LIMIT 1)\n"
    "      AS budget,\n"
    "    (SELECT count(*) FROM session) AS sessions,\n"
    "    (SELECT finish FROM session ORDER BY id DESC LIMIT 1) AS finish\n"
    "  FROM now;\n";

#define PARAMETERS "(SELECT parameters FROM point WHERE task = n.task)"

/* The view tasks, in two parts: columns for sweep parameters come between.
 * Columns that a query does not use are not looked up; with joins that would
 * hold only without GROUP BY. A task runs while it has no result of the
 * current session. */
#define OF_TASK(column)                                                       \
    "(SELECT " column " FROM task WHERE id = n.task) AS " column
static const char tasks_head[] =
    "CREATE VIEW tasks AS -- cost: of its machine for the time it ran, by the\n"
    "    -- charge of a window; further columns: the parameters of a sweep\n"
    "  SELECT n.number, CASE\n"
    "      WHEN n.removed THEN 'removed'\n"
    "      WHEN n.session IS NOT (SELECT session FROM now) AND\n"
    "        n.task IN (SELECT task FROM running) THEN 'running'\n"
    "      WHEN n.state = 0 THEN 'pending' WHEN n.state = 1 THEN 'done'\n"
    "      WHEN n.state = 2 THEN 'failed' ELSE 'skipped' END AS state,\n"
    "    n.attempts, n.exit_status, n.signal, n.wall_us / 1e6 AS wall_s,\n"
    "    n.cpu_us / 1e6 AS cpu_s, n.max_rss_kib, n.host, n.cluster,\n"
    "    n.start_us, n.reason, n.task AS id, n.cost / 1e6 AS cost,\n"
    "    " OF_TASK("line") ",\n"
                           "    " OF_TASK("command") ",\n"
                                                     "    " PARAMETERS
                                                     " AS parameters";
static const char tasks_tail[] = "\n  FROM task_now n;\n";

const char *const bats_schema_tables[] = {
    "meta",     "session", "cluster",     "machine",  "task",
    "task_now", "now",     "cluster_now", "account",  "lease",
    "stake",    "running", "execution",   "happened", "charge",
    "decision", "stderr",  "parameter",   "point",    "submission",
};
const size_t bats_schema_n_tables =
    sizeof bats_schema_tables / sizeof *bats_schema_tables;

const char *const bats_schema_events[] = {
    [BATS_EVENT_JOINED] = "joined",
    [BATS_EVENT_LOST] = "lost",
    [BATS_EVENT_DRAIN] = "drain",
    [BATS_EVENT_STOP] = "stop",
    [BATS_EVENT_CHOSEN] = "chosen",
    [BATS_EVENT_HOLD] = "hold",
    [BATS_EVENT_GO] = "go",
    [BATS_EVENT_ENDS] = "ends",
    [BATS_EVENT_BILLED] = "billed",
    [BATS_EVENT_CLOSED] = "closed",
    [BATS_EVENT_NOTICE] = "preempt-notice",
    [BATS_EVENT_KILLED] = "killed",
    [BATS_EVENT_FOUND] = "found",
    [BATS_EVENT_RETIRED] = "retired",
    [BATS_EVENT_SHUT] = "shut",
};

const char *const bats_schema_commands[] = {
    [BATS_COMMAND_ACQUIRE] = "acquire",
    [BATS_COMMAND_PARK] = "park",
    [BATS_COMMAND_RELEASE] = "release",
    [BATS_NOTICE_FINISHED] = "finished",
    [BATS_NOTICE_QUARANTINE] = "quarantine",
    [BATS_NOTICE_READMIT] = "readmit",
    [BATS_NOTICE_LOSE] = "lose",
    [BATS_NOTICE_SKIP] = "skip",
    [BATS_NOTICE_SAMPLED] = "sampled",
};

const char *const bats_schema_resumes[] = {
    [BATS_RECORD_NOT] = "new",
    [BATS_RECORD_RESUME] = "resume",
    [BATS_RECORD_RESUME_FAILED] = "resume-failed",
    [BATS_RECORD_RETRY_FAILED] = "retry-failed",
};

const char *const bats_schema_finishes[] = {
    [BATS_FINISH_NOT_YET] = "not yet",
    [BATS_FINISH_ALL_DONE] = "all done",
    [BATS_FINISH_BUDGET] = "budget",
    [BATS_FINISH_STOPPED] = "stopped",
    [BATS_FINISH_NO_MACHINES] = "no machines",
    [BATS_FINISH_HALTED] = "halted",
    [BATS_FINISH_TIME_LIMIT] = "deadline",
    [BATS_FINISH_SAMPLED] = "sampled",
    [BATS_FINISH_TOO_LATE] = "too late",
};

/* The parameters' columns, for free(): "" if none; NULL: out of memory or a
 * damaged table. */
static char *parameter_columns(struct bats_db *db)
{
    sqlite3_stmt *s;
    char *columns = sqlite3_mprintf("");
    if (bats_db_prepare(db,
                        "SELECT name, place FROM parameter "
                        "WHERE name NOT NULL AND place NOT NULL ORDER BY id",
                        &s, NULL) < 0)
        return columns;
    while (columns != NULL && sqlite3_step(s) == SQLITE_ROW) {
        char *more = sqlite3_mprintf(
            "%s,\n    json_extract(" PARAMETERS ", '$.\"%q\"') AS \"%w\"",
            columns, sqlite3_column_text(s, 0), sqlite3_column_text(s, 1));
        sqlite3_free(columns);
        columns = more;
    }
    sqlite3_finalize(s);
    return columns;
}

int bats_schema_view_tasks(struct bats_db *db, struct bats_error *err)
{
    char *columns = parameter_columns(db);
    char *sql = columns == NULL
                    ? NULL
                    : sqlite3_mprintf("DROP VIEW IF EXISTS main.tasks; %s%s%s",
                                      tasks_head, columns, tasks_tail);
    int rc = sql == NULL ? bats_no_memory(err) : bats_db_run(db, sql, err);
    sqlite3_free(columns);
    sqlite3_free(sql);
    return rc;
}

int bats_schema_make(struct bats_db *db, struct bats_error *err)
{
    char head[256];

    snprintf(head, sizeof head,
             "BEGIN; PRAGMA application_id = %d; PRAGMA user_version = %d;",
             BATS_SCHEMA_APPLICATION, BATS_SCHEMA_VERSION);
    int rc = bats_db_run(db, head, err);
    if (rc == 0)
        rc = bats_db_run(db, tables_sql, err);
    if (rc == 0)
        rc = bats_schema_view_tasks(db, err);
    snprintf(head, sizeof head,
             "INSERT INTO meta VALUES ('created_us', %lld), "
             "('version', '" BATS_VERSION "'); COMMIT;"
             "PRAGMA wal_checkpoint(TRUNCATE);",
             (long long)bats_now_us(CLOCK_REALTIME));
    if (rc == 0)
        rc = bats_db_run(db, head, err);
    return rc;
}
