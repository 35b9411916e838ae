/* promise: watches whether the bag will meet its deadline. See engine.h. */
#include "engine/engine.h"

/* A deadline missed by less than this fraction may still be met. */
#define ROUGHLY 0.01

static void record_late(struct state *s)
{
    struct bats_decision d = state_decision(s, BATS_REASON_LATE);
    d.feasible |= !s->run.planned;
    d.windows = 1 + (s->run.late_end - s->now - 1) / s->run.window;
    for (size_t i = 0; i < s->n_clusters; i++)
        d.machines[i] = s->clusters[i].n_active;
    state_record(s, &d);
}

void promise_watch(struct bats_sched *e)
{
    struct state *s = &e->state;
    bats_time deadline = s->run.goal.deadline, end;
    if (deadline == BATS_NEVER || s->run.draining)
        return;
    end = e->policy->end ? e->policy->end(e->own.policy, s) : forecast_end(s);
    if (end == BATS_NEVER)
        return;
    end = end > s->now ? end : s->now;
    bool was_late = s->run.late_end > 0;
    double limit = (double)deadline * (was_late ? 1 : 1 + ROUGHLY);
    s->run.late_end = (double)end > limit ? end : 0;
    if (s->run.late_end > 0 && !was_late)
        record_late(s);
}
