/*
 * moves: all functions that change the state (state.h), and the leases by which
 * machines are paid.
 *
 * Layer: engine, part of the state. Called by money and the engine itself,
 * never by advisors.
 */
#ifndef BATS_ENGINE_MOVES_H
#define BATS_ENGINE_MOVES_H

#include "engine/state/state.h"

/* ---- leases: the money for acquiring, keeping and releasing a machine ----
 *
 * machines.c keeps the states of machines and calls these for the money. Each
 * billing kind has a table of functions in money/; the public terms are in
 * bats/lease.h. */

struct lease_kind {
    const char *name; /* for people and records */
    struct bats_lease_terms terms;
    bool is_own; /* billed as the job that the run itself is in */
    /* Sets the charge of a window in this cluster. NULL: the charge is the
     * price. */
    void (*set_up)(const struct state *s, struct cluster *cluster);
    /* first: the most that a machine of the cluster costs in its first period
     * (NULL: only what its tasks cost, or nothing). next: the most that this
     * machine costs in its next period. */
    bats_money (*first)(const struct state *s, size_t cluster);
    bats_money (*next)(const struct state *s, uint32_t machine);
    /* Money held for the machine, beyond the charge. */
    bats_money (*held)(const struct state *s, uint32_t machine);
    /* begin: pays the first period and sets its end. extend: holds the money
     * for the next one. False: not affordable, or no such period, and nothing
     * has changed. NULL: the machine is queued first and has a single period;
     * its successor has the next. */
    bool (*begin)(struct state *s, uint32_t machine);
    bool (*extend)(struct state *s, uint32_t machine);
    /* enter: the next period, already held, begins. drop: it is not wanted.
     * NULL: machines are never `renewing`. */
    void (*enter)(struct state *s, uint32_t machine);
    void (*drop)(struct state *s, uint32_t machine);
    /* The machine will be reclaimed at this time: limits its paid time. Not
     * while the next period is held. NULL: it is paid as long as it works. */
    void (*notice)(struct state *s, uint32_t machine, bats_time taken_at);
    /* work: a task begins that may take up to `allowed`. idle: the machine's
     * last task has ended. forgive: the caller is about to take out an
     * execution that has not answered; it costs nothing where lost executions
     * are free. NULL: nothing happens. */
    void (*work)(struct state *s, uint32_t machine, bats_time allowed);
    void (*idle)(struct state *s, uint32_t machine);
    void (*forgive)(struct state *s, uint32_t machine);
    /* The lease ends: charges what is owed. NULL: nothing. */
    void (*end)(struct state *s, uint32_t machine, enum bats_end how);
    /* The run is killed: charges all that is held. NULL: nothing. */
    void (*kill)(struct state *s, uint32_t machine);
};

/* ---- answers.c ---- */

/* Zeroed memory for n objects, which lives as long as the state. NULL: there is
 * none, and s->answers.failure says so. */
void *state_room(struct state *s, size_t n, size_t size);
void rooms_release(struct state *s);

/* Appends a command or notice. The caller may fill in what there is beside the
 * machine, before the next one. If memory runs out, sets s->answers.failure. */
struct bats_command *state_emit(struct state *s, enum bats_command_type type,
                                uint32_t machine);

/* Books and reports a charge for the machine (BATS_NO_MACHINE: the run's own
 * job). */
void state_tell_charge(struct state *s, uint32_t machine, bats_money amount);

/* ---- answers.c: leases and stakes, told with options.tells_leases only ----
 */

/* BATS_ENOMEM; release in any case. */
int books_init(struct state *s, const struct bats_sched_options *o);
void books_release(struct state *s);

/* books_open: a lease of the machine begins or is queued; the previous one is
 * over and billed. books_forget: it does not begin after all, for want of
 * money. */
void books_open(struct state *s, uint32_t machine);
void books_forget(struct state *s, uint32_t machine);

/* The queued lease begins; the lease ends. */
void books_begin(struct state *s, uint32_t machine);
void books_end(struct state *s, uint32_t machine);

/* The amount that may still be charged for the lease has changed. */
void books_change(struct state *s, uint32_t machine);

/* The stake ends. */
void books_drop(struct state *s, uint32_t machine, const struct stake *stake);

