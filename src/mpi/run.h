/*
 * run: a bag on MPI ranks. Rank 0 drives the scheduling engine, every other
 * rank executes tasks.
 *
 * Layer: mpi (only src/mpi includes mpi.h). Used by cli. What people see
 * (progress, joblog, output) leaves through an observer, so that this layer
 * knows nothing of reports.
 */
#ifndef BATS_RUN_H
#define BATS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/policy.h"
#include "bats/sched.h"
#include "bats/units.h"
#include "input/bagfile.h"
#include "input/platform.h"

/* One execution of a task that came to an end. */
struct bats_execution {
    uint32_t task;    /* index in the bag */
    uint32_t attempt; /* 1 = first */
    uint32_t machine;
    uint32_t cluster;
    int rank;
    const char *host;
    const char *command;
    bool preempted;  /* stopped by us; it goes back to the bag */
    int exit_status; /* 0..255 */
    int signal;
    int64_t start_us; /* real time, microseconds since 1970 */
    int64_t wall_us;  /* real time */
    int64_t user_us;
    int64_t system_us;
    int64_t max_rss_kib;
    bats_time runtime; /* bag time */
};

/* Called on rank 0 only. Any member may be NULL. */
struct bats_observer {
    void *context;
    void (*started)(void *context, const struct bats_platform *platform,
                    const struct bats_sched *sched);
    void (*ended)(void *context, const struct bats_execution *execution);
    void (*output)(void *context, uint32_t task, int stream, const char *bytes,
                   size_t n); /* whole lines */
    /* Several times a second while the run lasts. */
    void (*progress)(void *context, const struct bats_platform *platform,
                     const struct bats_sched *sched);
    /* One sentence about something unusual (a lost machine, ...). */
    void (*notice)(void *context, const char *sentence);
};

struct bats_run_options {
    const struct bats_bagfile *bag;
    const struct bats_clusters_file *clusters; /* NULL: none */
    const struct bats_policy *policy;
    bats_money budget;
    bats_time window;  /* 0: as the clusters file says */
    double time_scale; /* seconds of bag time per real second, > 0 */
    uint64_t seed;
    int64_t grace_ms;
    bool master_works;
    const char *results_dir;    /* NULL: output line by line to the observer */
    bats_time monitor_interval; /* 0: window / 12 */
};

struct bats_run_outcome {
    struct bats_platform platform; /* bats_platform_release */
    struct bats_sched *sched;      /* bats_sched_destroy; for the summary */
    enum bats_finish finish;
    int signal; /* SIGINT or SIGTERM if that stopped the run, else 0 */
};

/* Name and version of the MPI library in one line, cut to `size`. Needs no
 * bats_mpi_start. Returns `text`. */
const char *bats_mpi_library(char *text, size_t size);

/* Start and end MPI. Where a rank was lost on the way, an orderly end would
 * wait for it for ever: bats_mpi_end then ends all of them, this process
 * included, with `exit_status`. bats_mpi_start returns this process's rank and the
 * number of ranks. Where the program was started without a launcher there is
 * one rank, and the master works. */
int bats_mpi_start(int *argc, char ***argv, int *rank, int *n_ranks,
                   struct bats_error *err);
void bats_mpi_end(int exit_status);

/*
 * Rank 0: lays the platform over the ranks, runs the bag to its end and stops
 * the workers. On an error (a clusters file that does not fit the ranks) the
 * workers are stopped too and nothing has been started.
 */
int bats_run_master(const struct bats_run_options *options,
                    const struct bats_observer *observer,
                    struct bats_run_outcome *outcome, struct bats_error *err);

/* Rank 0, instead of bats_run_master, when there is nothing to run. */
void bats_run_dismiss(void);

/* Rank 0, for --dry-run: lays the platform over the ranks, then dismisses the
 * workers. */
int bats_run_survey(const struct bats_run_options *options,
                    struct bats_platform *platform, struct bats_error *err);

/* The other ranks: execute tasks until the master says stop. */
int bats_run_worker(struct bats_error *err);

#endif
