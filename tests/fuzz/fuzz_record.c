/*
 * fuzz_record: a damaged record is refused, read, recovered, continued or
 * proved, but never crashes its reader.
 *
 * The input is a list of damages to a small record that is written here. The
 * lowest bit of its first byte says to which: 0 one that was closed, 1 one that
 * was killed; the next two pick the reader. Where its bit of 64 is set, four
 * bytes each change values or rows of the closed one by SQL: what is done, to
 * which column, of which row, and the value. Otherwise bytes are changed: two of
 * place and one of value each; where two are left over at the end, the file is
 * cut off at that place.
 */
#include <sqlite3.h>
#include <string.h>

#include "bats/policy.h"
#include "bats/sched.h"
#include "fuzz.h"
#include "record/read/axis.h"
#include "record/read/recover.h"
#include "record/read/view.h"
#include "record/verify/verify.h"
#include "record/write/record.h"
#include "run/journal.h"

#define ROOM 64
#define TASKS 40
#define DONE 30 /* of them */

static char damaged[ROOM], damaged_wal[ROOM], saved[ROOM];
static struct fuzz_bytes closed, killed, killed_wal;
static char columns[256][2][32]; /* of the record, with their tables */
static size_t n_columns;

/* ---- the record that is damaged ---- */

static int note_column(void *context, int n, char **words, char **names)
{
    must(n_columns < 256);
    for (int i = 0; i < n; i++)
        snprintf(columns[n_columns][i], 32, "%s", words[i]);
    n_columns++;
    return 0;
}