static inline void lease_idle(struct state *s, uint32_t machine)
{
    if (!s->money.lease->idle)
        return;
    s->money.lease->idle(s, machine);
    books_change(s, machine);
}

static inline void lease_forgive(struct state *s, uint32_t machine)
{
    if (!s->money.lease->forgive)
        return;
    s->money.lease->forgive(s, machine);
    books_change(s, machine);
}

static inline void lease_end(struct state *s, uint32_t machine,
                             enum bats_end how)
{
    if (s->money.lease->end)
        s->money.lease->end(s, machine, how);
    books_end(s, machine);
}

/* ---- answers.c: decisions ---- */

/* Records the decision that led to the current configuration. */
void state_record(struct state *s, const struct bats_decision *decision);

/* ---- state.c ---- */

/* The state is zero but for its advisors. lease: kind of the machines'
 * leases; gives_up: the tail gives executions up. BATS_EINPUT for a graph with
 * a cycle, BATS_ENOMEM (without a message); on failure the caller must still call state_release. */
int state_init(struct state *s, const struct bats_sched_options *o,
               const struct lease_kind *lease, bool gives_up,
               struct bats_error *err);
void state_release(struct state *s);

/* Stops starting executions; now: also cancels the running ones. The first
 * reason is kept. */
void state_stop(struct state *s, bool now, enum bats_finish why);

/* Advances the clock. */
void state_pass(struct state *s, bats_time now);

/* Reports what the allocation was charged since the last call. */
void state_bill(struct state *s);

/* Updates s->money.latest after the budget has changed. */
void state_set_latest(struct state *s);

/* Ends the run. */
void state_finish(struct state *s, enum bats_finish why);

/* The run was killed now or later: charges all held money, which is the most
 * that its machines may have cost. */
void state_kill(struct state *s);

/* Replaces the clusters' statistics by the sample. */
void state_take_sample(struct state *s, const struct bats_sample *sample);

/* ---- runtimes.c ---- */

/* BATS_ENOMEM. */
int categories_init(struct state *s, const struct bats_sched_options *o);

/* Records a DONE task; the order of ready tasks may change. */
void categories_note(struct state *s, struct bats_position task,
                     size_t cluster, bats_time runtime);

/* Task number `task` will have no further result. */
void categories_drop(struct state *s, uint32_t task);
void categories_add(struct state *s, uint32_t task); /* it was added to the
                                                        bag */

/* Ranks tasks by the told runtimes, if there are any. */
void categories_take_told(struct state *s);

/* ---- needs.c ---- */

/* Takes over the tasks' needs, and groups the bag by them. BATS_ENOMEM. */
int needs_init(struct state *s, const struct bats_sched_options *o);

/* The resources of the machine. */
struct bats_stock needs_stock(const struct bats_sched_options *o, uint32_t id);

/* Open bags: a task of this category may be added. `need` becomes the
 * category's need if it is the first. Without needs only category 0 exists. */
bool needs_may_add(const struct state *s, uint16_t category,
                   const struct bats_need *need);
void needs_add(struct state *s, uint32_t task, uint16_t category,
               const struct bats_need *need);

/* Takes the task's needs, including the given free slot, from the machine,
 * which has room. Returns the slot that is to run the task. */
uint32_t needs_take(struct state *s, uint32_t slot, struct bats_position task);

/* The task ran out of memory and is neither running nor in the bag: raises its
 * need. False: there is no larger one. */
bool needs_grow(struct state *s, struct bats_position task);

/* Frees the task's resources before it leaves the slot that ran it. */
void needs_give_back(struct state *s, uint32_t lead,
                     struct bats_position task);

/* ---- slots.c ---- */

void slot_add_idle(struct state *s, uint32_t slot);
void slot_remove_idle(struct state *s, uint32_t slot);

/* A walk over idle slots, oldest first. Slots may be taken out meanwhile. */
struct idle_walk {
    uint32_t next[BATS_CLUSTERS_MAX]; /* by cluster; NO_SLOT: no further one */
};

/* Starts with the first slot that became idle after the one of this number. */
void idle_walk_begin(const struct state *s, struct idle_walk *walk,
                     uint64_t number);
