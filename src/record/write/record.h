/*
 * record: the history of a run in one SQLite file, so that no finished work is
 * ever lost. This is the writer; view.h reads, recover.h repairs.
 *
 * Layer: record (only src/record knows SQLite). Used by the MPI master through
 * cli. Only one process writes, and it locks the file.
 *
 * Model: plain tables. Events (execution, charge, decision, happened) are rows
 * that are only ever added, with one common counter (`seq`, the order of
 * events). The current state (task_now, running, account, lease, now) is
 * updated in the same commit, so that readers need not compute it. schema.sql
 * has the tables and the meaning of each column.
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

/* Commits pending rows and leaves a plain file without companions, or no file
 * if no session was begun. If the file was removed meanwhile, it is written
 * again; BATS_ESYS if it was replaced (it is then written beside) or
 * truncated. Frees the record (which may be NULL) even on an error. */
int bats_record_close(struct bats_record *record, struct bats_error *err);

/* Frees the record (NULL is legal); pending rows are lost. */
void bats_record_abandon(struct bats_record *record);

/* ---- results of earlier sessions; before bats_record_begin ---- */

struct bats_record_earlier {
    uint32_t sessions;  /* 0 in a new record */
    bats_money charged; /* by all of them */
    bats_money killed;  /* the part charged when this record was opened, for
                           what the killed last session held: the most that it
                           may have cost */
};
struct bats_record_earlier
bats_record_earlier(const struct bats_record *record);

/* The run id of the last session if it was killed, for free(); else NULL. Call
 * it before a session is begun. */
int bats_record_killed_run(struct bats_record *record, char **run_id,
                           struct bats_error *err);

/* *charged: earlier sessions' charges to the workflow of this name
 * (bats/purse.h). */
int bats_record_share(struct bats_record *record, const char *name,
                      bats_money *charged, struct bats_error *err);

/* The bill that earlier sessions in the same batch job recorded; all 0
 * without such sessions. */
struct bats_record_job {
    bats_money charged;   /* by all these sessions */
    bats_money uncharged; /* billed before the last of them began, but lost
                             before it was charged */
    bats_money rate;      /* hourly rate of the last one */
    int64_t charged_us;   /* end of the time it charged, since 1970 */
    int64_t seen_us;      /* its last sign of life, not earlier */
    uint32_t life;        /* lives of the job before the last session's */
};
int bats_record_of_job(struct bats_record *record, const char *job,
                       struct bats_record_job *known, struct bats_error *err);

/* A job requested by a dead session and not billed yet. */
struct bats_record_job_open {
    uint32_t machine; /* of that session */
    char mark[64];    /* beginning of the job's mark (site/queue.h) */
    bats_money price; /* money held for it */
};

/* Jobs bought by earlier sessions (verb alloc); without any, all members but
 * `session` are 0. The list is for free(). */
struct bats_record_purchase {
    uint32_t session;   /* number of the next session */
    char name[64];      /* name of all these jobs */
    bats_money charged; /* all charges of sessions that bought jobs */
    bats_money of_job;  /* those for the job `job` around them */
    char own[256];      /* jobs in which these sessions ran, "12,17" */
    int64_t last_us;    /* real time of the last event */
    struct bats_record_job_open *open; /* of the last session, including those
                                          it took over */
    size_t n_open;
};
int bats_record_purchase(struct bats_record *record, const char *job,
                         struct bats_record_purchase *known,
                         struct bats_error *err);

/* Measurements of earlier sessions. Clusters are identified by name. */
struct bats_record_rest {
    struct bats_observation *seen; /* runtimes of this bag's tasks: the latest
                                      on each cluster, starting with tasks that
                                      ran on several clusters */
    size_t n_seen;
};

/* For the clusters of `engine`; after bats_record_match. BATS_ENOMEM. */
int bats_record_rest(struct bats_record *record,
                     const struct bats_sched_options *engine,
                     struct bats_record_rest *rest, struct bats_error *err);
void bats_record_rest_release(struct bats_record_rest *rest);

/*
 * How a task of the bag is matched with the record. A task with the same
 * number and command as before is the same task. The others are matched by
 * command, in order of their numbers, starting with the last session's bag. So
 * inserting, removing or moving lines does not affect other tasks. But a
 * command that mentions its number (BATS_TASK_ID or one of disBatch's
 * variables) counts as another command under another number.
 */
