/*
 * record: the history of a run in one SQLite file, so that no finished work is
 * ever lost. This is the writer; view.h reads, recover.h repairs.
 *
 * Layer: record (only src/record knows SQLite). Used by the MPI master through
 * cli. Only one process writes, and it locks the file.
 *
 * Model: plain tables. What has happened (execution, charge, decision, happened)
 * is a row that is only ever added, with one counter for all of them (`seq`, the
 * order in which things happened). How things stand (task_now, running, account,
 * lease, now) is brought up to date in the same commit, so that nobody has to add
 * it up. schema.c has the tables and the meaning of each column.
 *
 *     bats_record_open(path, &r, &err);            before anything is started
 *     for each task of the bag: bats_record_task(r, ..., &err);
 *     bats_record_match(r, &err);                  what is known of them?
 *     bats_record_begin(r, &session, &err);        the machines are known
 *     loop: bats_record_event, _command, _attempt, ... cost no I/O
 *           bats_record_commit(r, &err);           a write, no more
 *           bats_record_sync(r, &err);             now and then: it is slow
 *     bats_record_finish(r, ...);
 *     bats_record_close(r, &err);
 *
 * Invariants: committed rows survive SIGKILL at any moment, and after
 * bats_record_sync also a power failure. A commit is written completely or not
 * at all, and in order. If it fails (a full disk), the rows wait, and it may
 * be called again.
 *
 * Errors of all functions: BATS_EINPUT with "path: sentence" for a file that
 * is not a record, is damaged, in use by another run, not writable, or of a
 * newer bats-mpi; BATS_ESYS if the system fails ("path: disk full: ...");
 * BATS_ENOMEM.
 */
#ifndef BATS_RECORD_H
#define BATS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/bag.h"
#include "bats/error.h"
#include "bats/status.h"
#include "bats/units.h"
#include "util/usage.h"

struct bats_command;
struct bats_event;
struct bats_sched_options;

struct bats_record; /* opaque */

/* ---- opening ---- */

/* Creates a record at `path`. BATS_EINPUT if the file holds a session. */
int bats_record_create(const char *path, struct bats_record **record,
                       struct bats_error *err);

/* Opens the record at `path` to continue it, or creates one. */
int bats_record_open(const char *path, struct bats_record **record,
                     struct bats_error *err);

/* Renames the record at `path`, which no run may be using, to "path.1" or the
 * next free number, and writes the new name to `moved`. If there is no record,
 * *moved is empty and the result is 0. */
int bats_record_set_aside(const char *path, char *moved, size_t size,
                          struct bats_error *err);

/* True if a live process holds the record at `path`. That process itself must
 * not call this: it would lose its lock. */
bool bats_record_is_live(const char *path);

/* Commits the rows that wait and leaves a plain file without companions, or no
 * file if no session was ever begun. If somebody has removed the file meanwhile,
 * it is written again; BATS_ESYS if it was replaced (it is then written beside)
 * or cut off. Frees the record (which may be NULL) even on an error. */
int bats_record_close(struct bats_record *record, struct bats_error *err);

/* Frees the record (NULL is legal); rows that wait are lost. */
void bats_record_abandon(struct bats_record *record);

/* ---- results of earlier sessions; before bats_record_begin ---- */

/* Sessions before this one: 0 in a new record. */
uint32_t bats_record_sessions(const struct bats_record *record);

/* The charges of all sessions before this one. */
bats_money bats_record_charged(const struct bats_record *record);

/* The part that was charged when this record was opened, for what the last
 * session held when it was killed: the most that may have cost. */
bats_money bats_record_killed(const struct bats_record *record);

/* The run id of the last session if it was killed, for free(); else NULL. Call
 * it before a session is begun. */
int bats_record_killed_run(struct bats_record *record, char **run_id,
                           struct bats_error *err);

/* *charged: what all earlier sessions charged to the workflow of this name
 * (bats/purse.h). */
int bats_record_share(struct bats_record *record, const char *name,
                      bats_money *charged, struct bats_error *err);

/* What earlier sessions in the same batch job know of its bill; all 0 without
 * such sessions. */
