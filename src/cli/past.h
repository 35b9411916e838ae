/*
 * past: a run's use of the history (history/store.h): where it is, and how
 * measurements of a run get into it.
 *
 * Layer: cli. Used by run, alloc, plan and history. A history that cannot be
 * used ends no run: it gives a warning.
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
 * (default: ~/.local/state). NULL: none, because of --no-history or, unless a
 * file is named, compressed time (--time-scale). For free(). */
char *bats_past_path(const struct bats_settings *set);

/* The need of tasks for which the bag says nothing. */
struct bats_need bats_past_need(const struct bats_settings *set);

struct bats_clusters_file; /* input/clusters_file.h */

/* ---- the tasks of a bag ---- */

/* Visits about `most` tasks of a bag, at equal distances (0: all of them):
 *     for (struct bats_tour w = bats_tour(bag, most);
 *          bats_tour_next(&w);)
 * `i` is the task, `command` has its command. */
struct bats_tour {
    const struct bats_bagfile *bag;
    uint32_t i, every;
    struct bats_text command;
};
struct bats_tour bats_tour(const struct bats_bagfile *bag, uint32_t most);
bool bats_tour_next(struct bats_tour *walk);

struct bats_bag_kinds {
    struct bats_task_kinds kinds;
    const struct bats_bagfile *bag;
    uint32_t *of_category; /* kinds of the categories; BATS_NO_KIND: by
                            * command. NULL: the bag has no categories */
};

/* The numeric parameters of a bag that is a sweep. All zero: none. */
struct bats_bag_points {
    const struct bats_bagfile *bag;
    char names[BATS_PAST_NAMES];
    uint32_t n; /* number of parameters */
    size_t column[BATS_FACTORS];
};

/* The numbers of task i. False: a number is missing, or there are no
 * parameters. */
bool bats_bag_points_at(const struct bats_bag_points *points, uint32_t i,
                        double *x);

/* ---- a run ---- */

/* A run that adds to the history. All zero: no history. */
struct bats_learner {
    char *path; /* of the history; NULL: no history */
    bool quiet;
    struct bats_bag_kinds kinds;
    struct bats_past_place places[BATS_CLUSTERS_MAX];
    struct bats_need need; /* of a task for which the bag says nothing */
    struct bats_stock stocks[BATS_CLUSTERS_MAX]; /* of a machine */
    struct bats_gather gather;
    struct bats_past past;          /* the history before this run */
    struct bats_bag_points points;  /* parameters if the bag is a sweep, */
    struct bats_past_model *models; /* and models of these, by kind; or NULL */
    struct bats_believed believed;
    bool believes;     /* there are beliefs about this run's */
    size_t n_clusters; /* clusters, this many */
};

/* Also adds the sessions of `record`, of an earlier run (or NULL), that were
 * killed before they could add themselves. */
void bats_learner_init(struct bats_learner *learner,
                       const struct bats_settings *set,
                       const struct bats_bagfile *bag, const char *record);
void bats_learner_release(struct bats_learner *learner);

/* The kind of the task that is visited. */
uint32_t bats_learner_kind(struct bats_learner *learner,
                           const struct bats_tour *walk);

/* Implements `believe` of bats_run_options; the context is a learner. */
bool bats_learner_believe(void *context, const struct bats_survey *survey,
                          struct bats_prior *prior);

/* The same for the clusters of a file, before their machines are known. */
bool bats_learner_expect(struct bats_learner *learner,
                         const struct bats_cluster *clusters,
                         size_t n_clusters);

/* "from 3 earlier bags: 4m10s, 2m to 8m on fast; 2.1 times as fast as slow" if
 * there are beliefs; else "". Bounds hold in four of five cases. */
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

/* ---- what it expects of tasks (expect.c) ---- */

/* Prints the expected seconds of each task on each cluster, and the cost of its
 * share of a machine, separated by tabs; both are empty where it does not
 * fit. */
void bats_learner_list(FILE *out, struct bats_learner *learner,
                       const struct bats_clusters_file *file);

/* Adds a line for each kind of tasks that would cost less if it asked for less
 * memory: "memory of fit.py, on slow: 8G: 212 SU; 4G with 3 % tried again: 131
 * SU" (factor: of --retry-memory), and for each that need not ask for so much
 * time. */
void bats_learner_sizes(struct bats_learner *learner,
                        const struct bats_clusters_file *file, double factor,
                        struct bats_text *text);

/*
 * For --order longest: list scheduling, longest processing time first (Graham
 * 1969), ends at most a third later than the best order on equal machines.
 * Returns the tasks of the bag, longest first, equal ones in the order of the
 * bag; for free(). A runtime comes from the file ("#BATS time", @sleep, a
 * workflow's runtimes), else from the same command in the record of an earlier
 * run, `record` (NULL or missing: none), resumed or not, else from its kind in
 * the history. Other tasks count as the mean of their category, else as the
 * mean of all. *known: the number of known runtimes.
 */
uint32_t *bats_learner_longest(struct bats_learner *learner,
                               const struct bats_bagfile *bag,
                               const char *record, double time_scale,
                               uint32_t *known);

/* ---- during a run ---- */

/* Call these when the machines are known, when a task has ended, and when the
 * run with this id is over. */
void bats_learner_meet(struct bats_learner *learner,
                       const struct bats_survey *survey);
void bats_learner_note(struct bats_learner *learner,
                       const struct bats_execution *execution);
void bats_learner_end(struct bats_learner *learner, const char *run);

/* Adds the measurements of a record, each session once; `scaled`: also
 * sessions in compressed time. Returns the number of sessions added. Errors of
 * both files. */
int bats_past_add_record(struct bats_store *store, const char *record,
                         bool scaled, struct bats_error *err);

#endif
