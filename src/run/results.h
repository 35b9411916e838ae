/*
 * results: what executions that have ended lead to.
 *
 * Layer: run. Used by the master. The engine hears of the end, and says what
 * it means; the record, the joblog and the output follow from that.
 */
#ifndef BATS_RESULTS_H
#define BATS_RESULTS_H

#include "run/master.h"

/* The results in a RESULT message of member i. */
int bats_results_take(struct master *m, size_t i, struct bats_message *message,
                      struct bats_error *err);

/* Lines of a task, from member i. */
int bats_results_output(struct master *m, size_t i,
                        const struct bats_output_lines *output,
                        struct bats_error *err);

/* No more output of its last result will come from member i. */
int bats_results_end_output(struct master *m, size_t i,
                            struct bats_error *err);

/* A task that was lost with one machine after the other will not be run again.
 * It is as if it had been killed. */
int bats_results_lost(struct master *m, const struct bats_command *lose,
                      struct bats_error *err);

#endif
