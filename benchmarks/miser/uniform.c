/*
 * A deadline on machines that may be reclaimed: Uniform Progress (Wu, Chiang,
 * Mao, Yang, Friedman, Shenker, Stoica: "Can't Be Late: Optimizing Spot
 * Instance Savings under Deadlines", NSDI 2024) and the engine's own plan, in
 * the simulator.
 *
 *   build/bench/miser/uniform SEEDS
 *
 * A bag of equal tasks of 5 minutes, worth 24 hours of 8 machines. There are 8
 * on demand at 1 an hour, at once, and 8 that may be reclaimed at 0.3: each
 * lasts for an exponential time (mean 2 h), and the next one is to be had after
 * another. A row of tab-separated values for each policy, share of the time in
 * which these are there, and deadline / 24 h: cost / cost of all on demand,
 * mean and half the 95 % interval; runs after the deadline, of all; mean
 * makespan / deadline.
 *
 * Uniform Progress, with progress p(t) of C, deadline R, and d what a change
 * costs (here a task, for it is begun again): it is on reclaimable machines
 * wherever there are any; with p(t) < t C/R it takes machines on demand in the
 * place of those that are not there, and keeps them until p(t) >= (t + 2 d)
 * C/R; when R - t < C - p(t) + 2 d, to the end. `greedy` does only the last.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/policy/policy.h"
#include "sim/sim.h"

#define MACHINES 8
#define TASK (5 * BATS_MINUTE)
#define HOURS 24
#define TASKS (MACHINES * HOURS * 12)
#define UP (2 * BATS_HOUR)
#define SAFE 0
#define CHEAP 1

/* ---- the policies ---- */

struct memory {
    double deadline;
    bool is_greedy;
    bool is_late, to_the_end; /* on demand, now and for good */
};

extern const struct bats_policy uniform, greedy;

static int init(void *self, const struct state *s,
                const struct bats_sched_options *o, struct bats_error *err)
{
    struct memory *m = self;
    m->deadline = (double)o->goal.deadline;
    m->is_greedy = o->policy == &greedy;
    return 0;
}

/* The time that the rest takes all machines together. */
static double rest(const struct state *s)
{
    double left = bats_bag_left(&s->bag) * (double)TASK;
    for (uint32_t i = 0; i < s->n_slots; i++)
        if (s->slots[i].n_tasks > 0)
            left -= fmin(slot_elapsed(s, i), (double)TASK);
    return left / MACHINES;
}

static void look(struct memory *m, const struct state *s)
{
    double all = HOURS * (double)BATS_HOUR, d = (double)TASK;
    double progress = all - rest(s), now = (double)s->now;
    double ahead = m->is_late ? 2 * d : 0;
    m->to_the_end |= m->deadline - now < rest(s) + 2 * d;
    m->is_late = m->to_the_end ||
                 (!m->is_greedy &&
                  progress < fmin((now + ahead) * all / m->deadline, all));
}

static uint32_t on_demand(const struct memory *m, const struct state *s)
{
    uint32_t there = s->clusters[CHEAP].n_active;
    return m->is_late ? MACHINES - there : 0;
}

static void start(void *self, const struct state *s,
                  const struct policy_sample *sample,
                  struct policy_start *start)
{
    start->machines[CHEAP] = MACHINES;
}

static bool renew(void *self, const struct state *s, uint32_t machine)
{
    return !s->machines[machine].marked;
}

/* It stops at the next task, not when it has been paid for long enough. */
static enum bats_idle refuses(void *self, const struct state *s,
                              uint32_t machine)
{
    return s->machines[machine].marked ? BATS_IDLE_LEAVING : BATS_IDLE_NOT;
}

static bool refill(void *self, const struct state *s,
                   const struct occasion *why)
{
    return true;
}

static bool wants(void *self, const struct state *s,
                  const struct occasion *why)
{
    return true;
}

static int plan(void *self, const struct state *s, const struct occasion *why,
                bool *is_new, struct policy_plan *plan, struct bats_error *err)
{
    struct memory *m = self;
    look(m, s);
    *is_new = true;
    plan->confirms = true;
    plan->target[CHEAP] =
        m->to_the_end ? s->clusters[CHEAP].n_active : MACHINES;
    plan->target[SAFE] = on_demand(m, s);
    plan->windows[SAFE] = plan->windows[CHEAP] = 1;
    plan->decision = (struct bats_decision){
        .time = s->now,
        .reason = BATS_REASON_PLANNED,
        .feasible = true,
        .machines = {plan->target[SAFE], plan->target[CHEAP]}};
    return 0;
}

