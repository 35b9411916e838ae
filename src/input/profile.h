/*
 * profile: what a sampling phase has learned about a bag, as a JSON file.
 *
 * Layer: input. Written by `bats-mpi sample`, read by `plan PROFILE` and by
 * `run --profile`. It names the bag, the clusters of the sample, the runtime
 * of each task there, the tasks that are done, and the charge. Everything
 * derived from these (regression, means, schedules) is computed again, also
 * for other budgets or charges.
 *
 *   {"bats_profile": 1,
 *    "bag": {"name": "bag.txt", "tasks": 1000, "hash": "88f1c0d2b3a49e57"},
 *    "window_s": 3600, "billing": "window", "currency": "SU",
 *    "elapsed_s": 3600,
 *    "clusters": [{"name": "slow", "charge": "3", "max": 32, "slots": 1,
 *                  "windows": 7, "charged": "21",
 *                  "sample": [[17, 901.25], [22, 880.5]]}],
 *    "done": [[17, 17], [22, 22]], "failed": [], "levels": [[500, 2]],
 *    "critical_path": {"tasks": [7, 1000], "means": 1.8}}
 *
 * A sample is a list of pairs: the number of a task, counted from 1, and its
 * runtime in seconds. A task in the samples of several clusters was
 * replicated. If tasks need more than a slot, "room" is the mean number of them
 * that a machine runs at a time. A cluster whose runtime is only expected has
 * "expected_s", too. "done" and "failed" are ranges of numbers, both ends
 * included.
 *
 * If tasks wait for others, "levels" are pairs of a number of tasks and the
 * number of levels with that many (bats/estimate.h), and "critical_path" is
 * the longest chain of tasks that are not done: its tasks, in order, and its
 * length in tasks of mean length.
 *
 * Money is text, because it is exact. The hash is bats_bagfile_hash, in
 * hexadecimal digits. Without "billing" (bats/billing.h) it is window.
 */
#ifndef BATS_PROFILE_H
#define BATS_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "bats/billing.h"
#include "bats/cluster.h"
#include "bats/error.h"
#include "bats/estimate.h"
#include "bats/sample.h"
#include "bats/units.h"
#include "input/bagfile.h"

/* The longest chain of dependent tasks. */
struct bats_critical_path {
    uint32_t *task; /* n of them, counted from 0 */
    uint32_t n;     /* 0: no task waits */
    double means;   /* length in tasks of mean length */
};

struct bats_profile_cluster {
    struct bats_cluster cluster; /* max: the number of machines that existed */
    double slots;                /* per machine, a mean if machines differ */
    double room; /* tasks at a time per machine: fewer if they need several
                   * slots, memory or GPUs */
    bats_time expected; /* runtime of a task, from the user; 0: unspecified */
    int64_t windows;    /* windows entered while sampling */
    bats_money charged; /* charge for these windows */
};

/* Plain data; all zero is a valid, empty profile. The profile owns its
 * blocks. */
struct bats_profile {
    char *bag_name;
    uint32_t n_tasks; /* of the whole bag */
    uint64_t bag_hash;
    bats_time window;
    bats_time elapsed; /* virtual time that sampling took */
    enum bats_billing_model billing;
    char currency[16];
    struct bats_profile_cluster clusters[BATS_CLUSTERS_MAX];
    size_t n_clusters;
    struct bats_observation *observations; /* of all clusters */
    size_t n_observations;
    uint8_t *state; /* by task: enum bats_task_state, DONE, FAILED or PENDING;
                     * NULL: all are pending */
    struct bats_levels levels; /* n = 0: no task waits for others */
    struct bats_critical_path path;
};

/* Reads the file at `path` into *profile; the caller releases it. BATS_EINPUT
 * with "path: sentence" (or "path:line: " if it is not JSON) that names what
 * is missing or wrong, BATS_ENOMEM. */
int bats_profile_load(const char *path, struct bats_profile *profile,
                      struct bats_error *err);

/* Writes the profile to `path`, completely or not at all. BATS_ESYS,
 * BATS_ENOMEM. */
int bats_profile_save(const struct bats_profile *profile, const char *path,
                      struct bats_error *err);

void bats_profile_release(struct bats_profile *profile);

/* Returns 0 if the profile, read from `path`, belongs to this bag; else
 * BATS_EINPUT with a sentence that names the difference. */
int bats_profile_check_bag(const struct bats_profile *profile,
                           const char *path, const struct bats_bagfile *bag,
                           struct bats_error *err);

/* Sets the bag's name, number of tasks and hash. BATS_ENOMEM. */
int bats_profile_set_bag(struct bats_profile *profile,
                         const struct bats_bagfile *bag,
                         struct bats_error *err);

/* Notes the state of each task; states other than DONE and FAILED count as
 * PENDING. BATS_ENOMEM. */
int bats_profile_set_states(struct bats_profile *profile, const uint8_t *state,
                            struct bats_error *err);

/* Fills in levels and path for the tasks with left[i] != 0 of a graph without
 * circles; weight[i] is the length of task i in mean lengths (NULL: all are
 * equal). BATS_ENOMEM. */
int bats_profile_set_graph(struct bats_profile *profile,
                           const struct bats_graph *graph, const uint8_t *left,
                           const double *weight, struct bats_error *err);

/* The number of tasks neither done nor failed, and the charge of sampling. */
uint32_t bats_profile_left(const struct bats_profile *profile);
bats_money bats_profile_charged(const struct bats_profile *profile);

#endif
