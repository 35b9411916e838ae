/*
 * profiling: what a run has learned: it is kept as a profile, and the
 * schedules that follow from it are shown and chosen from.
 *
 * Layer: cli. Used by the verbs run, sample and plan. `sample`, and a run with
 * --save, keep a profile once they have ended: the tasks left are those of the
 * bill and of `plan PROFILE`. Choosing is the step after the sampling phase:
 * it shows the schedules on offer and takes the one that the options name.
 * `sample` chooses none, and shows the schedules once it has ended. A run with
 * none of --choose, --budget, --deadline and --profile has no such phase: it
 * shows the schedules once it knows its clusters, and continues as fast as it
 * can.
 */
#ifndef BATS_PROFILING_H
#define BATS_PROFILING_H

#include <stdbool.h>
#include <stdio.h>

#include "bats/error.h"
#include "bats/estimate.h"
#include "bats/prior.h"
#include "bats/status.h"
#include "cli/options.h"
#include "input/bagfile.h"
#include "input/platform.h"
#include "input/profile.h"

/* ---- estimation.c: the data of an estimate, from files and options; `e` is
 * ready for the functions of bats/estimate.h ---- */

/* Do not copy: `e` points into it. */
struct bats_estimation {
    struct bats_estimator e;
    struct bats_cluster clusters[BATS_CLUSTERS_MAX];
    struct bats_runtimes runtimes[BATS_CLUSTERS_MAX];
    double slots[BATS_CLUSTERS_MAX]; /* tasks at a time on a machine */
    double ranks[BATS_CLUSTERS_MAX]; /* of a machine */
    char currency[16];
    const char *partition[BATS_CLUSTERS_MAX]; /* partition for a Slurm job */
    bool by_node[BATS_CLUSTERS_MAX];          /* its machines are nodes */
    struct bats_head heads[BATS_CLUSTERS_MAX];
};

/*
 * Takes the tasks left of a profile, on its clusters. Charges, limits, window,
 * billing and currency are those of `file` unless it is NULL. Clusters that
 * are not in `file` are left out, with a message on standard error.
 * `confidence` 0: the default. The profile must live as long. Errors:
 * BATS_EINPUT (no cluster is left), BATS_ENOMEM.
 */
int bats_estimation_from_profile(struct bats_estimation *x,
                                 const struct bats_profile *profile,
                                 const struct bats_clusters_file *file,
                                 double confidence, struct bats_error *err);

/* Takes the dependencies of tasks from the profile, which must live as
 * long. */
void bats_estimation_set_graph(struct bats_estimation *x,
                               const struct bats_profile *profile);

/* room[]: how many tasks of the bag (NULL: any tasks) a machine of each cluster
 * of the file runs at the same time; 0: some task needs more than it has.
 * `each`: what a task needs for which the bag says nothing. A machine of
 * unknown slots counts as one; the program ends if tasks need several. */
void bats_estimation_room(const struct bats_clusters_file *file,
                          const struct bats_bagfile *bag,
                          const struct bats_need *each, double *room);

/*
 * Takes `n_tasks` tasks on the clusters of `file` (read from `path`).
 * `runtimes` gives the mean runtimes, as in "slow=15m,fast=3.75m" (NULL:
 * none). For other clusters, the runtime expected in `file` or believed
 * (`prior`, by cluster of the file; NULL: none) counts as a guess; without
 * that, the cluster is left out, with a message on standard error. `room`: how
 * many tasks a machine runs at a time, by cluster of the file; clusters with 0
 * are left out, too. An error ends the program.
 */
void bats_estimation_from_runtimes(struct bats_estimation *x, uint64_t n_tasks,
                                   const char *runtimes,
                                   const struct bats_prior *prior,
                                   const double *room,
                                   const struct bats_clusters_file *file,
                                   const char *path);

/* The kind of schedules on offer. */
enum bats_plans bats_estimation_plans(const char *policy,
                                      enum bats_billing_model billing);

/* The budget that is `share` of the way from the cost of the cheapest schedule
 * on offer to that of the fastest. An error ends the program. */
bats_money bats_estimation_budget(const struct bats_estimator *e,
                                  double share);

/* ---- profiling.c ---- */

/* Fills *profile, which the caller releases, and writes it to `path`, or to
 * BAG.profile if that is NULL. BATS_ESYS, BATS_ENOMEM; BATS_EINPUT: a bag from
 * standard input has no name. *kept is the path, for free(). */
int bats_profiling_save(const struct bats_bagfile *bag,
                        const struct bats_platform *platform,
                        const struct bats_sched *sched, const char *path,
                        struct bats_profile *profile, char **kept,
                        struct bats_error *err);

/* Prints the clusters, the schedules on offer for the tasks left, and whether
 * the deadline, if any, can be kept. Prints nothing if no task is left. */
void bats_profiling_show(FILE *out, const struct bats_settings *set,
                         const struct bats_profile *profile,
                         const struct bats_sched *sched);

struct bats_choosing {
    bool on;      /* there is a sampling phase */
    bool goes_on; /* the run goes on after it; skipped if all is free */
    bool only;    /* the verb sample: nothing is chosen */
    FILE *out;    /* where the schedules are shown; NULL: nowhere */
    enum bats_plans plans;
    struct bats_choice choice;
    const struct bats_deadline *deadline; /* NULL: none */
    double time_scale;
    bats_money budget; /* budget of the whole run, for bats_choosing_answer */
};

/* Derives the choice from the settings of `verb`. The program ends if they
 * exclude each other. */
struct bats_choosing bats_choosing(enum bats_verb verb,
                                   const struct bats_settings *set);

/* Shows the schedules, and writes the choice into *choice. */
void bats_choosing_answer(struct bats_choosing *choosing,
                          const struct bats_platform *platform,
                          struct bats_sched *sched,
                          struct bats_choice *choice);

#endif