/* NO_SLOT: there is no further slot. O(clusters). */
uint32_t idle_walk_next(const struct state *s, struct idle_walk *walk);

/* Notes why the slot was given no task. */
void slot_note_idle(struct state *s, uint32_t slot, enum bats_idle reason);

/* Puts every free slot of ACTIVE machines back into the idle list (slots that
 * were refused a task have left it). */
void slots_rescan(struct state *s);

/* Appends a command or notice about the task in the slot. */
static inline struct bats_command *slot_tell(struct state *s,
                                             enum bats_command_type type,
                                             uint32_t slot,
                                             struct bats_position task)
{
    uint32_t machine = s->slots[slot].machine;
    struct bats_command *c = state_emit(s, type, machine);
    c->slot = slot - s->machines[machine].first_slot;
    c->task = s->bag.index[task.i];
    return c;
}

/* Puts `task` at the end of the slot's queue and sends RUN. */
void slot_run(struct state *s, uint32_t slot, struct bats_position task,
              uint32_t replica);

/* Takes the execution of `task` out of the slot. The caller sets the task's
 * state. */
void slot_take_out(struct state *s, uint32_t slot, struct bats_position task);

/* Sets the time-outs of running tasks from their clusters' limits. */
void slots_set_limits(struct state *s);

/* ---- executions.c ---- */

/* Runs a drawn task in the slot. */
void execution_begin(struct state *s, uint32_t slot,
                     struct bats_position task);

/* Runs a task in an idle slot only to measure it: beside its other executions,
 * or after its result. */
void execution_measure(struct state *s, uint32_t slot,
                       struct bats_position task);

/* Runs a replica of `task`, which is ASSIGNED, in an idle slot. */
void execution_replica(struct state *s, uint32_t slot,
                       struct bats_position task);

/* Cancels one execution; all of a task; all but the one in `slot`; or all of a
 * machine. */
void execution_cancel(struct state *s, uint32_t slot,
                      struct bats_position task, bool time_out);
void execution_cancel_all(struct state *s, struct bats_position task);
void execution_cancel_others(struct state *s, uint32_t slot,
                             struct bats_position task);
void execution_cancel_machine(struct state *s, uint32_t machine);

/* Swaps the original of `task` with its replica in `slot`. */
void execution_swap(struct state *s, uint32_t slot, struct bats_position task);

/* Takes the execution of `task` out of the slot; well: it is DONE. Returns
 * true if the task has no result and still runs in another slot. */
bool execution_end(struct state *s, uint32_t slot, struct bats_position task,
                   bool well);

/* Adds the execution's runtime to the statistics of slot and cluster. */
static inline void slot_worked(struct state *s, uint32_t slot,
                               struct bats_position task, bats_time runtime)
{
    uint32_t cores = s->needs.list ? need_of(s, task)->cores : 1;
    s->clusters[slot_cluster(s, slot)].busy_time += (double)runtime * cores;
    s->slots[slot].n_done++;
    s->slots[slot].rt_done += (double)runtime;
}

/* Withdraws a task that is on no machine and has no result. */
void task_withdraw(struct state *s, struct bats_position task);

/* Gives the task its result, DONE or FAILED, from the cluster. */
void task_finish(struct state *s, struct bats_position task,
                 enum bats_task_state state, size_t cluster);

/* Reports newly SKIPPED tasks, before any task runs that waited for them. */
void tasks_tell_skipped(struct state *s);

/* Counts a result from this slot. True: the sample of its cluster has
 * grown. */
bool task_count_result(struct state *s, uint32_t slot, bool in_sample,
                       bats_time runtime);

/* Counts a failed execution that does not end the task. */
void task_note_failure(struct state *s, struct bats_position task,
                       uint32_t machine);

/* Makes the task WAITING until then. */
void task_put_aside(struct state *s, struct bats_position task,
                    bats_time until);

/* The delay of WAITING task `number` is over. */
void task_try_again(struct state *s, uint32_t number);

/* Counts the loss of the task with the slot's machine. */
void task_lose(struct state *s, uint32_t slot, struct bats_position task);

/* Starts, or stops, running the task on every cluster to measure it. */
void task_measure(struct state *s, struct bats_position task);
void task_release(struct state *s, struct bats_position task);

