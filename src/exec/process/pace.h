/*
 * pace: the duty cycle that makes a process look slower.
 *
 * Layer: exec. Used by runner, which sends the signals. Pure: the time is
 * handed in (microseconds of one clock that does not jump).
 *
 *   lead = ran / speed - elapsed
 *
 * is how far the process is ahead of what its speed allows. It runs until the
 * lead has grown to a slice's worth, then stands still until the lead is used
 * up. Because the lead counts everything since the start, a switch that comes
 * late is made good by the next one. A process that ends early has its end
 * held back until its lead is used up: so a 40 ms task at speed 1/4 takes
 * 160 ms, however short it is. What waits for a timer or for others does not
 * get slower, as it would not on a slower machine.
 */
#ifndef BATS_PACE_H
#define BATS_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct bats_pace {
    double speed; /* > 0; from 1 on nothing is ever stopped or held back */
    int64_t start;
    int64_t ran;   /* until `since` */
    int64_t since; /* the latest switch */
    bool stopped;
};

/* A process begins to run at `now`. */
void bats_pace_begin(struct bats_pace *pace, double speed, int64_t now);

/* Whether it is to stand still from `now` on; to be obeyed. */
bool bats_pace_stopped(struct bats_pace *pace, int64_t now);

/* When to ask next; INT64_MAX: no need to. */
int64_t bats_pace_next(const struct bats_pace *pace, int64_t now);

/* The process ended at `now`: when its end may be told, not before `now`. */
int64_t bats_pace_end(const struct bats_pace *pace, int64_t now);

#endif
