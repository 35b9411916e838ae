/*
 * policy: the strategies that the engine can be run with.
 *
 * Layer: engine. A policy answers the engine's questions (which configuration,
 * does this machine enter another window, may it start a task, which one); the
 * mechanics and the budget's hard limit are the engine's and the same for all.
 *
 *   bats  all machines that the budget pays, those that charge least first,
 *         for as long as a forecast says that it lasts; else the
 *         machine-windows that end the bag soonest (windows.h), planned again
 *         as results come and windows end. One machine tries a cluster of
 *         which nothing is known. One cluster: as rr.
 *   bkp   the papers' method. Samples every cluster, then the fastest
 *         configuration that the budget can pay (plan.h), watched and corrected
 *         every monitor_interval. Oprescu's thesis, chapter 2.
 *   rr    the papers' baseline: self-scheduling on all machines, each kept as
 *         long as there is a task for it. The budget still binds.
 *
 *   expert  replication on machines that may not answer, by a strategy
 *         (strategy.h); where use is charged.
 *
 * For a deadline and a budget, and charges for use, from Buyya et al. (2005):
 *
 *   dbc-cost               the cheapest clusters that can do the bag by the
 *                          deadline
 *   dbc-time               the clusters that end it soonest, where a task costs
 *                          no more than the money left / tasks left
 *   dbc-conservative-time  the same, in inverse proportion to their runtimes
 *   dbc-cost-time          as dbc-cost; of clusters that cost the same, all
 *                          work at the same time
 *
 * For tasks that wait for others, within a budget and a deadline, where use is
 * charged; each task goes to the machine of highest quality of those that leave
 * enough money and time for the rest:
 *
 *   miser   Sampaio and Barbosa (2020), algorithm I
 *   mw-dbs  Arabnejad and Barbosa (2017), on machines that are free
 *   flow    by the rule that, played with what is known, ends the rest soonest
 *           for the money (or costs least in time, if that is the goal). What
 *           `bats` does with a workflow where use is charged
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

/* BATS_EINPUT: it does not know what tasks need of a machine; the sentence says
 * which ones do. */
int bats_policy_knows_needs(const struct bats_policy *policy,
                            struct bats_error *err);

/* The policy of a run that names none. `expert` if a cluster is unreliable and
 * use is charged, unless executions have a timeout or tasks wait for others:
 * policies that cost as little take 1.3 to 2.5 times as long, and policies that
 * finish as early cost four times as much (benchmarks/RESULTS.md). Otherwise
 * `bats`. */
const struct bats_policy *bats_policy_default(bool any_unreliable,
                                              enum bats_billing_model billing,
                                              bool times_out, bool has_graph);

/* The policy that runs where `wanted` is asked for. In an allocation all
 * machines are held, as rr does; and where use is charged there are no windows
 * to be planned: dbc-time has the same aim, and flow where tasks wait for
 * others. The engine takes no other one, and refuses miser, mw-dbs and flow
 * where they do not fit. */
const struct bats_policy *bats_policy_for(const struct bats_policy *wanted,
                                          enum bats_billing_model billing,
                                          bool has_graph);

/* The kind of schedules that it makes and carries out. */
enum bats_plans bats_policy_plans(const struct bats_policy *policy);

#endif