struct bats_record_job {
    bats_money charged;   /* by all of them */
    bats_money uncharged; /* billed before the last of them began, which was
                             lost before it was charged */
    bats_money rate;      /* of that last one, per hour */
    int64_t charged_us;   /* it has charged the time up to here, since 1970 */
    int64_t seen_us;      /* its last sign of life, at or after that */
    uint32_t life;        /* lives of the job before the one it was part of */
};
int bats_record_of_job(struct bats_record *record, const char *job,
                       struct bats_record_job *known, struct bats_error *err);

/* A job that a dead session asked for, and that has no bill yet. */
struct bats_record_job_open {
    uint32_t machine; /* of that session */
    char mark[64];    /* beginning of the job's mark (site/queue.h) */
    bats_money price; /* that was held for it */
};

/* The jobs that earlier sessions have bought (verb alloc); all members but
 * `session` are 0 without any. The list is for free(). */
struct bats_record_purchase {
    uint32_t session;   /* the number of the next one */
    char name[64];      /* of all these jobs */
    bats_money charged; /* by sessions that bought jobs, for anything */
    char own[256];   /* the jobs that these sessions were part of, "12,17" */
    int64_t last_us; /* real time of the last event */
    struct bats_record_job_open *open; /* of the last session, which took over
                                        * what those before had left */
    size_t n_open;
};
int bats_record_purchase(struct bats_record *record,
                         struct bats_record_purchase *known,
                         struct bats_error *err);

/* What earlier sessions have measured. A cluster is identified by its name. */
struct bats_record_rest {
    struct bats_observation *seen; /* runtimes of tasks of this bag: the latest
                                    * on each cluster, beginning with tasks
                                    * that ran on several clusters */
    size_t n_seen;
};

/* For the clusters of `engine`; after bats_record_match. BATS_ENOMEM. */
int bats_record_rest(struct bats_record *record,
                     const struct bats_sched_options *engine,
                     struct bats_record_rest *rest, struct bats_error *err);
void bats_record_rest_release(struct bats_record_rest *rest);

/*
 * The way a task of the bag is found in the record. A task with the same
 * number and the same command as before is the same task. The others are
 * matched by their commands, in the order of their numbers, beginning with
 * those of the last session's bag. So inserting, removing or moving lines does
 * not affect other tasks. But a command that mentions its number (BATS_TASK_ID
 * or one of disBatch's variables) is another command under another number.
 */
enum bats_record_match {
    BATS_RECORD_SAME,    /* the same number with the same command */
    BATS_RECORD_MOVED,   /* another number had the command: `was` */
    BATS_RECORD_CHANGED, /* it took the place of one that is gone: `was` */
    BATS_RECORD_ADDED    /* none of these (or the record is new) */
};

enum bats_record_state {
    BATS_RECORD_PENDING, /* no result yet */
    BATS_RECORD_DONE,
    BATS_RECORD_FAILED
};

/* Kept for every task of the record, so it is small: counts of uint8_t stop at
 * 255. */
struct bats_record_past {
    uint32_t was;      /* index of a task in the last bag */
    uint32_t attempts; /* executions that ended, of any kind */
    uint8_t match;     /* enum bats_record_match */
    uint8_t state;     /* bats_record_state: PENDING if CHANGED or ADDED */
    uint8_t failures;  /* executions that failed and were to be repeated,
                          * since its last result */
    uint8_t losses;    /* those lost with their machine and to be repeated,
                          * since then */
    uint8_t yields;    /* those in a row, until now, without progress */
    bool skipped;      /* not run, since one that it waited for had failed;
                          * and it has no result */
};

/* Selects the tasks of a recorded bag to run. */
enum bats_record_resume {
    BATS_RECORD_NOT,           /* all; the record is new */
    BATS_RECORD_RESUME,        /* tasks without a result */
    BATS_RECORD_RESUME_FAILED, /* tasks without a result, and failed ones */
    BATS_RECORD_RETRY_FAILED   /* failed tasks only */
};

/* The state of a task for the engine (struct bats_sched_earlier). */
enum bats_task_state bats_record_state(enum bats_record_resume resume,
                                       const struct bats_record_past *past);

