/*
 * workflows: the progress and charges of each workflow of a run.
 *
 * Layer: report. The bill, `status`, `why`, `top` and the report show the same
 * figures. A list is for free(); it comes from a run's engine
 * (bats_workflows_take) or from its record.
 */
#ifndef BATS_WORKFLOWS_H
#define BATS_WORKFLOWS_H

#include <jansson.h>
#include <stdio.h>

#include "bats/purse.h"
#include "report/table.h"

struct bats_purse_status;
struct bats_sched;

/* NULL: no workflows, or out of memory. */
struct bats_purse_status *bats_workflows_take(const struct bats_sched *sched,
                                              uint32_t *n);

/* The workflow cannot meet its deadline even without further waiting. */
bool bats_workflows_is_late(const struct bats_purse_status *workflow);

/* Prints, after a blank line, a table of the first `most` workflows and the
 * number of the others; nothing if there are none. */
void bats_workflows_print(FILE *out, const struct bats_purse_status *list,
                          size_t n, size_t most);

/* Objects as in the report: null means no budget, deadline or end, or an
 * unknown soonest end; "late" is bats_workflows_is_late. NULL: out of
 * memory. */
json_t *bats_workflows_json(const struct bats_purse_status *list, size_t n);

#endif
