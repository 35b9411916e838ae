/*
 * rules: handles failed executions by struct bats_sched_rules. See failure.h.
 */
#include "engine/failure/failure.h"

#include <math.h>
#include <stdlib.h>

/* Default limit of losses. On machines that may not answer, losses are
 * frequent, so a task that kills its machine is recognised later. */
#define LOSSES 5
#define LOSSES_UNRELIABLE 100

/* A machine is a black hole if this many different tasks in a row fail on it
 * while most executions elsewhere succeed. It gets a task again after
 * QUARANTINE_TIME, which doubles each time, at most QUARANTINES times. */
#define QUARANTINE_AFTER 5
#define QUARANTINE_TIME (5 * BATS_MINUTE)
#define QUARANTINES 4

struct history {
    uint32_t n_failed; /* different tasks that failed in a row */
    struct bats_position failed_task; /* the last of them */
    uint32_t n_done;                  /* successful executions */
    uint32_t n_quarantines;
};

struct failure {
    struct bats_sched_rules rules;
    struct history *history;   /* by machine */
    uint64_t n_done, n_failed; /* sums over the machines */
    uint8_t *yields; /* by task: yields in a row without progress; NULL: no
                        limit */
};

static int init(void *self, const struct state *s,
                const struct bats_sched_options *o, struct bats_error *err)
{
    struct failure *r = self;
    r->rules = o->rules;
    if (r->rules.losses == 0)
        r->rules.losses = s->run.gives_up ? LOSSES_UNRELIABLE : LOSSES;
    r->history = calloc(s->n_machines, sizeof *r->history);
    if (o->rules.yields > 0)
        r->yields = calloc(o->n_tasks, sizeof *r->yields);
    if (r->yields && o->earlier.yields)
        for (uint32_t task = 0; task < o->n_tasks; task++)
            r->yields[task] = o->earlier.yields[s->bag.index[task]];
    return r->history && (r->yields || o->rules.yields == 0)
               ? 0
               : bats_no_memory(err);
}

static void release(void *self)
{
    struct failure *r = self;
    free(r->history);
    free(r->yields);
}

bats_time failure_failed(const struct failure *r, const struct state *s,
                         struct bats_position task, bool elsewhere)
{
    /* A task that still runs elsewhere may finish there: one failure beyond
     * the rules. */
    uint32_t most = r->rules.retries + (elsewhere ? 1 : 0);
    if (s->tasks[task.i].failures >= most || (s->run.draining && !elsewhere))
        return FAILURE_FOR_GOOD;
    return r->rules.retry_delay;
}

bats_time failure_came_back(struct failure *r, struct bats_position task,
                            bool yielded, bats_time ran)
{
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

bool failure_lost(const struct failure *r, const struct state *s,
                  struct bats_position task)
{
    return s->tasks[task.i].losses < r->rules.losses;
}

enum failure_halt failure_halt(const struct failure *r, const struct state *s)
{
    const struct bats_sched_rules *rules = &r->rules;
    double n_failed = s->bag.count[BATS_TASK_FAILED];
    double n_ended = n_failed + s->bag.count[BATS_TASK_DONE];
    if ((rules->halt_failed > 0 && n_failed >= rules->halt_failed) ||
        (rules->halt_share > 0 && n_failed >= 3 &&
         n_failed >= rules->halt_share * n_ended))
        return rules->halt_now ? FAILURE_STOP : FAILURE_DRAIN;
    return FAILURE_GO_ON;
}

bats_time failure_limit(const struct failure *r, const struct state *s,
                        size_t cluster)
{
    double median = (double)bats_stats_median(&s->clusters[cluster].stats);
    double longest =
        r->rules.timeout > 0 ? (double)r->rules.timeout : INFINITY;
    if (r->rules.timeout_median > 0 && median > 0)
        longest = fmin(longest, r->rules.timeout_median * median);
    return longest >= 1e18 ? BATS_NEVER : (bats_time)fmax(longest, 1);
}

/* ---- machines on which everything fails ---- */

/* Recently more executions succeeded elsewhere than failed. Running ones do
 * not count. */
static bool others_do_well(const struct failure *r, const struct history *h)
{
    return r->n_done - h->n_done > r->n_failed - h->n_failed;
}

static void forget_failures(struct failure *r, struct history *h, uint32_t but)
{
    r->n_failed -= h->n_failed - but;
    h->n_failed = but;
}

/* Puts the machine into quarantine; one more failure afterwards does so again.
 * A job is not shut out for good: the next one may get another node. */
static bats_time sentence(struct failure *r, const struct state *s,
                          struct history *h)
{
    forget_failures(r, h, s->money.terms.waits ? 0 : QUARANTINE_AFTER - 1);
    return h->n_quarantines < QUARANTINES
               ? QUARANTINE_TIME << h->n_quarantines++
               : BATS_NEVER;
}

bats_time failure_note(struct failure *r, const struct state *s,
                       uint32_t machine, struct bats_position task,
                       bool has_failed)
{
    struct history *h = &r->history[machine];
    if (!has_failed) {
        forget_failures(r, h, 0);
        h->n_done++;
        r->n_done++;
        return 0;
    }
    if (h->n_failed > 0 && bats_same_position(h->failed_task, task))
        return 0;
    h->failed_task = task;
    h->n_failed++;
    r->n_failed++;
    return h->n_failed >= QUARANTINE_AFTER && !s->run.draining &&
                   !s->machines[machine].quarantined && others_do_well(r, h)
               ? sentence(r, s, h)
               : 0;
}

const struct advisor failure_rules = {"rules", sizeof(struct failure), init,
                                      release};
