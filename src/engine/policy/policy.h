/*
 * policy: which machines are held. See advisor.h, bats/policy.h and
 * src/doc/add-a-policy.md.
 *
 * The least that a policy needs is `start` and `renew`. Every function but
 * these may be NULL. The engine itself never spends more than the budget, never
 * holds more machines than a cluster's max, and acquires none while there is
 * nothing to run.
 */
#ifndef BATS_ENGINE_POLICY_H
#define BATS_ENGINE_POLICY_H

#include "bats/status.h"
#include "engine/advisor.h"

/* Why a policy is asked. */
enum occasion_type {
    OCCASION_RESULT,  /* a task has its result: machine, task, runtime */
    OCCASION_WINDOW,  /* a machine has entered a window, or was parked: machine
                      */
    OCCASION_TICK,    /* a monitoring interval is over */
    OCCASION_LOST,    /* a machine was lost, or put in quarantine: machine */
    OCCASION_STALLED, /* tasks are left and nothing runs */
    OCCASION_READY, /* tasks that had to wait for others are ready, no slot is
                         idle, and machines are parked */
    OCCASION_CHOSEN /* a schedule, which the policy has to plan itself: what
                        it may cost, and when it need not end sooner */
};

struct occasion {
    enum occasion_type type;
    uint32_t machine;
    struct bats_position task;
    bats_time runtime;
    bool in_sample; /* RESULT: it is one of its cluster's sample */
};

/* Needs of the sampling phase: slots of each cluster, and the tasks that the
 * cluster lacks. All 0: no such phase. */
struct policy_sample {
    bool is_on;
    uint32_t workers[BATS_CLUSTERS_MAX];
    uint32_t lacks[BATS_CLUSTERS_MAX];
};

/* The configuration of the start, zeroed before. */
struct policy_start {
    uint32_t machines[BATS_CLUSTERS_MAX];
    uint32_t sample[BATS_CLUSTERS_MAX]; /* tasks, the first ones, that are the
                                           cluster's sample; 0: the first
                                           results are */
};

/* A new configuration. */
struct policy_plan {
    struct bats_decision decision; /* for the record */
    /* Machines of each cluster that are not marked; acquired up to that. */
    uint32_t target[BATS_CLUSTERS_MAX];
    /* machines among them without a waiting task: for copies */
    uint32_t spares[BATS_CLUSTERS_MAX];
    bool confirms; /* not recorded if it repeats the last one */
    /* Windows that each machine of the cluster gets after the present one. */
    int64_t windows[BATS_CLUSTERS_MAX];
    /* By machine: it is not marked. NULL: surplus machines are marked, those
     * first whose windows end soonest. */
    const bool *keeps;
    /* By machine: it gets another window for a copy; may be NULL. */
    const bool *copies;
};

struct bats_policy {
    struct advisor advisor;
    const char *about;    /* one line for people */
    bool plans_windows;   /* unusable without windows */
    bool one_each;        /* a slot is given no task ahead */
    bool knows_needs;     /* tasks may need several slots, memory or GPUs */
    bool sends_instances; /* so does its tail, whatever is asked for */
    /* The configuration of the start. Asked once, when the first machine
     * joins. */
    void (*start)(void *self, const struct state *s,
                  const struct policy_sample *sample,
                  struct policy_start *start);
    /* Shall this machine enter another window? (Only asked shortly before the
     * end of its paid time, and if there is money.) */
    bool (*renew)(void *self, const struct state *s, uint32_t machine);
    /* The task that this idle slot is to run, of those that are ready, or
     * BATS_NO_POSITION: none of them now. It is only asked if it does not refuse
     * the machine; with it the engine wants a graph, and that use is charged. NULL:
     * the order decides. */
    struct bats_position (*place)(void *self, const struct state *s,
                                  uint32_t slot);
    /* Why may this machine start no task now? BATS_IDLE_NOT: it may. */
    enum bats_idle (*refuses)(void *self, const struct state *s,
                              uint32_t machine);
    /* After LOST, STALLED and READY: are machines acquired up to what the
     * present configuration wants? */
    bool (*refill)(void *self, const struct state *s,
                   const struct occasion *why);
    /* Tasks are left, nothing goes on: is it for want of time? */
    bool (*is_late)(void *self, const struct state *s);
    /* The clusters are known well enough for a choice of schedules. */
    bool (*knows)(void *self, const struct state *s,
                  const struct occasion *why);
    /* Does it want to think about a new configuration now? Of every result and
     * every window it is told by this. */
    bool (*wants)(void *self, const struct state *s,
                  const struct occasion *why);
    /* When it expects the bag to be done; BATS_NEVER: not known. NULL: ask the
     * forecast. */
    bats_time (*end)(void *self, const struct state *s);
    /* If it does: true and a new configuration in *plan, or false. T of every
     * cluster and the forecast are of now. *rc < 0: it failed. */
    int (*plan)(void *self, const struct state *s, const struct occasion *why,
                bool *is_new, struct policy_plan *plan,
                struct bats_error *err);
};

/* ---- rr.c: for other policies, too ---- */

/* All machines. */
void rr_start(void *self, const struct state *s,
              const struct policy_sample *sample, struct policy_start *start);

/* The machine works. */
bool rr_renew(void *self, const struct state *s, uint32_t machine);

/* Always. */
bool rr_refill(void *self, const struct state *s, const struct occasion *why);

/* ---- initial.c: how a run begins that samples first ---- */

void initial_start(const struct state *s, const struct policy_sample *sample,
                   struct policy_start *start);

/* The sample suffices for a first plan. */
bool initial_sampled(const struct state *s);

/* Some machine of it is about to ask for a second window. */
bool initial_window_closes(const struct state *s);

#endif