/* ---- machines.c ---- */

/* ABSENT -> PARKED. */
void machine_join(struct state *s, uint32_t machine);

/* PARKED -> ACTIVE: charges a window. False: not affordable. */
bool machine_acquire(struct state *s, uint32_t machine);

/* ACTIVE: holds the charge of the next window. False: not affordable. */
bool machine_renew(struct state *s, uint32_t machine);

/* For jobs.c. machine_hold: held from now on, paid until `end`, with idle
 * slots. machine_end: no longer held, -> DRAINING. machine_wait: -> PARKED, or
 * ENDING if a job's bill is to come. */
void machine_hold(struct state *s, uint32_t machine, bats_time end);
void machine_end(struct state *s, uint32_t machine);
void machine_wait(struct state *s, uint32_t machine);

/* ACTIVE -> LEAVING: cancels its executions. */
void machine_leave(struct state *s, uint32_t machine);

/* Enters the next window of a renewed machine. */
void machine_enter_window(struct state *s, uint32_t machine);

/* The paid time is over: -> DRAINING, or PARKED if it is empty. */
void machine_park(struct state *s, uint32_t machine);

/* DRAINING -> PARKED, or ENDING, once it is empty. */
void machine_drained(struct state *s, uint32_t machine);

/* ACTIVE: not wanted after its window, or wanted again. */
void machine_mark(struct state *s, uint32_t machine, bool marked);

/* The machine gets no more tasks, and leaves at the end of its window. */
void machine_retire(struct state *s, uint32_t machine);

/* The same until then (BATS_NEVER: for good), because tasks keep failing on
 * it; and the end of the quarantine. */
void machine_quarantine(struct state *s, uint32_t machine, bats_time until);
void machine_readmit(struct state *s, uint32_t machine);

/* For machines.c and jobs.c: clears `quarantined`. */
void machine_absolve(struct state *s, uint32_t machine);

/* A held machine will be reclaimed at this time: its window ends then at the
 * latest, and none follows. */
void machine_notice(struct state *s, uint32_t machine, bats_time taken_at);

/* -> LOST. The caller removes the executions from its slots. */
void machine_lose(struct state *s, uint32_t machine);

/* ---- purses.c ---- */

/* BATS_ENOMEM; release in any case. */
int purses_init(struct state *s, const struct bats_sched_options *o);
void purses_release(struct state *s);

/* Updates the urgency of tasks after heights have changed. */
void purses_rank(struct state *s);

/* Task `number` has ended: DONE, FAILED or SKIPPED. */
void purse_ended(struct state *s, uint32_t number, enum bats_task_state state);

/* A task begins on the machine. */
void purse_join(struct state *s, uint32_t machine, struct bats_position task);

/* The machine may now be charged this amount: adjusts the stakes as far as the
 * money allows. */
void purse_match(struct state *s, uint32_t machine, bats_money need);

/* The slot's running execution is about to leave it. */
void purse_leaves_slot(struct state *s, uint32_t slot);

/* purse_share: the machine was charged this amount, and `need` is needed from
 * now on. purse_window: it begins a charged window; the previous one is
 * shared. purse_close: its paid time is over. */
void purse_share(struct state *s, uint32_t machine, bats_money amount,
                 bats_money need);
void purse_window(struct state *s, uint32_t machine, bats_money charge);
void purse_close(struct state *s, uint32_t machine);

/* Charges each workflow all that it holds for the machine. */
void purse_kill(struct state *s, uint32_t machine);

/* Stops tasks of workflows that can no longer hold the machine's cost. False:
 * no other workflow's tasks go on there. */
bool purses_stop_short(struct state *s, uint32_t machine);

/* A task waiting for money whose workflow has already paid for this machine;
 * it is put back in the bag. */
struct bats_position purse_waiting(struct state *s, uint32_t machine);

/* If the ready task can be paid nowhere, or its workflow begins later, takes
 * it out of the bag: until there is money or the time has come, or for good if
 * there never will be money. True: it was taken out. */
bool purse_refuses(struct state *s, struct bats_position task);

/* Puts back tasks that may be affordable now, and skips those that never will
 * be. */
void purses_review(struct state *s);

#endif
