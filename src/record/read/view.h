/*
 * view: read-only access to a run record, also while the run writes it. Layer:
 * record. Used by the verbs status, log, tasks and why. Queries are SQL
 * statements (part.h). The record is neither locked nor written, so its writer
 * is not disturbed; it is copied only if it changes too fast. The writer itself
 * must not read it: it would lose its lock. During a run, later answers may be
 * newer than earlier ones. Errors: BATS_EINPUT with
 * "path: sentence" for a file that is not a record, is damaged or of a newer
 * bats-mpi; BATS_ESYS, BATS_ENOMEM.
 */
#ifndef BATS_VIEW_H
#define BATS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "bats/cluster.h"
#include "bats/error.h"
#include "bats/purse.h"
#include "bats/units.h"
#include "sql/texts.h"

#define BATS_VIEW_WORD 80 /* room for a name or a short phrase */

struct bats_view; /* opaque */

int bats_view_open(const char *path, struct bats_view **view,
                   struct bats_error *err);
void bats_view_close(struct bats_view *view); /* NULL is legal */

/* The path given to bats_view_open. */
const char *bats_view_path(const struct bats_view *view);

/* ---- the run as a whole ---- */

struct bats_view_cluster {
    char name[BATS_CLUSTER_NAME];
    bats_money charge;
    int64_t machines; /* in the last session */
    int64_t held;     /* held now, or when the record ends */
    int64_t lost;
    int64_t windows; /* in all sessions, like the members below */
    bats_money charged;
    int64_t done;
    int64_t failed;
    int64_t mean_wall_us;   /* of tasks that ended; 0: none */
    bats_time mean_runtime; /* in virtual time */
    int64_t energy_j;       /* that its jobs used; 0: not measured */
};

struct bats_view_status {
    bool is_live;     /* a process holds the record */
    int64_t sessions; /* >= 1; the members below are about the last one */
    char bag[256];
    char policy[BATS_VIEW_WORD];
    char currency[BATS_VIEW_WORD];
    bats_money budget; /* BATS_UNLIMITED: none */
    bats_time window;
    double time_scale;
    uint64_t seed;
    int64_t started_us; /* real time since 1970 */
    bats_time last;     /* virtual time of its end, or the latest commit */
    bool is_over;       /* it ended in order; then: */
    char finish[BATS_VIEW_WORD];
    int signal;
    int exit_code;
    /* tasks of the bag */
    int64_t tasks, done, failed, running, pending;
    int64_t skipped;      /* not run: they waited for one that failed */
    int64_t removed;      /* known, but no longer in the bag */
    int64_t preempted;    /* executions, of all sessions */
    bats_money charged;   /* in all sessions; of the job that a live run is
                             in, until now; with what a killed one will be
                             charged */
    bats_money held;      /* for possible further charges; 0 unless live */
    bool ending;          /* the run is ending and starts no more tasks */
    bool choosing;        /* the run waits for the choice of a schedule */
    double grams_per_kwh; /* of CO2, at the site; 0: unknown */
    size_t n_clusters;
    struct bats_view_cluster clusters[BATS_CLUSTERS_MAX];
};

int bats_view_status(struct bats_view *view, struct bats_view_status *status,
                     struct bats_error *err);

/* The options of a session (0: the last one), for json_decref(): "run" has
 * those of bats_record_session, "engine" the engine's. NULL: none. */
int bats_view_options(struct bats_view *view, int64_t session,
                      json_t **options, struct bats_error *err);

/* Adds the classes and needs of all tasks of an open bag to the options of the
 * last session. This reads all submissions. */
int bats_view_needs(struct bats_view *view, json_t *options,
                    struct bats_error *err);

/* The last session's workflows with budgets of their own: *list is for free();
 * NULL without any; the names are valid until the next call, or the end of the
 * view. They hold 0 unless the run is live. */
int bats_view_workflows(struct bats_view *view,
                        struct bats_purse_status **list, size_t *n,
                        struct bats_error *err);

/* ---- lists; an item is valid until the next call ---- */

