/*
 * engine_options: the engine's options, from the options of a run and what was
 * found out about its machines. Layer: run. Used by the master, and by `run
 * --dry-run`, so that both refuse the same.
 */
#ifndef BATS_ENGINE_OPTIONS_H
#define BATS_ENGINE_OPTIONS_H

#include "bats/sched.h"
#include "run/run.h"

struct bats_engine_options {
    struct bats_sched_options options;
    struct bats_prior prior;
    struct bats_observation *seen; /* observations of the profile */
    struct bats_need
        *needs;         /* needs of tasks, by category; NULL: one slot each */
    uint16_t *more;     /* see bats/sched.h */
    uint16_t *category; /* by task; NULL: the bag's categories */
    struct bats_class_names names; /* n = 0: the bag's names */
};

/* True if tasks are drawn at random: offers need a random sample. */
static inline bool bats_draws_at_random(const struct bats_run_options *options,
                                        const struct bats_platform *platform)
{
    return !options->engine.in_order ||
           (options->engine.sampling.offers && platform->n_clusters > 1);
}

/* `e` must not be moved: the options point into it. BATS_EINPUT: the profile
 * knows none of the clusters, or a task needs more than any machine has;
 * BATS_ENOMEM. */
int bats_engine_options(const struct bats_run_options *options,
                        const struct bats_survey *survey,
                        struct bats_engine_options *e, struct bats_error *err);

/* Call it after an error, too. */
void bats_engine_options_release(struct bats_engine_options *e);

#endif
