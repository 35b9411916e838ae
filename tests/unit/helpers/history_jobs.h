/*
 * history_jobs: how the worlds of test_sched_property.c tell the engine of an
 * event, and what the batch system does to machines that are jobs.
 */
#ifndef BATS_HISTORY_JOBS_H
#define BATS_HISTORY_JOBS_H

#include "history_billing.h"
#include "history_checks.h"

static int tell(struct world *w, struct bats_event ev)
{
    struct bats_sched_status before, after;
    bats_sched_status(w->sched, &before);
    w->pending_before = before.pending;
    int rc = bats_sched_handle(w->sched, w->now, &ev, &err);
    bats_sched_status(w->sched, &after);
    uint32_t results = after.done + after.failed - before.done - before.failed;
    if (results > 0) { /* a failed task may be tried again instead */
        assert_true(rc == 0 && results == 1);
        w->results[ev.task]++;
    }
    add(w, (uint64_t)rc);
    obey(w);
    add(w, (uint64_t)bats_sched_wakeup(w->sched));
    add_status(w);
    check(w);
    if (w->leases)
        hear_leases(w);
    return rc;
}

/* Nothing runs there any more. */
static void empty(struct world *w, uint32_t m)
{
    end_holding(w, m, false);
    for (uint32_t k = 0; k < w->machines[m].slots; k++)
        w->queue[m][k].n = 0;
}

static void say(struct world *w, enum bats_event_type type, uint32_t m,
                bats_time time)
{
    const struct bats_event ev = {type, .machine = m, .runtime = time};
    assert_int_equal(tell(w, ev), 0);
}

static void send(struct world *w, uint32_t m, bats_money amount)
{
    const struct bats_event ev = {
        .type = BATS_EVENT_BILLED, .machine = m, .amount = amount};
    assert_int_equal(tell(w, ev), 0);
}

/* A job that is lost is to be billed; no other loss ends. */
static void lose(struct world *w, uint32_t m)
{
    if (w->job[m] == NO_JOB)
        w->lost[m] = true;
    else
        w->job[m] = JOB_ENDED;
    empty(w, m);
    say(w, BATS_EVENT_LOST, m, 0);
}

/* Seldom more than was held for it. */
static void send_bill(struct world *w, uint32_t m)
{
    uint32_t cluster = w->machines[m].cluster;
    bats_time lease = w->o.billing.lease; /* at least so much is held */
    bats_money price = bats_billing_use(
        w->clusters[cluster].charge, w->o.window,
        (lease > 0 && lease < w->length[m] ? lease : w->length[m]) +
            w->o.billing.overrun);
    bats_money amount = chance(0.2) ? 0
                        : chance(0.2)
                            ? price
                            : (bats_money)(uniform() * (double)price);
    if (chance(0.02)) {
        amount = price + 1 + pick(1000000);
        w->overbilled = true;
    }
    empty(w, m);
    w->job[m] = NO_JOB;
    w->lost[m] = w->closed[m];
    w->all->bills++;
    send(w, m, amount);
}

static void no_such_job(struct world *w, uint32_t m)
{
    static const enum bats_event_type types[] = {
        BATS_EVENT_JOINED, BATS_EVENT_ENDS, BATS_EVENT_BILLED,
        BATS_EVENT_RETIRED};
    struct bats_event ev = {.type = types[pick(4)], .machine = m};
    assert_int_equal(tell(w, ev), BATS_ESTATE);
}

static void waiting_job(struct world *w, uint32_t m)
{
    if (chance(0.9)) {
        w->job[m] = JOB_BEGUN;
        w->held[m] = true;
        w->acquired[m] = w->now;
        say(w, BATS_EVENT_JOINED, m, 0);
    } else {
        lose(w, m);
    }
}

/* What the batch system says of a machine; false: nothing. */
static bool job_happens(struct world *w, uint32_t m)
{
    double dice = uniform();
    if (dice > 0.08)
        return false;
    if (dice < 0.001 && !w->closed[m]) {
        w->closed[m] = true;
        w->lost[m] = w->job[m] == NO_JOB;
        say(w, BATS_EVENT_CLOSED, m, 0);
    } else if (dice < 0.0015) {
        w->overbilled = true;
        send(w, BATS_NO_MACHINE, pick(100000));
    } else if (w->job[m] == NO_JOB && dice < 0.005) {
        no_such_job(w, m);
    } else if (w->job[m] == JOB_ASKED) {
        waiting_job(w, m);
    } else if (w->job[m] == JOB_BEGUN && dice < 0.01) {
        say(w, BATS_EVENT_ENDS, m, pick(4000) * w->scale);
    } else if (w->job[m] == JOB_BEGUN && dice < 0.013) {
        say(w, BATS_EVENT_RETIRED, m, 0);
    } else if (w->job[m] == JOB_ENDED ||
               (w->job[m] == JOB_BEGUN && dice < 0.016)) {
        send_bill(w, m);
    } else {
        return false;
    }
    return true;
}

/* The batch system goes on when the run is over. */
static void end_jobs(struct world *w)
{
    for (uint32_t m = 0; m < w->o.n_machines; m++)
        if (w->job[m] != NO_JOB && !w->killed)
            send_bill(w, m);
    check_settled(w);
}

#endif
