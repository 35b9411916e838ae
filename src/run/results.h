/*
 * results: handles the ends of executions.
 * Layer: run. Used by the master. The engine hears of the end and decides what
 * it means; the record, the joblog and the output follow from that.
 */
#ifndef BATS_RESULTS_H
#define BATS_RESULTS_H

#include "run/master.h"

/* Handles the results in a RESULT message of worker i. */
#define BATS_RESULTS_ENDING 1 /* it was told to end, as its whole worker job */
int bats_results_take(struct master *m, size_t i, struct bats_message *message,
                      struct bats_error *err);

/* One result, wanted or not. */
int bats_results_take_one(struct master *m, size_t i,
                          const struct bats_task_result *r,
                          struct bats_error *err);
int bats_results_refuse(struct master *m, size_t i,
                        const struct bats_task_result *r,
                        struct bats_error *err);

/* Handles lines of a task, from worker i. */
int bats_results_output(struct master *m, size_t i,
                        const struct bats_output_lines *output,
                        struct bats_error *err);

/* Worker i will send no more output of its last result. */
int bats_results_end_output(struct master *m, size_t i,
                            struct bats_error *err);

/* A task that was lost with several machines in a row is given up, and counts
 * as killed. */
int bats_results_lost(struct master *m, const struct bats_command *lose,
                      struct bats_error *err);

#endif