static void query(const char *sql)
{
    sqlite3 *db;
    must(sqlite3_open(damaged, &db) == SQLITE_OK);
    must(sqlite3_exec(db, sql, note_column, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
}

/* The engine hears that one task after the other has ended. */
static int play(struct bats_record *r, struct bats_journal *journal,
                struct bats_sched *sched)
{
    struct bats_error err;
    struct bats_event event = {.type = BATS_EVENT_JOINED};
    struct bats_command command;
    int rc = 0;

    for (int i = 0; rc == 0 && i <= DONE; i++) {
        size_t at = 0;
        rc = bats_journal_handle(journal, sched, 10 * i, &event, &err);
        struct bats_record_attempt attempt = {
            .task = event.task,
            .attempt = 1,
            .usage.exit_status = event.type == BATS_EVENT_FAILED};
        if (rc == 0 && i > 0)
            rc = bats_record_attempt(r, 10 * i, &attempt, &err);
        if (rc == 0 && bats_journal_commit(journal, sched, i, i, &err) < 0)
            rc = -1;
        while (rc == 0 && bats_journal_next(journal, true, &at, &command))
            if (command.type == BATS_COMMAND_RUN)
                event.task = command.task;
        event.type = i % 3 == 0 ? BATS_EVENT_FAILED : BATS_EVENT_DONE;
        event.runtime = 10;
    }
    return rc < 0 ? rc : bats_record_commit(r, &err);
}

/* Writes one more session, as far as the record lets us. */
static int write_session(struct bats_record *r)
{
    struct bats_error err;
    struct bats_cluster cluster = {.name = "c", .charge = 5, .max = 1};
    struct bats_machine_spec machine = {.slots = 1};
    struct bats_sched_options engine = {
        .policy = &bats_policy_rr,
        .n_tasks = TASKS,
        .clusters = &cluster,
        .n_clusters = 1,
        .machines = &machine,
        .n_machines = 1,
        .window = 100,
        .budget = BATS_UNLIMITED,
    };
    struct bats_record_session session = {
        .run_id = "run",
        .bag = "bag",
        .engine = &engine,
    };
    int rc = 0;
    struct bats_journal journal = {.record = r, .sync_us = 1};
    struct bats_sched *sched;

    for (uint32_t i = 0; rc == 0 && i < TASKS; i++)
        rc = bats_record_task(r, i, i, "true", NULL, &err);
    if (rc == 0)
        rc = bats_record_match(r, &err);
    if (rc < 0 || bats_record_begin(r, &session, &err) < 0)
        return -1;
    must(bats_sched_create(&engine, &sched, &err) == 0);
    rc = bats_record_notice(r, 1, 0, 0, "odd", &err);
    if (rc == 0)
        rc = play(r, &journal, sched);
    bats_journal_release(&journal);
    bats_sched_destroy(sched);
    return rc < 0 ? -1 : 0;
}

static void remove_with(const char *suffix)
{
    char name[2 * ROOM];
    snprintf(name, sizeof name, "%s%s", damaged, suffix);
    unlink(name);
}

/* As long as nothing is damaged, there is something to prove. */
static void check_proof(void)
{
    struct bats_error err;
    struct bats_view *v;
    struct bats_verified verified;

    must(bats_view_open(damaged, &v, &err) == 0);
    must(bats_record_verify(v, &verified, &err) == 0);
    must(verified.n == 0 && verified.executions == DONE);
    bats_verified_release(&verified);
    bats_view_close(v);
}

/* Pages are as small as can be, so that few rows make a tree of them, and
 * nothing depends on the time. */
static void make_records(void)
{
    struct bats_error err;
    struct bats_record *r;

    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    setenv("TMPDIR", fuzz_dir, 1);
    snprintf(damaged, ROOM, "%s/damaged.bats", fuzz_dir);
    snprintf(damaged_wal, ROOM, "%s/damaged.bats-wal", fuzz_dir);
    snprintf(saved, ROOM, "%s/saved.bats", fuzz_dir);

    query("PRAGMA page_size = 512; CREATE TABLE t (x); DROP TABLE t");
    must(bats_record_create(damaged, &r, &err) == 0);
    must(write_session(r) == 0);
    killed = fuzz_read(damaged);
    killed_wal = fuzz_read(damaged_wal);
    must(bats_record_close(r, &err) == 0);
    query("UPDATE meta SET value = 0 WHERE key = 'created_us'");
    closed = fuzz_read(damaged);
    must(closed.n < 1 << 17);
    query(
        "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name)"
        " c WHERE t.type = 'table'");
    check_proof();
}

/* ---- damage ---- */

/* Formats: %1$s is the table, %2$s the column, %3$s the value, %4$d the row. */
#define ROW                                                                   \
    " WHERE rowid = (SELECT rowid FROM %1$s LIMIT 1 OFFSET "                  \
    "%4$d %% (SELECT count(*) FROM %1$s))"
/* A leaf of the JSON in a column. */
#define LEAF                                                                  \
    "(SELECT fullkey FROM json_tree(%2$s) WHERE atom IS NOT NULL LIMIT 1 "    \
    "OFFSET %4$d %% (SELECT count(*) FROM json_tree(%2$s) WHERE atom IS "     \
    "NOT NULL))"

static const char *const changes[] = {
    "UPDATE OR IGNORE %1$s SET %2$s = %3$s" ROW,
    "UPDATE OR IGNORE %1$s SET %2$s = %2$s + %3$s" ROW,
    "UPDATE OR IGNORE %1$s SET %2$s = (SELECT %2$s FROM %1$s LIMIT 1)" ROW,
    "DELETE FROM %1$s" ROW,
    "UPDATE OR IGNORE %1$s SET %2$s = json_set(%2$s, " LEAF ", %3$s)" ROW,
    "UPDATE OR IGNORE %1$s SET %2$s = json_remove(%2$s, " LEAF ")" ROW,
};

static const char *const values[] = {
    "0",    "1",          "-1",    "2",
    "40",   "65536",      "1e300", "9223372036854775807",
    "''",   "'all done'", "'rr'",  "'[]'",
    "NULL", "'[1,2]'",    "'{}'",  "-9223372036854775808",
};

/* A statement that fails leaves the record as it is. */
static void change_rows(const uint8_t *data, size_t n)
{
    sqlite3 *db;

    fuzz_write(damaged, closed.at, closed.n);
    must(sqlite3_open(damaged, &db) == SQLITE_OK);
    for (; n >= 4; n -= 4, data += 4) {
        char sql[1024];
        char(*column)[32] = columns[data[1] % n_columns];
        snprintf(sql, sizeof sql,
                 changes[data[0] % (sizeof changes / sizeof *changes)],
                 column[0], column[1], values[data[3] % 16], data[2]);
        sqlite3_exec(db, sql, NULL, NULL, NULL);
    }
    sqlite3_close(db);
}

static void change_bytes(const uint8_t *data, size_t n, bool is_killed)
{
    static uint8_t bytes[1 << 18];
    const struct fuzz_bytes *file = is_killed ? &killed : &closed;
    size_t size = file->n, left;

    memcpy(bytes, file->at, size);
    if (is_killed) {
        memcpy(bytes + size, killed_wal.at, killed_wal.n);
        size += killed_wal.n;
    }
    left = size;
    for (; n >= 2; n -= n > 2 ? 3 : 2, data += 3) {
        size_t place = ((size_t)data[0] << 8 | data[1]) * size >> 16;
        if (n > 2)
            bytes[place] = data[2];
        else
            left = place;
    }
    size_t main_size = left < file->n ? left : file->n;
    fuzz_write(damaged, bytes, main_size);
    if (is_killed)
        fuzz_write(damaged_wal, bytes + main_size, left - main_size);
}

/* ---- the readers ---- */

/* Reads a text to its end, to see whether that is there. */
static void read_text(const char *text)
{
    must(strlen(text) <= 1 << 20);
}

/* What report, export and why make of it. */
static void write_all(struct bats_view *v, FILE *out)
{
    struct bats_error err;
    struct bats_axis_pools pools;
    struct bats_purse_status *purses;
    size_t n;
    json_t *options;

    bats_axis_pools(v, &pools, &err);
    free(pools.list);
    for (int i = 0; i < 2; i++)
        bats_axis_write(
            v,
            (struct bats_lease_terms){.in_windows = i == 0, .returns = i > 0},
            out, &err);
    bats_view_wfformat(v, "bag", out, &err);
    if (bats_view_options(v, 0, &options, &err) == 0)
        json_decref(options);
    bats_view_workflows(v, &purses, &n, &err);
    free(purses);
    bats_view_tasks(v, NULL, 0, BATS_VIEW_BEGUN, BATS_VIEW_BY_NUMBER, 0, &err);
}

static void view(void)
{
    static FILE *out;
    struct bats_error err;
    struct bats_view *v;
    struct bats_view_status status;
    struct bats_view_entry entry;
    struct bats_view_task task;
    struct bats_view_machine *machines;
    size_t n;
    struct bats_view_decision decision;
    bool found;
    /* Pages may form a circle; nobody reads for ever. */
    int rows = 1000;

    if (bats_view_open(damaged, &v, &err) < 0)
        return;
    bats_view_status(v, &status, &err);
    bats_view_decision(v, &found, &decision, &err);
    if (bats_view_log(v, NULL, 0, 0, &err) == 0)
        while (bats_view_next_entry(v, &entry) && rows-- > 0) {
            read_text(entry.what);
            read_text(entry.machine);
            read_text(entry.text);
        }
    if (bats_view_tasks(v, NULL, 0, NULL, BATS_VIEW_SLOWEST, 10, &err) == 0)
        while (bats_view_next_task(v, &task, &err) > 0) {
            read_text(task.state);
            read_text(task.host);
            read_text(task.command);
        }
    if (bats_view_machines(v, NULL, &machines, &n, &err) == 0)
        for (size_t i = 0; i < n && rows-- > 0; i++) {
            read_text(machines[i].host);
            read_text(machines[i].cluster);
            read_text(machines[i].why);
        }
    free(machines);
    if (out == NULL)
        must((out = fopen("/dev/null", "w")) != NULL);
    write_all(v, out);
    bats_view_close(v);
}

static void recover(void)
{
    struct bats_error err;
    struct bats_recovery recovery;

    bats_record_recover(damaged, saved, &recovery, &err);
    unlink(saved);
}

static void go_on(void)
{
    struct bats_error err;
    struct bats_record *r;

    if (bats_record_open(damaged, &r, &err) == 0) {
        write_session(r);
        bats_record_close(r, &err);
    }
}

static void prove(void)
{
    struct bats_error err;
    struct bats_view *v;
    struct bats_verified verified;

    if (bats_view_open(damaged, &v, &err) < 0)
        return;
    bats_record_verify(v, &verified, &err);
    for (size_t i = 0; i < verified.n; i++)
        read_text(verified.differences[i]);
    bats_verified_release(&verified);
    bats_view_close(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static void (*const readers[])(void) = {view, recover, go_on, prove};

    if (fuzz_make_directory())
        make_records();
    uint8_t how = n > 0 ? data[0] : 0;
    if (how & 64)
        change_rows(data + 1, n - 1);
    else
        change_bytes(data + 1, n > 0 ? n - 1 : 0, how & 1);
    readers[how / 2 % 4]();
    remove_with("-wal");
    remove_with("-journal");
    remove_with("");
    return 0;
}
