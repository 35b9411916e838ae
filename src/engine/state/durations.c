/* durations: how long a task may take on a machine. See state.h. */
#include "engine/state/state.h"

/* Without estimates, each slot may spend its share of the money divided by
 * this. */
#define SHARES 4

/* A window, if nothing is known of the cluster. A little money may suffice for
 * a workflow of short tasks: then the time it pays for, if a task can run for
 * a moment. Otherwise tasks would start again and again. */
static bats_time unknown(const struct state *s, uint32_t id)
{
    bats_time time = s->run.window + s->run.preempt_lead;
    if (!s->bag.graph)
        return time;
    bats_time lasts = bats_billing_lasts(
        s->clusters[s->machines[id].cluster].price, s->run.window,
        bats_ledger_available(&s->money.ledger) / (SHARES * (s->n_open + 1)));
    return lasts > s->run.preempt_lead + BATS_SECOND && lasts < time ? lasts
                                                                     : time;
}

static bats_time expected(const struct state *s, uint32_t id)
{
    double mean = cluster_runtime(&s->clusters[s->machines[id].cluster]);
    return mean > 0 ? (bats_time)(mean + 0.5) + s->run.preempt_lead
                    : unknown(s, id);
}

/* The task's category gives an expected runtime. */
static bool is_known(const struct state *s, struct bats_position task)
{
    return bats_is_position(task) && s->known.is_ranked;
}

/* The longest runtime in the sample; on machines that may not answer, the time
 * after which a task is given up. */
bats_time task_allowed(const struct state *s, uint32_t id,
                       struct bats_position task)
{
    const struct cluster *c = &s->clusters[s->machines[id].cluster];
    const struct bats_stats *stats = &c->stats;
    if (c->spec.unreliable && s->run.has_limits && c->limit < TIME_MAX)
        return c->limit + s->run.preempt_lead;
    if (is_known(s, task)) {
        double known = categories_longest(s, s->bag.index[task.i],
                                          s->machines[id].cluster);
        return (bats_time)(known + 0.5) + s->run.preempt_lead;
    }
    bats_time time = expected(s, id), longest = 0;
    if (stats->n_sample > 0)
        longest = stats->sample[stats->n_sample - 1] + s->run.preempt_lead;
    return longest > time ? longest : time;
}

bats_time task_typical(const struct state *s, uint32_t id,
                       struct bats_position task)
{
    if (!is_known(s, task))
        return expected(s, id);
    double mean =
        categories_runtime(s, s->bag.index[task.i], s->machines[id].cluster);
    return (bats_time)(mean + 0.5) + s->run.preempt_lead;
}
