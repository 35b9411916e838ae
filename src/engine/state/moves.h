/*
 * moves: all that changes the state (state.h).
 *
 * Layer: engine, part of the state. Money and the engine itself call them;
 * advisors may not.
 */
#ifndef BATS_ENGINE_MOVES_H
#define BATS_ENGINE_MOVES_H

#include "engine/state/books.h"
#include "engine/state/state.h"

/* ---- answers.c ---- */

/* Appends a command; memory that runs out is kept in s->answers.failure. */
void state_emit(struct state *s, struct bats_command command);

/* The same, of a command or notice that names no more than a machine. */
void state_tell(struct state *s, enum bats_command_type type,
                uint32_t machine);

/* Notes in the books, and tells, that this was charged for the machine
 * (BATS_NO_MACHINE: for the job of the run itself), a part of it out of the
 * cushion. */
void state_tell_charge(struct state *s, uint32_t machine, bats_money amount,
                       bats_money cushion);

/* Takes the next command out; false: there is none. */
bool state_next(struct state *s, struct bats_command *command);

/* Records why the configuration became what it is now. */
void state_record(struct state *s, const struct bats_decision *decision);

/* ---- state.c ---- */

/* Machines are held by leases of this kind; the tail gives executions up.
 * BATS_EINPUT for a graph with a circle, BATS_ENOMEM (then without a sentence);
 * on failure state_release is still the caller's. */
int state_init(struct state *s, const struct bats_sched_options *o,
               const struct lease_kind *lease, bool gives_up,
               struct bats_error *err);
void state_release(struct state *s);

/* Nothing is started any more; `now`: what runs is told to stop. The first
 * reason holds. */
void state_stop(struct state *s, bool now, enum bats_finish why);

/* Time passes. */
void state_pass(struct state *s, bats_time now);

/* Says what the allocation was charged since the last time. */
void state_bill(struct state *s);

/* s->money.latest, after the budget has changed. */
void state_set_latest(struct state *s);

/* The run is over. */
void state_finish(struct state *s, enum bats_finish why);

/* The run was killed at this time, or later: what its machines may have cost
 * until now, which is what is held, is charged. */
void state_kill(struct state *s);

/* The cushion may be spent, if the tasks left are the last. */
void state_grant_cushion(struct state *s);

/* From here on every cluster is known as the sample says. */
void state_take_sample(struct state *s, const struct bats_sample *sample);

/* ---- categories.c ---- */

/* BATS_ENOMEM; release in any case. */
int categories_init(struct state *s, const struct bats_sched_options *o);
void categories_release(struct state *s);

/* A task is DONE; the order of those that are ready may change. */
void categories_note(struct state *s, struct bats_position task,
                     size_t cluster, bats_time runtime);

/* The task with this number will have no further result. */
void categories_drop(struct state *s, uint32_t task);
void categories_add(struct state *s, uint32_t task); /* to the bag */

/* Ranks tasks by the runtimes that are told, if they are. */
void categories_take_told(struct state *s);

/* ---- needs.c ---- */

/* Takes the needs of tasks, and groups the bag by them. BATS_ENOMEM; release in
 * any case. */
int needs_init(struct state *s, const struct bats_sched_options *o);

/* The resources of the machine. */
struct bats_stock needs_stock(const struct bats_sched_options *o, uint32_t id);
void needs_release(struct state *s);

/* Open bags: a task of this category may be added. If it is the first, this is
 * the need of the category. Without needs there is only category 0. */
bool needs_may_add(const struct state *s, uint16_t category,
                   const struct bats_need *need);
void needs_add(struct state *s, uint32_t task, uint16_t category,
               const struct bats_need *need);

/* Takes what the task needs, the slot, which is free, among it, of its machine,
 * which has room. Returns the slot that is to run it. */
uint32_t needs_take(struct state *s, uint32_t slot, struct bats_position task);

/* The task, which runs nowhere and is not back in the bag, was out of memory:
 * from now on it needs more. False: there is no more for it. */
bool needs_grow(struct state *s, struct bats_position task);

/* The task is about to leave the slot that ran it. */
void needs_give_back(struct state *s, uint32_t lead,
                     struct bats_position task);

