/*
 * points: the numeric parameters of a bag that is a sweep, and what the history
 * says of its points by them.
 *
 * Layer: cli. Used by past.c.
 */
#ifndef BATS_CLI_POINTS_H
#define BATS_CLI_POINTS_H

#include "history/sweep.h"
#include "input/bagfile.h"

/* All zero: there are none. */
struct bats_bag_points {
    const struct bats_bagfile *bag;
    char names[BATS_PAST_NAMES];
    uint32_t n; /* parameters */
    size_t column[BATS_FACTORS];
};

/* Finds the first parameters that are numbers, not all the same. */
void bats_bag_points_init(struct bats_bag_points *points,
                          const struct bats_bagfile *bag);

/* The numbers of task i. False: it lacks one, or there are none. */
bool bats_bag_points_at(const struct bats_bag_points *points, uint32_t i,
                        double *x);

#endif
