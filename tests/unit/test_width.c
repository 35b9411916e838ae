/* width: how many jobs the money allows, and which tasks may begin there. By hand:
 * times are in seconds, money in seconds of the first cluster, whose jobs cost 1;
 * those of the second one cost 2. A lease is 60, an end 5, a start 10, and a task
 * has 3 to stop. Jobs were submitted 100 ago. */
#include "engine/outlook/jobs.h"
#include "helpers/test.h"

#define NOW (1000 * BATS_SECOND)
#define AGE 100
#define JOBS 3
#define NEVER (-1)
#define IDLE (-1)

enum kind { NONE, HELD, ASKED, ENDED };

struct job {
    enum kind kind;
    double left; /* of its lease; ENDED, 10 ago: of what is held */
    double runs; /* the time for which its task has run, or IDLE */
    bool marked;
    uint32_t cluster;
};
/* clang-format off */
#define JOB(k, l, r) {.kind = k, .left = l, .runs = r}
#define MARKED(k, l, r) {.kind = k, .left = l, .runs = r, .marked = true}
#define SECOND(k, l, r) {.kind = k, .left = l, .runs = r, .cluster = 1}
/* clang-format on */

struct row {
    const char *name;
    bool (*asks)(const struct state *, uint32_t);
    uint32_t of;         /* the cluster, or the job */
    double result[2][2]; /* runtimes of the clusters' tasks; 0: none */
    struct job jobs[JOBS];
    double least; /* money that is not held, from which on the answer is yes */
};

static struct world {
    struct state s;
    struct cluster clusters[2];
    struct machine machines[JOBS];
    struct machine_rest rest[JOBS];
    struct slot slots[JOBS];
    uint32_t held[JOBS];
    uint8_t tasks[1]; /* all jobs run the same one */
} * w;

static bats_time seconds(double time)
{
    return (bats_time)llround(time * BATS_SECOND);
}

static void add_job(uint32_t i, const struct job *job)
{
    static const enum machine_state states[] = {MACHINE_PARKED, MACHINE_ACTIVE,
                                                MACHINE_ASKED, MACHINE_ENDING};
    struct cluster *c = &w->s.clusters[job->cluster];
    bats_time age = job->kind == ASKED ? 0 : AGE * BATS_SECOND;
    w->machines[i] = (struct machine){
        .state = states[job->kind],
        .cluster = job->cluster,
        .first_slot = i,
        .n_slots = 1,
        .n_busy = job->kind == HELD && job->runs >= 0,
        .marked = job->marked,
        .paid_end = job->kind == ENDED ? NOW - 10 * BATS_SECOND : TIME_MAX};
    w->slots[i] = (struct slot){.machine = i,
                                .n_tasks = w->machines[i].n_busy,
                                .started = NOW - seconds(job->runs)};
    w->rest[i] = (struct machine_rest){
        .asked = job->kind != NONE,
        .began_at = job->kind == ASKED ? BATS_NEVER : NOW - age,
        .leased = age + seconds(job->left)};
    w->s.money.ledger.held +=
        job->kind == NONE
            ? 0
            : (age + seconds(job->left + 5)) * (job->cluster + 1);
    w->s.money.n_jobs += job->kind != NONE;
    w->s.money.n_asked_slots += job->kind == ASKED;
    c->n_asked += job->kind == ASKED;
    c->n_active += job->kind == HELD && !job->marked;
    if (job->kind == HELD)
        w->held[w->s.n_held++] = i;
}

