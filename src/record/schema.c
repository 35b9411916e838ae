#include "record/schema.h"

#include <stdio.h>
#include <time.h>

#include "record/record.h"

#ifndef BATS_VERSION
#define BATS_VERSION "0.1"
#endif

/* What is stated of a column here is what people may rely on in queries; the
 * comments are kept in the file: `.schema` of sqlite3 shows them. */
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
    "                     -- 'engine' what the scheduling engine was given\n"
    "  started_us INTEGER, -- real time since 1970\n"
    "  n_tasks INTEGER,\n"
    "  ended_us INTEGER,  -- bag time; NULL: it runs, or was killed\n"
    "  finish TEXT,       -- 'all done', 'budget', 'stopped', 'no machines'\n"
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
    "  host TEXT, UNIQUE (session, id));\n"

    "CREATE TABLE task (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  number INTEGER,  -- in the bag of the first session that had it, from "
    "1\n"
    "  line INTEGER,    -- of the bag's file, where it was seen last\n"
    "  hash INTEGER,    -- FNV-1a, 64 bits, of the command\n"
    "  command TEXT,\n"
    "  session INTEGER); -- the first that had it\n"

    "CREATE TABLE place ( -- where a bag that was edited has a task since then\n"
    "  session INTEGER, task INTEGER, -- task.id\n"
    "  number INTEGER, -- NULL: no longer in the bag\n"
    "  UNIQUE (task, session));\n"

    /* The log: seq is one counter over all tables below. */
    "CREATE TABLE event ( -- what the engine was told\n"
    "  seq INTEGER PRIMARY KEY, session INTEGER,\n"
    "  time_us INTEGER, -- bag time since the session began\n"
    "  type TEXT,       -- joined lost done failed preempted yielded tick\n"
    "                   -- drain stop; chosen: slot is the place of the\n"
    "                   -- offer, runtime_us its budget or deadline, if any\n"
    "  machine INTEGER, slot INTEGER,\n"
    "  task INTEGER,    -- task.id\n"
    "  runtime_us INTEGER);\n"

    "CREATE TABLE command ( -- what it answered\n"
    "  seq INTEGER PRIMARY KEY, session INTEGER, time_us INTEGER,\n"
    "  type TEXT, -- acquire run copy (run the task here, too) cancel park\n"
    "             -- release quarantine lose (the task, with the machine)\n"
    "             -- sampled finished\n"
    "  machine INTEGER, slot INTEGER, task INTEGER,\n"
    "  copy INTEGER, -- copy: the how-manieth\n"
    "  why TEXT); -- cancel: 'time-out' or NULL; finished: as in session\n"

    "CREATE TABLE attempt ( -- executions that came to an end\n"
    "  seq INTEGER PRIMARY KEY, session INTEGER, time_us INTEGER,\n"
    "  task INTEGER, attempt INTEGER, machine INTEGER,\n"
    "  host TEXT,        -- NULL: that of the machine\n"
    "  start_us INTEGER, -- real time since 1970\n"
    "  wall_us INTEGER, user_us INTEGER, system_us INTEGER,\n"
    "  max_rss_kib INTEGER, exit_status INTEGER, signal INTEGER,\n"
    "  outcome INTEGER, -- 0: the task's result, 1: stopped by bats-mpi,\n"
    "                   -- 2: failed and run again, 3: another copy of the\n"
    "                   -- task was first, 4: yielded and run again,\n"
    "                   -- 5: failed beside another copy, which went on\n"
    "  out_bytes INTEGER, err_bytes INTEGER, -- written by the task\n"
    "  stream INTEGER, -- --output stream: the rank in whose file they are,\n"
    "                  -- stream-RUN_ID-RANK.out, the rank with 4 digits;\n"
    "  out_begin INTEGER, out_end INTEGER); -- and where in that\n"

    "CREATE TABLE ledger ( -- a row for every window of every machine\n"
    "  seq INTEGER PRIMARY KEY, session INTEGER, time_us INTEGER,\n"
    "  machine INTEGER, amount INTEGER, -- millionths\n"
    "  cushion INTEGER); -- so much of it out of the cushion\n"

    "CREATE TABLE decision ( -- new configurations, and why\n"
    "  seq INTEGER PRIMARY KEY, session INTEGER, time_us INTEGER,\n"
    "  reason TEXT, feasible INTEGER, tasks_left INTEGER,\n"
    "  tasks_paid INTEGER, budget_left INTEGER, windows INTEGER,\n"
    "  machines TEXT); -- by cluster, a JSON array\n"

    "CREATE TABLE notice ( -- the unusual, in a sentence\n"
    "  seq INTEGER PRIMARY KEY, session INTEGER, time_us INTEGER,\n"
    "  machine INTEGER, task INTEGER, sentence TEXT);\n";

