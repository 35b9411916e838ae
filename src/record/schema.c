#include "record/schema.h"

#include <stdio.h>

#include "record/write/record.h"
#include "util/now.h"

#ifndef BATS_VERSION
#define BATS_VERSION "0.1"
#endif

/* People may rely on the comments of the columns in queries. They are stored
 * in the file: `.schema` of sqlite3 shows them. */
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
    "  started_us INTEGER, -- real time since 1970\n"
    "  n_tasks INTEGER,\n"
    "  ended_us INTEGER,  -- virtual time; NULL: it runs, or was killed\n"
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

    "CREATE TABLE place ( -- number of a task in a bag that was edited\n"
    "  session INTEGER, task INTEGER, -- task.id\n"
    "  number INTEGER, -- NULL: no longer in the bag\n"
    "  UNIQUE (task, session));\n"

    /* The log: seq is one counter over all tables below. */
    "CREATE TABLE ledger ( -- a row for every window of every machine\n"
    "  seq INTEGER PRIMARY KEY, session INTEGER, time_us INTEGER,\n"
    "  machine INTEGER, -- NULL: of an allocation, since the row before\n"
    "  amount INTEGER, -- millionths\n"
    "  -- part of it from the cushion; NULL: not known\n"
    "  cushion INTEGER);\n"

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

    "CREATE TABLE notice ( -- the unusual, in a sentence\n"
    "  seq INTEGER PRIMARY KEY, session INTEGER, time_us INTEGER,\n"
    "  machine INTEGER, task INTEGER, sentence TEXT);\n";

static const char parameter_sql[] =
    "CREATE TABLE parameter ( -- names of the values of a sweep\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  name TEXT UNIQUE, -- in point.parameters\n"
    "  place TEXT);      -- column of the view tasks\n"
    "CREATE TABLE point ( -- a task of a sweep\n"
    "  task INTEGER PRIMARY KEY, -- task.id\n"
    "  parameters TEXT); -- its values, a JSON object\n";

static const char stderr_sql[] =
    "CREATE TABLE stderr ( -- the end of standard error of executions that\n"
    "    -- failed, at most 4096 bytes of each\n"
    "  seq INTEGER PRIMARY KEY, session INTEGER, time_us INTEGER,\n"
    "  task INTEGER, attempt INTEGER, -- as in attempt\n"
    "  same INTEGER, -- if text is NULL: the seq of one of the same kind\n"
    "  text TEXT, UNIQUE (task, attempt));\n";

static const char history_sql[] =
    "CREATE TABLE history ( -- the log of frequent events, a row\n"
    "    -- for a group of it. Ask the views event, command and attempt.\n"
    "  seq INTEGER PRIMARY KEY, -- of the last one in the group\n"
    "  session INTEGER,\n"
    "  events TEXT, commands TEXT, attempts TEXT); -- or NULL: each a JSON\n"
    "    -- array of arrays; the views name the columns\n";

/* With the cast, SQLite can compare a value with a column in a join without
 * scanning every row. If the arrays were not materialized, it would expand
 * them again for every column. */
