/*
 * tail: what idle slots replica while the last tasks of the bag run. See
 * advisor.h and bats/tail.h.
 */
#ifndef BATS_ENGINE_TAIL_H
#define BATS_ENGINE_TAIL_H

#include "bats/status.h"
#include "engine/advisor.h"

struct tail {
    struct advisor advisor;
    /* A task has its result from the cluster. False: no memory. */
    bool (*learn)(void *self, const struct state *s, size_t cluster,
                  bats_time runtime);
    /* A monitoring interval is over. */
    void (*tick)(void *self);
    /* Idle slots are going to be asked: all of them, or only those that have
     * not been asked since. Returns, by cluster, until when a machine must be
     * paid at least for its slots to find anything: it changes with every slot
     * that finds nothing, and there may be many idle slots. NULL: none. */
    const bats_time *(*begin)(void *self, const struct state *s, bool *all);
    /* The slot may run a replica. */
    bool (*may)(const void *self, const struct state *s, uint32_t slot);
    /* The task that the slot is to replicate; BATS_NO_POSITION: none. */
    struct bats_position (*replica)(void *self, const struct state *s,
                                    uint32_t slot);
    /* A free slot asks for work, and there are tasks in the bag: the running
     * task that it takes over before; BATS_NO_POSITION: none. NULL: never. */
    struct bats_position (*migrate)(void *self, const struct state *s,
                                    uint32_t slot);
    /* Decides in which slot the task continues, before the machine of its
     * original may enter another window. */
    uint32_t (*hand_over)(void *self, const struct state *s,
                          struct bats_position task);

    /* ---- a tail that sends instances (bats/strategy.h); else NULL ---- */

    /* The tail begins now. Asked after every step until it does. */
    bool (*begins)(const void *self, const struct state *s);
    void (*begin_tail)(void *self, const struct state *s);
    /* The time after which an execution on the cluster is given up, or
     * BATS_NEVER. That is no failure of its task. */
    bats_time (*limit)(const void *self, const struct state *s,
                       size_t cluster);
    /* In the tail. The time is now: first, for every step. */
    void (*update)(void *self, const struct state *s);
    /* The task that the idle slot is to run, be it in the bag or on other
     * machines; BATS_NO_POSITION: none. */
    struct bats_position (*next)(void *self, const struct state *s,
                                 uint32_t slot);
    /* The number of tasks that wait for a slot of a cluster: jobs are asked
     * for when they are needed. */
    uint32_t (*waiting)(void *self, const struct state *s, size_t cluster);
    /* The execution ends, well or not; it is still in its slot. `noticed`: not
     * well, and before anybody gave it up. */
    void (*ended)(void *self, const struct state *s, uint32_t slot,
                  struct bats_position task, bool answers, bool noticed);
    /* When it wants the next step; BATS_NEVER. */
    bats_time (*wakeup)(void *self);
    /* The strategy that it follows, and those that were on offer. */
    void (*strategy)(const void *self, struct bats_sched_strategy *strategy);
    size_t (*offers)(const void *self, const struct bats_sched_offer **offers);
    /* There are new ones since it was asked last. */
    bool (*has_news)(void *self);
    /* Switches to another one of the offers. False: there is no such offer. */
    bool (*choose)(void *self, const struct state *s, uint32_t which);
};

extern const struct tail tail_none, tail_replicas, tail_migrate, tail_expert;

/* The tail of a run: of a policy that `sends_instances`, or where a machine
 * that waits is free, and no copies are worth their price; or as the user
 * wants. */
const struct tail *tail_find(const struct bats_sched_options *o,
                             bool sends_instances, bool idle_is_free);

#endif