/* Adds task `index` of the bag (ascending, from 0) with `command`, from `line`
 * of the file. */
int bats_record_task(struct bats_record *record, uint32_t index, uint32_t line,
                     const char *command, struct bats_error *err);

/* The same for a rule of a workflow. `sent` is what is run, and identifies the
 * task beside its command: with other files, it is another task. */
int bats_record_rule(struct bats_record *record, uint32_t index, uint32_t line,
                     const char *command, const char *sent,
                     struct bats_error *err);

/* The names of the parameters of a sweep, in their order; call it before the
 * first task. A NULL gets a name by its place, as in p2. */
int bats_record_parameters(struct bats_record *record,
                           const char *const *names, size_t n,
                           struct bats_error *err);

/* As bats_record_task, for a point of the sweep. Its n values identify the task
 * beside its command: with other values, it is another task. */
int bats_record_point(struct bats_record *record, uint32_t index,
                      const char *command, const char *const *values, size_t n,
                      struct bats_error *err);

/* After the last task: finds all of them in the record. */
int bats_record_match(struct bats_record *record, struct bats_error *err);

/* True for a task that is not in the record that is continued: name it once
 * more, in ascending order, and it is written. So these texts need not all be in
 * memory. */
bool bats_record_lacks(const struct bats_record *record, uint32_t index);

/* After the match: the results of a task of the bag. */
struct bats_record_past bats_record_past(const struct bats_record *record,
                                         uint32_t index);

/* Tasks of the last session that are no longer in the bag. They stay in the
 * record. */
struct bats_record_gone {
    uint32_t was;  /* its index in the last bag */
    char *command; /* to be freed */
};

/* Returns 1 and the next such task, 0 at the end, or an error. Set *at to 0 for
 * the first call. */
int bats_record_next_gone(struct bats_record *record, size_t *at,
                          struct bats_record_gone *gone,
                          struct bats_error *err);

/* Frees what only the questions above need, as bats_record_begin does, too. */
void bats_record_forget_past(struct bats_record *record);

/* ---- a session ---- */

struct bats_record_session {
    const char *run_id; /* as the tasks see it, or NULL */
    const char *bag;    /* name of the file */
    const char *version;
    enum bats_record_resume resume;
    double time_scale;
    const char *currency; /* or NULL */
    const char *options;  /* options of the run, as a JSON object, or NULL */
    const char *job;      /* number in the batch system; "": none */
    uint32_t life;        /* lives of this job before this one */
    int64_t started_us;   /* real time, microseconds since 1970 */
    const struct bats_sched_options *engine; /* all options; results of earlier
                                              * sessions are known */
    const double *speed;                     /* by cluster, or NULL: 1 */
    const char *const *hosts;                /* by machine, or NULL */
    const char *const *categories; /* names of those of the engine, or NULL */
};

/* Begins a session with the bag of the tasks added before. Commits and syncs.
 * The strings are copied into the file. */
int bats_record_begin(struct bats_record *record,
                      const struct bats_record_session *session,
                      struct bats_error *err);

/* ---- events of a session: each function adds a row that waits for the commit
 * ---- */

/* The only error is BATS_ENOMEM. `now` is virtual time of this session; tasks
 * are indices in the bag, machines in the session. */

/* Adds a task to an open bag; call it before the engine is told. `index` is the
 * next one; `given` a JSON object (table submission), or NULL. */
int bats_record_submit(struct bats_record *record, uint32_t index,
                       const char *command, const char *given,
                       struct bats_error *err);

/* Passes the tasks of the last bag to `take`, in their order; the texts are valid
 * until it returns. */
typedef int bats_record_take(void *context, const char *command,
                             const char *given, struct bats_error *err);
int bats_record_submitted(struct bats_record *record, bats_record_take *take,
                          void *context, struct bats_error *err);

/* The engine is about to handle `event`. */
int bats_record_event(struct bats_record *record, bats_time now,
                      const struct bats_event *event, struct bats_error *err);

/* The engine has given `command`. */
int bats_record_command(struct bats_record *record, bats_time now,
                        const struct bats_command *command,
                        struct bats_error *err);