#define ANSWERS                                                               \
    .start = start, .renew = renew, .refuses = refuses, .refill = refill,     \
    .wants = wants, .plan = plan

const struct bats_policy uniform = {
    .advisor = {.name = "uniform",
                .memory = sizeof(struct memory),
                .init = init},
    ANSWERS};
const struct bats_policy greedy = {.advisor = {.name = "greedy",
                                               .memory = sizeof(struct memory),
                                               .init = init},
                                   ANSWERS};

/* ---- the experiment ---- */

static bool run(const struct bats_policy *policy, double there, double slack,
                unsigned long seed, double *cost, bool *is_late, double *end)
{
    const struct bats_cluster clusters[] = {
        {.name = "safe", .charge = 24 * BATS_UNIT, .max = MACHINES},
        {.name = "cheap",
         .charge = 24 * 3 * BATS_UNIT / 10,
         .max = MACHINES,
         .reclaimable = true,
         .lifetime = {.survival = BATS_SURVIVAL_EXPONENTIAL,
                      .a = (double)UP,
                      .share = 1}}};
    static const double speed[] = {1, 1};
    static bats_time work[TASKS];
    struct bats_machine_spec machines[2 * MACHINES];
    const bats_time queue[] = {0,
                               (bats_time)((double)UP * (1 - there) / there)};
    const bats_time expected[] = {TASK, TASK};
    bats_time deadline = (bats_time)(slack * HOURS * BATS_HOUR), makespan;
    struct bats_sched_status status;
    struct bats_sched *s;
    struct bats_error err;
    for (uint32_t i = 0; i < 2 * MACHINES; i++)
        machines[i] = (struct bats_machine_spec){i / MACHINES, 1};
    for (uint32_t i = 0; i < TASKS; i++)
        work[i] = TASK;
    struct bats_sim_options o = {
        .sched = {.policy = policy,
                  .n_tasks = TASKS,
                  .clusters = clusters,
                  .n_clusters = 2,
                  .expected = expected,
                  .machines = machines,
                  .n_machines = 2 * MACHINES,
                  .window = 24 * BATS_HOUR,
                  .budget = BATS_UNLIMITED,
                  .goal = {.deadline = deadline,
                           .minimize = BATS_MINIMIZE_COST},
                  .billing = {.model = BATS_BILLING_JOB},
                  .monitor_interval = BATS_MINUTE,
                  .rules = {.losses = UINT8_MAX - 1},
                  .seed = seed},
        .work = work,
        .speed = speed,
        .queue = queue,
        .noise_seed = seed};
    if (bats_sim_run(&o, &s, &makespan, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    bats_sched_status(s, &status);
    bats_sched_destroy(s);
    *cost = (double)status.charged / BATS_UNIT / (MACHINES * HOURS);
    *is_late = status.done < TASKS || makespan > deadline;
    *end = (double)makespan / (double)deadline;
    return true;
}

static bool print(const struct bats_policy *policy, double there, double slack,
                  unsigned long seeds)
{
    double sum = 0, squares = 0, ends = 0, n = (double)seeds;
    unsigned long late = 0;
    for (unsigned long seed = 1; seed <= seeds; seed++) {
        double cost, end;
        bool is_late;
        if (!run(policy, there, slack, seed, &cost, &is_late, &end))
            return false;
        sum += cost;
        squares += cost * cost;
        late += is_late;
        ends += end;
    }
    double mean = sum / n;
    printf("%s\t%.2f\t%.2f\t%.3f\t%.3f\t%lu\t%lu\t%.3f\n",
           policy->advisor.name, there, slack, mean,
           1.96 * sqrt(fmax(squares / n - mean * mean, 0) / n), late, seeds,
           ends / n);
    return true;
}

int main(int argc, char **argv)
{
    static const struct bats_policy *const policies[] = {&uniform, &greedy,
                                                         &bats_policy_bats};
    static const double there[] = {.25, .5, .75},
                        slack[] = {1.1, 1.25, 1.5, 2};
    unsigned long seeds = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    bool ok = seeds > 0;
    if (!ok)
        fprintf(stderr, "usage: uniform SEEDS\n");
    for (size_t i = 0; i < sizeof there / sizeof *there; i++)
        for (size_t k = 0; k < sizeof slack / sizeof *slack; k++)
            for (size_t p = 0; ok && p < 3; p++)
                ok = print(policies[p], there[i], slack[k], seeds);
    return ok ? 0 : 1;
}