static const char packed_sql[] =
    "CREATE VIEW event AS -- events that the engine heard, in virtual time\n"
    "    -- since the session began. type: joined lost done failed preempted\n"
    "    -- yielded tick drain stop hold go; chosen: offer is its place in the\n"
    "    -- list, allowed its budget (millionths) or deadline (us), if any.\n"
    "    -- Of machines that are jobs: ends (may work for runtime_us), billed\n"
    "    -- (there: millionths), closed, retired (gets no more tasks). notice:\n"
    "    -- is taken after runtime_us.\n"
    "    -- killed: the run was, and what it held has been charged since.\n"
    "    -- found: a worker job has run the task since an earlier session.\n"
    "    -- task: task.id\n"
    "  WITH e AS MATERIALIZED (SELECT h.session, j.value\n"
    "    FROM history h, json_each(h.events) j)\n"
    "  SELECT CAST(json_extract(value, '$[0]') AS INTEGER) AS seq,\n"
    "    session,\n"
    "    CAST(json_extract(value, '$[1]') AS INTEGER) AS time_us,\n"
    "    json_extract(value, '$[2]') AS type,\n"
    "    CAST(json_extract(value, '$[3]') AS INTEGER) AS machine,\n"
    "    CAST(json_extract(value, '$[4]') AS INTEGER) AS slot,\n"
    "    CAST(json_extract(value, '$[5]') AS INTEGER) AS task,\n"
    "    CAST(json_extract(value, '$[6]') AS INTEGER) AS runtime_us,\n"
    "    CAST(json_extract(value, '$[7]') AS INTEGER) AS offer,\n"
    "    CAST(json_extract(value, '$[8]') AS INTEGER) AS allowed\n"
    "  FROM e;\n"

    "CREATE VIEW command AS -- commands of the engine. type: acquire run copy\n"
    "    -- (run a replica here) cancel park release quarantine readmit\n"
    "    -- lose (the task, with the machine) skip (the task) sampled finished, share\n"
    "    -- (of what the machine was charged, why millionths are for workflow\n"
    "    -- number copy). copy: replica number\n"
    "    -- (0: original). why: of a cancel 'time-out' or NULL; of finished\n"
    "    -- as in session; of skip 'unpaid': its workflow lacks the money; of\n"
    "    -- the acquire of a job: microseconds for which it will work\n"
    "  WITH e AS MATERIALIZED (SELECT h.session, j.value\n"
    "    FROM history h, json_each(h.commands) j)\n"
    "  SELECT CAST(json_extract(value, '$[0]') AS INTEGER) AS seq,\n"
    "    session,\n"
    "    CAST(json_extract(value, '$[1]') AS INTEGER) AS time_us,\n"
    "    json_extract(value, '$[2]') AS type,\n"
    "    CAST(json_extract(value, '$[3]') AS INTEGER) AS machine,\n"
    "    CAST(json_extract(value, '$[4]') AS INTEGER) AS slot,\n"
    "    CAST(json_extract(value, '$[5]') AS INTEGER) AS task,\n"
    "    CAST(json_extract(value, '$[6]') AS INTEGER) AS copy,\n"
    "    json_extract(value, '$[7]') AS why\n"
    "  FROM e;\n"

    "CREATE VIEW attempt AS -- executions that came to an end\n"
    "  WITH e AS MATERIALIZED (SELECT h.session, j.value\n"
    "    FROM history h, json_each(h.attempts) j)\n"
    "  SELECT CAST(json_extract(value, '$[0]') AS INTEGER) AS seq,\n"
    "    session,\n"
    "    CAST(json_extract(value, '$[1]') AS INTEGER) AS time_us,\n"
    "    CAST(json_extract(value, '$[2]') AS INTEGER) AS task,\n"
    "    CAST(json_extract(value, '$[3]') AS INTEGER) AS attempt,\n"
    "    CAST(json_extract(value, '$[4]') AS INTEGER) AS machine,\n"
    "    json_extract(value, '$[5]') AS host,\n"
    "      -- NULL: that of the machine\n"
    "    CAST(json_extract(value, '$[6]') AS INTEGER) AS start_us,\n"
    "      -- real time since 1970\n"
    "    CAST(json_extract(value, '$[7]') AS INTEGER) AS wall_us,\n"
    "    CAST(json_extract(value, '$[8]') AS INTEGER) AS user_us,\n"
    "    CAST(json_extract(value, '$[9]') AS INTEGER) AS system_us,\n"
    "    CAST(json_extract(value, '$[10]') AS INTEGER) AS max_rss_kib,\n"
    "    CAST(json_extract(value, '$[11]') AS INTEGER) AS exit_status,\n"
    "    CAST(json_extract(value, '$[12]') AS INTEGER) AS signal,\n"
    "    CAST(json_extract(value, '$[13]') AS INTEGER) AS outcome,\n"
    "      -- 0: the task's result, 1: stopped by bats-mpi, 2: failed and run\n"
    "      -- again, 3: another replica was first, 4: checkpointed\n"
    "      -- and run again, 5: failed while another replica went on\n"
    "    CAST(json_extract(value, '$[14]') AS INTEGER) AS out_bytes,\n"
    "    CAST(json_extract(value, '$[15]') AS INTEGER) AS err_bytes,\n"
    "      -- written by the task\n"
    "    CAST(json_extract(value, '$[16]') AS INTEGER) AS stream,\n"
    "      -- --output stream: the rank in whose file they are,\n"
    "      -- stream-RUN_ID-RANK.out, the rank with 4 digits; and where in that\n"
    "    CAST(json_extract(value, '$[17]') AS INTEGER) AS out_begin,\n"
    "    CAST(json_extract(value, '$[18]') AS INTEGER) AS out_end\n"
    "  FROM e;\n";

