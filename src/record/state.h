/*
 * state: shared by the files of the writer. Layer: record, private to it.
 *
 * record.c opens, begins and ends; past.c loads the task states of earlier
 * sessions; killed.c charges what the last session held when it was killed;
 * match.c finds the bag's tasks among recorded ones; parameters.c writes sweep
 * values; now.c has the state of the session; runs.c has its executions; log.c
 * turns other events and commands into pending rows; rows.c keeps and writes
 * these; rest.c asks what earlier sessions have left; file.c sees to the file
 * and its name.
 */
#ifndef BATS_RECORD_STATE_H
#define BATS_RECORD_STATE_H

#include <jansson.h>

#include "bats/cluster.h"
#include "bats/status.h"
#include "record/db.h"
#include "record/schema.h"
#include "record/write/record.h"
#include "util/text.h"

/* ---- earlier sessions ---- */

/* A task of the record. There may be tens of millions: 48 bytes each. */
struct bats_past_task {
    int64_t hash;
    uint32_t id;
    uint32_t number; /* in the bag, from 1; its last number if removed */
    uint32_t line;
    uint32_t place;   /* in task_now */
    bool was_in_bag;  /* in the last session */
    bool is_in_bag;   /* in this session */
    bool is_replaced; /* replaced by another task */
    uint8_t state;    /* enum bats_task_now in the file */
    struct bats_record_past past;
};

struct bats_past {
    struct bats_past_task *tasks; /* the last bag's tasks, by number; then the
                                     others, by id */
    size_t n;
    size_t n_in_bag; /* in the last session */
    int64_t last_id, last_place;
    int64_t preempted; /* executions */
    bats_money charged;
    uint32_t sessions;
};

/* Loads the record's tasks and their states. */
int bats_past_load(struct bats_past *past, struct bats_db *db,
                   struct bats_error *err);

/* If the last session was killed, charges what it held and ends its
 * executions; in one transaction, and only once. */
int bats_killed_settle(struct bats_record *record, struct bats_error *err);

/* ---- the bag ---- */

/* A task of the bag. */
struct bats_named_task {
    int64_t hash;
    uint32_t found; /* index in past.tasks, from 1; 0: not in the record */
    uint32_t was;
    uint32_t line;
    uint8_t match;
    bool mentions_its_number;
};

/* A sweep's values are kept as a JSON object per task, in the order of the
 * sweep. A value is a number there if it is one in JSON and fits into 15
 * digits, so that SQL compares it as one; otherwise it is a text. The view
 * tasks has a column for every name that any session of the record has used. */
struct bats_parameters {
    char **keys; /* "name": with its colon, as JSON, owned */
    size_t n, room;
    struct bats_text text; /* the object built last */
    struct bats_text value;
};

/* Sets the names of the values, in order, also in `db`, as
 * bats_record_parameters describes; in an open transaction. */
int bats_parameters_name(struct bats_parameters *parameters,
                         struct bats_db *db, const char *const *names,
                         size_t n, struct bats_error *err);

/* Writes the object of a task with these values; NULL: out of memory. */
const char *bats_parameters_text(struct bats_parameters *parameters,
                                 const char *const *values, size_t n);

void bats_parameters_release(struct bats_parameters *parameters);

/* ---- the state of the session ---- */

/* task_now.state; RUNNING is only counted. */
enum bats_task_now {
    BATS_NOW_PENDING,
    BATS_NOW_DONE,
    BATS_NOW_FAILED,
    BATS_NOW_SKIPPED,
    BATS_NOW_RUNNING,
    BATS_NOW_STATES
};

struct bats_now_cluster {
    char name[BATS_CLUSTER_NAME];
    double price; /* money per microsecond of a machine's work */
    bool is_dirty;
    struct bats_now_sums { /* will be added to its row in cluster_now */
        int64_t held, lost, windows, charged, done, failed, wall_us;
    } more;
};

struct bats_now_machine {
    uint32_t first_slot, n_slots;
    uint8_t cluster;
    bool is_held, is_lost;
    uint32_t lease;  /* the last lease; 0: none */
    uint32_t n_jobs; /* jobs requested */
    int64_t idle;    /* seq of its idle reason; 0: none */
    char *host;      /* or NULL */
};

