/*
 * draw: random numbers of a simulated world.
 *
 * Layer: sim. Used by the driver and the campaigns. Everything is a function
 * of its arguments: the same seed gives the same world on every machine,
 * whatever a policy does in it and in which order.
 */
#ifndef BATS_DRAW_H
#define BATS_DRAW_H

#include <stdint.h>

/*
 * The factor by which execution number `execution` (from 0) of `task` takes
 * longer than the task's own runtime: lognormal with mean 1 and standard
 * deviation `deviation` >= 0; 1 if that is 0.
 */
double bats_draw_noise(uint64_t seed, uint32_t task, uint32_t execution,
                       double deviation);

#endif
