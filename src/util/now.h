/*
 * now: the present time of a system clock.
 * Layer: util. CLOCK_REALTIME counts from 1970, for people; CLOCK_MONOTONIC is
 * never set, for timeouts.
 */
#ifndef BATS_NOW_H
#define BATS_NOW_H

#include <stdint.h>
#include <time.h>

static inline int64_t bats_now_us(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

#endif
