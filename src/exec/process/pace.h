/*
 * pace: the duty cycle that makes a process look slower.
 *
 * Layer: exec. Used by runner, which sends the signals. Pure: the caller
 * passes the time (microseconds of a monotonic clock).
 *
 *   lead = ran / speed - elapsed
 *
 * is how far the process is ahead of its speed. It runs until the lead has
 * grown to a slice, then is stopped until the lead is used up. Because the
 * lead counts everything since the start, the next switch corrects a late one.
 * The end of a process that ends early is held back until its lead is used up,
 * so a 40 ms task at speed 1/4 takes 160 ms. Time spent waiting for a timer or
 * for others does not get longer, as it would not on a slower machine.
 */
#ifndef BATS_PACE_H
#define BATS_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct bats_pace {
    double speed; /* > 0; from 1 on the process is never stopped or held
                   * back */
    int64_t start;
    int64_t ran;   /* running time until `since` */
    int64_t since; /* time of the latest switch */
    bool stopped;
};

/* A process begins to run at `now`. */
void bats_pace_begin(struct bats_pace *pace, double speed, int64_t now);

/* True if the process must stand still from `now` on. The caller stops or
 * continues it. */
bool bats_pace_stopped(struct bats_pace *pace, int64_t now);

/* When to ask next; INT64_MAX: never. */
int64_t bats_pace_next(const struct bats_pace *pace, int64_t now);

/* The process ended at `now`: returns when to report its end, at `now` or
 * later. */
int64_t bats_pace_end(const struct bats_pace *pace, int64_t now);

#endif
