/*
 * watch: shows a run to people while it lasts, and collects data for the
 * closing report.
 *
 * Layer: cli. Used by the verb run: it is the observer (run/run.h). The output
 * of tasks goes to standard output and standard error, messages go to standard
 * error. If standard output cannot be written any more (its reader is gone,
 * the disk is full), the run is stopped as by SIGTERM, so that no money is
 * spent on results that would be lost.
 */
#ifndef BATS_WATCH_H
#define BATS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/past.h"
#include "cli/request.h"
#include "report/inorder.h"
#include "report/joblog.h"
#include "report/progress.h"
#include "report/report.h"
#include "run/run.h"

struct bats_watch {
    /* Owned by others: */
    const struct bats_settings *set;
    const struct bats_run_options *options;
    struct bats_learner *learner;
    struct bats_choosing *choosing;
    struct bats_label *label; /* for --tagstring, or NULL */

    const struct bats_policy *policy; /* the policy in use */
    bool brief; /* announces neither the start nor the plan */
    struct bats_inorder *inorder; /* --keep-order; else NULL; owned */
    struct bats_joblog *joblog;   /* NULL: no joblog; owned */
    uint64_t *received;           /* with joblog: bytes of output, by task */
    struct bats_failures failures;
    struct bats_causes causes;
    const char *record; /* its path, or NULL */
    char *live_path;    /* of the status file, or NULL; owned */
    int64_t lived_us;   /* monotonic clock: when it was written last */
    bool live_failed;   /* writing it failed, and the user knows */
    uint64_t yielded;   /* executions that were checkpointed */
    bool is_late;       /* the user knows that the deadline will be missed, */
    bool are_late[BATS_PURSES_MAX]; /* and for which workflows */
    struct bats_progress progress;
    int terminal;      /* the terminal behind standard error while a line is
                        * shown, or -1 */
    bool out_is_shown; /* standard output reaches that terminal, too */
    int64_t start_us;  /* real time, microseconds since 1970 */
    int64_t begin_us;  /* monotonic clock */
    int out_errno;     /* errno of standard output, or 0 */
    bool log_is_broken;
    bool not_held; /* holding output failed, and the user knows */
};

/* All pointers must live as long; `learner` is set later. If the run resumes
 * an earlier one, its lines stay until bats_joblog_begin. The program ends if the joblog
 * cannot be written, but *watch, which is all zero before, may be released. */
void bats_watch_init(struct bats_watch *watch, const struct bats_settings *set,
                     struct bats_request *request);
void bats_watch_release(struct bats_watch *watch);

/* Returns the observer, which is valid as long as the watch. */
struct bats_observer bats_watch_observer(struct bats_watch *watch);

/* Keeps the status file of the record at `record` from now on
 * (report/live.h). */
void bats_watch_live(struct bats_watch *watch, const char *record);

/* Removes the status file, and the progress line before the closing report.
 * Without a progress line, prints all decisions now. `snapshot`: at the end;
 * NULL: nothing was run. */
void bats_watch_finish(struct bats_watch *watch,
                       const struct bats_snapshot *snapshot);

/* closing.c: ends a run. Completes the record and reports the outcome on
 * standard error and, unless `json` is NULL, as JSON. `sample`, and a run with
 * --save, keep what they have learned. Removes the progress line of `watch`.
 * Returns the exit code; errors are reported. */
int bats_closing(struct bats_watch *watch, FILE *json,
                 const struct bats_run_outcome *outcome);

/* Real time since the run began, microseconds. */
int64_t bats_watch_elapsed(const struct bats_watch *watch);

#endif
