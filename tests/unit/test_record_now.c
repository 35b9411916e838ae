#include "bats/sched.h"
#include "helpers/record_fixture.h"

#include "record/read/view.h"

/* The counts that are kept with each commit, against a look at all executions,
 * and those and lists of tasks against the views of SQL: random
 * histories of several sessions, in which machines come and go and the bag is
 * edited. */

#define TASKS 12
#define MACHINES 3
#define SESSIONS 4
#define COPY "copy.bats"

static const uint32_t slots[MACHINES] = {1, 2, 1}; /* of the fixture */

struct game {
    struct bats_record *r;
    uint32_t n_tasks;
    uint64_t random;
    bats_time now;
    bool has_result[TASKS + SESSIONS];
    bool runs[MACHINES][2][TASKS + SESSIONS];
};

static uint32_t draw(struct game *g, uint32_t n)
{
    g->random = g->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(g->random >> 33) % n;
}

static void say_event(struct game *g, enum bats_event_type type,
                      uint32_t machine, uint32_t slot, uint32_t task)
{
    struct bats_event e = {
        .type = type, .machine = machine, .slot = slot, .task = task};
    assert_ok(bats_record_event(g->r, g->now, &e, &err));
}

static void say_command(struct game *g, enum bats_command_type type,
                        uint32_t machine, uint32_t slot, uint32_t task)
{
    struct bats_command c = {.type = type,
                             .machine = machine,
                             .slot = slot,
                             .task = task,
                             .replica =
                                 type == BATS_COMMAND_RUN ? draw(g, 3) : 0};
    assert_ok(bats_record_command(g->r, g->now, &c, &err));
}

/* An execution ends in any way; a result only if there is none yet. */
static void end_one(struct game *g, uint32_t machine, uint32_t slot,
                    uint32_t task)
{
    static const enum bats_event_type types[] = {
        BATS_EVENT_DONE, BATS_EVENT_FAILED, BATS_EVENT_PREEMPTED,
        BATS_EVENT_YIELDED};
    struct bats_record_attempt a = {
        .task = task,
        .attempt = 1,
        .machine = machine,
        .stream = -1,
        .host = draw(g, 2) == 0 ? "else\"where" : NULL,
        .usage.start_us = 1000000 + g->now,
        .usage.wall_us = draw(g, 1000000),
        .usage.user_us = draw(g, 1000),
        .usage.max_rss_kib = draw(g, 500),
        .usage.exit_status = draw(g, 3) == 0,
        .usage.signal = draw(g, 5) == 0 ? 9 : 0,
        .outcome = (enum bats_record_outcome)draw(g, 6),
    };
    if (draw(g, 2) == 0)
        a.outcome = BATS_RECORD_RESULT;
    if (a.outcome == BATS_RECORD_RESULT && g->has_result[task])
        a.outcome = BATS_RECORD_SUPERSEDED;
    g->has_result[task] |= a.outcome == BATS_RECORD_RESULT;
    g->runs[machine][slot][task] = false;
    say_event(g, types[draw(g, 4)], machine, slot, task);
    assert_ok(bats_record_attempt(g->r, g->now, &a, &err));
}

static void step(struct game *g)
{
    uint32_t machine = draw(g, MACHINES), slot = draw(g, slots[machine]);
    uint32_t task = draw(g, g->n_tasks);

    g->now += draw(g, 1000);
    switch (draw(g, 24)) {
    case 0:
        say_event(g, BATS_EVENT_JOINED, machine, 0, 0);
        break;
    case 1:
        say_event(g, BATS_EVENT_LOST, machine, 0, 0);
        memset(g->runs[machine], 0, sizeof g->runs[machine]);
        break;
    case 2:
        say_command(g, BATS_COMMAND_ACQUIRE, machine, 0, 0);
        assert_ok(bats_record_charge(
            g->r, g->now, draw(g, 4) == 0 ? BATS_NO_MACHINE : machine,
            draw(g, 9) * BATS_UNIT, &err));
        break;
    case 3:
        say_command(g, BATS_COMMAND_PARK, machine, 0, 0);
        break;
    case 4:
        say_command(g, BATS_COMMAND_RELEASE, machine, 0, 0);
        break;
    case 5:
        say_command(g, BATS_NOTICE_SKIP, BATS_NO_MACHINE, 0, task);
        break;
    case 6:
        if (draw(g, 9) == 0)
            say_event(g, BATS_EVENT_DRAIN, 0, 0, 0);
        say_event(g, BATS_EVENT_TICK, 0, 0, 0);
        break;
    case 7:
        if (draw(g, 9) == 0)
            say_command(g, BATS_NOTICE_SAMPLED, 0, 0, 0);
        else if (draw(g, 9) == 0)
            say_event(g, BATS_EVENT_CHOSEN, 0, 0, 0);
        assert_ok(
            bats_record_notice(g->r, g->now, machine, task, "Odd.", &err));
        break;
    default:
        if (g->runs[machine][slot][task]) {
            end_one(g, machine, slot, task);
        } else if (!g->has_result[task]) {
            say_command(g, BATS_COMMAND_RUN, machine, slot, task);
            g->runs[machine][slot][task] = true;
        }
    }
}

static void status_of(const char *path, struct bats_view_status *st)
{
    struct bats_view *v;
    assert_ok(bats_view_open(path, &v, &err));
    assert_ok(bats_view_status(v, st, &err));
    st->is_live = false;
    bats_view_close(v);
}

static int64_t number(const char *sql)
{
    return atoll(ask(COPY, sql));
}