static const char views_sql[] =
    "CREATE VIEW result AS -- the one that counts, of each task that ended\n"
    "  SELECT a.task, a.seq, n.attempts,\n"
    "    exit_status != 0 OR signal != 0 AS failed, exit_status, signal,\n"
    "    session, machine, host, start_us, wall_us, user_us, system_us,\n"
    "    max_rss_kib FROM attempt a JOIN (\n"
    "      SELECT max(CASE outcome WHEN 0 THEN seq END) AS seq,\n"
    "        sum(outcome NOT IN (1, 3)) AS attempts FROM attempt GROUP BY task) n\n"
    "    ON a.seq = n.seq;\n"

    "CREATE VIEW running AS -- executions, when the record was last written;\n"
    "                       -- a task may have several\n"
    "  SELECT task, machine, slot, since_us FROM (\n"
    "    SELECT task, machine, slot, max(seq) AS seq, since_us, type FROM (\n"
    "      SELECT task, machine, slot, seq, time_us AS since_us, type\n"
    "        FROM command WHERE type IN ('run', 'copy') AND session =\n"
    "          (SELECT max(id) FROM session)\n"
    "      UNION ALL SELECT task, machine, slot, seq, time_us, type\n"
    "        FROM event\n"
    "        WHERE type IN ('done', 'failed', 'preempted', 'yielded')\n"
    "          AND session = (SELECT max(id) FROM session))\n"
    "    GROUP BY task, machine, slot)\n"
    "  WHERE type IN ('run', 'copy') AND machine NOT IN\n"
    "    (SELECT machine FROM event WHERE type = 'lost' AND session =\n"
    "      (SELECT max(id) FROM session))\n"
    "    AND task NOT IN (SELECT task FROM attempt WHERE outcome = 0 AND\n"
    "      session = (SELECT max(id) FROM session))\n"
    "    AND (SELECT ended_us IS NULL FROM session ORDER BY id DESC LIMIT 1);"
    "\n"

    "CREATE VIEW bag AS -- every task with its number, the present one if it "
    "has one\n"
    "  SELECT id AS task, coalesce(p.number, t.number) AS number,\n"
    "    p.task IS NOT NULL AND p.number IS NULL AS removed\n"
    "  FROM task t LEFT JOIN (SELECT task, number, max(session) FROM place\n"
    "    GROUP BY task) p ON p.task = t.id;\n"

    /* Not by way of the view result: SQLite would look for a task in all of
     * its rows. */
    "CREATE VIEW tasks AS\n"
    "  SELECT b.number, CASE\n"
    "      WHEN b.removed THEN 'removed'\n"
    "      WHEN t.id IN (SELECT task FROM running) THEN 'running'\n"
    "      WHEN r.seq IS NULL THEN 'pending'\n"
    "      WHEN r.exit_status != 0 OR r.signal != 0 THEN 'failed'\n"
    "      ELSE 'done' END AS state,\n"
    "    CASE WHEN r.seq IS NULL THEN 0 ELSE n.attempts END AS attempts,\n"
    "    r.exit_status, r.signal, r.wall_us / 1e6 AS wall_s,\n"
    "    (r.user_us + r.system_us) / 1e6 AS cpu_s,\n"
    "    r.max_rss_kib, coalesce(r.host, m.host) AS host,\n"
    "    c.name AS cluster, r.start_us, t.line, t.command, t.id\n"
    "  FROM task t JOIN bag b ON b.task = t.id\n"
    "    LEFT JOIN (SELECT task, max(CASE outcome WHEN 0 THEN seq END) AS seq,\n"
    "        sum(outcome NOT IN (1, 3)) AS attempts\n"
    "      FROM attempt GROUP BY task) n ON n.task = t.id\n"
    "    LEFT JOIN attempt r ON r.seq = n.seq\n"
    "    LEFT JOIN machine m ON m.session = r.session AND m.id = r.machine\n"
    "    LEFT JOIN cluster c ON c.session = m.session AND c.id = m.cluster;\n"

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
    "  FROM ledger l JOIN machine m ON m.session = l.session\n"
    "      AND m.id = l.machine\n"
    "    JOIN cluster c ON c.session = m.session AND c.id = m.cluster\n"
    "  GROUP BY c.name ORDER BY c.name;\n"

    "CREATE VIEW progress AS SELECT\n"
    "    count(*) FILTER (WHERE state != 'removed') AS tasks,\n"
    "    count(*) FILTER (WHERE state = 'done') AS done,\n"
    "    count(*) FILTER (WHERE state = 'failed') AS failed,\n"
    "    count(*) FILTER (WHERE state = 'running') AS running,\n"
    "    count(*) FILTER (WHERE state = 'pending') AS pending,\n"
    "    (SELECT coalesce(sum(amount), 0) / 1e6 FROM ledger) AS charged,\n"
    "    (SELECT budget / 1e6 FROM session ORDER BY id DESC LIMIT 1)\n"
    "      AS budget,\n"
    "    (SELECT count(*) FROM session) AS sessions,\n"
    "    (SELECT finish FROM session ORDER BY id DESC LIMIT 1) AS finish\n"
    "  FROM tasks;\n";

