/*
 * run: a bag on MPI ranks. Rank 0 drives the scheduling engine, every other
 * rank executes tasks.
 *
 * Layer: run (only src/run includes mpi.h). Used by cli. Everything for users
 * (progress, joblog, output) goes through an observer, so that this layer is
 * independent of reports.
 */
#ifndef BATS_RUN_H
#define BATS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/prior.h"
#include "bats/sched.h"
#include "exec/process/runner.h"
#include "input/bagfile.h"
#include "input/label.h"
#include "input/platform.h"
#include "input/profile.h"
#include "run/joining.h"
#include "run/journal.h"
#include "run/survey.h"
#include "util/usage.h"

/* Exit status of a task that has saved its state and asks to be run again; not
 * a failure. */
#define BATS_STATUS_AGAIN 85

/* One execution that has ended. */
struct bats_execution {
    uint32_t task;    /* index in the bag */
    uint32_t attempt; /* 1 = first */
    uint32_t machine;
    uint32_t cluster;
    int rank;
    const char *host;
    const char *command;
    const char *class; /* of a task of an open bag; NULL: what the bag says */
    struct bats_need need; /* what it asked for */
    bool is_result;  /* false: the task goes on elsewhere or back to the bag,
                      * because */
    bool preempted;  /* we stopped it in the middle of its work, */
    bool superseded; /* or another replica was first */
    struct bats_usage usage; /* its exit_status may be < 0, too */
    bats_time runtime;       /* virtual time */
    const char *last;        /* end of its standard error, if it failed */
    size_t n_last;
    int64_t to_come; /* bytes of its standard output still to come */
};

/* Called on rank 0 only. Any member may be NULL. */
struct bats_observer {
    void *context;
    void (*started)(void *context, const struct bats_survey *survey,
                    const struct bats_sched *sched);
    void (*ended)(void *context, const struct bats_execution *execution);
    /* Complete lines. False: the output can no longer be read. Then no further
     * result is recorded, so that its task is run again. */
    bool (*output)(void *context, uint32_t task, int stream, const char *bytes,
                   size_t n);
    /* Several times a second while the run lasts. */
    void (*progress)(void *context, const struct bats_platform *platform,
                     const struct bats_sched *sched);
    /* The sampling phase is over: sets *choice (BATS_OFFER_NONE: end the
     * run). NULL: end the run. */
    void (*choose)(void *context, const struct bats_survey *survey,
                   struct bats_sched *sched, struct bats_choice *choice);
    /* The engine has made the chosen schedule from its present knowledge; none
     * of its commands has been carried out yet. NULL: not reported. */
    void (*chosen)(void *context, const struct bats_survey *survey,
                   const struct bats_sched *sched);
    /* A sentence about something unusual (a lost machine, ...). */
    void (*notice)(void *context, const char *sentence);
};

/* Stands for the budget left in the account of the Slurm job. */
#define BATS_BUDGET_ACCOUNT ((bats_money)-1)

/* An open bag: tasks are added by clients on a socket, and by a driver that
 * rank 0 starts. */
struct bats_run_open {
    struct bats_bagfile *bag; /* the bag of the run's options */
    const char *socket;       /* path of the socket */
    char *const *driver;      /* words of its command; NULL: none */
    int64_t idle_us;    /* without a driver: the bag is closed after this long
                         * without a task; 0: only on request */
    uint32_t in_all;    /* expected number of tasks; 0: unknown */
    char *const *given; /* by task of earlier sessions: its recorded
                         * submission; or NULL */
};

struct bats_run_options {
    const struct bats_bagfile *bag;
    const struct bats_clusters_file *clusters; /* NULL: the clusters found */
    const char *machine;    /* if clusters is NULL: node or rank; NULL: as
                          * found */
    struct bats_need need;  /* default needs of a task; cores = 0: one core */
    double retry_memory;    /* factor for the memory of a task that ran out of
                             * it and is tried again; 0: it is not */
    bool limits_memory;     /* kill tasks that hold more memory than they
                             * need */
    uint32_t gpus_per_node; /* 0: the GPUs that the job names */
    struct bats_sched_options engine;   /* the user's part; the rest is found
                                         * out (engine_options.h) */
    const struct bats_profile *profile; /* observations for the sample, by name
                                         * of cluster; NULL: none */
    bats_money budget;                  /* or BATS_BUDGET_ACCOUNT */
    bool budget_given;                  /* false: it may be found (survey.h) */
    bats_time window;                   /* 0: from the clusters file */
    double time_scale; /* seconds of virtual time per real second, > 0 */
    int64_t grace_ms;
    int64_t silence_us; /* a rank silent for longer is lost */
    enum bats_bind bind;
    enum bats_output output;    /* lines go to the observer */
    const char *output_dir;     /* directory of results and stream; else
                                 * NULL */
    struct bats_label *results; /* the directory of each task; or NULL */
    const char *workdir;        /* of tasks; NULL: that of the ranks */
    uint32_t nice;              /* of tasks, 0 to 19 */
    int64_t memfree;            /* free bytes on a node required to start a
                                 * task */
    int64_t delay_us;           /* between the starts of two tasks */
    int64_t deadline_us; /* wall clock, since 1970; 0: the engine's goal has
                          * it */
    /* Called once, after all checks and before the session is recorded; may
     * still set `record`. An error ends the run. May be NULL. */
    int (*begin)(void *context, struct bats_error *err);
    void *begin_context;
    struct bats_record *record; /* has all tasks; NULL: no record */
    enum bats_record_resume resume;
    int64_t sync_us; /* limits of a group of events: journal.h */
    uint64_t sync_events;
    const uint32_t *attempts; /* per task, in earlier sessions; may be NULL */
    const char *killed_run;   /* run id of the last session if it was killed
                               * and had the same bag: results of its worker
                               * jobs since then count. NULL: none */
    const char *settings; /* options as the user wrote them, a JSON object for
                           * the record; or NULL */
    const char *version;  /* of bats-mpi, for the record */
    double grams_per_kwh; /* CO2 of energy at the site; 0: unknown */
    /* Fills in beliefs about the clusters before the engine is created, if the
     * policy uses them. False: there are none. NULL: nobody has any. */
    bool (*believe)(void *context, const struct bats_survey *survey,
                    struct bats_prior *prior);
    void *believe_context;
    const struct bats_joining *joining; /* NULL: no worker jobs */
    const struct bats_run_open *open;   /* NULL: the bag is not open */
};