static const char views_sql[] =
    /* With max(), SQLite takes the other columns from the same row. */
    "CREATE VIEW result AS -- the attempt that counts, per task that ended\n"
    "  SELECT task, seq, attempts, exit_status != 0 OR signal != 0 AS failed,\n"
    "    exit_status, signal, session, machine, host, start_us, wall_us,\n"
    "    user_us, system_us, max_rss_kib FROM (\n"
    "      SELECT task, max(CASE outcome WHEN 0 THEN seq END) AS seq,\n"
    "        sum(outcome NOT IN (1, 3)) AS attempts, exit_status, signal,\n"
    "        session, machine, host, start_us, wall_us, user_us, system_us,\n"
    "        max_rss_kib FROM attempt GROUP BY task)\n"
    "  WHERE seq IS NOT NULL;\n"

    "CREATE VIEW running AS -- executions, when the record was last written;\n"
    "                       -- a task may have several\n"
    "  SELECT task, machine, slot, since_us FROM (\n"
    "    SELECT task, machine, slot, max(seq) AS seq, since_us, type FROM (\n"
    "      SELECT task, machine, slot, seq, time_us AS since_us, type\n"
    "        FROM command WHERE type IN ('run', 'copy') AND session =\n"
    "          (SELECT max(id) FROM session) AND (SELECT ended_us IS NULL\n"
    "            FROM session ORDER BY id DESC LIMIT 1)\n"
    "      UNION ALL SELECT task, machine, slot, seq, time_us, type\n"
    "        FROM event\n"
    "        WHERE type IN ('done', 'failed', 'preempted', 'yielded')\n"
    "          AND session = (SELECT max(id) FROM session) AND\n"
    "          (SELECT ended_us IS NULL FROM session ORDER BY id DESC\n"
    "            LIMIT 1))\n"
    "    GROUP BY task, machine, slot)\n"
    "    LEFT JOIN (SELECT machine AS gone, max(seq) AS gone_seq FROM event\n"
    "      WHERE type = 'lost' AND session = (SELECT max(id) FROM session)\n"
    "      GROUP BY machine) ON gone = machine\n"
    "  WHERE type IN ('run', 'copy') AND seq > coalesce(gone_seq, 0)\n"
    "    AND task NOT IN (SELECT task FROM attempt WHERE outcome = 0 AND\n"
    "      session = (SELECT max(id) FROM session));\n"

    "CREATE VIEW bag AS -- every task with its number, the present one if it "
    "has one\n"
    "  SELECT id AS task, coalesce(p.number, t.number) AS number,\n"
    "    p.task IS NOT NULL AND p.number IS NULL AS removed\n"
    "  FROM task t LEFT JOIN (SELECT task, number, max(session) FROM place\n"
    "    GROUP BY task) p ON p.task = t.id;\n"

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
    "    coalesce(sum(n) FILTER (WHERE state != 'removed'), 0) AS tasks,\n"
    "    coalesce(sum(n) FILTER (WHERE state = 'done'), 0) AS done,\n"
    "    coalesce(sum(n) FILTER (WHERE state = 'failed'), 0) AS failed,\n"
    "    coalesce(sum(n) FILTER (WHERE state = 'running'), 0) AS running,\n"
    "    coalesce(sum(n) FILTER (WHERE state = 'pending'), 0) AS pending,\n"
    "    (SELECT coalesce(sum(amount), 0) / 1e6 FROM ledger) AS charged,\n"
    "    (SELECT budget / 1e6 FROM session ORDER BY id DESC LIMIT 1)\n"
    "      AS budget,\n"
    "    (SELECT count(*) FROM session) AS sessions,\n"
    "    (SELECT finish FROM session ORDER BY id DESC LIMIT 1) AS finish\n"
    "  FROM (SELECT state, count(*) AS n FROM tasks GROUP BY state);\n";