const char *const bats_schema_tables[] = {
    "meta",  "session", "cluster", "machine", "task",     "place",
    "event", "command", "attempt", "ledger",  "decision", "notice",
};
const size_t bats_schema_n_tables =
    sizeof bats_schema_tables / sizeof *bats_schema_tables;

const char *const bats_schema_events[] = {
    [BATS_EVENT_JOINED] = "joined",       [BATS_EVENT_LOST] = "lost",
    [BATS_EVENT_DONE] = "done",           [BATS_EVENT_FAILED] = "failed",
    [BATS_EVENT_PREEMPTED] = "preempted", [BATS_EVENT_TICK] = "tick",
    [BATS_EVENT_DRAIN] = "drain",         [BATS_EVENT_STOP] = "stop",
    [BATS_EVENT_YIELDED] = "yielded",     [BATS_EVENT_CHOSEN] = "chosen",
};

const char *const bats_schema_commands[] = {
    [BATS_COMMAND_ACQUIRE] = "acquire",
    [BATS_COMMAND_RUN] = "run",
    [BATS_COMMAND_CANCEL] = "cancel",
    [BATS_COMMAND_PARK] = "park",
    [BATS_COMMAND_RELEASE] = "release",
    [BATS_COMMAND_FINISHED] = "finished",
    [BATS_COMMAND_QUARANTINE] = "quarantine",
    [BATS_COMMAND_LOSE] = "lose",
    [BATS_COMMAND_SAMPLED] = "sampled",
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
    [BATS_FINISH_DEADLINE] = "deadline",
    [BATS_FINISH_SAMPLED] = "sampled",
    [BATS_FINISH_SHRINK] = "shrink",
};

int bats_schema_make(struct bats_db *db, struct bats_error *err)
{
    struct timespec now;
    char head[256];

    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(head, sizeof head,
             "BEGIN; PRAGMA application_id = %d; PRAGMA user_version = %d;",
             BATS_SCHEMA_APPLICATION, BATS_SCHEMA_VERSION);
    int rc = bats_db_run(db, head, err);
    if (rc == 0)
        rc = bats_db_run(db, tables_sql, err);
    if (rc == 0)
        rc = bats_db_run(db, views_sql, err);
    snprintf(head, sizeof head,
             "INSERT INTO meta VALUES ('created_us', %lld), "
             "('version', '" BATS_VERSION "'); COMMIT;"
             "PRAGMA wal_checkpoint(TRUNCATE);",
             (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    if (rc == 0)
        rc = bats_db_run(db, head, err);
    return rc;
}

/* Version 1 had other columns for the place of the output, and never filled
 * them; they stay as they are. */
static const char from_1_to_2[] =
    "DROP VIEW IF EXISTS progress; DROP VIEW IF EXISTS cost_by_cluster;"
    "DROP VIEW IF EXISTS slowest_tasks; DROP VIEW IF EXISTS failed_tasks;"
    "DROP VIEW IF EXISTS tasks; DROP VIEW IF EXISTS bag;"
    "DROP VIEW IF EXISTS running; DROP VIEW IF EXISTS result;"
    "ALTER TABLE attempt ADD COLUMN out_bytes INTEGER;"
    "ALTER TABLE attempt ADD COLUMN err_bytes INTEGER;"
    "ALTER TABLE attempt ADD COLUMN stream INTEGER;"
    "ALTER TABLE attempt ADD COLUMN out_begin INTEGER;"
    "ALTER TABLE attempt ADD COLUMN out_end INTEGER;"
    "ALTER TABLE ledger ADD COLUMN cushion INTEGER;";

int bats_schema_upgrade(struct bats_db *db, struct bats_error *err)
{
    int64_t version;
    int rc = bats_db_integer(db, "PRAGMA user_version", &version, err);

    if (rc < 0 || version >= BATS_SCHEMA_VERSION)
        return rc;
    rc = bats_db_run(db, "BEGIN; PRAGMA user_version = 2;", err);
    if (rc == 0)
        rc = bats_db_run(db, from_1_to_2, err);
    if (rc == 0)
        rc = bats_db_run(db, views_sql, err);
    return rc < 0 ? rc : bats_db_run(db, "COMMIT", err);
}
