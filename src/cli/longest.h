/*
 * longest: the order of tasks by what they are expected to take.
 * Layer: cli. Used by the verb run, for --order longest: list scheduling, the
 * longest processing time first (Graham 1969), ends at most a third later than
 * the best order on equal machines.
 */
#ifndef BATS_LONGEST_H
#define BATS_LONGEST_H

#include <stdint.h>

#include "cli/options.h"
#include "cli/past.h"
#include "run/run.h"

/*
 * *order: the tasks of the bag, the longest first and equal ones as the bag has
 * them; for free(). It goes by what the file says ("#BATS time", @sleep, the
 * runtimes of a workflow), else by what the task took in the record of an
 * earlier run, `record` (NULL or not there: there is none), resumed or not:
 * known by its command; else by what its kind took in the history (`learner`). A
 * task with none of these counts as the mean of its category, else as the mean
 * of all. *known: how many are known.
 * BATS_ENOMEM, and errors of the record.
 */
int bats_longest(const struct bats_bagfile *bag, const char *record,
                 double time_scale, struct bats_learner *learner,
                 uint32_t **order, uint32_t *known, struct bats_error *err);

#endif
