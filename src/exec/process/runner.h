/*
 * runner: starts, watches, slows and stops the process of one task.
 *
 * Layer: exec. Used by the MPI worker (and by the master when it works). One
 * runner runs one task at a time, in its own process group. All processes that
 * the task started die with it, daemons included, and the group dies even when
 * this process is killed (family.h). No MPI.
 *
 * A process has one runner at a time, and starts no other children while it
 * has one. The runner uses no signal handlers. Linux 5.9 or later; if a
 * container forbids pidfd_open, it checks the process every 5 ms.
 */
#ifndef BATS_RUNNER_H
#define BATS_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "util/usage.h"

struct bats_runner; /* opaque */

enum bats_output {
    BATS_OUTPUT_LINES,   /* passed on line by line (`lines` below) */
    BATS_OUTPUT_RESULTS, /* to RESULTS_DIR/<task + 1>/stdout and stderr */
    BATS_OUTPUT_STREAM,  /* to a file of this runner (outfile.h) */
    BATS_OUTPUT_NONE     /* to /dev/null */
};

struct bats_runner_options {
    enum bats_output output;
    const char *results_dir;   /* BATS_OUTPUT_RESULTS; created if missing. "":
                                * BATS_RESULTS in the environment of a task */
    const char *stream_prefix; /* BATS_OUTPUT_STREAM: the file's name without
                                * .out */
    const char *workdir;       /* of tasks; NULL: that of this process */
    double speed;       /* of the cluster, for emulation; 1 = real speed. Below
                         * 1, a duty cycle slows processes (pace.h), but not
                         * built-in sleeps */
    int64_t grace_ms;   /* between TERM and KILL */
    const char *vmstat; /* file that counts processes killed by the kernel for
                         * lack of memory; NULL: /proc/vmstat */
    /* BATS_OUTPUT_LINES: called from poll with complete lines, at most 1 MiB
     * at once; stream is 1 or 2. A last line without newline gets one; a line
     * over 1 MiB is broken by one. Returns false for "not now": the runner
     * keeps the bytes, stops reading the task's pipe and asks again at the
     * next poll. */
    bool (*lines)(void *context, uint32_t task, int stream, const char *bytes,
                  size_t n);
    void *context;
};

/* The task to run. After bats_runner_start has returned, only `outputs` is
 * used, until the result has been taken. */
struct bats_runner_task {
    uint32_t task;       /* index in the bag; people see task + 1 */
    uint32_t attempt;    /* 1 = first */
    bool is_replica;     /* the task also runs elsewhere: its result files are
                          * separate until bats_runner_settle */
    const char *command; /* a shell command; run directly if it needs no shell.
                          * NULL: a built-in sleep */
    int64_t sleep_us;    /* built-in sleep: real microseconds, scaled by the
                          * caller */
    int64_t memory_kib;  /* kill it if its processes hold more (checked every
                          * second); 0: no limit */
    bool is_aside;       /* not a task of the bag: all of its output goes to
                          * the standard error of this process */
    const char *outputs; /* files that it must make, each with its NUL, */
    size_t n_outputs;    /* their bytes in all: see bats_runner_made */
    const char *const *environment; /* "NAME=value", NULL-terminated, added to
                                       the cleaned environment; may be NULL */
};

struct bats_runner_result {
    uint32_t task;
    bool cancelled;     /* ended because of bats_runner_cancel or _kill */
    bool out_of_memory; /* it exceeded its memory limit; or KILL ended it or
                         * its last process, and the kernel has killed a
                         * process on this node since the last such case */
    struct bats_usage usage;
    /* The last words on standard error of a task that failed or was stopped; at
     * most BATS_COMPLAINT_BYTES, not terminated. Belongs to the runner, until
     * its next start. */
    const char *last;
    size_t n_last;
};

int bats_runner_create(const struct bats_runner_options *options,
                       struct bats_runner **runner, struct bats_error *err);

/* Kills the running process group, reaps it and frees the runner. */
void bats_runner_destroy(struct bats_runner *runner);

/*
 * Starts a task; none may be running. A command that cannot be started is not
 * an error: it gives a result with exit status 126 or 127, as from a shell, at
 * the next poll. Errors: BATS_ESYS (no more processes or descriptors, results
 * cannot be written), BATS_ENOMEM, BATS_ESTATE (a task is running).
 */
int bats_runner_start(struct bats_runner *runner,
                      const struct bats_runner_task *task,
                      struct bats_error *err);

/* Decides whether an ended replica, whose output goes to result files, gives
 * the task's result. BATS_ESYS. */
int bats_runner_settle(struct bats_runner *runner, uint32_t task,
                       uint32_t attempt, bool is_result,
                       struct bats_error *err);

/* True from the start of a task until its result is taken. */
bool bats_runner_busy(const struct bats_runner *runner);

/* Sends TERM to the whole group, then KILL after the grace time to the rest of
 * it. Returns at once. The result of a task that had ended by itself before
 * the signal could be sent is not `cancelled`. */
void bats_runner_cancel(struct bats_runner *runner);

/* Sends KILL to the whole group at once. Does not wait. */
void bats_runner_kill(struct bats_runner *runner);

/*
 * Handles output, duty cycle, grace time and the end of the task. Sleeps up to
 * `timeout_us`, and wakes up on an event (pidfd, no polling delay) or when a
 * signal handler has run. Without a task it just sleeps. A task ends with its
 * main process: processes that it left behind are killed, and the contents of
 * the pipes are passed on. Returns 1 and fills *result when the task has ended
 * and its output is passed on, 0 if not yet, or a negative errcode. After 1
 * the runner is free. BATS_ESYS also if the output of the task cannot be
 * written: its result is then unreliable.
 */
int bats_runner_poll(struct bats_runner *runner, int64_t timeout_us,
                     struct bats_runner_result *result,
                     struct bats_error *err);

/* Checks whether a rule of a workflow has made its files: `outputs`, each with
 * its NUL, n bytes in all. The process that has run the rule checks, because
 * file systems of several nodes may differ for a while. Returns the exit
 * status of a rule that ended with `status`: 1 if that is 0 and files are
 * missing, which are named at `fd`. If the rule failed, the files are removed:
 * half a file would look complete to the next run. With status 85 they stay:
 * they may hold its saved state. */
int bats_runner_made(const char *outputs, size_t n, int status, int fd);

#endif
