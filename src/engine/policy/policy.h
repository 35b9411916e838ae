/*
 * policy: which machines are held. See advisor.h, bats/policy.h and
 * src/doc/add-a-policy.md.
 *
 * A policy needs at least `start` and `renew`; every other function may be
 * NULL. The engine never spends more than the budget, never holds more
 * machines than a cluster's max, and acquires none while there is nothing to
 * run.
 */
#ifndef BATS_ENGINE_POLICY_H
#define BATS_ENGINE_POLICY_H

#include "bats/status.h"
#include "engine/advisor.h"

/* Events on which a policy is asked. */
enum occasion_type {
    OCCASION_RESULT,  /* a task has its result: machine, task, runtime */
    OCCASION_WINDOW,  /* a machine has entered a window, or was parked: machine
                      */
    OCCASION_TICK,    /* a monitoring interval is over */
    OCCASION_LOST,    /* a machine was lost, or put in quarantine: machine */
    OCCASION_STALLED, /* tasks are left and nothing runs */
    OCCASION_READY, /* tasks that waited for others are ready, no slot is idle,
                       and machines are parked */
    OCCASION_CHOSEN /* a schedule was chosen that the policy must plan itself:
                       within its cost limit; it need not end sooner */
};

struct occasion {
    enum occasion_type type;
    uint32_t machine;
    struct bats_position task;
    bats_time runtime;
    bool in_sample; /* RESULT: it belongs to its cluster's sample */
};

/* Needs of the sampling phase: slots per cluster, and the tasks that the
 * cluster lacks. All 0: no such phase. */
struct policy_sample {
    bool is_on;
    uint32_t workers[BATS_CLUSTERS_MAX];
    uint32_t lacks[BATS_CLUSTERS_MAX];
};

/* The first configuration; zeroed by the caller. */
struct policy_start {
    uint32_t machines[BATS_CLUSTERS_MAX];
    uint32_t sample[BATS_CLUSTERS_MAX]; /* number of first tasks that form the
                                           cluster's sample; 0: the first
                                           results form it */
};

/* A new configuration. */
struct policy_plan {
    struct bats_decision decision; /* recorded */
    /* Unmarked machines of each cluster; machines are acquired up to this. */
    uint32_t target[BATS_CLUSTERS_MAX];
    bool confirms; /* not recorded if it repeats the last plan */
    /* Windows that each machine of the cluster gets after the current one. */
    int64_t windows[BATS_CLUSTERS_MAX];
    /* By machine: it stays unmarked. NULL: surplus machines are marked, those
     * whose windows end soonest first. */
    const bool *keeps;
};

struct bats_policy {
    struct advisor advisor;
    bool plans_windows;   /* needs windows */
    bool forecasts;       /* needs T with the running tasks */
    bool one_each;        /* slots prefetch no tasks */
    bool sends_instances; /* uses the tail that sends instances, whatever the
                             user asks for */
    /* The first configuration. Asked once, when the first machine joins. */
    void (*start)(void *self, const struct state *s,
                  const struct policy_sample *sample,
                  struct policy_start *start);
    /* Whether this machine enters another window. Asked only shortly before
     * its paid time ends, and if the money suffices. */
    bool (*renew)(void *self, const struct state *s, uint32_t machine);
    /* The ready task for this idle slot, or BATS_NO_POSITION: none now. Asked
     * only if `refuses` allows the machine. A policy with this function
     * requires a graph and charges for use. NULL: the order decides. */
    struct bats_position (*place)(void *self, const struct state *s,
                                  uint32_t slot);
    /* With `place`: it has no task for any slot of the cluster now. */
    bool (*is_over)(const void *self, const struct state *s, uint32_t cluster);
    /* Why the machine may not start a task now; BATS_IDLE_NOT: it may. */
    enum bats_idle (*refuses)(void *self, const struct state *s,
                              uint32_t machine);
    /* After LOST, STALLED and READY: whether machines are acquired up to the
     * current configuration's targets. */
    bool (*refill)(void *self, const struct state *s,
                   const struct occasion *why);
    /* Whether a stalled run with tasks left lacks time. */
    bool (*is_late)(void *self, const struct state *s);
    /* Whether the policy wants to plan now. Called for every result and every
     * window, so also a notification. */
    bool (*wants)(void *self, const struct state *s,
                  const struct occasion *why);
    /* Expected end of the bag; BATS_NEVER: unknown. NULL: ask the forecast. */
    bats_time (*end)(void *self, const struct state *s);
    /* Called if `wants` was true. Sets *is_new, and if true the new
     * configuration *plan. Returns < 0 on failure. */
    int (*plan)(void *self, const struct state *s, const struct occasion *why,
                bool *is_new, struct policy_plan *plan,
                struct bats_error *err);
};

/* ---- initial.c: of rr, for other policies, too ---- */

/* Starts all machines. */
void rr_start(void *self, const struct state *s,
              const struct policy_sample *sample, struct policy_start *start);

/* Renews machines that have work. */
bool rr_renew(void *self, const struct state *s, uint32_t machine);

/* Always true. */
bool rr_refill(void *self, const struct state *s, const struct occasion *why);

/* The start of a run that samples first. */

void initial_start(const struct state *s, const struct policy_sample *sample,
                   struct policy_start *start);

/* Whether the sample suffices for a first plan. */
bool initial_sampled(const struct state *s);

/* Whether some initial machine is about to need a second window. */
bool initial_window_closes(const struct state *s);

#endif