struct bats_view_task {
    int64_t id;     /* unique over all sessions */
    int64_t number; /* from 1, as shown to people */
    const char *state;
    int64_t attempts; /* executions that were not preempted */
    int64_t wall_us;  /* of the last execution; so far if it runs; -1: none */
    int64_t start_us; /* real time since 1970; 0: it did not run */
    int64_t cpu_us;
    int64_t max_rss_kib;
    int exit_status;
    int signal;
    const char *host; /* "": unknown, as for the next member */
    const char *cluster;
    const char *command;
    int64_t line;
    double cost;            /* cost of its machine's slot time, millionths */
    bool unpaid;            /* skipped because its workflow could not pay */
    const char *parameters; /* values of a sweep, a JSON object; or "" */
};

enum bats_view_order { BATS_VIEW_BY_NUMBER, BATS_VIEW_SLOWEST };

/* Lists the tasks in this state (NULL: all in the bag), at most `limit` (0:
 * all), or the one with this number (0: any). If no task of the bag has the
 * number, lists removed tasks that had it. where: only tasks for which this
 * SQL expression over the view tasks is true; NULL: all. BATS_EINPUT: not an
 * expression. */
int bats_view_tasks(struct bats_view *view, const char *state, int64_t number,
                    const char *where, enum bats_view_order order,
                    int64_t limit, struct bats_error *err);

/* Returns 1 and the next task, 0 at the end, or an error. */
int bats_view_next_task(struct bats_view *view, struct bats_view_task *task,
                        struct bats_error *err);

/* The last execution of a pending task in this session: when it failed or
 * yielded, to be retried; else -1. */
struct bats_view_pause {
    bats_time failed, yielded;
    int64_t yields; /* in a row, without progress */
};
int bats_view_pause(struct bats_view *view, int64_t task,
                    struct bats_view_pause *pause, struct bats_error *err);

/* For `where`: tasks begun after their last result, or without one, that did
 * not save their state (exit status 85) at the end. */
#define BATS_VIEW_BEGUN                                                       \
    "id IN (SELECT b.task FROM (SELECT task, seq AS given FROM running"       \
    "  UNION ALL SELECT task, given FROM execution) b LEFT JOIN"              \
    "  (SELECT task, max(seq) AS seq FROM execution"                          \
    "   WHERE outcome = 0 OR exit_status = 85 GROUP BY task) r"               \
    "  ON r.task = b.task WHERE b.given > coalesce(r.seq, 0))"

/* End of standard error of a listed task's last failure, by task id: 1 and *n
 * bytes, valid until the next call; 0 if there are none. */
int bats_view_stderr(struct bats_view *view, int64_t task, const char **text,
                     size_t *n, struct bats_error *err);

/* An entry of the log, in words. */
struct bats_view_entry {
    int64_t session;
    bats_time time;      /* virtual time */
    const char *what;    /* "joined", "run", "done", "charged", "decided"... */
    const char *machine; /* name, or "" */
    int64_t task;        /* number, or 0 */
    bool removed;        /* the task is no longer in the bag */
    const char *text;    /* further details */
};

/* Lists log entries: all, or for one machine (by name; NULL: any) or one task
 * (by id; 0: any); without a task, only the `last` entries (0: all). 1: entries
 * before these were left out. */
int bats_view_log(struct bats_view *view, const char *machine, int64_t task,
                  int64_t last, struct bats_error *err);
bool bats_view_next_entry(struct bats_view *view,
                          struct bats_view_entry *entry);

enum bats_view_machine_state {
    BATS_VIEW_NEVER,    /* never acquired */
    BATS_VIEW_HELD,     /* its current window is paid */
    BATS_VIEW_PARKED,   /* may be acquired again */
    BATS_VIEW_RELEASED, /* will not be used again */
    BATS_VIEW_LOST
};

