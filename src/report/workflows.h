/*
 * workflows: of several in a run, what each was charged, and how far it is.
 *
 * Layer: report. The same figures in all places: the bill, `status`, `why`,
 * `top`, the report. A list is for free(); it comes from the engine of a run
 * (here) or from its record (bats_view_workflows).
 */
#ifndef BATS_WORKFLOWS_H
#define BATS_WORKFLOWS_H

#include <jansson.h>
#include <stdio.h>

#include "bats/sched.h"

/* NULL: there are none, or there is no memory for them. */
struct bats_purse_status *bats_workflows_take(const struct bats_sched *sched,
                                              uint32_t *n);

/* Its tasks in all; what is left of its budget, BATS_UNLIMITED: it has none;
 * when it was through, BATS_NEVER: it is not, or has left out tasks. */
uint32_t bats_workflows_tasks(const struct bats_purse_status *workflow);
bats_money bats_workflows_left(const struct bats_purse_status *workflow);
bats_time bats_workflows_end(const struct bats_purse_status *workflow);

/* A table of the first `most` and how many it leaves out, after a blank line;
 * nothing if there are none. */
void bats_workflows_print(FILE *out, const struct bats_purse_status *list,
                          uint32_t n, uint32_t most);

/* Objects as in the report: null is no budget, deadline or end. NULL: no
 * memory. */
json_t *bats_workflows_json(const struct bats_purse_status *list, uint32_t n);

#endif