struct bats_crew; /* crew.h: the ranks that work */

/* Names of the categories of tasks, split by their needs. */
struct bats_class_names {
    char **list;
    uint32_t n; /* 0: the bag's categories */
};

void bats_class_names_release(struct bats_class_names *names);

struct bats_run_outcome {
    struct bats_survey survey; /* release with bats_survey_release */
    struct bats_sched *sched;  /* for the summary; bats_sched_destroy */
    enum bats_finish finish;
    int signal; /* SIGINT, SIGTERM or SIGUSR1 (no more tasks started) if it
                 * stopped the run, else 0 */
    struct bats_error refusal; /* code 0, or why the chosen schedule was not
                                * possible (BATS_EBUDGET, BATS_EDEADLINE,
                                * BATS_EINPUT); nothing more was started */
    bool gave_up;   /* the run was stopped because the record cannot be
                   * written */
    int driver;     /* exit status of the driver, or 128 + its signal; 0:
                   * none */
    uint32_t known; /* of an open bag with a driver: failed and skipped tasks
                     * that clients know of, so that the driver's exit status
                     * is about them, too */
    struct bats_books books;       /* contents of the record */
    struct bats_class_names names; /* release with bats_class_names_release */
    char run_id[64];
};

/* Name and version of the MPI library in one line, cut to `size`. Does not
 * need bats_mpi_start. Returns `text`. */
const char *bats_mpi_library(char *text, size_t size);

/* Start and end MPI, where a launcher has started several ranks. If a rank was
 * lost, an orderly end would wait for it for ever: bats_mpi_end then aborts
 * all ranks, including this process, with `exit_status`. bats_mpi_start
 * returns this process's rank and the number of ranks; from then on rank 0
 * gives signs of life (comm.h), six of them in `silence_us`. */
int bats_mpi_start(int *argc, char ***argv, int64_t silence_us, int *rank,
                   int *n_ranks, struct bats_error *err);
void bats_mpi_end(int exit_status);

/* Replaces bats_mpi_start in a process without MPI peers: the master of worker
 * jobs, the gateway of a job of one rank, a run that forks its workers.
 * bats_mpi_end may follow. */
void bats_mpi_omit(void);

/* A run without a launcher: this process, rank 0, forks n_workers processes and
 * speaks with each over a socket pair, like a stream to a worker job (hub.h)
 * but without authentication. When one side ends, the other reads the end of
 * the stream, so no heart (comm.h) is needed. Each worker is in its own process
 * group, so that the terminal's signals reach only rank 0, which ends the run
 * in order. Call it while this process has one thread and no open files.
 * Returns in all processes, with *rank. BATS_EINPUT: the system does not allow
 * that many, and none is left; BATS_ENOMEM, BATS_ESYS. */
int bats_forked_start(uint32_t n_workers, int *rank, struct bats_error *err);

/* Rank 0: matches the platform with the ranks, runs the bag to its end and
 * stops all work. On an error (a clusters file that does not fit the ranks)
 * nothing has been started. In any case the workers stay, and *crew is for
 * bats_run_dismiss. Write down the results first: ranks that leave, or fail
 * to, may take this one with them. */
int bats_run_master(const struct bats_run_options *options,
                    const struct bats_observer *observer,
                    struct bats_crew **crew, struct bats_run_outcome *outcome,
                    struct bats_error *err);

/* Rank 0: lets the others leave. `crew` is NULL if nothing was run. `notice`
 * is called for anything unusual. */
void bats_run_dismiss(struct bats_crew *crew,
                      void (*notice)(const char *sentence));

/* Rank 0, for a survey without a run: takes the survey, then dismisses the
 * workers. */
int bats_run_survey(const struct bats_run_options *options,
                    struct bats_survey *survey, struct bats_error *err);

/* The other ranks: execute tasks until the master says stop. BATS_ESYS if the
 * master has died or has been silent for `silence_us`; the running task has
 * been stopped within its grace time. */
int bats_run_worker(int64_t silence_us, struct bats_error *err);

/* Rank 0 of a worker job of `n_ranks` (joining.h): joins the run that has
 * written `file`, as job `job`, and executes tasks until it is sent off. The
 * other ranks call bats_run_worker. BATS_EINPUT: the file is wrong or the
 * master refuses the job; BATS_ESYS: there is no master, or it has gone or been
 * silent for too long; the job's tasks have been stopped. */
int bats_run_gateway(const char *file, const char *job, int n_ranks,
                     struct bats_error *err);

#endif
