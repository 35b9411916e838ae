/*
 * policy: the strategies that the engine can be run with.
 *
 * Layer: engine. A policy answers the engine's questions (which configuration,
 * does this machine enter another window, may it start a task, which one). The
 * mechanics and the hard budget limit are the engine's, the same for all
 * policies.
 *
 *   bats  all machines that the budget pays, the cheapest first, as long as
 *         the forecast cost stays within it; otherwise the machine-windows
 *         that finish the bag soonest (windows.h), replanned as results come
 *         and windows end. One machine tries an unknown cluster. With one
 *         cluster: as rr.
 *   bkp   the papers' method. Samples every cluster, then uses the fastest
 *         configuration within the budget (plan.h), reviewed every
 *         monitor_interval. Oprescu's thesis, chapter 2.
 *   rr    the papers' baseline: self-scheduling on all machines, each kept
 *         while it has a task. The budget still applies.
 *
 *   expert replication on machines that may not answer, by a strategy
 *         (strategy.h); if use is charged.
 *
 * For a deadline and a budget, if use is charged, from Buyya et al. (2005):
 *
 *   dbc-cost               the cheapest clusters that finish the bag by the
 *                          deadline
 *   dbc-time               the clusters that finish it soonest, where a task
 *                          costs at most money left / tasks left
 *   dbc-conservative-time  the same, in inverse proportion to their runtimes
 *   dbc-cost-time          as dbc-cost; clusters of equal cost work at the
 *                          same time
 *
 * For tasks with dependencies, within a budget and a deadline, if use is
 * charged; each task goes to the best machine among those that leave enough
 * money and time for the rest:
 *
 *   miser   Sampaio and Barbosa (2020), algorithm I
 *   mw-dbs  Arabnejad and Barbosa (2017), on machines that are free
 *   flow    by the rule that in simulation finishes the rest soonest for the
 *           money (or, if that is the goal, costs least in time). Used by
 *           `bats` for a workflow if use is charged
 */
#ifndef BATS_POLICY_H
#define BATS_POLICY_H

#include <stdbool.h>

#include "bats/billing.h"
#include "bats/choice.h"

struct bats_policy;

extern const struct bats_policy bats_policy_bats;
extern const struct bats_policy bats_policy_bkp;
extern const struct bats_policy bats_policy_rr;
extern const struct bats_policy bats_policy_expert;
extern const struct bats_policy bats_policy_dbc_cost;
extern const struct bats_policy bats_policy_dbc_time;
extern const struct bats_policy bats_policy_dbc_conservative_time;
extern const struct bats_policy bats_policy_dbc_cost_time;
extern const struct bats_policy bats_policy_miser;
extern const struct bats_policy bats_policy_mw_dbs;
extern const struct bats_policy bats_policy_flow;

/* The policy of that name, or NULL. */
const struct bats_policy *bats_policy_find(const char *name);

const char *bats_policy_name(const struct bats_policy *policy);

/* The default policy. `expert` if a cluster is unreliable and use is charged,
 * unless executions have a timeout or tasks have dependencies: policies that
 * cost as little take 1.3 to 2.5 times as long, and policies that finish as
 * early cost four times as much (benchmarks/RESULTS.md). Otherwise `bats`. */
const struct bats_policy *bats_policy_default(bool any_unreliable,
                                              enum bats_billing_model billing,
                                              bool times_out, bool has_graph);

/* The policy that runs if `wanted` is requested. In an allocation all machines
 * are held, as by rr. If use is charged there are no windows to plan: dbc-time
 * has the same aim, and flow with dependencies. The engine accepts no other
 * policy, and refuses miser, mw-dbs and flow where they do not apply. */
const struct bats_policy *bats_policy_for(const struct bats_policy *wanted,
                                          enum bats_billing_model billing,
                                          bool has_graph);

/* The kind of schedules that the policy makes and carries out. */
enum bats_plans bats_policy_plans(const struct bats_policy *policy);

#endif