enum bats_record_match {
    BATS_RECORD_SAME,    /* the same number with the same command */
    BATS_RECORD_MOVED,   /* another number had the command: `was` */
    BATS_RECORD_CHANGED, /* it replaced a removed one: `was` */
    BATS_RECORD_ADDED    /* none of these (or the record is new) */
};

enum bats_record_state {
    BATS_RECORD_PENDING, /* no result yet */
    BATS_RECORD_DONE,
    BATS_RECORD_FAILED
};

/* Kept for every recorded task, so it is small: uint8_t counts saturate at
 * 255. */
struct bats_record_past {
    uint32_t was;        /* index of a task in the last bag */
    uint32_t attempts;   /* executions that ended, of any kind */
    uint8_t match;       /* enum bats_record_match */
    uint8_t state;       /* bats_record_state: PENDING if CHANGED or ADDED */
    uint8_t failures;    /* failed executions to be repeated, since the last
                          result */
    uint8_t losses;      /* executions lost with their machine, likewise */
    uint8_t yields;      /* current yields in a row without progress */
    uint8_t memory_more; /* failed executions, repeated, that ran out of
                            memory, */
    uint8_t time_more;   /* or of time */
    bool skipped;        /* not run because one that it waited for failed; no
                          result */
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
 * of the file. `sent` is NULL, or of a rule of a workflow the command actually
 * run, which identifies the task beside `command`: with other files, it is
 * another task. */
int bats_record_task(struct bats_record *record, uint32_t index, uint32_t line,
                     const char *command, const char *sent,
                     struct bats_error *err);

/* Sets the names of a sweep's parameters, in order; call before the first
 * task. NULL stands for a name by place, such as p2. */
int bats_record_parameters(struct bats_record *record,
                           const char *const *names, size_t n,
                           struct bats_error *err);

/* As bats_record_task, for a point of the sweep. Its n values identify the task
 * beside its command: with other values, it is another task. */
int bats_record_point(struct bats_record *record, uint32_t index,
                      const char *command, const char *const *values, size_t n,
                      struct bats_error *err);

/* Call after the last task: matches all tasks with the record. */
int bats_record_match(struct bats_record *record, struct bats_error *err);

/* After the match: earlier results of a task of the bag. */
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

/* Frees data that only the functions above need; bats_record_begin does this
 * too. */
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
    uint32_t life;        /* number of earlier lives of this job */
    int64_t started_us;   /* real time, microseconds since 1970 */
    const struct bats_sched_options *engine; /* all options, including results
                                                of earlier sessions */
    const double *speed;                     /* by cluster, or NULL: 1 */
    const char *const *hosts;                /* by machine, or NULL */
    const char *const *categories; /* names of the engine's categories, or
                                      NULL */
};

/* Begins a session with the bag of the tasks added before. Commits and syncs.
 * The strings are copied into the file. */
int bats_record_begin(struct bats_record *record,
                      const struct bats_record_session *session,
                      struct bats_error *err);

/* ---- events of a session: each function adds a pending row ---- */

/* The only error is BATS_ENOMEM. `now` is virtual time of this session; tasks
 * are indices in the bag, machines in the session. */

/* Adds a task to an open bag; call before the engine's event. `index` is the
 * next one; `given` a JSON object (table submission), or NULL. */
int bats_record_submit(struct bats_record *record, uint32_t index,
                       const char *command, const char *given,
                       struct bats_error *err);

/* Passes the tasks of the last bag to `take`, in order; the texts are valid
 * until it returns. */
typedef int bats_record_take(void *context, const char *command,
                             const char *given, struct bats_error *err);
int bats_record_submitted(struct bats_record *record, bats_record_take *take,
                          void *context, struct bats_error *err);

/* The result of a task, from the last session that ran it. */
struct bats_record_result {
    int64_t number; /* of the task, from 1 */
    const char *host, *command;
    int64_t start_us, wall_us, out_bytes;
    int exit_status, signal;
};

/* Passes on the results of all tasks of the bag, in the order in which they
 * came, until `take` fails. After the match. */
typedef int bats_record_take_result(void *context,
                                    const struct bats_record_result *result,
                                    struct bats_error *err);
int bats_record_results(struct bats_record *record,
                        bats_record_take_result *take, void *context,
                        struct bats_error *err);

