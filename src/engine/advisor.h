/*
 * advisor: answers the engine's questions.
 *
 * Layer: engine. There are five kinds: policy, sampling, tail, failure and
 * order. Kinds with several members (policies, tails, orders) are const tables
 * of functions. Each advisor has private memory, `self`, which the engine
 * creates and destroys. It reads the state, is told of events and answers
 * questions; it never changes the state and never calls another advisor. The
 * engine (sched.c) applies the answers.
 */
#ifndef BATS_ENGINE_ADVISOR_H
#define BATS_ENGINE_ADVISOR_H

#include "engine/outlook/forecast.h"
#include "engine/state/state.h"

/* Members common to all advisors. */
struct advisor {
    const char *name;
    size_t memory; /* size of self, which is zeroed; 0: none */
    /* Called after the state is set up and before any event. NULL: zeroed
     * memory suffices. */
    int (*init)(void *self, const struct state *s,
                const struct bats_sched_options *options,
                struct bats_error *err);
    void (*release)(void *self); /* also after a failed init; may be NULL */
};

#endif
