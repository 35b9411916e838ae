/*
 * section: shared by the readers of a scenario's sections. Values enter the
 * scenario as they are read (input/sections.h); settings that depend on
 * several keys are settled after the last line.
 *
 * Layer: sim. Used by sim/scenario and the files beside this one.
 */
#ifndef BATS_SIM_SECTION_H
#define BATS_SIM_SECTION_H

#include "input/sections.h"
#include "sim/scenario.h"

#define BLANKS " \t"

enum { RUN, BAG, CLUSTER, KINDS };

#define FAIL BATS_SECTIONS_FAIL

#define NUMBER(name, kind, member, most)                                      \
    BATS_KEY_MEMBER(name, kind, bats_scenario, member, most)

extern const struct bats_key bats_scenario_run_keys[];
extern const struct bats_key bats_scenario_bag_keys[];

/* Settles goal and strategy, and checks that they are compatible. */
int bats_scenario_run_goal(struct bats_sections *r);

/* Settles the runs: policies, budgets and seeds, by default one each, within
 * limits; and the grace time, once the window is known. */
int bats_scenario_run_settle(struct bats_sections *r);

/* Settles the number of tasks: from the key `tasks`, the runtimes in the file,
 * or the tasks of the workflow. */
int bats_scenario_bag_settle(struct bats_sections *r);

/* Settles the needs of tasks and the resources of machines, once both are
 * known. */
int bats_scenario_needs_settle(struct bats_sections *r);

static inline unsigned bats_scenario_line(const struct bats_sections *r,
                                          size_t kind, const char *key)
{
    return bats_sections_line(r, kind, 0, key);
}

#endif
