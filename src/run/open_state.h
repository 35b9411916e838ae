/*
 * open_state: the parts of an open bag (open.h). Layer: run, private to them.
 * open.c is its life and what clients ask for, open_tasks.c tasks that wait for
 * others, and their kinds; open_driver.c the driver, clients.c the socket,
 * submission.c how a request for a task is read.
 */
#ifndef BATS_OPEN_STATE_H
#define BATS_OPEN_STATE_H

#include <jansson.h>
#include <sys/types.h>

#include "bats/need.h"
#include "input/workflow/names.h"
#include "run/open.h"

#define BATS_OPEN_NONE UINT32_MAX

/* A task as its clients see it. */
struct bats_open_task {
    uint32_t client;      /* client that waits for it; 0: none */
    uint32_t missing;     /* number of tasks it waits for, including: */
    bool is_unasked;      /* no client of this session has asked for it yet */
    uint32_t first_child; /* in edges, or BATS_OPEN_NONE */
    bool is_held;         /* the engine does not know it yet */
    uint32_t next;        /* next task to withdraw, or BATS_OPEN_NONE */
    bool is_withdrawn;
    bool has_ended; /* tasks that wait for it were told */
    bool is_known;  /* if it has failed or was withdrawn, this session's
                     * clients know it, or do not ask for it */
};

struct bats_open_edge {
    uint32_t child, next;
    bool any; /* the child starts however its parent ends */
};

struct bats_open_driver {
    int lock; /* the driver inherits it; -1: none */
    pid_t pid;
    int status; /* its exit status, or 128 + its signal */
};

/* The categories of the tasks: one for each class and need, numbered in order
 * of appearance. The engine is told of each with its first task
 * (BATS_EVENT_ADDED). */
struct bats_open_kinds {
    struct bats_names names; /* such as "sort, 4 cores", by number; */
    struct bats_need *needs; /* and its needs */
    char **classes;          /* and its class; NULL: none */
    size_t room, classes_room;
};

struct bats_open {
    struct bats_clients *clients;
    struct bats_open_task *tasks;
    struct bats_open_edge *edges;
    size_t n_edges, edges_room;
    struct bats_need usual; /* default needs of a task */
    uint32_t n_held;
    uint32_t n_unasked;     /* only tasks below this one may be unasked */
    struct bats_names keys; /* keys of submissions, and by key: */
    uint32_t *task_of_key;
    size_t keys_room;
    struct bats_open_kinds kinds;
    uint16_t *category; /* by task: its kind */
    uint8_t *state;     /* the engine's, of earlier sessions */
    struct bats_open_driver driver;
    bool is_closed;  /* no more tasks will come, */
    bool is_shut;    /* and the engine knows */
    int64_t busy_us; /* when a task was last in the bag */
};

static inline uint32_t bats_open_count(const struct master *m)
{
    return m->options->bag->n_tasks;
}

/* ---- submission.c ----
 *
 * A submission is a JSON object with the fields of src/doc/open.md. Snakemake's
 * `properties`, from its job scripts, fill in the fields that the client leaves
 * out. */

struct bats_submission {
    const char *key, *class; /* of the request; NULL: none */
    bool repeats;            /* the key is valid only until its task has ended;
                              * a task of an earlier session begins when a
                              * client asks for it */
    const json_t *after[2];  /* numbers of tasks to wait for; NULL: none. Those
                              * of after[0] must be done, those of after[1]
                              * ("after_any") have ended */
    struct bats_need need;
};

/* Replaces the properties of the request by the fields they stand for, and
 * reads all fields but the command. `usual`: default needs. BATS_EINPUT: a
 * field is wrong. */
int bats_submission_read(json_t *request, const struct bats_need *usual,
                         struct bats_submission *submission,
                         struct bats_error *err);

/* Appends the command to `command`, with the client's directory and variables.
 * BATS_EINPUT: it is not a text. */
int bats_submission_command(const json_t *request, struct bats_text *command,
                            struct bats_error *err);

/* The JSON to record beside the command, for free(); NULL: nothing. *ok is
 * false if memory is short. bats_submission_read reads it again. */
char *bats_submission_given(const json_t *request, bool *ok);

/* ---- open_tasks.c ---- */

/* Finds or adds the kind of the submission; its class is ignored when there are
 * BATS_CATEGORIES_MAX kinds. BATS_EINPUT: the run cannot give it what it needs,
 * or there are too many kinds even so. */
int bats_open_take_kind(struct master *m, const struct bats_submission *s,
                        uint16_t *kind, struct bats_error *err);

bool bats_open_is_done(const struct master *m, uint32_t task);

/* Links the task with its parents. False: no memory. */
bool bats_open_link(struct bats_open *o, uint32_t task,
                    const json_t *const after[2]);

/* Starts a new task, or holds it until its parents have ended. */
int bats_open_enter(struct master *m, uint32_t task,
                    const struct bats_submission *s, struct bats_error *err);

/* A client of this session wants the task. */
int bats_open_ask(struct master *m, uint32_t task, struct bats_error *err);

/* Withdraws the task, and all that wait for it. A running task ends later. */
int bats_open_withdraw(struct master *m, uint32_t task,
                       struct bats_error *err);

/* Withdraws all tasks of earlier sessions that nobody asked for. */
int bats_open_withdraw_unasked(struct master *m, struct bats_error *err);

/* The task has ended: begins, or withdraws, those that wait for it. */
int bats_open_tell_children(struct master *m, uint32_t task, bool done,
                            struct bats_error *err);

/* The number of tasks that have failed or were skipped, and clients know it;
 * those that waited for such a task count, too. */
uint32_t bats_open_known(struct master *m);

/* ---- open_driver.c ---- */

/* BATS_EINPUT: the driver of an earlier session, or a process that it has
 * started, still runs. */
int bats_open_driver_lock(struct bats_open_driver *d, const char *socket,
                          struct bats_error *err);

/* Starts the driver, unless `words` is NULL. BATS_EINPUT: it does not
 * start. */
int bats_open_driver_start(struct bats_open_driver *d, char *const *words,
                           struct bats_error *err);
bool bats_open_driver_has_ended(struct bats_open_driver *d);

/* Ends the driver, within `grace_ms`, and gives the lock back. */
void bats_open_driver_end(struct bats_open_driver *d, const char *socket,
                          int64_t grace_ms);

/* ---- clients.c ---- */

/* Carries out a request and returns the answer. NULL: `err`, which is fatal
 * unless it is BATS_EINPUT. `client`: for bats_clients_send. */
typedef json_t *bats_clients_request(void *context, uint32_t client,
                                     json_t *request, struct bats_error *err);

/* Listens at `path`, which must not be in use. */
int bats_clients_open(const char *path, struct bats_clients **clients,
                      struct bats_error *err);
int bats_clients_step(struct bats_clients *clients, bats_clients_request *take,
                      void *context, struct bats_error *err);

/* Queues a line for the client, followed by bytes. False: the client has gone.
 * Releases the line. */
bool bats_clients_send(struct bats_clients *clients, uint32_t client,
                       json_t *line, const char *bytes, size_t n);

/* Holds all further answers to the client until the next commit. */
void bats_clients_hold(struct bats_clients *clients, uint32_t client);

/* Sends the lines; without a commit, not to clients that are held. */
void bats_clients_flush(struct bats_clients *clients, bool committed);
void bats_clients_close(struct bats_clients *clients);

#endif
