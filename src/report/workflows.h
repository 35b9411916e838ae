/*
 * workflows: of several in a run, what each was charged, and how far it is.
 *
 * Layer: report. The same figures in all places: the bill, `status`, `why`,
 * `top`, the report. A list is for free(); it comes from the engine of a run
 * (bats_workflows_take) or from its record.
 */
#ifndef BATS_WORKFLOWS_H
#define BATS_WORKFLOWS_H

#include <jansson.h>
#include <stdio.h>

#include "bats/sched.h"
#include "record/read/view.h"

/* NULL: there are none, or there is no memory for them. */
struct bats_purse_status *bats_workflows_take(const struct bats_sched *sched,
                                              uint32_t *n);

/* As bats_view_workflows; if the run goes on, with what its status file
 * (live.h) says they hold, and when they can be done. */
int bats_workflows_read(struct bats_view *view, bool is_live,
                        struct bats_purse_status **list, uint32_t *n,
                        uint16_t **of, struct bats_error *err);

/* Its tasks in all; what is left of its budget, BATS_UNLIMITED: it has none;
 * when it was through, BATS_NEVER: it is not, or has left out tasks. */
uint32_t bats_workflows_tasks(const struct bats_purse_status *workflow);
bats_money bats_workflows_left(const struct bats_purse_status *workflow);
bats_time bats_workflows_end(const struct bats_purse_status *workflow);

/* It cannot be done by its deadline, even if nothing else has to be waited
 * for. */
bool bats_workflows_is_late(const struct bats_purse_status *workflow);

/* "2h", "2h (late)" if it is, or "-". */
#define BATS_WORKFLOWS_DEADLINE (BATS_UNITS_TEXT + 8)
const char *
bats_workflows_deadline(const struct bats_purse_status *workflow,
                        char text[BATS_WORKFLOWS_DEADLINE]);

/* A table of the first `most` and how many it leaves out, after a blank line;
 * nothing if there are none. What is held for machines under way has a column
 * if there is any. */
void bats_workflows_print(FILE *out, const struct bats_purse_status *list,
                          uint32_t n, uint32_t most);

/* Objects as in the report: null is no budget, deadline or end, and nothing
 * known of the soonest one; "late" is that of bats_workflows_is_late. NULL: no
 * memory. */
json_t *bats_workflows_json(const struct bats_purse_status *list, uint32_t n);

#endif
