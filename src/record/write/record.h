/*
 * record: what happened in a run, in one SQLite file, so that nothing that is
 * finished is ever lost. This is the writer; view.h reads, recover.h mends.
 *
 * Layer: record (only src/record knows SQLite). Used by the MPI master through
 * cli; one process alone writes, and it holds the file for itself.
 *
 * Model: a log. Rows are only ever added, all log tables share one counter
 * (`seq`, the order in which things happened), and what people ask for (the
 * state of a task, the money spent) are views of the log. schema.c has
 * the tables and what each column means.
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
 * Invariants: what bats_record_commit has taken is there after SIGKILL at any
 * moment, and after bats_record_sync it survives a power cut, too. A commit is
 * taken as a whole or not at all, and none before those that came earlier;
 * where it fails (a full disk), the rows wait, and it may be called again.
 *
 * Errors of all functions: BATS_EINPUT with "path: sentence" for a file that
 * is no record, is damaged, in use by another run, not writable, or of a newer
 * bats-mpi; BATS_ESYS where the system fails ("path: disk full: ...");
 * BATS_ENOMEM.
 */
#ifndef BATS_RECORD_H
#define BATS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/bag.h"
#include "bats/error.h"
#include "bats/sched.h"
#include "bats/units.h"
#include "util/usage.h"

struct bats_record; /* opaque */

/* ---- opening ---- */

/* A new record at `path`. One that holds a session is BATS_EINPUT. */
int bats_record_create(const char *path, struct bats_record **record,
                       struct bats_error *err);

/* The record at `path`, to be continued; a new one where there is none. */
int bats_record_open(const char *path, struct bats_record **record,
                     struct bats_error *err);

/* Moves the record at `path`, which no run may be using, out of the way, to
 * "path.1" or the next free number. That name is written to `moved`. Where
 * there is none, *moved is empty and all is well. */
int bats_record_set_aside(const char *path, char *moved, size_t size,
                          struct bats_error *err);

/* True if a process that is alive holds the record at `path`. Not to be asked
 * by that process itself: it would lose its lock. */
bool bats_record_is_live(const char *path);

/* Commits what waits, leaves a plain file without companions, or none where no
 * session was ever begun, and frees the record (which may be NULL) even if that
 * fails. */
int bats_record_close(struct bats_record *record, struct bats_error *err);

/* Frees the record (NULL is legal); what waits is lost. */
void bats_record_abandon(struct bats_record *record);

/* ---- what is known from earlier sessions; before bats_record_begin ---- */

/* Sessions before this one: 0 in a new record. */
uint32_t bats_record_sessions(const struct bats_record *record);

/* What all sessions before this one were charged together. */
bats_money bats_record_charged(const struct bats_record *record);

/* What a batch system has billed for the time in which their machines were
 * held. One that ended to give nodes back still held them until the next one
 * began. */
bats_money bats_record_reserved(const struct bats_record *record);

/* What the sessions before have left to this one. A machine is known by its
 * host, and by how many of its session are on the same before it; a cluster by
 * its name. */
struct bats_record_rest {
    bats_time *paid; /* per machine: bag time that is paid already, to one that
                        goes on at once */
    struct bats_observation *seen; /* runtimes of tasks of this bag: some on
                                      each cluster, the last ones, and first
                                      those that are known on several */
    size_t n_seen;
};

/* Of the machines and clusters of `engine`, on hosts[]; after
 * bats_record_match. BATS_ENOMEM. */
int bats_record_rest(struct bats_record *record,
                     const struct bats_sched_options *engine,
                     const char *const *hosts, double time_scale,
                     struct bats_record_rest *rest, struct bats_error *err);
void bats_record_rest_release(struct bats_record_rest *rest);

/*
 * How a task of the bag is found in the record. A task that stands where it
 * stood is the same if its command is. Of the others, the same are those with
 * the same command, in the order of their numbers, first those of the last
 * session's bag. So lines that are inserted, taken out or moved change nothing
 * for the rest. A command that mentions its number (BATS_TASK_ID or one of
 * disBatch's variables) is another one elsewhere, though.
 */
enum bats_record_match {
    BATS_RECORD_SAME,    /* this number had the same command before */
    BATS_RECORD_MOVED,   /* another number had it: `was` */
    BATS_RECORD_CHANGED, /* it stands in the place of one that is gone: `was` */
    BATS_RECORD_ADDED    /* none of these (or the record is new) */
};

enum bats_record_state {
    BATS_RECORD_PENDING, /* no result yet */
    BATS_RECORD_DONE,
    BATS_RECORD_FAILED
};

struct bats_record_past {
    enum bats_record_match match;
    uint32_t was;                 /* index of a task in the last bag */
    enum bats_record_state state; /* PENDING if CHANGED or ADDED */
    uint32_t attempts;            /* executions that ended, of any kind */
    uint32_t failures;            /* of them, those that failed and were to be
                                     repeated, since its last result */
    uint32_t losses;              /* executions lost with their machine, that
                                     are to be repeated; the same */
    int exit_status;              /* of the last execution */
    int signal;
};

/* What is to be done of a bag that is known. */
enum bats_record_resume {
    BATS_RECORD_NOT,           /* everything; the record is new */
    BATS_RECORD_RESUME,        /* tasks without a result */
    BATS_RECORD_RESUME_FAILED, /* and those that failed */
    BATS_RECORD_RETRY_FAILED   /* those only */
};

