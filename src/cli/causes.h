/*
 * causes: why the tasks of a record failed.
 * Layer: cli. Used by the verbs that show failures.
 */
#ifndef BATS_CLI_CAUSES_H
#define BATS_CLI_CAUSES_H

#include "record/read/view.h"
#include "report/causes.h"

/* Counts the failed tasks of the record by their causes, the most frequent
 * first. Restarts the view's list of tasks. */
int bats_look_causes(struct bats_view *view, struct bats_causes *causes,
                     struct bats_error *err);

#endif
