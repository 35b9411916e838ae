/* failure: the consequences of failed executions. See advisor.h. */
#ifndef BATS_ENGINE_FAILURE_H
#define BATS_ENGINE_FAILURE_H

#include "engine/advisor.h"

#define FAILURE_FOR_GOOD (-1)

enum failure_halt { FAILURE_GO_ON, FAILURE_DRAIN, FAILURE_STOP };

/* Its memory is a struct failure. */
extern const struct advisor failure_rules;

struct failure;

/* An execution of the task has failed, or ran for too long. Returns the time
 * until it is tried again, or FAILURE_FOR_GOOD. If the task goes on
 * `elsewhere`, that execution is its next try. */
bats_time failure_failed(const struct failure *r, const struct state *s,
                         struct bats_position task, bool elsewhere);

/* An execution came back after it `ran` for that time: stopped, or because the
 * task `yielded`. The same answers. */
bats_time failure_came_back(struct failure *r, struct bats_position task,
                            bool yielded, bats_time ran);

/* The task was lost with its machine. May it be run again? */
bool failure_lost(const struct failure *r, const struct state *s,
                  struct bats_position task);

/* Whether enough tasks have failed to end the run. */
enum failure_halt failure_halt(const struct failure *r, const struct state *s);

/* The longest that an execution may last on the cluster; BATS_NEVER: any
 * time. */
bats_time failure_limit(const struct failure *r, const struct state *s,
                        size_t cluster);

/* Notes how an execution ended. Returns the time for which the machine gets no
 * task, because executions fail there and not elsewhere; 0: none; BATS_NEVER:
 * for good. */
bats_time failure_note(struct failure *r, const struct state *s,
                       uint32_t machine, struct bats_position task,
                       bool has_failed);

#endif
