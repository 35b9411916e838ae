/* failure: the consequences of failed executions. See advisor.h. */
#ifndef BATS_ENGINE_FAILURE_H
#define BATS_ENGINE_FAILURE_H

#include "engine/advisor.h"

#define FAILURE_FOR_GOOD (-1)

enum failure_halt { FAILURE_GO_ON, FAILURE_DRAIN, FAILURE_STOP };

/* Its memory is a struct failure. */
extern const struct advisor failure_rules;

struct failure;

/* An execution of the task has failed or timed out. Returns the delay before
 * the next attempt, or FAILURE_FOR_GOOD. If the task still runs `elsewhere`,
 * that execution is the next attempt. */
bats_time failure_failed(const struct failure *r, const struct state *s,
                         struct bats_position task, bool elsewhere);

/* An execution was stopped, or the task `yielded`, after it `ran` for this
 * time. Returns the same as failure_failed. */
bats_time failure_came_back(struct failure *r, struct bats_position task,
                            bool yielded, bats_time ran);

/* The task was lost with its machine. Returns whether it may run again. */
bool failure_lost(const struct failure *r, const struct state *s,
                  struct bats_position task);

/* Whether the number of failed tasks ends the run. */
enum failure_halt failure_halt(const struct failure *r, const struct state *s);

/* Time limit of an execution on the cluster; BATS_NEVER: none. */
bats_time failure_limit(const struct failure *r, const struct state *s,
                        size_t cluster);

/* Records how an execution ended. Returns for how long the machine is put in
 * quarantine because executions fail there but not elsewhere; 0: not at all;
 * BATS_NEVER: for good. */
bats_time failure_note(struct failure *r, const struct state *s,
                       uint32_t machine, struct bats_position task,
                       bool has_failed);

#endif