struct bats_now_task {
    uint32_t place;  /* in task_now */
    uint16_t n_open; /* executions */
    unsigned char state : 3,
        was : 3;        /* enum bats_task_now; `was`: in the file when the
                           session began */
    bool has_ended : 1; /* has a result of this session */
};

/* An execution in its slot's queue. */
struct bats_now_run {
    uint32_t task, copy;
    int32_t next;
    uint8_t cancelled;
    int64_t seq;
    bats_time given;
    size_t row; /* index of its pending row, if of this batch */
    uint64_t batch;
};

/* An execution that has ended; how, is told later. */
struct bats_now_end {
    struct bats_now_run run; /* seq 0: unknown */
    uint32_t machine, slot;
    int64_t seq;              /* of the row in execution */
    bats_time ended, runtime; /* runtime < 0: unknown */
    bool is_lost;             /* with its machine */
    bool has_row;
};

/* A lease as it was told last. */
struct bats_now_lease {
    struct bats_lease lease; /* id 0: not told yet */
    uint32_t job;            /* of the machine's jobs, from 1; 0: no new job */
    bool is_dirty;
};

/* Invariant: after a commit, the table now equals the counts of task_now and
 * running, and cluster_now the sums of their results and charges. */
struct bats_now {
    bats_time time; /* of the last event or command */
    int64_t count[BATS_NOW_STATES];
    int64_t removed, preempted;
    bool ending, sampled, chosen;
    size_t n_clusters;
    struct bats_now_cluster clusters[BATS_CLUSTERS_MAX];
    struct bats_now_machine *machines;
    uint32_t n_machines, n_tasks;
    size_t tasks_room;
    struct bats_now_slot {
        int32_t first, last; /* in runs, or -1 */
    } * slots;
    struct bats_now_task *tasks;
    struct bats_now_run *runs;
    size_t n_runs, runs_room;
    int32_t unused;            /* in runs */
    struct bats_now_end *ends; /* whose attempts are yet to come */
    size_t n_ends, ends_room;
    double scale; /* virtual time per real time */
    bool has_events;
    int64_t leases_before; /* lease ids of this session are above this */
    uint32_t own_lease;    /* lease of the run's own job; 0: none */
    struct bats_now_lease *leases; /* by id, from 1 */
    uint32_t *dirty;               /* ids of changed leases */
    size_t n_leases, leases_room, n_dirty, dirty_room;
};

/* A new task in task_now: place, task, number, state. */
#define BATS_NOW_NEW_TASK                                                     \
    "INSERT INTO task_now (place, task, number, removed, state, executions,"  \
    " attempts, failures, losses, yields) VALUES (?, ?, ?, 0, ?, 0, 0, 0, 0," \
    " 0)"

/* After the match: keeps what bats_now_begin needs of the past. */
int bats_now_remember(struct bats_record *record, struct bats_error *err);

/* In the transaction that begins the session: task_now, now, cluster_now and
 * account. */
int bats_now_begin(struct bats_record *record,
                   const struct bats_record_session *session,
                   struct bats_error *err);
void bats_now_release(struct bats_now *now);

/* Puts the rows of the tables now and cluster_now. */
int bats_now_put(struct bats_record *record, struct bats_error *err);

/* The task has further open executions. */
void bats_now_open(struct bats_now *now, uint32_t task, int change);

/* The state of the task is another one; has_ended: by a result. */
void bats_now_change(struct bats_now *now, uint32_t task,
                     enum bats_task_now state, bool has_ended);

/* The sums of the machine's cluster, to be changed; NULL: no such machine. */
struct bats_now_sums *bats_now_sums(struct bats_now *now, uint32_t machine);

/* Sets whether the machine is held or lost. */
void bats_now_set(struct bats_now *now, uint32_t machine, bool is_held,
                  bool is_lost);

/* The options as a JSON object: options.c says which. NULL: out of memory, or a
 * number is not finite. */
json_t *bats_options_write(const struct bats_sched_options *options);

/* ---- executions ---- */

int bats_runs_begin(struct bats_record *record, bats_time now,
                    const struct bats_command *run, struct bats_error *err);
int bats_runs_cancel(struct bats_record *record,
                     const struct bats_command *cancel,
                     struct bats_error *err);

/* Ends the task's execution in this slot, or the first one there
 * (BATS_NO_TASK): 1, or 0 if there is none. */
