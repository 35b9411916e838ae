/*
 * rules: executions that go wrong, by struct bats_sched_rules. See failure.h.
 */
#include "engine/failure/failure.h"

#include <math.h>
#include <stdlib.h>

/* The limit if the rules do not say. On machines that may not answer a task is
 * lost more often than one that kills its machine can be known by. */
#define LOSSES 5
#define LOSSES_UNRELIABLE 100

/* A machine is a black hole if so many tasks in a row, each another one, fail
 * on it while most executions elsewhere go well. */
#define QUARANTINE_AFTER 5

struct history {
    uint32_t n_failed; /* executions that failed in a row, each of another */
    struct bats_position failed_task; /* task; the last one */
    uint32_t n_done;                  /* executions that went well */
};

struct rules {
    struct bats_sched_rules rules;
    struct history *history; /* by machine */
    uint8_t *yields; /* by task: in a row, without progress; NULL if there is
                        no limit */
};

static int init(void *self, const struct state *s,
                const struct bats_sched_options *o, struct bats_error *err)
{
    struct rules *r = self;
    r->rules = o->rules;
    if (r->rules.losses == 0)
        r->rules.losses =
            o->policy == &bats_policy_expert ? LOSSES_UNRELIABLE : LOSSES;
    r->history = calloc(s->n_machines, sizeof *r->history);
    if (o->rules.yields > 0)
        r->yields = calloc(o->n_tasks, sizeof *r->yields);
    if (r->yields && o->earlier.yields)
        for (uint32_t task = 0; task < o->n_tasks; task++)
            r->yields[task] = o->earlier.yields[s->bag.index[task]];
    return r->history && (r->yields || o->rules.yields == 0)
               ? 0
               : bats_error_set(err, BATS_ENOMEM, "no memory for failures");
}

static void release(void *self)
{
    struct rules *r = self;
    free(r->history);
    free(r->yields);
}

static bats_time failed(const void *self, const struct state *s,
                        struct bats_position task, bool elsewhere)
{
    const struct rules *r = self;
    /* It is not stopped where it goes on, even beyond what the rules allow,
     * but not more than once. */
    uint32_t most = r->rules.retries + (elsewhere ? 1 : 0);
    if (s->tasks[task.i].failures >= most || (s->draining && !elsewhere))
        return FAILURE_FOR_GOOD;
    return r->rules.retry_delay;
}

static bats_time came_back(void *self, const struct state *s,
                           struct bats_position task, bool yielded,
                           bats_time ran)
{
    struct rules *r = self;
    (void)s;
    if (!r->yields)
        return 0;
    if (ran >= BATS_YIELD_PROGRESS)
        r->yields[task.i] = 0;
    if (!yielded || ran >= BATS_YIELD_PROGRESS)
        return 0;
    return r->yields[task.i] < r->rules.yields
               ? BATS_YIELD_PAUSE << r->yields[task.i]++
               : FAILURE_FOR_GOOD;
}

static bool lost(const void *self, const struct state *s,
                 struct bats_position task)
{
    const struct rules *r = self;
    return s->tasks[task.i].losses < r->rules.losses;
}

static enum failure_halt halt(const void *self, const struct state *s)
{
    const struct rules *r = self;
    const struct bats_sched_rules *rules = &r->rules;
    double n_failed = s->bag.count[BATS_TASK_FAILED];
    double n_ended = n_failed + s->bag.count[BATS_TASK_DONE];
    if ((rules->halt_failed > 0 && n_failed >= rules->halt_failed) ||
        (rules->halt_share > 0 && n_failed >= 3 &&
         n_failed >= rules->halt_share * n_ended))
        return rules->halt_now ? FAILURE_STOP : FAILURE_DRAIN;
    return FAILURE_GO_ON;
}

static bats_time limit(const void *self, const struct state *s, size_t cluster)
{
    const struct rules *r = self;
    double median = (double)bats_stats_median(&s->clusters[cluster].stats);
    double longest =
        r->rules.timeout > 0 ? (double)r->rules.timeout : INFINITY;
    if (r->rules.timeout_median > 0 && median > 0)
        longest = fmin(longest, r->rules.timeout_median * median);
    return longest >= 1e18 ? BATS_NEVER : (bats_time)fmax(longest, 1);
}

/* ---- machines on which everything fails ---- */

/* A task that has been running for `slowly` has not failed at once. */
static uint32_t running_slowly(const struct state *s, const struct machine *m,
                               bats_time slowly)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_slots; i++) {
        const struct slot *sl = &s->slots[m->first_slot + i];
        n += sl->n_tasks > 0 && s->now - sl->started > slowly;
    }
    return n;
}

/* Other machines have not even ended what a black hole devours in a moment:
 * tasks that have been running there for longer count as going well. */
static bool others_do_well(const struct rules *r, const struct state *s,
                           uint32_t machine, bats_time runtime)
{
    uint64_t well = 0, n_failed = 0;
    for (uint32_t i = 0; i < s->n_machines; i++) {
        if (i == machine)
            continue;
        well += r->history[i].n_done +
                running_slowly(s, &s->machines[i], 2 * runtime);
        n_failed += r->history[i].n_failed;
    }
    return well > n_failed;
}

static bool note(void *self, const struct state *s, uint32_t machine,
                 struct bats_position task, bool has_failed, bats_time runtime)
{
    struct rules *r = self;
    struct history *h = &r->history[machine];
    if (!has_failed) {
        h->n_failed = 0;
        h->n_done++;
        return false;
    }
    if (h->n_failed > 0 && bats_same_position(h->failed_task, task))
        return false;
    h->failed_task = task;
    return ++h->n_failed % QUARANTINE_AFTER == 0 &&
           !s->machines[machine].quarantined && !s->draining &&
           others_do_well(r, s, machine, runtime);
}

const struct failure failure_rules = {
    .advisor = {"rules", sizeof(struct rules), init, release},
    .failed = failed,
    .came_back = came_back,
    .lost = lost,
    .halt = halt,
    .limit = limit,
    .note = note};