/* The engine is about to handle `event`. */
int bats_record_event(struct bats_record *record, bats_time now,
                      const struct bats_event *event, struct bats_error *err);

/* The engine has given `command`. */
int bats_record_command(struct bats_record *record, bats_time now,
                        const struct bats_command *command,
                        struct bats_error *err);

/* The outcome of an execution for its task. */
enum bats_record_outcome {
    BATS_RECORD_RESULT,        /* the task's result, good or bad */
    BATS_RECORD_PREEMPTED,     /* stopped by us; the task returns to the bag */
    BATS_RECORD_RETRIED,       /* failed or timed out, and is repeated */
    BATS_RECORD_SUPERSEDED,    /* another replica gave the result */
    BATS_RECORD_YIELDED,       /* checkpointed, and is repeated */
    BATS_RECORD_FAILED_BESIDE, /* failed beside a replica, which is the next
                                  attempt, unless the run is cut off */
    BATS_RECORD_LOST           /* lost with its machine */
};

/* An ended execution. */
struct bats_record_attempt {
    uint32_t task;
    uint32_t attempt; /* 1 = first of the run */
    uint32_t machine;
    const char *host;        /* where it ran; NULL: on the machine's host */
    struct bats_usage usage; /* exit_status may also be < 0 */
    enum bats_record_outcome outcome;
    int stream; /* rank whose stream file has its output; < 0: none */
};
int bats_record_attempt(struct bats_record *record, bats_time now,
                        const struct bats_record_attempt *attempt,
                        struct bats_error *err);

/* End of a failed execution's standard error. Up to BATS_RECORD_LAST_BYTES of
 * them are kept in the record; beyond, only the first of each kind
 * (util/complaint.h) per host, and later ones refer to it. */
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

/* `machine` entered another window for `amount`. */
int bats_record_charge(struct bats_record *record, bats_time now,
                       uint32_t machine, bats_money amount,
                       struct bats_error *err);

/* A new or changed lease or stake (bats_sched_next_lease). 1: a kill would now
 * charge more, so sync before anything else happens. */
int bats_record_lease(struct bats_record *record,
                      const struct bats_lease *lease, struct bats_error *err);
int bats_record_stake(struct bats_record *record,
                      const struct bats_stake *stake, struct bats_error *err);

int bats_record_decision(struct bats_record *record,
                         const struct bats_decision *decision,
                         struct bats_error *err);

/* The promise of the chosen schedule. budget: of the whole run, or
 * BATS_UNLIMITED. */
int bats_record_promise(struct bats_record *record,
                        const struct bats_sched_sampled *sampled,
                        bats_money budget, struct bats_error *err);

/* A sentence about something unusual; `machine` and `task` may be UINT32_MAX
 * for none. */
int bats_record_notice(struct bats_record *record, bats_time now,
                       uint32_t machine, uint32_t task, const char *sentence,
                       struct bats_error *err);

/* Why a slot of the machine has no task now (bats_sched_next_idle); replaces
 * the earlier reason. */
int bats_record_idle(struct bats_record *record, bats_time now,
                     const struct bats_idle_machine *idle,
                     struct bats_error *err);

/* The machine that is reserved now, if any; replaces the earlier one. */
int bats_record_reservation(struct bats_record *record, bats_time now,
                            const struct bats_reservation *reservation,
                            struct bats_error *err);

/* Whether changes are pending. */
bool bats_record_waiting(const struct bats_record *record);

/* Drops pending changes. */
void bats_record_forget(struct bats_record *record);

/* Writes all pending rows to the file. On an error none is written, and all
 * remain pending. */
int bats_record_commit(struct bats_record *record, struct bats_error *err);

/* Syncs committed rows to disk. */
int bats_record_sync(struct bats_record *record, struct bats_error *err);

/* Notes the joules that the run's own job has used so far; 0: not known. Before
 * the session ends. */
int bats_record_energy(struct bats_record *record, int64_t energy_j,
                       struct bats_error *err);

/* Ends the session: the reason, the signal (0: none) and the exit code of
 * bats-mpi. Commits and syncs. */
int bats_record_finish(struct bats_record *record, bats_time now,
                       enum bats_finish finish, int signal, int exit_code,
                       struct bats_error *err);

#endif