#define STATE(word) number("SELECT count(*) FROM tasks WHERE state = " word)

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
        "attempts = 1 AND cluster = 'slow' OR line = 3",
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
    assert_ok(bats_view_log(v, machine, 0, last, &err));
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
    write_log("machine", "fast-2", 0);
    assert_int_equal(system("awk '$4 == \"fast-2\"' log | cmp - machine"), 0);
    write_log("last", "fast-2", 5);
    assert_int_equal(system("tail -n 5 machine | cmp - last"), 0);
}

/* A sum of the results on the cluster of a name. */
static int64_t of_cluster(const char *what, const char *cluster)
{
    char sql[512];
    snprintf(sql, sizeof sql,
             "SELECT coalesce(%s, 0) FROM execution e JOIN (SELECT max(seq)"
             " AS last FROM execution WHERE outcome = 0 GROUP BY task) ON"
             " last = e.seq JOIN machine m ON m.session = e.session AND"
             " m.id = e.machine JOIN cluster c ON c.session = m.session AND"
             " c.id = m.cluster WHERE c.name = '%s'",
             what, cluster);
    return number(sql);
}

/* The counts, against the rows of what has happened. */
static void check(void)
{
    struct bats_view_status kept;
    assert_int_equal(system("rm -f " COPY "-wal; cp " PATH " " COPY
                            "; if [ -e " PATH "-wal ]; then cp " PATH
                            "-wal " COPY "-wal; fi"),
                     0);
    status_of(COPY, &kept);
    assert_int_equal(kept.done, STATE("'done'"));
    assert_int_equal(kept.failed, STATE("'failed'"));
    assert_int_equal(kept.running, STATE("'running'"));
    assert_int_equal(kept.pending, STATE("'pending'"));
    assert_int_equal(kept.skipped, STATE("'skipped'"));
    assert_int_equal(kept.removed, STATE("'removed'"));
    assert_int_equal(
        kept.preempted,
        number("SELECT count(*) FROM execution WHERE outcome = 1"));
    for (size_t i = 0; i < kept.n_clusters; i++) {
        const struct bats_view_cluster *c = &kept.clusters[i];
        assert_int_equal(
            c->done,
            of_cluster("sum(exit_status = 0 AND signal = 0)", c->name));
        assert_int_equal(
            c->failed,
            of_cluster("sum(exit_status != 0 OR signal != 0)", c->name));
        assert_int_equal(c->mean_wall_us,
                         of_cluster("sum(wall_us) / count(*)", c->name));
    }
}

/* The bag of this session: some tasks have another command, one is new. */
static void open_bag(struct game *g, uint32_t session)
{
    char command[32];

    g->n_tasks = TASKS - 2 + session;
    memset(g->has_result, 0, sizeof g->has_result);
    memset(g->runs, 0, sizeof g->runs);
    assert_ok(bats_record_open(PATH, &g->r, &err));
    for (uint32_t i = 0; i < g->n_tasks; i++) {
        snprintf(command, sizeof command, "task %u%s", i,
                 draw(g, 8) == 0 ? "b" : "");
        assert_ok(bats_record_task(g->r, i, i + 1, command, &err));
    }
    assert_ok(bats_record_match(g->r, &err));
    for (uint32_t i = 0; i < g->n_tasks; i++) /* no other is run again */
        g->has_result[i] = bats_record_past(g->r, i).state == BATS_RECORD_DONE;
}

TEST_IN_DIRECTORY(the_counts_are_those_of_what_has_happened)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct game g = {.random = seed};
        unlink(PATH);
        for (uint32_t session = 0; session < SESSIONS; session++) {
            open_bag(&g, session);
            begin(g.r, 600 * BATS_UNIT);
            g.now = 0;
            for (uint32_t part = draw(&g, 3); part < 3; part++) {
                for (uint32_t n = 1 + draw(&g, 40); n > 0; n--)
                    step(&g);
                assert_ok(bats_record_commit(g.r, &err));
                if (part == 1) {
                    check();
                    check_lists();
                }
            }
            if (draw(&g, 3) > 0)
                assert_ok(bats_record_finish(g.r, g.now, BATS_FINISH_STOPPED,
                                             0, 5, &err));
            close_record(g.r);
            check();
            check_lists();
            check_logs();
        }
    }
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
    struct bats_record *r = open_with_tasks(1);
    begin(r, BATS_UNLIMITED);
    put_last(r, 1, "a");
    put_last(r, 2, "a");
    close_record(r);
    char full[160];
    snprintf(full, sizeof full,
             "UPDATE stderr SET text = printf('%%*s', %lld, '') WHERE"
             " attempt = 1",
             (long long)BATS_RECORD_LAST_BYTES - 2);
    assert_string_equal(ask(PATH, full), "");
    r = open_with_tasks(1);
    begin(r, BATS_UNLIMITED);
    for (uint32_t i = 3; i < 6; i++) /* the second one does not fit */
        put_last(r, i, "a");
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(host, sizeof host, "h%u", i);
        put_last(r, 10 + 2 * i, host);
    }
    put_last(r, 10 + 2 * MANY, host);
    put_last(r, 11, "h0");
    close_record(r);
    assert_string_equal(
        ask(PATH, "SELECT s.text IS NOT NULL, f.attempt FROM stderr s LEFT"
                  " JOIN stderr f ON f.seq = s.same WHERE s.attempt BETWEEN 2"
                  " AND 5 OR s.attempt = 11 ORDER BY s.attempt"),
        "1 - 1 - 0 3 0 3 0 10");
    assert_string_equal(ask(PATH, "SELECT count(*), sum(text IS NULL AND"
                                  " same IS NULL) FROM stderr"
                                  " WHERE attempt >= 10"),
                        "8202 10");
}

TEST_MAIN(NULL, NULL)
