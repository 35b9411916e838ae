/*
 * engine: the state, its advisors, and the files that ask them and apply what
 * they answer. They build on each other in this order:
 *
 *   propose.c    asks advisors for tasks for a slot; why there is none
 *   assign.c     the passes over idle slots: tasks, replicas, instances
 *   configure.c  acquires, renews and marks machines; asks the policy
 *   promise.c    watches the deadline
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

struct bats_sched {
    struct state state;
    const struct bats_policy *policy;
    const struct tail *tail;
    const struct order *order;
    struct {
        void *policy, *sampling, *tail, *failure, *order;
    } own;            /* the memory of each */
    bats_time wakeup; /* something falls due, as of the last step */
    bool started;     /* the start's configuration was chosen */
    bool may_offer;   /* a plain run may still be asked to choose */
    bool asks;        /* for the strategy of the tail */
};

/* ---- assign.c ---- */

/* Fills a slot's queue to its depth. */
void assign_slot(struct bats_sched *e, uint32_t slot);

/* FOUND: the slot, which is idle, runs the task already. */
void assign_found(struct bats_sched *e, uint32_t slot, uint32_t number);

/* Gives tasks to idle slots while there are both. */
void assign_idle(struct bats_sched *e);

/* Stops replicas where tasks that are back in the bag could run. */
void assign_make_room(struct bats_sched *e);

/* Gives replicas to idle slots, if the tail wants it. */
void assign_replicas(struct bats_sched *e);

/* In the tail of a policy that sends instances: gives them to idle slots, and
 * stops them when the bag is done. */
void assign_instances(struct bats_sched *e);

/* Decides which executions of the machine's tasks continue, before it may
 * enter another window. */
void assign_hand_over(struct bats_sched *e, uint32_t machine);

/* Tasks that the sampling does not need on every cluster any more. */
void assign_release(struct bats_sched *e);

/* ---- configure.c ---- */

/* The first configuration. */
void configure_start(struct bats_sched *e);

/* A machine has joined. */
void configure_joined(struct bats_sched *e, uint32_t machine);

/* Acquires up to what the present configuration wants. */
void configure_refill(struct bats_sched *e);

/* Ends jobs in which nothing runs, and withdraws those that wait for
 * nothing. */
void configure_give_back(struct bats_sched *e);

/* Prolongs the leases of jobs. */
void configure_prolong(struct state *s);

/* A turn of a machine's window: the decision shortly before its end, or the
 * end. `machine` is due at s->now. */
int configure_turn(struct bats_sched *e, uint32_t machine,
                   struct bats_error *err);

/* Asks the policy. */
int configure_review(struct bats_sched *e, const struct occasion *why,
                     struct bats_error *err);

/* Tasks that waited for others are ready now, more than there are slots for? */
int configure_released(struct bats_sched *e, struct bats_error *err);

/* Is the sampling phase over? `stalled`: nothing runs. */
void configure_sampling(struct bats_sched *e, bool stalled);

/* The answer to SAMPLED. */
int configure_choice(struct bats_sched *e, const struct bats_choice *choice,
                     struct bats_error *err);

/* Sets the time limits of tasks from the present estimates. */
void configure_limits(struct bats_sched *e);

/* ---- promise.c ---- */

/* After a review: says it when the bag seems to miss its deadline. */
void promise_watch(struct bats_sched *e);

/* ---- outcome.c ---- */

/* DONE, FAILED, PREEMPTED or YIELDED. */
int outcome_of_execution(struct bats_sched *e, const struct bats_event *ev,
                         struct bats_error *err);

/* NOTICE: the machine will be taken away after this time. */
int outcome_of_notice(struct bats_sched *e, uint32_t machine, bats_time time,
                      struct bats_error *err);

/* RETIRED. */
int outcome_of_retirement(struct bats_sched *e, uint32_t machine,
                          struct bats_error *err);

/* LOST. */
int outcome_of_loss(struct bats_sched *e, uint32_t machine,
                    struct bats_error *err);

#endif
