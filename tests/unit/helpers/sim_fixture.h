/*
 * sim_fixture: shared by the tests of the engine in which the simulator plays
 * the machines. Usually up to two clusters, alike but for charge and speed, their
 * machines one after the other, one slot each, windows of an hour. A test
 * changes what it is about in `w`, the world, calls play(), and compares. The
 * engine's invariants are checked after every event.
 */
#ifndef BATS_SIM_FIXTURE_H
#define BATS_SIM_FIXTURE_H

#include "bats/estimate.h"
#include "bats/policy.h"
#include "bats/sample.h"
#include "bats/sched.h"
#include "bats/status.h"
#include "sim/sim.h"
#include "test.h"

#define MANY 1000
#define MACHINES_MOST 401
#define CLUSTERS_MOST 11
#define DECISIONS_MOST 512

static struct world {
    struct bats_cluster clusters[CLUSTERS_MOST];
    struct bats_machine_spec machines[MACHINES_MOST];
    double speed[CLUSTERS_MOST];
    bats_time work[MANY];
    uint8_t fails[MANY], broken[MACHINES_MOST];
    struct bats_choice choice;
    struct bats_sim_options o;
    /* Set by the run: */
    struct bats_sched *sched; /* until four others were played */
    uint32_t begun[MANY]
                  [CLUSTERS_MOST]; /* executions of a task, by cluster, */
    uint32_t begun_early[CLUSTERS_MOST]; /* and of all before SAMPLED */
    uint32_t n_sampled;                  /* notices SAMPLED */
    bats_money booked;                   /* the sum of the charges */
    struct bats_sched_status status;
    struct bats_cluster_status of[CLUSTERS_MOST];
    struct bats_sched_sampled sampled; /* its arrays belong to the engine */
    struct bats_decision decisions[DECISIONS_MOST];
    size_t n_decisions;
    bats_time makespan;
} the_world, *const w = &the_world;

static inline void check_invariants(void *context, const struct bats_sched *s)
{
    check_sched(s);
}

static inline void note_command(void *context, bats_time now,
                                const struct bats_command *c)
{
    w->n_sampled += c->type == BATS_NOTICE_SAMPLED;
    if (c->type == BATS_COMMAND_RUN) {
        uint32_t cluster = w->machines[c->machine].cluster;
        w->begun[c->task][cluster]++;
        w->begun_early[cluster] += w->n_sampled == 0;
    }
    if (c->type == BATS_NOTICE_CHARGE)
        w->booked += c->amount;
}

/* All tasks take `work`. No second cluster if `charge1` is 0. */
static inline void set_up_world(const struct bats_policy *policy,
                                uint32_t n_tasks, bats_time work,
                                uint32_t per_cluster, double charge0,
                                double charge1, bats_money budget)
{
    uint32_t n_clusters = charge1 > 0 ? 2 : 1;
    *w = (struct world){
        .clusters = {{"c0", (bats_money)(charge0 * BATS_UNIT), per_cluster},
                     {"c1", (bats_money)(charge1 * BATS_UNIT), per_cluster}},
        .speed = {1, 1}};
    for (uint32_t i = 0; i < n_clusters * per_cluster; i++)
        w->machines[i] = (struct bats_machine_spec){i / per_cluster, 1};
    for (uint32_t i = 0; i < n_tasks; i++)
        w->work[i] = work;
    w->o = (struct bats_sim_options){
        .sched = {.policy = policy,
                  .n_tasks = n_tasks,
                  .clusters = w->clusters,
                  .n_clusters = n_clusters,
                  .machines = w->machines,
                  .n_machines = n_clusters * per_cluster,
                  .window = BATS_HOUR,
                  .budget = budget,
                  .seed = 5},
        .work = w->work,
        .speed = w->speed,
        .fails = w->fails,
        .broken = w->broken,
        .watch.after = check_invariants};
}

static inline void play(void)
{
    static struct bats_sched *played[4];
    static size_t n;
    if (!w->o.watch.on_command)
        w->o.watch.on_command = note_command;
    w->booked = 0;
    assert_ok(bats_sim_run(&w->o, &w->sched, &w->makespan, &err));
    struct bats_sched *s = w->sched;
    bats_sched_destroy(played[n % 4]);
    played[n++ % 4] = s;
    bats_sched_status(s, &w->status);
    if (w->o.watch.on_command == note_command)
        assert_int_equal(w->booked + w->o.sched.earlier.charged,
                         w->status.charged);
    for (size_t i = 0; i < w->o.sched.n_clusters; i++)
        bats_sched_cluster_status(s, i, &w->of[i]);
    bats_sched_sampled(s, &w->sampled);
    const struct bats_decision *d = bats_sched_decisions(s, &w->n_decisions);
    assert_true(w->n_decisions <= DECISIONS_MOST);
    if (w->n_decisions > 0)
        memcpy(w->decisions, d, w->n_decisions * sizeof *d);
}

