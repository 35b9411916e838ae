/*
 * run: a bag on MPI ranks. Rank 0 drives the scheduling engine, every other
 * rank executes tasks.
 *
 * Layer: run (only src/run includes mpi.h). Used by cli. What people see
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
#include "exec/process/runner.h"
#include "input/bagfile.h"
#include "input/platform.h"
#include "input/profile.h"
#include "run/journal.h"
#include "run/survey.h"
#include "util/usage.h"

/* A task that ends like this has saved its state and wants to be run again.
 * It has not failed. */
#define BATS_STATUS_AGAIN 85

/* Of an execution that a time-out has ended, with signal 15: as GNU parallel
 * has it. */
#define BATS_STATUS_TIMED_OUT (-1)

/* One execution of a task that came to an end. */
struct bats_execution {
    uint32_t task;    /* index in the bag */
    uint32_t attempt; /* 1 = first */
    uint32_t machine;
    uint32_t cluster;
    int rank;
    const char *host;
    const char *command;
    bool is_result;  /* else the task goes on elsewhere or back to the bag: */
    bool preempted;  /* it was stopped by us, in the middle of its work, */
    bool superseded; /* or another copy of the task was first */
    struct bats_usage usage; /* its exit_status: BATS_STATUS_TIMED_OUT, too */
    bats_time runtime;       /* bag time */
    int64_t to_come; /* bytes of its standard output that are still to be
                          handed over */
};

/* Called on rank 0 only. Any member may be NULL. */
struct bats_observer {
    void *context;
    void (*started)(void *context, const struct bats_survey *survey,
                    const struct bats_sched *sched);
    void (*ended)(void *context, const struct bats_execution *execution);
    void (*output)(void *context, uint32_t task, int stream, const char *bytes,
                   size_t n); /* whole lines */
    /* Several times a second while the run lasts. */
    void (*progress)(void *context, const struct bats_platform *platform,
                     const struct bats_sched *sched);
    /* The sampling phase is over: fills in *choice (BATS_OFFER_NONE: nothing
     * more) and returns true, or false to be asked again soon. NULL: nothing
     * more. */
    bool (*choose)(void *context, const struct bats_survey *survey,
                   struct bats_sched *sched, struct bats_choice *choice);
    /* The engine has made that schedule, from what it knows now; before any of
     * its commands are carried out. NULL: nobody is told. */
    void (*chosen)(void *context, const struct bats_survey *survey,
                   const struct bats_sched *sched);
    /* One sentence about something unusual (a lost machine, ...). */
    void (*notice)(void *context, const char *sentence);
};

/* A budget: what the account of the Slurm job has left. */
#define BATS_BUDGET_ACCOUNT ((bats_money)-1)

struct bats_run_options {
    const struct bats_bagfile *bag;
    const struct bats_clusters_file *clusters; /* NULL: what is found */
    const char *machine; /* where clusters is NULL: node, rank; NULL: as found
                          */
    const struct bats_policy *policy;
    bats_money budget; /* or BATS_BUDGET_ACCOUNT */
    bool budget_given; /* else it may be found (survey.h) */
    bats_time window;  /* 0: as the clusters file says */
    double time_scale; /* seconds of bag time per real second, > 0 */
    uint64_t seed;
    int64_t grace_ms;
    int64_t silence_us; /* a rank that says nothing for longer is lost */
    bool master_works;
    enum bats_bind bind;
    enum bats_output output;    /* lines: they go to the observer */
    const char *output_dir;     /* where results and stream go; else NULL */
    int64_t max_output;         /* of a task and stream, bytes; 0: no limit */
    bats_time monitor_interval; /* 0: window / 12 */
    struct bats_sched_rules rules;
    struct bats_record *record; /* it knows the tasks; NULL: none is kept */
    enum bats_record_resume resume;
    int64_t sync_us; /* limits of a group of events, see journal.h */
    uint64_t sync_events;
    struct bats_sched_earlier earlier;
    const uint32_t *attempts; /* per task: of earlier sessions; may be NULL */
    struct bats_sched_sampling sampling; /* without observations: those of */
    const struct bats_profile *profile;  /* are taken, by name of cluster;
                                            NULL: none */
    enum bats_reconfigure reconfigure;
    const char *hosts_file; /* where the run may end to give nodes back; NULL:
                               it does not */
    bats_time restart;      /* how long going on with the others takes */
    enum bats_tail tail;
    const uint8_t *once;  /* per task: it is never copied; may be NULL */
    const char *settings; /* as the user wrote them, for the record, as a JSON
                             object; or NULL */
    const char *version;  /* of bats-mpi, for the record */
};

struct bats_crew; /* crew.h: the ranks that work */

struct bats_run_outcome {
    struct bats_survey survey; /* bats_survey_release */
    struct bats_sched *sched;  /* bats_sched_destroy; for the summary */
    enum bats_finish finish;
    int signal; /* SIGINT, SIGTERM or (no more was started) SIGUSR1 if that
                   stopped the run, else 0 */
    struct bats_error refusal; /* code 0, or why what was chosen could not be
                                  had (BATS_EBUDGET, BATS_EDEADLINE,
                                  BATS_EINPUT); nothing more was started */
    bool gave_up; /* it was stopped because the record cannot be written */
    struct bats_books books; /* what the record has */
};

/* Name and version of the MPI library in one line, cut to `size`. Needs no
 * bats_mpi_start. Returns `text`. */
const char *bats_mpi_library(char *text, size_t size);

/* Start and end MPI. Where a rank was lost on the way, an orderly end would
 * wait for it for ever: bats_mpi_end then ends all of them, this process
 * included, with `exit_status`. bats_mpi_start returns this process's rank and
 * the number of ranks; from then on rank 0 gives signs of life (heart.h), six
 * of them in `silence_us`. Where the program was started without a launcher
 * there is one rank, and the master works. */
int bats_mpi_start(int *argc, char ***argv, int64_t silence_us, int *rank,
                   int *n_ranks, struct bats_error *err);
void bats_mpi_end(int exit_status);

/*
 * Rank 0: lays the platform over the ranks, runs the bag to its end and stops
 * all work. On an error (a clusters file that does not fit the ranks) nothing
 * has been started. Whatever the result is, the workers stay, and *crew is for
 * bats_run_dismiss: what a run comes to is first to be written down, for ranks
 * that leave, or fail to, may take this one with them.
 */
int bats_run_master(const struct bats_run_options *options,
                    const struct bats_observer *observer,
                    struct bats_crew **crew, struct bats_run_outcome *outcome,
                    struct bats_error *err);

/* Rank 0: lets the others go. `crew` is NULL where there was nothing to run.
 * `notice` is told what is unusual. */
void bats_run_dismiss(struct bats_crew *crew,
                      void (*notice)(const char *sentence));

/* Rank 0, to look and not run: takes the survey, then dismisses the workers.
 */
int bats_run_survey(const struct bats_run_options *options,
                    struct bats_survey *survey, struct bats_error *err);

/* The other ranks: execute tasks until the master says stop. BATS_ESYS if it
 * has died, or has given no sign of life for `silence_us`: what runs here has
 * been stopped, in its grace time. */
int bats_run_worker(int64_t silence_us, struct bats_error *err);

#endif
