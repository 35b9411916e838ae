/*
 * past: the history (history/store.h) as a run uses it. Where it is, and how
 * what a run measures gets into it.
 *
 * Layer: cli. Used by run, alloc, plan and history. Nothing here ends a run: a
 * history that cannot be used is a warning.
 */
#ifndef BATS_CLI_PAST_H
#define BATS_CLI_PAST_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/options.h"
#include "history/believe.h"
#include "history/sweep.h"
#include "input/bagfile.h"
#include "run/run.h"

/* The path of the history: --history, $BATS_HISTORY, or in $XDG_STATE_HOME
 * (default: ~/.local/state). NULL: there is none, with --no-history or, unless
 * a file is named, in compressed time (--time-scale). For free(). */
char *bats_past_path(const struct bats_settings *set);

/* ---- the kinds of a bag's tasks ---- */

struct bats_bag_kinds {
    struct bats_task_kinds kinds;
    const struct bats_bagfile *bag;
    uint32_t *of_category; /* their kinds; BATS_NO_KIND: by the command. NULL:
                              the bag has no categories */
};

/* BATS_ENOMEM; to be released in any case. */
int bats_bag_kinds_init(struct bats_bag_kinds *k,
                        const struct bats_bagfile *bag,
                        struct bats_error *err);
void bats_bag_kinds_release(struct bats_bag_kinds *k);
/* Counts the tasks of each kind in a sample of the bag. BATS_ENOMEM. */
int bats_bag_kinds_count(struct bats_bag_kinds *k);
/* The kind of task i, whose command this is. BATS_NO_KIND: no memory. */
uint32_t bats_bag_kinds_of(struct bats_bag_kinds *k, uint32_t i,
                           const char *command);

/* ---- the numeric parameters of a bag that is a sweep ---- */

/* All zero: there are none. */
struct bats_bag_points {
    const struct bats_bagfile *bag;
    char names[BATS_PAST_NAMES];
    uint32_t n; /* parameters */
    size_t column[BATS_FACTORS];
};

/* Finds the first parameters that are numbers, not all the same. */
void bats_bag_points_init(struct bats_bag_points *points,
                          const struct bats_bagfile *bag);

/* The numbers of task i. False: it lacks one, or there are none. */
bool bats_bag_points_at(const struct bats_bag_points *points, uint32_t i,
                        double *x);

/* ---- a run ---- */

/* A run that adds to the history. All zero: nothing is kept. */
struct bats_learner {
    char *path; /* of the history; NULL: there is none */
    bool quiet;
    struct bats_bag_kinds kinds;
    struct bats_past_place places[BATS_CLUSTERS_MAX];
    struct bats_gather gather;
    struct bats_past past;          /* before this run */
    struct bats_bag_points points;  /* if the bag is a sweep, */
    struct bats_past_model *models; /* and these, by kind; or NULL */
    struct bats_believed believed;
    bool believes;     /* something is believed of this run, */
    size_t n_clusters; /* which has so many */
};

/* Also adds the sessions of `record`, that of an earlier run (or NULL), which
 * were killed before they could add themselves. */
int bats_learner_init(struct bats_learner *learner,
                      const struct bats_settings *set,
                      const struct bats_bagfile *bag, const char *record,
                      struct bats_error *err);
void bats_learner_release(struct bats_learner *learner);

/* Asks the history what explains the runtimes of a sweep. BATS_ENOMEM. */
int bats_learner_models(struct bats_learner *learner, struct bats_error *err);

/* As in bats_run_options: the context is a learner. */
bool bats_learner_believe(void *context, const struct bats_survey *survey,
                          struct bats_prior *prior);

/* The same for the clusters of a file, whose machines are not here. */
bool bats_learner_expect(struct bats_learner *learner,
                         const struct bats_cluster *clusters,
                         size_t n_clusters);

/* "from 3 earlier bags: 4m10s, 2m to 8m on fast; 2.1 times as fast as slow", if
 * something is believed; else "". Bounds hold in four of five cases. */
const char *bats_learner_words(const struct bats_learner *learner, char *text,
                               size_t size);

/* "the history expected 4m10s, 2m to 8m, on fast: it was 4m40s", about the
 * cluster with most results; or "". */
const char *bats_learner_outcome(const struct bats_learner *learner,
                                 const struct bats_sched *sched, char *text,
                                 size_t size);

/* Factor between a believed mean and its bounds, which hold in four of five
 * cases. */
double bats_past_factor(double deviation);

/* The expected runtime of task i, whose command this is, by its kind and its
 * point of a sweep, in microseconds of virtual time; 0: not known. */
double bats_learner_task(struct bats_learner *learner, uint32_t i,
                         const char *command);

/* Lists what each task is expected to take on each cluster, in seconds, and to
 * cost there, with tabs between. BATS_ENOMEM. */
int bats_learner_list(FILE *out, struct bats_learner *learner,
                      const struct bats_cluster *clusters, bats_time window,
                      struct bats_error *err);

/* To be called when the machines are known, when a task has ended, and when
 * the run with this id is over. */
void bats_learner_meet(struct bats_learner *learner,
                       const struct bats_survey *survey);
void bats_learner_note(struct bats_learner *learner,
                       const struct bats_execution *execution);
void bats_learner_end(struct bats_learner *learner, const char *run);

/* Adds what a record has measured, of each session once; `scaled`: of those in
 * compressed time, too. Returns the number of sessions that were added. Errors
 * of both files. */
int bats_past_add_record(struct bats_store *store, const char *record,
                         bool scaled, struct bats_error *err);

#endif