/* ---- slots.c ---- */

void slot_add_idle(struct state *s, uint32_t slot);
void slot_remove_idle(struct state *s, uint32_t slot);

/* The slot, which has no task, was asked, and was given none for this reason.
 */
void slot_note_idle(struct state *s, uint32_t slot, enum bats_idle reason);

/* Takes out a machine with a slot that was given none for another reason than
 * the driver knows; false: there is none. */
bool slots_next_idle(struct state *s, struct bats_idle_machine *idle);

/* Puts every free slot of an ACTIVE machine back into the list of idle ones
 * (a slot that was refused a task has left it). */
void slots_rescan(struct state *s);

/* Puts `task` at the end of the slot's queue and sends RUN. */
void slot_run(struct state *s, uint32_t slot, struct bats_position task,
              uint32_t replica);

/* Takes the execution of `task` out of the slot. The task's state is the
 * caller's. */
void slot_take_out(struct state *s, uint32_t slot, struct bats_position task);

/* The time-outs of what slots run, by the limits of their clusters. */
void slots_set_limits(struct state *s);

/* ---- executions.c ---- */

/* Runs a task for a slot that was drawn. */
void execution_begin(struct state *s, uint32_t slot,
                     struct bats_position task);

/* Runs a task in an idle slot, for its runtime alone: beside its other
 * executions, or though it has its result. */
void execution_measure(struct state *s, uint32_t slot,
                       struct bats_position task);

/* Runs a replica of `task`, which is ASSIGNED, in an idle slot. */
void execution_replica(struct state *s, uint32_t slot,
                       struct bats_position task);

/* Tells one execution to stop; all that are left of a task; all but that in
 * `slot`; or all of a machine. */
void execution_cancel(struct state *s, uint32_t slot,
                      struct bats_position task, bool time_out);
void execution_cancel_all(struct state *s, struct bats_position task);
void execution_cancel_others(struct state *s, uint32_t slot,
                             struct bats_position task);
void execution_cancel_machine(struct state *s, uint32_t machine);

/* Tells the executions of a workflow on a machine to stop. */
void execution_cancel_purse(struct state *s, uint32_t machine, uint32_t purse);

/* The replica of `task` in `slot` becomes its original, and that a replica. */
void execution_swap(struct state *s, uint32_t slot, struct bats_position task);

/* Takes the execution of `task` out of the slot; `well`: it is DONE. True: the
 * task has no result and goes on in another one. */
bool execution_end(struct state *s, uint32_t slot, struct bats_position task,
                   bool well);

/* The execution of the task in the slot took so long. */
static inline void slot_worked(struct state *s, uint32_t slot,
                               struct bats_position task, bats_time runtime)
{
    uint32_t cores = s->needs.list ? need_of(s, task)->cores : 1;
    s->clusters[slot_cluster(s, slot)].busy_time += (double)runtime * cores;
    s->slots[slot].n_done++;
    s->slots[slot].rt_done += (double)runtime;
}

/* ---- tasks.c ---- */

/* The task is on no machine and has no result: it will not run. */
void task_withdraw(struct state *s, struct bats_position task);

/* The task has its result, DONE or FAILED, from the cluster. */
void task_finish(struct state *s, struct bats_position task,
                 enum bats_task_state state, size_t cluster);

/* Tells the tasks that are newly SKIPPED, before any task is run that waited
 * for their end in any way. */
void tasks_tell_skipped(struct state *s);

/* The result came from this slot: for the statistics. True: the sample of its
 * cluster has grown. */
bool task_count_result(struct state *s, uint32_t slot, bool in_sample,
                       bats_time runtime);

/* An execution has failed on the machine, and does not end the task. */
void task_note_failure(struct state *s, struct bats_position task,
                       uint32_t machine);

/* The task is WAITING until then. */
void task_put_aside(struct state *s, struct bats_position task,
                    bats_time until);

/* The time is over of the WAITING task with this number. */
void task_try_again(struct state *s, uint32_t number);

/* The task was lost with the machine of the slot. */
void task_lose(struct state *s, uint32_t slot, struct bats_position task);

