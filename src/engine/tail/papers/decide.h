/*
 * decide: which strategy suits a tail.
 *
 * Layer: engine, part of the tail. Plays strategies of the grid (bats/plays.h)
 * from the current state, those that do well more often, and takes the one
 * with the least utility among those expected to keep budget and deadline, if
 * any.
 */
#ifndef BATS_ENGINE_DECIDE_H
#define BATS_ENGINE_DECIDE_H

#include "bats/plays.h"

struct decide_question {
    struct bats_plays_model model; /* with the tail */
    const char *utility;           /* bats/strategy.h */
    double elapsed, charged;       /* so far; microseconds, money */
    double money, time;            /* left; or INFINITY */
    uint32_t n_tasks;              /* of the whole bag */
    uint64_t seed;
};

struct decide_answer {
    struct bats_strategy strategy;
    double makespan, cost; /* means of its plays, from now on */
};

/* False: out of memory; nothing is decided. */
bool decide(const struct decide_question *q, struct decide_answer *answer);

#endif
