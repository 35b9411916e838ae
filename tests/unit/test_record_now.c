/* The counts that are kept with each commit, against a look at all executions,
 * and those and lists of tasks against the views of SQL: random runs of several
 * sessions, in which machines are lost and the bag is edited. */
#include "helpers/random_run.h"
#include "record/read/view.h"

#define COPY "copy.bats"

static void status_of(const char *path, struct bats_view_status *st)
{
    struct bats_view *v;
    assert_ok(bats_view_open(path, &v, &err));
    assert_ok(bats_view_status(v, st, &err));
    st->is_live = false;
    bats_view_close(v);
}

/* The list of tasks, in the columns of the statement below. */
static const char *list(struct bats_view *v, const char *where)
{
    static char text[4096];
    struct bats_view_task t;
    size_t n = 0;
    int rc = bats_view_tasks(v, NULL, 0, where, BATS_VIEW_BY_NUMBER, 0, &err);
    assert_ok(rc);
    for (text[0] = '\0'; (rc = bats_view_next_task(v, &t, &err)) > 0;) {
        bool runs = strcmp(t.state, "running") == 0;
        n += (size_t)snprintf(
            text + n, sizeof text - n,
            "%s%lld %s %lld %lld %lld %lld %d %d %s %s %lld %lld %s",
            n > 0 ? " " : "", (long long)t.number, t.state,
            (long long)t.attempts, runs ? 0 : (long long)t.wall_us,
            (long long)t.cpu_us, (long long)t.max_rss_kib, t.exit_status,
            t.signal, runs ? "" : t.host, runs ? "" : t.cluster,
            (long long)t.start_us, (long long)t.line, t.command);
        assert_true(n < sizeof text);
    }
    assert_ok(rc);
    return text;
}

#define LISTED                                                                \
    "SELECT number, state, attempts,"                                         \
    " CASE state WHEN 'running' THEN 0 ELSE"                                  \
    "  coalesce(CAST(round(wall_s * 1e6) AS INTEGER), -1) END,"               \
    " coalesce(CAST(round(cpu_s * 1e6) AS INTEGER), 0),"                      \
    " coalesce(max_rss_kib, 0), coalesce(exit_status, 0),"                    \
    " coalesce(signal, 0),"                                                   \
    " CASE state WHEN 'running' THEN '' ELSE coalesce(host, '') END,"         \
    " CASE state WHEN 'running' THEN '' ELSE coalesce(cluster, '') END,"      \
    " coalesce(start_us, 0), line, command FROM tasks"                        \
    " WHERE state != 'removed'"
#define IN_ORDER " ORDER BY number, id"

/* Lists, against the views of SQL. */
static void check_lists(void)
{
    static const char *const wheres[] = {
        "wall_s > 0.3",
        "cost * 1e6 > 500 OR signal IS NULL",
        "attempts = 1 AND cluster = 'b' OR line = 3",
        "wall_s >= (SELECT avg(wall_s) FROM tasks)",
        "EXISTS (SELECT 1 FROM execution WHERE task = tasks.id AND outcome = 3)",
        "cpu_s < 0.0005 AND host LIKE '%where' AND start_us > 1001000"};
    struct bats_view *v;
    char sql[2048], *whole;
    assert_ok(bats_view_open(COPY, &v, &err));
    struct bats_view_status st;
    struct bats_view_task t; /* a list need not be read to its end */
    assert_ok(bats_view_tasks(v, NULL, 1, NULL, BATS_VIEW_BY_NUMBER, 0, &err));
    assert_int_equal(bats_view_next_task(v, &t, &err), 1);
    assert_ok(bats_view_status(v, &st, &err));
    assert_ok(bats_view_status(v, &st, &err));
    assert_string_equal(list(v, NULL), ask(COPY, LISTED IN_ORDER));
    for (size_t i = 0; i < sizeof wheres / sizeof *wheres; i++) {
        snprintf(sql, sizeof sql, LISTED " AND (%s)" IN_ORDER, wheres[i]);
        assert_non_null(whole = strdup(ask(COPY, sql)));
        assert_string_equal(list(v, wheres[i]), whole);
        free(whole);
    }
    assert_int_equal(
        bats_view_tasks(v, NULL, 0, "wal > 1", BATS_VIEW_BY_NUMBER, 0, &err),
        BATS_EINPUT);
    bats_view_close(v);
}

/* Writes the log, or its last entries, to the file. */
static void write_log(const char *path, const char *machine, int64_t last)
{
    struct bats_view *v;
    struct bats_view_entry e;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_ok(bats_view_open(COPY, &v, &err));
    assert_true(bats_view_log(v, machine, 0, last, &err) >= 0);
    while (bats_view_next_entry(v, &e))
        fprintf(file, "%lld %lld %s %s %lld %d %s\n", (long long)e.session,
                (long long)e.time, e.what, e.machine, (long long)e.task,
                e.removed, e.text);
    fclose(file);
    bats_view_close(v);
}

static void check_logs(void)
{
    write_log("log", NULL, 0);
    write_log("last", NULL, 7);
    assert_int_equal(system("tail -n 7 log | cmp - last"), 0);
    write_log("machine", "a-2", 0);
    assert_int_equal(system("awk '$4 == \"a-2\"' log | cmp - machine"), 0);
    write_log("last", "a-2", 5);
    assert_int_equal(system("tail -n 5 machine | cmp - last"), 0);
}

#define COUNTS                                                                \
    "SELECT sum(state = 'done'), sum(state = 'failed'),"                      \
    " sum(state = 'running'), sum(state = 'pending'),"                        \
    " sum(state = 'skipped'), sum(state = 'removed'),"                        \
    " (SELECT count(*) FROM execution WHERE outcome = 1) FROM tasks"