/* The outcome of an execution for its task. */
enum bats_record_outcome {
    BATS_RECORD_RESULT,     /* it is the task's result, good or bad */
    BATS_RECORD_PREEMPTED,  /* stopped by us; the task goes back to the bag */
    BATS_RECORD_RETRIED,    /* failed or timed out, and is repeated */
    BATS_RECORD_SUPERSEDED, /* another replica gave the result */
    BATS_RECORD_YIELDED,    /* checkpointed, and is repeated */
    BATS_RECORD_FAILED_BESIDE, /* failed while a replica went on, which is the
                                * next try, unless the run is cut off */
    BATS_RECORD_LOST           /* lost with its machine */
};

/* One execution that came to an end. */
struct bats_record_attempt {
    uint32_t task;
    uint32_t attempt; /* 1 = first of the run */
    uint32_t machine;
    const char *host;        /* where it ran; NULL: on the machine's host */
    struct bats_usage usage; /* its exit_status may be < 0, too */
    enum bats_record_outcome outcome;
    int stream; /* rank in whose stream file its output is; < 0: in none */
};
int bats_record_attempt(struct bats_record *record, bats_time now,
                        const struct bats_record_attempt *attempt,
                        struct bats_error *err);

/* The end of a failed execution's standard error. Up to BATS_RECORD_LAST_BYTES
 * of the record are for them; beyond, only the first of each kind
 * (util/complaint.h) on a host is kept, and later ones name it. */
struct bats_record_last {
    uint32_t task;
    uint32_t attempt; /* as in bats_record_attempt */
    int exit_status;
    int signal;
    const char *host;
    const char *bytes; /* n bytes, copied */
    size_t n;
};
#define BATS_RECORD_LAST_BYTES ((int64_t)64 << 20)
int bats_record_last(struct bats_record *record, bats_time now,
                     const struct bats_record_last *last,
                     struct bats_error *err);

/* `machine` entered one more window, for `amount`, of which `cushion` came out
 * of the cushion. */
int bats_record_charge(struct bats_record *record, bats_time now,
                       uint32_t machine, bats_money amount, bats_money cushion,
                       struct bats_error *err);

/* A lease or a stake is new, or has changed (bats_sched_next_lease). 1: a kill
 * would now be charged more, so sync before anything else happens. */
int bats_record_lease(struct bats_record *record,
                      const struct bats_lease *lease, struct bats_error *err);
int bats_record_stake(struct bats_record *record,
                      const struct bats_stake *stake, struct bats_error *err);

int bats_record_decision(struct bats_record *record,
                         const struct bats_decision *decision,
                         struct bats_error *err);

/* Writes at once what the chosen schedule promises. `budget` is that of the
 * whole run, or BATS_UNLIMITED. */
int bats_record_promise(struct bats_record *record,
                        const struct bats_sched_sampled *sampled,
                        bats_money budget, struct bats_error *err);

/* A sentence about something unusual; `machine` and `task` may be UINT32_MAX
 * for none. */
int bats_record_notice(struct bats_record *record, bats_time now,
                       uint32_t machine, uint32_t task, const char *sentence,
                       struct bats_error *err);

/* Why a slot of the machine has no task now (bats_sched_next_idle); it replaces
 * the earlier reason. */
int bats_record_idle(struct bats_record *record, bats_time now,
                     const struct bats_idle_machine *idle,
                     struct bats_error *err);

/* The number of changes that wait. */
size_t bats_record_waiting(const struct bats_record *record);

/* Drops them. */
void bats_record_forget(struct bats_record *record);

/* Writes all rows that wait to the file. On an error none is written, and all
 * still wait. */
int bats_record_commit(struct bats_record *record, struct bats_error *err);

/* Syncs committed rows to disk. */
int bats_record_sync(struct bats_record *record, struct bats_error *err);

/* Ends the session: the reason, the signal (0: none) and the exit code of
 * bats-mpi. Commits and syncs. */
int bats_record_finish(struct bats_record *record, bats_time now,
                       enum bats_finish finish, int signal, int exit_code,
                       struct bats_error *err);

#endif
