/*
 * tail: what idle machines do while the last tasks of a bag run.
 *
 * Layer: core. Towards the end the bag is empty, and machines that are paid
 * until the end of their window have nothing to do, while the end of the run
 * waits for a few long tasks on slow machines. Idle machines then run copies
 * of these; the first one that succeeds is the result, the others are stopped.
 * Source: Oprescu's thesis, chapter 5.
 *
 * A copy never costs anything: it runs inside a window that is paid already,
 * and no window is entered for it. Where it is the only execution left of its
 * task (the others were lost or cut off) it is a task like any other.
 *
 *   none     no copies.
 *   random   of any task that runs on slower machines only.
 */
#ifndef BATS_TAIL_H
#define BATS_TAIL_H

#include <stdbool.h>

enum bats_tail { BATS_TAIL_NONE, BATS_TAIL_RANDOM };

/* The strategy of that name: true and *tail, else false. */
bool bats_tail_find(const char *name, enum bats_tail *tail);

const char *bats_tail_name(enum bats_tail tail);

#endif
