/*
 * tail: what idle slots replicate while the last tasks of the bag run. See
 * advisor.h and bats/tail.h.
 */
#ifndef BATS_ENGINE_TAIL_H
#define BATS_ENGINE_TAIL_H

#include "bats/status.h"
#include "engine/advisor.h"

/* The idle slots worth asking for a replica; there may be many others. */
struct tail_pass {
    bool all; /* all, or only those that became idle since the last pass */
    bool
        closed[BATS_CLUSTERS_MAX]; /* no slot of the cluster finds a replica */
    bats_time useless[BATS_CLUSTERS_MAX]; /* nor one of a machine paid no
                                             longer than this, until a pass
                                             over all slots */
};

struct tail {
    struct advisor advisor;
    /* Learns a task's result on the cluster. False: out of memory. */
    bool (*learn)(void *self, const struct state *s, size_t cluster,
                  bats_time runtime);
    /* A monitoring interval is over. */
    void (*tick)(void *self);
    /* Starts a pass over idle slots. The answer changes with every slot that
     * finds nothing. NULL: slots run no replicas. */
    const struct tail_pass *(*begin)(void *self, const struct state *s);
    /* Task for the slot to replicate; BATS_NO_POSITION: none. */
    struct bats_position (*replica)(void *self, const struct state *s,
                                    uint32_t slot);
    /* While tasks are in the bag: the running task that a free slot takes over
     * first; BATS_NO_POSITION: none. NULL: never. */
    struct bats_position (*migrate)(void *self, const struct state *s,
                                    uint32_t slot);
    /* Decides in which slot the task continues, before its original's machine
     * may enter another window. */
    uint32_t (*hand_over)(void *self, const struct state *s,
                          struct bats_position task);

    /* ---- a tail that sends instances (bats/strategy.h); else NULL ---- */

    /* Whether the tail begins now. Asked after every step until it does. */
    bool (*begins)(const void *self, const struct state *s);
    void (*begin_tail)(void *self, const struct state *s);
    /* Time after which an execution on the cluster is given up, or BATS_NEVER.
     * Giving up is no failure of the task. */
    bats_time (*limit)(const void *self, const struct state *s,
                       size_t cluster);
    /* In the tail, called first in every step. */
    void (*update)(void *self, const struct state *s);
    /* Task for the idle slot, from the bag or running elsewhere;
     * BATS_NO_POSITION: none. */
    struct bats_position (*next)(void *self, const struct state *s,
                                 uint32_t slot);
    /* Number of tasks that wait for a slot of the cluster, counted up to
     * `most`; jobs are requested accordingly. */
    uint32_t (*waiting)(void *self, const struct state *s, size_t cluster,
                        uint32_t most);
    /* An execution ends, successfully or not, and is still in its slot.
     * noticed: it failed, and before it was given up. */
    void (*ended)(void *self, const struct state *s, uint32_t slot,
                  struct bats_position task, bool answers, bool noticed);
    /* Time of the next step it needs, or BATS_NEVER. */
    bats_time (*wakeup)(void *self);
    /* The strategy in use. */
    void (*strategy)(const void *self, struct bats_sched_strategy *strategy);
};

extern const struct tail tail_none, tail_replicas, tail_migrate, tail_expert;

/* The tail of a run: the instances' tail if the policy sends instances; none
 * if idle machines are free, as copies are not worth their price; otherwise as
 * the user wants. */
const struct tail *tail_find(const struct bats_sched_options *o,
                             bool sends_instances, bool idle_is_free);

#endif