/* The view tasks, in two parts: columns for the parameters of a sweep come
 * between. */
static const char tasks_head[] =
    "CREATE VIEW tasks AS -- cost: of its machine for the time it ran, by the\n"
    "    -- charge of a window; further columns: the parameters of a sweep\n"
    "  WITH fresh AS MATERIALIZED (SELECT first, last FROM (\n"
    "    SELECT key, value AS first, lead(value) OVER (ORDER BY key) AS last\n"
    "    FROM json_each((SELECT json_extract(options, '$.engine.fresh')\n"
    "      FROM session ORDER BY id DESC LIMIT 1))) WHERE key % 2 = 0)\n"
    "  SELECT b.number, CASE\n"
    "      WHEN b.removed THEN 'removed'\n"
    "      WHEN u.task IS NOT NULL THEN 'running'\n"
    "      WHEN r.seq IS NULL THEN\n"
    "        CASE WHEN k.task IS NOT NULL THEN 'skipped'\n"
    "          WHEN EXISTS (SELECT 1 FROM fresh\n"
    "            WHERE b.number - 1 BETWEEN first AND last) THEN 'done'\n"
    "          ELSE 'pending' END\n"
    "      WHEN r.failed THEN 'failed'\n"
    "      ELSE 'done' END AS state,\n"
    "    coalesce(r.attempts, 0) AS attempts,\n"
    "    r.exit_status, r.signal, r.wall_us / 1e6 AS wall_s,\n"
    "    (r.user_us + r.system_us) / 1e6 AS cpu_s,\n"
    "    r.max_rss_kib, coalesce(r.host, m.host) AS host,\n"
    "    c.name AS cluster, r.start_us, t.line, t.command, t.id,\n"
    "    r.wall_us * s.time_scale / s.window_us * c.charge / m.slots / 1e6\n"
    "      AS cost, v.parameters";
static const char tasks_tail[] =
    "\n"
    "  FROM task t JOIN bag b ON b.task = t.id\n"
    "    LEFT JOIN (SELECT DISTINCT task FROM running) u ON u.task = t.id\n"
    "    LEFT JOIN result r ON r.task = t.id\n"
    "    LEFT JOIN (SELECT DISTINCT task FROM command WHERE type = 'skip'\n"
    "      AND session = (SELECT max(id) FROM session)) k ON k.task = t.id\n"
    "    LEFT JOIN point v ON v.task = t.id\n"
    "    LEFT JOIN session s ON s.id = r.session\n"
    "    LEFT JOIN machine m ON m.session = r.session AND m.id = r.machine\n"
    "    LEFT JOIN cluster c ON c.session = m.session AND c.id = m.cluster;\n";

const char *const bats_schema_tables[] = {
    "meta",   "session",   "cluster", "machine",  "task",
    "place",  "history",   "ledger",  "decision", "notice",
    "stderr", "parameter", "point",
};
const size_t bats_schema_n_tables =
    sizeof bats_schema_tables / sizeof *bats_schema_tables;

const char *const bats_schema_events[] = {
    [BATS_EVENT_JOINED] = "joined",       [BATS_EVENT_LOST] = "lost",
    [BATS_EVENT_DONE] = "done",           [BATS_EVENT_FAILED] = "failed",
    [BATS_EVENT_PREEMPTED] = "preempted", [BATS_EVENT_TICK] = "tick",
    [BATS_EVENT_DRAIN] = "drain",         [BATS_EVENT_STOP] = "stop",
    [BATS_EVENT_YIELDED] = "yielded",     [BATS_EVENT_CHOSEN] = "chosen",
    [BATS_EVENT_HOLD] = "hold",           [BATS_EVENT_GO] = "go",
    [BATS_EVENT_ENDS] = "ends",           [BATS_EVENT_BILLED] = "billed",
    [BATS_EVENT_CLOSED] = "closed",       [BATS_EVENT_NOTICE] = "notice",
    [BATS_EVENT_KILLED] = "killed",       [BATS_EVENT_FOUND] = "found",
    [BATS_EVENT_RETIRED] = "retired",
};

