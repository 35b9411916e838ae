/*
 * swap: in which clusters the jobs are, where their length does not matter
 * (outlook/width.h), for policy bats.
 *
 * As long as clusters are unknown, the jobs are shared out evenly among them.
 * A cluster is better than another one if its tasks take less time by a tenth
 * and cost no more. The jobs of the worse one get no new task then, and others
 * are asked for in the better one: no more at a time than are there already,
 * not while some of them wait, and only if the rest of the bag lasts for twice
 * as long as jobs wait there. If the money does not pay the bag so, jobs of the
 * dearest cluster go to the cheapest, as many as need be. New jobs are of the
 * fastest cluster that the money pays.
 *
 * Layer: engine, policies.
 */
#ifndef BATS_ENGINE_SWAP_H
#define BATS_ENGINE_SWAP_H

#include "engine/policy/policy.h"

struct swap_plan {
    uint32_t target[BATS_CLUSTERS_MAX]; /* jobs that are there, wait or are
                                         * to be asked for */
    double end;                         /* of the bag, microseconds from now */
    double cost;                        /* until then */
};

/* `money`: that may be spent. */
void swap_make(const struct state *s, double money, struct swap_plan *plan);

/* The first jobs; money: 0 = nothing is known, and the clusters share them. */
void swap_start(const struct state *s, double money,
                struct policy_start *start);

#endif
