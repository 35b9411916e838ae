/*
 * engine: the state, its advisors, and the files that ask them and apply their
 * answers. Each file builds on those above it:
 *
 *   assign.c     asks advisors for a slot's task, or why there is none; the
 *                passes over idle slots: tasks, replicas, instances
 *   configure.c  acquires, renews and marks machines; asks the policy
 *   outcome.c    the end of an execution, and the loss of a machine
 *   sched.c      the life of an event
 */
#ifndef BATS_ENGINE_H
#define BATS_ENGINE_H

#include "engine/failure/failure.h"
#include "engine/order/order.h"
#include "engine/policy/policy.h"
#include "engine/sampling/sampling.h"
#include "engine/state/moves.h"
#include "engine/tail/tail.h"

/* ---- assign.c ---- */

/* Fills a slot's queue to its depth. */
void assign_slot(struct state *s, uint32_t slot);

/* FOUND: the idle slot already runs this task. */
void assign_found(struct state *s, uint32_t slot, uint32_t number);

/* Gives tasks to idle slots while both last. */
void assign_idle(struct state *s);

/* Stops replicas in slots that tasks back in the bag could use. */
void assign_make_room(struct state *s);

/* Gives replicas to idle slots, if the tail wants it. */
void assign_replicas(struct state *s);

/* In the tail of a policy that sends instances: starts them in idle slots, and
 * stops them when the bag is done. */
void assign_instances(struct state *s);

/* Decides, before the machine may enter another window, which executions of
 * its tasks continue. */
void assign_hand_over(struct state *s, uint32_t machine);

/* Releases tasks that sampling no longer needs on every cluster. */
void assign_release(struct state *s);

/* ---- configure.c ---- */

/* Acquires the first configuration. */
void configure_start(struct state *s);

/* Puts a machine that has joined to use. */
void configure_joined(struct state *s, uint32_t machine);

/* Acquires machines up to the current configuration's targets. */
void configure_refill(struct state *s);

/* Ends idle jobs, and withdraws queued ones that are no longer needed. */
void configure_give_back(struct state *s);

/* Prolongs the leases of jobs: first of all as far as their tasks need. */
void configure_prolong(struct state *s);

/* Handles a machine whose window is due at s->now: the decision shortly before
 * its end, or the end itself. */
int configure_turn(struct state *s, uint32_t machine, struct bats_error *err);

/* Updates T with the running tasks, if the policy or jobs need it. */
void configure_look(struct state *s);

/* Asks the policy for a new configuration, and applies it. */
int configure_review(struct state *s, const struct occasion *why,
                     struct bats_error *err);

/* Asks the policy again if more tasks have become ready than there are
 * slots. */
int configure_released(struct state *s, struct bats_error *err);

/* Ends the sampling phase if it is over. stalled: nothing runs. */
void configure_sampling(struct state *s, bool stalled);

/* Applies the answer to SAMPLED. */
int configure_choice(struct state *s, const struct bats_choice *choice,
                     struct bats_error *err);

/* Sets the time limits of tasks from the present estimates. True: one has
 * changed. */
bool configure_limits(struct state *s);

/* ---- outcome.c ---- */

/* DONE, FAILED, PREEMPTED or YIELDED. */
int outcome_of_execution(struct state *s, const struct bats_event *ev,
                         struct bats_error *err);

/* NOTICE: the machine will be reclaimed after this time. */
int outcome_of_notice(struct state *s, uint32_t machine, bats_time time,
                      struct bats_error *err);

/* RETIRED. */
int outcome_of_retirement(struct state *s, uint32_t machine,
                          struct bats_error *err);

/* LOST. */
int outcome_of_loss(struct state *s, uint32_t machine, struct bats_error *err);

#endif