/* What the engine is told of a task (struct bats_sched_earlier). */
enum bats_task_state bats_record_state(enum bats_record_resume resume,
                                       const struct bats_record_past *past);
uint8_t bats_record_failures(const struct bats_record_past *past);
uint8_t bats_record_losses(const struct bats_record_past *past);

/* Task `index` of the bag (ascending, from 0) has `command`, which stands on
 * `line` of the file. */
int bats_record_task(struct bats_record *record, uint32_t index, uint32_t line,
                     const char *command, struct bats_error *err);

/* After the last task: finds them all in the record. */
int bats_record_match(struct bats_record *record, struct bats_error *err);

/* After that: what is known of a task of the bag. */
struct bats_record_past bats_record_past(const struct bats_record *record,
                                         uint32_t index);

/* Tasks of the last session that are no longer in the bag. They stay in the
 * record. */
struct bats_record_gone {
    uint32_t was;  /* its index in the last bag */
    char *command; /* to be freed */
};

/* The next of them: 1, 0 if there are no more, or an error. *at is 0 for the
 * first and is kept for the next call. */
int bats_record_next_gone(struct bats_record *record, size_t *at,
                          struct bats_record_gone *gone,
                          struct bats_error *err);

/* ---- a session ---- */

struct bats_record_session {
    const char *run_id; /* as the tasks see it, or NULL */
    const char *bag;    /* name of the file */
    const char *version;
    enum bats_record_resume resume;
    double time_scale;
    const char *currency; /* or NULL */
    const char *options;  /* of the run, as a JSON object, or NULL */
    int64_t started_us;   /* real time, microseconds since 1970 */
    const struct bats_sched_options *engine; /* all that it was given; what
                                                earlier sessions did is known */
    const double *speed;                     /* by cluster, or NULL: 1 */
    const char *const *hosts;                /* by machine, or NULL */
};

/* Begins a session, whose bag is the tasks named before. Commits and syncs.
 * The strings are copied into the file. */
int bats_record_begin(struct bats_record *record,
                      const struct bats_record_session *session,
                      struct bats_error *err);

/* ---- what happens in it: these add a row that waits for the commit ---- */

/* The only error is BATS_ENOMEM. `now` is bag time of this session; tasks are
 * meant by their index in the bag, machines by their index in the session. */

/* The engine is about to handle `event`. */
int bats_record_event(struct bats_record *record, bats_time now,
                      const struct bats_event *event, struct bats_error *err);

/* The engine has answered `command`. */
int bats_record_command(struct bats_record *record, bats_time now,
                        const struct bats_command *command,
                        struct bats_error *err);

/* What an execution means for its task. */
enum bats_record_outcome {
    BATS_RECORD_RESULT,     /* it is the task's result, good or bad */
    BATS_RECORD_PREEMPTED,  /* stopped by us; the task goes back to the bag */
    BATS_RECORD_RETRIED,    /* failed or timed out, and is repeated */
    BATS_RECORD_SUPERSEDED, /* another copy of the task was its result */
    BATS_RECORD_YIELDED,    /* it saved its state and is repeated */
    BATS_RECORD_FAILED_BESIDE /* failed while a copy of the task went on: that
                                 is its next try, unless the run is cut off */
};

/* One execution of a task that came to an end. */
struct bats_record_attempt {
    uint32_t task;
    uint32_t attempt; /* 1 = first of the run */
    uint32_t machine;
    const char *host;        /* where it ran, or NULL: that of the machine */
    struct bats_usage usage; /* its exit_status may be -1: timed out */
    enum bats_record_outcome outcome;
    int stream; /* rank in whose stream file its output is; < 0: in none */
};
int bats_record_attempt(struct bats_record *record, bats_time now,
                        const struct bats_record_attempt *attempt,
                        struct bats_error *err);

/* `machine` entered one more window, for `amount`; `cushion` of it came out of
 * the cushion. */
int bats_record_charge(struct bats_record *record, bats_time now,
                       uint32_t machine, bats_money amount, bats_money cushion,
                       struct bats_error *err);

int bats_record_decision(struct bats_record *record,
                         const struct bats_decision *decision,
                         struct bats_error *err);

/* One sentence about something unusual; `machine` and `task` may be
 * UINT32_MAX for none. */
int bats_record_notice(struct bats_record *record, bats_time now,
                       uint32_t machine, uint32_t task, const char *sentence,
                       struct bats_error *err);

/* Rows that wait. */
size_t bats_record_waiting(const struct bats_record *record);

/* What waits is lost. */
void bats_record_forget(struct bats_record *record);

/* Takes all rows that wait into the file. On an error none is, and all still
 * wait. */
int bats_record_commit(struct bats_record *record, struct bats_error *err);

/* Brings what was committed to the disk. */
int bats_record_sync(struct bats_record *record, struct bats_error *err);

/* The session is over: why, by which signal (0: none) and with which exit
 * code of bats-mpi. Commits and syncs. */
int bats_record_finish(struct bats_record *record, bats_time now,
                       enum bats_finish finish, int signal, int exit_code,
                       struct bats_error *err);

#endif
