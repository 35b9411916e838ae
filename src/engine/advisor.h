/*
 * advisor: answers the engine's questions.
 *
 * Layer: engine. There is one for each kind of question: policy, sampling,
 * tail, failure, order. Where there are several of a kind (policies, tails,
 * orders), each is a const table of functions. An advisor has a memory of its
 * own, `self`, which the engine creates and destroys. It reads the state, hears
 * what has happened and answers questions; it never changes the state and never
 * calls another advisor. The engine (sched.c) applies the answers.
 */
#ifndef BATS_ENGINE_ADVISOR_H
#define BATS_ENGINE_ADVISOR_H

#include "engine/outlook/forecast.h"
#include "engine/state/state.h"

/* The common part of every kind of advisor. */
struct advisor {
    const char *name;
    size_t memory; /* size of its own memory, zeroed; 0: none */
    /* Called when the state is set up and nothing has happened yet. NULL:
     * zeroed memory suffices. */
    int (*init)(void *self, const struct state *s,
                const struct bats_sched_options *options,
                struct bats_error *err);
    void (*release)(void *self); /* also after a failed init; may be NULL */
};

#endif