/* A machine of the last session. */
struct bats_view_machine {
    const char *name;
    const char *host;
    const char *cluster;
    bats_money charge;
    int64_t slots;
    enum bats_view_machine_state state;
    bats_time since;
    int64_t windows;
    bats_time window_began; /* start of the last window charged; -1: none */
    bats_money charged;
    int64_t ended;     /* executions that ended on it; only if listed by
                          name */
    int64_t running;   /* number of a running task, or 0 */
    bats_time shunned; /* in quarantine since then; -1: not in quarantine */
    const char *why;   /* the last notice about it, or "" */
    const char *idle;  /* last idle reason of a slot (bats_idle_name), or "" */
    bats_time idle_until; /* expected end of the reason, or -1 */
};

/* Lists the machines of the last session, or the one of this name. *list is for
 * free(); its texts are valid until the next call, or the end of the view. */
int bats_view_machines(struct bats_view *view, const char *name,
                       struct bats_view_machine **list, size_t *n,
                       struct bats_error *err);

/* A task that a slot of a held machine runs; 0: the machine runs none. */
struct bats_view_load {
    int64_t machine; /* its id in the session */
    char name[BATS_MACHINE_NAME];
    int64_t task; /* number */
};

/* Lists the loads in the order of the machines. *list is for free(). */
int bats_view_loads(struct bats_view *view, struct bats_view_load **list,
                    size_t *n, struct bats_error *err);

/* The place of the output of a task's result (run --output stream). */
struct bats_view_output {
    int64_t task; /* number */
    uint32_t attempt;
    const char *dir;    /* noted for the output of its session; "": none */
    const char *run;    /* run id of its session */
    int stream;         /* its file is BATS_OUTFILE_NAME.out; */
    int64_t begin, end; /* from here to there */
    int exit_status, signal;
    int64_t out_bytes, err_bytes; /* written by the task */
};

/* Lists the tasks that have a result with such output, by number. *list is for
 * free(). */
int bats_view_outputs(struct bats_view *view, struct bats_view_output **list,
                      size_t *n, struct bats_texts *texts,
                      struct bats_error *err);

/* The machine that is reserved for a waiting task, by number; task 0: none. */
struct bats_view_reservation {
    char machine[BATS_MACHINE_NAME];
    int64_t task;
    bats_time from;
};
int bats_view_reservation(struct bats_view *view,
                          struct bats_view_reservation *reservation,
                          struct bats_error *err);

/* Writes the run as WfFormat 1.5 (JSON) of WfCommons, by the schema at
 * https://github.com/wfcommons/WfFormat. name: of the workflow. The caller
 * checks the file for write errors. */
int bats_view_wfformat(struct bats_view *view, const char *name, FILE *out,
                       struct bats_error *err);

/* ---- results, for the history and for simulations ---- */

struct bats_view_session {
    int64_t id;
    char run[80];    /* its run id, or "" */
    int64_t ended_s; /* since 1970, or its last commit */
    double time_scale;
};

/* The sessions that have ended, in one block for free(). */
int bats_view_sessions(struct bats_view *view,
                       struct bats_view_session **sessions, size_t *n,
                       struct bats_error *err);

/* A task done in a session. */
struct bats_view_result {
    const char *command, *cluster;
    const char *category; /* its category, or "" */
    double seconds;       /* of virtual time, above 0 */
    int64_t number;
};

/* All of them; *list is for free(). */
int bats_view_results(struct bats_view *view, int64_t session,
                      struct bats_view_result **list, size_t *n,
                      struct bats_texts *texts, struct bats_error *err);

/* Runtimes of all done tasks, by number: virtual time, at least 1 each, scaled
 * so that every cluster has the first one's mean. *runtimes is for free(). */
int bats_view_runtimes(struct bats_view *view, bats_time **runtimes, size_t *n,
                       struct bats_error *err);

/* The last decision of the last session, if *found. */
struct bats_view_decision {
    bats_time time;
    char reason[BATS_VIEW_WORD];
    size_t n_clusters;
    int64_t machines[BATS_CLUSTERS_MAX];
};
int bats_view_decision(struct bats_view *view, bool *found,
                       struct bats_view_decision *decision,
                       struct bats_error *err);

#endif