/* The state of the row, before which 200 were charged; ten tasks are left. */
static void set_up(const struct row *row)
{
    struct state *s = &w->s;
    for (size_t i = 0; i < 2; i++)
        bats_stats_release(&w->clusters[i].stats);
    *w = (struct world){.tasks = {BATS_TASK_ASSIGNED}};
    *s = (struct state){
        .clusters = w->clusters,
        .machines = w->machines,
        .rest = w->rest,
        .slots = w->slots,
        .held = w->held,
        .n_machines = JOBS,
        .n_clusters = 2,
        .now = NOW,
        .bag.state = w->tasks,
        .run = {.window = BATS_HOUR, .preempt_lead = 3 * BATS_SECOND}};
    s->bag.count[BATS_TASK_PENDING] = 10;
    bats_ledger_init(&s->money.ledger, BATS_UNLIMITED, 200 * BATS_UNIT);
    s->money.ledger.billing =
        (struct bats_billing){.model = BATS_BILLING_JOB,
                              .lease = 60 * BATS_SECOND,
                              .overrun = 5 * BATS_SECOND,
                              .starting = 10 * BATS_SECOND};
    for (uint32_t i = 0; i < 2; i++) {
        s->clusters[i].price = (i + 1) * BATS_HOUR;
        assert_ok(bats_stats_init(&s->clusters[i].stats, 2, &err));
        for (int k = 0; k < 2; k++)
            if (row->result[i][k] > 0)
                bats_stats_add(&s->clusters[i].stats,
                               seconds(row->result[i][k]), true);
    }
    for (uint32_t i = 0; i < JOBS; i++)
        add_job(i, &row->jobs[i]);
}

static bool is_yes(const struct row *row, double money)
{
    struct bats_ledger *l = &w->s.money.ledger;
    l->budget = l->charged + l->held + seconds(money);
    return row->asks(&w->s, row->of);
}

static bool pays_job(const struct state *s, uint32_t cluster)
{
    return width_pays_job(s, cluster);
}

static bool is_long(const struct state *s, uint32_t job)
{
    return !width_is_short(s, job);
}

static bool is_full(const struct state *s, uint32_t job)
{
    bats_time end = width_lease_end(s, job);
    assert_true(end == BATS_NEVER || end == width_task_end(s, job));
    return end == BATS_NEVER;
}

/* A result of 20: the next task needs 22, the least of 20 with its time to stop
 * and of 1.05 times the longest with one; with the end 27. After 10 it needs 12.
 * The spread is a half until there are two results. */
/* clang-format off */
#define KNOWN {{20}}

