/*
 * failure: what becomes of executions that go wrong. See sched_state.h.
 */
#include "engine/sched_state.h"

#include <math.h>

#define LOSSES 5 /* where the rules do not say */

/* Records of runs rest on these, too. */
#define PROGRESS (10 * BATS_SECOND) /* takes an execution at least so long */
#define YIELD_PAUSE BATS_SECOND     /* after the first that was without */

/* A machine is a black hole if so many tasks in a row, each another one, fail
 * on it while most executions elsewhere go well. */
#define QUARANTINE_AFTER 5

static void try_again(struct bats_sched *s, uint32_t task, bats_time delay)
{
    if (delay == 0) {
        bats_bag_put_back(&s->bag, task);
        return;
    }
    bats_bag_put_aside(&s->bag, task);
    bats_heap_set(&s->retries, s->bag.task[task], s->now + delay);
}

static void give_up(struct bats_sched *s, uint32_t machine, uint32_t task)
{
    bats_bag_finish(&s->bag, task, BATS_TASK_FAILED);
    s->clusters[s->machines[machine].cluster].failed++;
    failure_halt(s);
}

void failure_of_task(struct bats_sched *s, uint32_t machine, uint32_t task,
                     bool elsewhere)
{
    struct task *t = &s->tasks[task];
    uint32_t most = s->rules.retries + (elsewhere ? 1 : 0);
    if (t->failures >= most || (s->draining && !elsewhere)) {
        give_up(s, machine, task);
        copies_cancel_all(s, task);
        return;
    }
    t->failures++;
    t->avoid = machine;
    s->retried++;
    if (!elsewhere)
        try_again(s, task, s->rules.retry_delay);
}

void failure_of_machine(struct bats_sched *s, uint32_t slot, uint32_t task)
{
    uint32_t most = s->rules.losses > 0 ? s->rules.losses : LOSSES;
    uint32_t machine = s->slots[slot].machine;
    sched_emit(s, (struct bats_command){
                      .type = BATS_COMMAND_LOSE,
                      .machine = machine,
                      .slot = slot - s->machines[machine].first_slot,
                      .task = s->bag.task[task]});
    if (s->tasks[task].losses++ < most)
        bats_bag_put_back(&s->bag, task);
    else
        give_up(s, machine, task);
}

void failure_of_progress(struct bats_sched *s, uint32_t machine, uint32_t task,
                         bool yielded, bats_time ran)
{
    struct task *t = &s->tasks[task];
    if (ran >= PROGRESS)
        t->yields = 0;
    if (!yielded || s->rules.yields == 0 || ran >= PROGRESS)
        bats_bag_put_back(&s->bag, task);
    else if (t->yields < s->rules.yields)
        try_again(s, task, YIELD_PAUSE << t->yields++);
    else
        give_up(s, machine, task);
}

void failure_halt(struct bats_sched *s)
{
    double failed = s->bag.count[BATS_TASK_FAILED];
    double ended = failed + s->bag.count[BATS_TASK_DONE];
    const struct bats_sched_rules *r = &s->rules;
    if ((r->halt_failed > 0 && failed >= r->halt_failed) ||
        (r->halt_share > 0 && failed >= 3 && failed >= r->halt_share * ended))
        fleet_stop(s, r->halt_now, BATS_FINISH_HALTED);
}

/* A task that has been running for `slowly` has not failed at once. */
static uint32_t running_slowly(const struct bats_sched *s,
                               const struct machine *m, bats_time slowly)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_slots; i++) {
        const struct slot *sl = &s->slots[m->first_slot + i];
        n += sl->n_tasks > 0 && s->now - sl->started > slowly;
    }
    return n;
}

/* What a black hole devours in a moment the others have not even ended: what
 * runs there for longer counts as going well. */
static bool others_do_well(const struct bats_sched *s, uint32_t machine,
                           bats_time runtime)
{
    uint64_t well = 0, failed = 0;
    for (uint32_t i = 0; i < s->n_machines; i++) {
        const struct machine *m = &s->machines[i];
        if (i == machine)
            continue;
        well += m->n_done + running_slowly(s, m, 2 * runtime);
        failed += m->n_failed;
    }
    return well > failed;
}

int failure_watch(struct bats_sched *s, uint32_t machine, uint32_t task,
                  bool failed, bats_time runtime, struct bats_error *err)
{
    struct machine *m = &s->machines[machine];
    if (!failed) {
        m->n_failed = 0;
        m->n_done++;
        return 0;
    }
    if (m->n_failed > 0 && s->rest[machine].failed_task == task)
        return 0;
    s->rest[machine].failed_task = task;
    if (++m->n_failed % QUARANTINE_AFTER != 0 || m->quarantined ||
        s->draining || !others_do_well(s, machine, runtime))
        return 0;
    fleet_quarantine(s, machine);
    return s->policy->review(s, BATS_REASON_LOST, err);
}

void failure_set_limit(struct bats_sched *s, uint32_t slot)
{
    const struct bats_sched_rules *r = &s->rules;
    const struct slot *sl = &s->slots[slot];
    bats_heap_remove(&s->limits, slot);
    if (sl->n_tasks == 0 || copies_cancelled(s, slot, sl->head))
        return;
    const struct machine *m = &s->machines[sl->machine];
    double median = (double)bats_stats_median(&s->clusters[m->cluster].stats);
    double limit = r->timeout > 0 ? (double)r->timeout : INFINITY;
    if (r->timeout_median > 0 && median > 0)
        limit = fmin(limit, r->timeout_median * median);
    if (limit >= 1e18)
        return;
    bats_time end = sl->started + (bats_time)fmax(limit, 1);
    bats_heap_set(&s->limits, slot, end > s->now ? end : s->now);
}

void failure_time_out(struct bats_sched *s, uint32_t slot)
{
    uint32_t task = s->slots[slot].head;
    bats_heap_remove(&s->limits, slot);
    if (copies_cancelled(s, slot, task))
        return; /* it is being stopped anyway */
    s->timed_out++;
    copies_cancel(s, slot, task, true);
}

void failure_set_limits(struct bats_sched *s)
{
    if (s->rules.timeout_median > 0)
        for (uint32_t i = 0; i < s->n_slots; i++)
            failure_set_limit(s, i);
}