/* The same, to this end. */
static inline void play_to(enum bats_finish finish)
{
    play();
    assert_int_equal(w->status.finish, finish);
}

/* Tasks that ran on the first two clusters. */
static inline uint32_t on_both(void)
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < MANY; t++)
        n += w->begun[t][0] > 0 && w->begun[t][1] > 0;
    return n;
}

/* How a run has ended, been sampled, and begun: its first decision and the next
 * one; with 0 or 1 behind it: of that cluster. */
#define FIGURES(X)                                                            \
    X(makespan, w->makespan)                                                  \
    X(finish, w->status.finish)                                               \
    X(done, w->status.done)                                                   \
    X(failed, w->status.failed)                                               \
    X(pending, w->status.pending)                                             \
    X(preempted, w->status.preempted)                                         \
    X(retried, w->status.retried)                                             \
    X(timed_out, w->status.timed_out)                                         \
    X(charged, w->status.charged)                                             \
    X(rest_cost, w->status.rest_cost)                                         \
    X(done0, w->of[0].done)                                                   \
    X(done1, w->of[1].done)                                                   \
    X(windows0, w->of[0].windows)                                             \
    X(used0, w->of[0].machines_used)                                          \
    X(used1, w->of[1].machines_used)                                          \
    X(charged0, w->of[0].charged)                                             \
    X(budget, w->status.budget)                                               \
    X(sample_size, w->status.sample_size)                                     \
    X(sampled, w->sampled.time)                                               \
    X(sample_cost, w->sampled.charged)                                        \
    X(sample_tasks, w->sampled.tasks)                                         \
    X(observations, w->sampled.n_observations)                                \
    X(first0, w->decisions[0].machines[0])                                    \
    X(first1, w->decisions[0].machines[1])                                    \
    X(planned, w->decisions[1].time)                                          \
    X(reason, w->decisions[1].reason)                                         \
    X(left, w->decisions[1].tasks_left)                                       \
    X(budget_left, w->decisions[1].budget_left)                               \
    X(windows, w->decisions[1].windows)                                       \
    X(next0, w->decisions[1].machines[0])                                     \
    X(next1, w->decisions[1].machines[1])

struct figures {
#define X(name, is) int64_t name;
    FIGURES(X)
#undef X
};

/* Each figure that is given, such as `.done = 3`, and no other. */
#pragma GCC diagnostic ignored "-Woverride-init"
#define ANY INT64_MIN
#define X(name, is) .name = ANY,
#define assert_end(...) check_end(&(struct figures){FIGURES(X) __VA_ARGS__})

static inline void check_end(const struct figures *wanted)
{
#define CHECK(name, is)                                                       \
    if (wanted->name != ANY && wanted->name != (int64_t)(is))                 \
        fail_msg(#name " is %lld, not %lld", (long long)(is),                 \
                 (long long)wanted->name);
    FIGURES(CHECK)
#undef CHECK
}

/* A run as a row of a table: its world, and how it ends. */
struct story {
    const char *what;
    const struct bats_policy *policy;
    uint32_t tasks;
    bats_time work;    /* of each task; of the first and last one, unless 0 */
    uint32_t machines; /* of each cluster */
    double charge, budget; /* budget 0: none */
    struct figures ends;
    double charge1; /* 0: there is no second cluster */
    bats_time first, last, lead;
    uint32_t slots, fails; /* 0: one slot; the first of the tasks that fail */
    struct bats_sched_rules rules;
};

#define ENDS(...) .ends = {FIGURES(X) __VA_ARGS__}

static inline void play_stories(const struct story *list, size_t n)
{
    for (const struct story *r = list; r < list + n; r++) {
        print_message("# %s\n", r->what);
        set_up_world(r->policy, r->tasks, r->work, r->machines, r->charge,
                     r->charge1,
                     r->budget > 0 ? (bats_money)(r->budget * BATS_UNIT)
                                   : BATS_UNLIMITED);
        w->o.sched.rules = r->rules;
        w->o.sched.preempt_lead = r->lead;
        for (uint32_t i = 0; r->slots > 0 && i < w->o.sched.n_machines; i++)
            w->machines[i].slots = r->slots;
        if (r->first > 0)
            w->work[0] = r->first;
        if (r->last > 0)
            w->work[r->tasks - 1] = r->last;
        if (r->fails > 0)
            memset(w->fails + r->fails - 1, 1, r->tasks - r->fails + 1);
        play();
        check_end(&r->ends);
    }
}

#define PLAY_STORIES(rows) play_stories(rows, sizeof rows / sizeof *rows)

#endif