static const struct row rows[] = {
    {"a job pays its start, a task, its end", pays_job, 0, KNOWN, {{0}},
     10 + 22 + 5},
    {"of an unknown task: a third of a share", pays_job, 0, {{0}}, {{0}},
     (10 + 3 + 5) * 30 / 29.0},
    {"and one more task of each other job", pays_job, 0, KNOWN,
     {JOB(HELD, 60, IDLE)}, 37 + 27 * 1.5 - 65},
    {"also of one that works", pays_job, 0, KNOWN, {JOB(HELD, 60, 10)},
     37 + 27 * 1.5 - 65},
    {"or what it needs, if that is more", pays_job, 0, KNOWN,
     {JOB(HELD, 60, 30)}, 37 + (23 + 5) * 1.5 - 65},
    {"and those that wait", pays_job, 0, KNOWN, {JOB(ASKED, 70, IDLE)},
     37 + 27 * 1.5 - 75},
    {"a marked job needs its task's end", pays_job, 0, KNOWN,
     {MARKED(HELD, 12, 10)}, 37 + (12 + 5) * 1.5 - 17},
    {"or nothing", pays_job, 0, KNOWN, {MARKED(HELD, 12, IDLE)}, 37 - 17},
    {"equal runtimes need less", pays_job, 0, {{20, 20}}, {JOB(HELD, 12, 10)},
     37 + 27 * (4 / 3.0) - 17},
    {"different ones more: 1/3 (.5 2 + .5 2^.5)", pays_job, 0, {{10, 30}},
     {JOB(HELD, 12, 10)},
     10 + 23 + 5 + (23 + 5) * (4 / 3.0 + sqrt(0.5) / 3) - 17},
    {"a dear job, at twice the price", pays_job, 1, {{0}, {20}}, {{0}}, 74},
    {"a dear task may cost its share", pays_job, 1, {{20}, {20}},
     {JOB(HELD, 60, 10)}, 400 - 165},
    {"more if nobody works for less", pays_job, 1, {{20}, {20}},
     {MARKED(HELD, 60, 10)}, 74 + 17 * 1.5 - 65},
    {"a task begins in its lease", width_pays_task, 0, KNOWN,
     {JOB(HELD, 60, IDLE)}, 0},
    {"its lease can be prolonged", width_pays_task, 0, KNOWN,
     {JOB(HELD, 10, IDLE), JOB(HELD, 60, IDLE)}, 22 - 10},
    {"beside another one, too", width_pays_task, 0, KNOWN, {JOB(HELD, 22, 10)},
     0},
    {"with an end", width_pays_task, 0, KNOWN, {JOB(HELD, 22, IDLE), JOB(HELD, 0, 10)},
     27 + 17 * 1.5 - 27 - 5},
    {"any task begins if none is known", width_pays_task, 0, {{0}},
     {JOB(HELD, 0, IDLE)}, 0},
    {"others need only their tasks' ends", width_pays_task, 0, KNOWN,
     {JOB(HELD, 20, IDLE), JOB(HELD, 12, 10), JOB(HELD, 0, IDLE)},
     27 + 17 * 1.5 - 25 - 17 - 5},
    {"and first tasks", width_pays_task, 0, KNOWN,
     {JOB(HELD, 20, IDLE), JOB(ASKED, 0, IDLE)}, 27 + 27 * 1.5 - 25 - 5},
    {"it may cost its share", width_pays_task, 1, {{20}, {40}},
     {JOB(HELD, 60, 10), SECOND(HELD, 60, IDLE)}, 800 - 165 - 330},
    {"no bill is awaited if none is to come", width_waits, 0, KNOWN,
     {JOB(HELD, 10, IDLE)}, NEVER},
    {"one is that pays a task", width_waits, 0, KNOWN,
     {JOB(HELD, 10, IDLE), JOB(ENDED, 5, IDLE)}, 27 * 1.5 - 15 - 20},
    {"but not by marked jobs", width_waits, 0, KNOWN,
     {MARKED(HELD, 10, IDLE), JOB(ENDED, 5, IDLE)}, NEVER},
    {"a task may end within the longest", is_long, 0, KNOWN, {JOB(HELD, 10, 10)},
     0},
    {"or may not", is_long, 0, KNOWN, {JOB(HELD, 9.9, 10)}, NEVER},
    {"one that is longer has 1.05 of it", is_long, 0, KNOWN,
     {JOB(HELD, 1.6, 20.5)}, 0},
    {"and no more", is_long, 0, KNOWN, {JOB(HELD, 1.4, 20.5)}, NEVER},
    {"beyond that a mean and its stop", is_long, 0, KNOWN, {JOB(HELD, 23, 30)},
     0},
    {"leases are full", is_full, 0, KNOWN,
     {JOB(HELD, 12, 10), JOB(HELD, 60, IDLE), JOB(ASKED, 70, IDLE)}, 130 - 17 - 65},
};
/* clang-format on */

TEST(money_decides_how_many_work)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        print_message("# %s\n", row->name);
        set_up(row);
        if (row->least < 0) {
            assert_false(is_yes(row, 1e6));
            continue;
        }
        assert_true(is_yes(row, row->least + 1e-5));
        if (row->least > 0)
            assert_false(is_yes(row, row->least - 1e-5));
    }
}

TEST(without_a_budget_all_work)
{
    static const struct row row = {.result = KNOWN,
                                   .jobs = {JOB(HELD, 0, IDLE)}};
    set_up(&row);
    assert_true(width_pays_job(&w->s, 0));
    assert_true(width_pays_task(&w->s, 0));
    assert_false(width_waits(&w->s, 0));
    assert_true(width_lease_end(&w->s, 0) == BATS_NEVER);
}

static int create(void **state)
{
    w = calloc(1, sizeof *w);
    return w ? 0 : -1;
}

static int destroy(void **state)
{
    for (size_t i = 0; i < 2; i++)
        bats_stats_release(&w->clusters[i].stats);
    free(w);
    return 0;
}

TEST_MAIN(create, destroy)
