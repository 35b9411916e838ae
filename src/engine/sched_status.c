/* sched_status: what the engine knows, for people. */
#include "engine/sched_state.h"

#include <math.h>

static double slots_per_machine(const struct cluster *c)
{
    return c->n_machines > 0 ? (double)c->n_slots / c->n_machines : 1;
}

static bats_time estimated_end(const struct bats_sched *s)
{
    double rate = 0; /* tasks per microsecond */
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        if (c->stats.mean > 0)
            rate += c->n_active * slots_per_machine(c) / c->stats.mean;
    }
    if (rate <= 0)
        return BATS_NEVER;
    /* A running task has on average half of its time before it. */
    double tasks =
        s->bag.count[BATS_TASK_PENDING] + (s->n_busy - s->n_copies) / 2.0;
    double end = (double)s->now + tasks / rate;
    return end < (double)BATS_NEVER ? (bats_time)end : BATS_NEVER;
}

static bats_money rest_cost(const struct bats_sched *s)
{
    size_t best = forecast_most_profitable(s);
    uint32_t pending = s->bag.count[BATS_TASK_PENDING];
    bats_money cost;
    if (pending == 0)
        return 0;
    if (best == SIZE_MAX)
        return -1;
    const struct cluster *c = &s->clusters[best];
    double rate = slots_per_machine(c) * (double)s->window / c->stats.mean;
    return bats_units_multiply(bats_plan_windows(pending, rate),
                               c->spec.charge, &cost)
               ? cost
               : -1;
}

void bats_sched_status(const struct bats_sched *s,
                       struct bats_sched_status *status)
{
    const uint32_t *count = s->bag.count;
    *status = (struct bats_sched_status){
        .now = s->now,
        .finish = s->finish,
        .pending = count[BATS_TASK_PENDING] + count[BATS_TASK_WAITING],
        .running = count[BATS_TASK_ASSIGNED] + count[BATS_TASK_CANCELLING],
        .done = count[BATS_TASK_DONE],
        .failed = count[BATS_TASK_FAILED],
        .budget = s->ledger.budget,
        .charged = s->ledger.charged,
        .retried = s->retried,
        .timed_out = s->timed_out,
        .preempted = s->preempted,
        .copies = s->copies,
        .copies_won = s->copies_won,
        .estimated_end = estimated_end(s),
        .rest_cost = rest_cost(s),
        .sample_size = s->sample_size,
        .cushion = s->cushion + s->granted,
        .cushion_spent = s->cushion_spent};
}

/* Of the clusters with statistics, the one with the lowest charge. */
static const struct cluster *cheapest(const struct bats_sched *s)
{
    const struct cluster *best = NULL;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        if (c->stats.mean > 0 && (!best || c->spec.charge < best->spec.charge))
            best = c;
    }
    return best;
}

void bats_sched_cluster_status(const struct bats_sched *s, size_t cluster,
                               struct bats_cluster_status *status)
{
    const struct cluster *c = &s->clusters[cluster];
    const struct cluster *m = cheapest(s);
    *status =
        (struct bats_cluster_status){.machines_used = c->n_used,
                                     .machines_now = c->n_held,
                                     .machines_lost = c->n_lost,
                                     .machines_quarantined = c->n_quarantined,
                                     .windows = c->windows,
                                     .charged = c->windows * c->spec.charge,
                                     .done = c->done,
                                     .failed = c->failed,
                                     .mean_runtime = c->stats.mean};
    if (m && c->stats.mean > 0 && c->spec.charge > 0)
        status->profitability =
            (m->stats.mean / slots_per_machine(m)) /
            (c->stats.mean / slots_per_machine(c)) *
            ((double)m->spec.charge / (double)c->spec.charge);
    if (c->paid_slot_time > 0)
        status->utilisation = c->busy_time / c->paid_slot_time;
}

bool bats_sched_has_result(const struct bats_sched *s, uint32_t task)
{
    return bats_bag_has_result(&s->bag, s->bag.place[task]);
}

bool bats_sched_has_failed(const struct bats_sched *s, uint32_t task)
{
    return s->bag.state[s->bag.place[task]] == BATS_TASK_FAILED;
}

const struct bats_decision *bats_sched_decisions(const struct bats_sched *s,
                                                 size_t *n)
{
    *n = s->n_decisions;
    return s->decisions;
}

const char *bats_reason_name(enum bats_reason reason)
{
    switch (reason) {
    case BATS_REASON_START:
        return "start";
    case BATS_REASON_SAMPLED:
        return "sampled";
    case BATS_REASON_VIOLATION:
        return "violation";
    case BATS_REASON_IMPROVED:
        return "improved";
    case BATS_REASON_LOST:
        return "machines lost";
    case BATS_REASON_STALLED:
        return "stalled";
    case BATS_REASON_CHOSEN:
        return "chosen";
    case BATS_REASON_SHRINK:
        return "nodes given back";
    }
    return "unknown";
}