const char *const bats_schema_commands[] = {
    [BATS_COMMAND_ACQUIRE] = "acquire",
    [BATS_COMMAND_RUN] = "run",
    [BATS_COMMAND_CANCEL] = "cancel",
    [BATS_COMMAND_PARK] = "park",
    [BATS_COMMAND_RELEASE] = "release",
    [BATS_NOTICE_FINISHED] = "finished",
    [BATS_NOTICE_QUARANTINE] = "quarantine",
    [BATS_NOTICE_READMIT] = "readmit",
    [BATS_NOTICE_LOSE] = "lose",
    [BATS_NOTICE_SKIP] = "skip",
    [BATS_NOTICE_SHARE] = "share",
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

/* The columns of the parameters, for free(): "" if there are none, NULL: out of
 * memory or a damaged table. */
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
            "%s,\n    json_extract(v.parameters, '$.\"%q\"') AS \"%w\"",
            columns, sqlite3_column_text(s, 0), sqlite3_column_text(s, 1));
        sqlite3_free(columns);
        columns = more;
    }
    sqlite3_finalize(s);
    return columns;
}

/* Makes the view `begin`, the columns of the parameters, `end`. */
static int make_view(struct bats_db *db, const char *begin, const char *end,
                     struct bats_error *err)
{
    char *columns = parameter_columns(db);
    char *sql = columns == NULL
                    ? NULL
                    : sqlite3_mprintf("%s%s%s", begin, columns, end);
    int rc = sql == NULL ? bats_error_set(err, BATS_ENOMEM, "out of memory")
                         : bats_db_run(db, sql, err);
    sqlite3_free(columns);
    sqlite3_free(sql);
    return rc;
}

int bats_schema_view_tasks(struct bats_db *db, struct bats_error *err)
{
    int rc = bats_db_run(db, "DROP VIEW IF EXISTS main.tasks", err);
    return rc == 0 ? make_view(db, tasks_head, tasks_tail, err) : rc;
}

int bats_schema_view_list(struct bats_db *db, const char *table,
                          struct bats_error *err)
{
    char end[64];
    snprintf(end, sizeof end, " FROM %s v", table);
    return make_view(db, "CREATE TEMP VIEW tasks AS SELECT v.*", end, err);
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
        rc = bats_db_run(db, history_sql, err);
    if (rc == 0)
        rc = bats_db_run(db, stderr_sql, err);
    if (rc == 0)
        rc = bats_db_run(db, parameter_sql, err);
    if (rc == 0)
        rc = bats_db_run(db, packed_sql, err);
    if (rc == 0)
        rc = bats_db_run(db, views_sql, err);
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

static const char unpacked_sql[] =
    "CREATE TABLE event (seq INTEGER PRIMARY KEY, session INTEGER,"
    "  time_us INTEGER, type TEXT, machine INTEGER, slot INTEGER,"
    "  task INTEGER, runtime_us INTEGER, offer INTEGER, allowed INTEGER);"
    "CREATE TABLE command (seq INTEGER PRIMARY KEY, session INTEGER,"
    "  time_us INTEGER, type TEXT, machine INTEGER, slot INTEGER,"
    "  task INTEGER, copy INTEGER, why TEXT);"
    "CREATE TABLE attempt (seq INTEGER PRIMARY KEY, session INTEGER,"
    "  time_us INTEGER, task INTEGER, attempt INTEGER, machine INTEGER,"
    "  host TEXT, start_us INTEGER, wall_us INTEGER, user_us INTEGER,"
    "  system_us INTEGER, max_rss_kib INTEGER, exit_status INTEGER,"
    "  signal INTEGER, outcome INTEGER, out_bytes INTEGER,"
    "  err_bytes INTEGER, stream INTEGER, out_begin INTEGER,"
    "  out_end INTEGER);"
    "CREATE TABLE ended (machine INTEGER PRIMARY KEY, n INTEGER);";

int bats_schema_unpacked(struct bats_db *db, struct bats_error *err)
{
    const char *const parts[] = {tables_sql, stderr_sql, parameter_sql,
                                 unpacked_sql, views_sql};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof parts / sizeof *parts; i++)
        rc = bats_db_run(db, parts[i], err);
    return rc == 0 ? bats_schema_view_tasks(db, err) : rc;
}
