/* sampling: the tasks to run before a schedule can be chosen, and the data for
 * the choice. See advisor.h. */
#ifndef BATS_ENGINE_SAMPLING_H
#define BATS_ENGINE_SAMPLING_H

#include "bats/sample.h"
#include "bats/status.h"
#include "engine/advisor.h"

/* The next step after an event of the sampling phase. */
enum sampling_step {
    SAMPLING_GOES_ON,
    SAMPLING_RESTS, /* nothing left to run: machines stay to the end of their
                       windows */
    SAMPLING_CALLS, /* nothing runs but results are missing: use one machine of
                       `cluster`; if it runs nothing, the phase is over */
    SAMPLING_IS_OVER
};

/* The choice, as carried out. */
struct sampling_choice {
    bool is_none; /* nothing was chosen */
    enum bats_plans plans;
    uint64_t n_tasks; /* tasks left */
    bats_money limit; /* maximum cost of the schedule */
    struct bats_schedule schedule;
};

/* Its memory is a struct sampling. */
extern const struct advisor sampling_points;

struct sampling;

/* ---- points.c: a phase of its own ---- */

/* By cluster: slots at the start, and an upper bound on the tasks it still has
 * to run. False: no task is needed, since an earlier sample is used. */
bool sampling_start(const struct sampling *p, const struct state *s,
                    uint32_t *workers, uint32_t *lacking);

/* A task that the idle slot's cluster must run as well; it is run at once.
 * BATS_NO_POSITION: none. */
struct bats_position sampling_give(struct sampling *p, const struct state *s,
                                   uint32_t slot);

/* `task` was drawn for `slot`. True: every cluster must run it. */
bool sampling_drawn(struct sampling *p, const struct state *s, uint32_t slot,
                    struct bats_position task);

/* An execution of `task` on `machine` is over and its consequences are
 * settled; runtime < 0: it failed. BATS_ENOMEM. */
int sampling_ended(struct sampling *p, const struct state *s, uint32_t machine,
                   struct bats_position task, bats_time runtime);

/* At each tick: drops tasks that may never end. */
void sampling_watch(struct sampling *p, const struct state *s);

/* After the three above: returns, once each, the tasks no longer needed on
 * every cluster; BATS_NO_POSITION: no more. */
struct bats_position sampling_released(struct sampling *p);

/* Every execution on the cluster has failed, and there were many: it would
 * only spoil the rest of the bag. */
bool sampling_refuses(const struct sampling *p, size_t cluster);

/* The machine runs a task that the sample is waiting for. */
bool sampling_needs(const struct sampling *p, const struct state *s,
                    uint32_t machine);

/* After every event. `stalled`: nothing runs. */
enum sampling_step sampling_step(const struct sampling *p,
                                 const struct state *s, bool stalled,
                                 size_t *cluster);

/* The phase is over: computes the sample. BATS_ENOMEM. */
int sampling_conclude(struct sampling *p, const struct state *s,
                      struct bats_sample *sample);

/* ---- choice.c: schedules are offered, and one is chosen ---- */

/* Fills in the estimator. The forecast must be up to date. */
int sampling_estimator(struct sampling *p, const struct state *s,
                       struct bats_estimator *e, struct bats_error *err);

int sampling_choose(struct sampling *p, const struct state *s,
                    const struct bats_choice *choice,
                    struct sampling_choice *chosen, struct bats_error *err);

#endif