/* Of the results on the cluster of a name. */
#define OF_CLUSTER                                                            \
    "SELECT coalesce(sum(exit_status = 0 AND signal = 0), 0),"                \
    " coalesce(sum(exit_status != 0 OR signal != 0), 0),"                     \
    " coalesce(sum(wall_us) / count(*), 0) FROM execution e JOIN"             \
    " (SELECT max(seq) AS last FROM execution WHERE outcome = 0 GROUP BY"     \
    " task) ON last = e.seq JOIN machine m ON m.session = e.session AND"      \
    " m.id = e.machine JOIN cluster c ON c.session = m.session AND"           \
    " c.id = m.cluster WHERE c.name = '%s'"

static int reached; /* a bit for each count that was not always 0 */

/* The counts, against the rows of what has happened. */
static void check(void)
{
    struct bats_view_status kept;
    assert_int_equal(system("rm -f " COPY "-wal; cp " PATH " " COPY
                            "; if [ -e " PATH "-wal ]; then cp " PATH
                            "-wal " COPY "-wal; fi"),
                     0);
    status_of(COPY, &kept);
    reached |= (kept.failed > 0) | (kept.running > 0) << 1 |
               (kept.pending > 0) << 2 | (kept.skipped > 0) << 3 |
               (kept.removed > 0) << 4 | (kept.preempted > 0) << 5;
    assert_numbers(ask(COPY, COUNTS), kept.done, kept.failed, kept.running,
                   kept.pending, kept.skipped, kept.removed, kept.preempted);
    for (size_t i = 0; i < kept.n_clusters; i++) {
        const struct bats_view_cluster *c = &kept.clusters[i];
        char sql[sizeof OF_CLUSTER + sizeof c->name];
        snprintf(sql, sizeof sql, OF_CLUSTER, c->name);
        assert_numbers(ask(COPY, sql), c->done, c->failed, c->mean_wall_us);
    }
}

static int n_checks;

/* The run goes on; now and then there is a notice, or a task is skipped. */
static void look_on(struct run *r)
{
    uint32_t chance = pick(100), task = pick(r->o.n_tasks);
    if (chance < 5)
        assert_ok(bats_record_notice(r->record, r->now, pick(MACHINES), task,
                                     "Odd.", &err));
    if (chance < 3)
        tell_command(r->record, r->now, .type = BATS_NOTICE_SKIP,
                     .machine = BATS_NO_MACHINE, .task = task);
    if (chance > 0)
        return;
    n_checks++;
    check();
    check_lists();
}

TEST_IN_DIRECTORY(the_counts_are_those_of_what_has_happened)
{
    static struct run run;
    meanwhile = look_on;
    for (unsigned seed = 1; seed <= 6; seed++) {
        srandom(seed);
        unlink(PATH);
        for (int session = 0; session < 4; session++) {
            steps = pick(2) == 0 ? STEPS : 1 + (int)pick(100);
            play(&run, pick(8), TASKS - pick(8));
            check();
            check_lists();
            check_logs();
        }
    }
    assert_true(n_checks > 10);
    assert_int_equal(reached, 63);
}

TEST_IN_DIRECTORY(tasks_that_are_done_from_the_start_count)
{
    struct bats_record *r = open_with_tasks(4);
    uint8_t fresh[4] = {0, 1, 1, 0};
    fresh_tasks = fresh;
    begin(r, BATS_UNLIMITED);
    fresh_tasks = NULL;
    assert_ok(bats_record_commit(r, &err));
    close_record(r);
    struct bats_view_status st;
    status_of(PATH, &st);
    assert_int_equal(st.done, 2);
    assert_int_equal(st.pending, 2);
    check();
}

/* Records the end "x" of a failure, of the kind of this host. */
static void put_last(struct bats_record *r, uint32_t attempt, const char *host)
{
    struct bats_record_last last = {
        .attempt = attempt, .host = host, .bytes = "x", .n = 1};
    assert_ok(bats_record_last(r, 10, &last, &err));
}

TEST_IN_DIRECTORY(a_record_keeps_the_first_end_of_each_kind_when_it_is_full)
{
    enum { MANY = 8200 }; /* more than there are kinds */
    char host[16];
    struct bats_record *r = begun(1, BATS_UNLIMITED);
    put_last(r, 1, "a");
    put_last(r, 2, "a");
    close_record(r);
    char full[160];
    snprintf(full, sizeof full,
             "UPDATE stderr SET text = printf('%%*s', %lld, '') WHERE"
             " attempt = 1",
             (long long)BATS_RECORD_LAST_BYTES - 2);
    expect_rows(full, "");
    r = begun(1, BATS_UNLIMITED);
    for (uint32_t i = 3; i < 6; i++) /* the second one does not fit */
        put_last(r, i, "a");
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(host, sizeof host, "h%u", i);
        put_last(r, 10 + 2 * i, host);
    }
    put_last(r, 10 + 2 * MANY, host);
    put_last(r, 11, "h0");
    close_record(r);
    expect_rows("SELECT s.text IS NOT NULL, f.attempt FROM stderr s LEFT"
                " JOIN stderr f ON f.seq = s.same WHERE s.attempt BETWEEN 2"
                " AND 5 OR s.attempt = 11 ORDER BY s.attempt",
                "1 - 1 - 0 3 0 3 0 10");
    expect_rows("SELECT count(*), sum(text IS NULL AND"
                " same IS NULL) FROM stderr"
                " WHERE attempt >= 10",
                "8202 10");
}

TEST_MAIN(NULL, NULL)