/* From now on the task is run on every cluster for its runtime; or no more. */
void task_measure(struct state *s, struct bats_position task);
void task_release(struct state *s, struct bats_position task);

/* ---- machines.c ---- */

/* ABSENT -> PARKED. */
void machine_join(struct state *s, uint32_t machine);

/* PARKED -> ACTIVE: charges a window. False: there is no money for it. */
bool machine_acquire(struct state *s, uint32_t machine);

/* ACTIVE: the charge of the next window is held. False: there is no money. */
bool machine_renew(struct state *s, uint32_t machine);

/* For jobs.c: it is held from now on, paid until `end`, with idle slots. It is
 * not held any more, -> DRAINING. It waits: -> PARKED, or ENDING if the bill of
 * a job is to come. */
void machine_hold(struct state *s, uint32_t machine, bats_time end);
void machine_end(struct state *s, uint32_t machine);
void machine_wait(struct state *s, uint32_t machine);

/* ACTIVE -> LEAVING: what runs is told to stop. */
void machine_leave(struct state *s, uint32_t machine);

/* The paid time of a machine that is renewing is over: the next window. */
void machine_enter_window(struct state *s, uint32_t machine);

/* The paid time is over: -> DRAINING, or PARKED if nothing is left on it. */
void machine_park(struct state *s, uint32_t machine);

/* DRAINING -> PARKED, or ENDING, if nothing is left on it. */
void machine_drained(struct state *s, uint32_t machine);

/* ACTIVE: not wanted after its window, or wanted again. */
void machine_mark(struct state *s, uint32_t machine, bool marked);

/* The machine gets no more tasks, and leaves at the end of its window. */
void machine_retire(struct state *s, uint32_t machine);

/* The same, until then (BATS_NEVER: for good), since things keep failing on it;
 * and the end of that. */
void machine_quarantine(struct state *s, uint32_t machine, bats_time until);
void machine_readmit(struct state *s, uint32_t machine);

/* For machines.c and jobs.c: it is not `quarantined` any more. */
void machine_absolve(struct state *s, uint32_t machine);

/* A held machine will be reclaimed at this time: its window does not last
 * longer, and none follows. */
void machine_notice(struct state *s, uint32_t machine, bats_time taken_at);

/* -> LOST. What was on it is still in its slots: the caller takes it out. */
void machine_lose(struct state *s, uint32_t machine);

/* ---- purses.c ---- */

/* BATS_ENOMEM; release in any case. */
int purses_init(struct state *s, const struct bats_sched_options *o);
void purses_release(struct state *s);

/* Heights have changed: the urgency of tasks follows. */
void purses_rank(struct state *s);

/* The task with this number is over: DONE, FAILED or SKIPPED. */
void purse_ended(struct state *s, uint32_t number, enum bats_task_state state);

/* ---- stakes.c ---- */

/* A task begins on the machine. */
void purse_join(struct state *s, uint32_t machine, struct bats_position task);

/* The machine needs this amount from now on: the stakes follow, as far as there
 * is money. */
void purse_match(struct state *s, uint32_t machine, bats_money need);

/* The execution that the slot runs is about to leave it. */
void purse_leaves_slot(struct state *s, uint32_t slot);

/* The machine was charged this, and so much is needed from now on; it begins a
 * window, which was charged, and the one before is shared; its paid time is
 * over. */
void purse_share(struct state *s, uint32_t machine, bats_money amount,
                 bats_money need);
void purse_window(struct state *s, uint32_t machine, bats_money charge);
void purse_close(struct state *s, uint32_t machine);

/* Charges each workflow all that it holds for the machine. */
void purse_kill(struct state *s, uint32_t machine);

/* ---- payment.c ---- */

/* A task that waits for money, whose workflow has paid for this machine
 * already. It is back in the bag. */
struct bats_position purse_waiting(struct state *s, uint32_t machine);

/* The task, which is ready, could be paid nowhere, or its workflow begins
 * later: it is taken out of the bag, until there is money again or the time has
 * come, or, if there never will be money, for good. */
bool purse_refuses(struct state *s, struct bats_position task);

/* Puts tasks back that may be paid now, and skips those that never will. */
void purses_review(struct state *s);

#endif
