/*
 * longest: orders tasks by expected runtime.
 * Layer: cli. Used by the verb run, for --order longest: list scheduling,
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
 * *order: the tasks of the bag, longest first, equal ones in the order of the
 * bag; for free(). A runtime comes from the file ("#BATS time", @sleep, a
 * workflow's runtimes), else from the same command in the record of an earlier
 * run, `record` (NULL or missing: none), resumed or not, else from its kind in
 * the history (`learner`). Other tasks count as the mean of their category,
 * else as the mean of all. *known: the number of known runtimes. BATS_ENOMEM,
 * and errors of the record.
 */
int bats_longest(const struct bats_bagfile *bag, const char *record,
                 double time_scale, struct bats_learner *learner,
                 uint32_t **order, uint32_t *known, struct bats_error *err);

#endif