int bats_runs_end(struct bats_record *record, bats_time now, uint32_t machine,
                  uint32_t slot, uint32_t task, bats_time runtime,
                  bool is_lost, struct bats_error *err);
/* Ends all executions on the machine. */
int bats_runs_end_all(struct bats_record *record, bats_time now,
                      uint32_t machine, bool is_lost, struct bats_error *err);

/* Puts rows of ended executions whose attempt is yet to come; the attempt will
 * replace them. */
int bats_runs_put(struct bats_record *record, struct bats_error *err);

/* ---- pending rows ---- */

struct bats_row {
    const char *sql; /* NULL: withdrawn */
    int n;           /* values */
};

/* Adds a statement with n values. Texts are static, or BATS_C, which copies
 * them. A statement is prepared once, and known by its address. */
int bats_rows_put(struct bats_record *record, const char *sql,
                  struct bats_error *err, const struct bats_db_value *values,
                  int n);

/* Puts the rows of changed leases. */
int bats_leases_put(struct bats_record *record, struct bats_error *err);

/* Runs all of them in an open transaction; and one that was not put. */
int bats_rows_write(struct bats_record *record, struct bats_error *err);
int bats_rows_run(struct bats_record *record, const char *sql,
                  struct bats_error *err, const struct bats_db_value *values,
                  int n);
void bats_rows_release(struct bats_record *record);

/* ---- the file ---- */

/* Notes whether the file was truncated. Called with each commit, since a
 * checkpoint hides it. */
void bats_record_measure(struct bats_record *record);

/* True if `path` still names the record's file; *is_there: some file has that
 * name. */
bool bats_record_is_named(const struct bats_record *record, bool *is_there);

/* Call before closing. BATS_ESYS if the file was truncated. If `path` no
 * longer names the file, writes the record there again or, if another file is
 * there, to the next free "path.N", which is also BATS_ESYS: *is_elsewhere,
 * and the caller must not touch `path`. */
int bats_record_keep(struct bats_record *record, bool *is_elsewhere,
                     struct bats_error *err);

/* ---- the record ---- */

#define BATS_STATEMENTS 48 /* at most */

struct bats_record {
    struct bats_db db;
    char *path;
    int fd;       /* of the file; closed after the database, as closing
                     releases this process's locks */
    int64_t size; /* largest file size seen */
    bool is_cut;  /* the file has become smaller */
    struct bats_past past;
    int64_t session;   /* id of the session */
    bats_money killed; /* as in bats_record_earlier */
    bool has_begun;

    int64_t *id; /* by index in the bag: task.id */
    uint32_t n_tasks;
    size_t ids_room, named_room;
    struct bats_named_task *named; /* by index in the bag, until forgotten;
                                      only in a continued record */
    bool is_matched;
    struct bats_parameters parameters; /* of the bag, if it is a sweep */

    struct bats_now now;
    int64_t seq;         /* the last seq used */
    int64_t reservation; /* seq of the reserved machine; 0: none so far */
    void *kinds;         /* of ends of standard error, for tsearch() */
    size_t n_kinds;
    int64_t last_bytes; /* of these ends, in the file */

    struct bats_row *rows;        /* pending */
    struct bats_db_value *values; /* of all rows */
    size_t n_rows, rows_room, n_values, values_room;
    uint64_t batch; /* number of the pending batch of rows, from 1 */
    bool is_dirty;  /* time or counts have changed */
    struct bats_statement {
        const char *sql;
        sqlite3_stmt *statement;
    } statements[BATS_STATEMENTS];
    size_t n_statements;
};

/* Id of a task of the bag, and its place in task_now; NULL for others, such as
 * BATS_NO_TASK. */
static inline int64_t bats_record_id(const struct bats_record *r,
                                     uint32_t task)
{
    return task < r->n_tasks ? r->id[task] : BATS_DB_NULL;
}
static inline int64_t bats_record_place(const struct bats_record *r,
                                        uint32_t task)
{
    return task < r->now.n_tasks ? r->now.tasks[task].place : BATS_DB_NULL;
}

/* The recorded task that matches task `index` of the bag; NULL: it is new.
 * Only until the past is forgotten. */
static inline const struct bats_past_task *
bats_record_found(const struct bats_record *r, uint32_t index)
{
    uint32_t found = r->named != NULL ? r->named[index].found : 0;
    return found > 0 ? &r->past.tasks[found - 1] : NULL;
}

#endif
