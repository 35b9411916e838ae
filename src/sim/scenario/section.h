/*
 * section: what the readers of the sections of a scenario share. Values become
 * part of the scenario as they are read (input/sections.h); what depends on
 * several keys is settled after the last line.
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
extern const struct bats_key bats_scenario_cluster_keys[];

/* Goal and strategy, and that they suit each other. */
int bats_scenario_run_goal(struct bats_sections *r);

/* The runs: policies, budgets and seeds, by default one each, and no more than
 * can be done; and the grace time, once the window is known. */
int bats_scenario_run_settle(struct bats_sections *r);

/* The number of tasks: the key `tasks`, or the number of runtimes in the file
 * or of tasks in the workflow. */
int bats_scenario_bag_settle(struct bats_sections *r);

/* The clusters and their machines, once the billing and the window are
 * known. */
int bats_scenario_clusters_settle(struct bats_sections *r);

/* "1:70, 4/8G:20": into kind and share. */
int bats_scenario_needs_parse(struct bats_scenario *s, const char *value,
                              struct bats_error *why);

/* What tasks need and machines have, once both are known. */
int bats_scenario_needs_settle(struct bats_sections *r);

static inline unsigned bats_scenario_line(const struct bats_sections *r,
                                          size_t kind, const char *key)
{
    return bats_sections_line(r, kind, 0, key);
}

#endif
