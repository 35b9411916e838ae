/*
 * open_state: the parts of an open bag (open.h). Layer: run, private to them.
 * open.c is its life, open_requests.c what clients ask for, open_tasks.c tasks
 * that wait for others, open_driver.c the driver.
 */
#ifndef BATS_OPEN_STATE_H
#define BATS_OPEN_STATE_H

#include <sys/types.h>

#include "input/workflow/names.h"
#include "run/open.h"
#include "run/open_kinds.h"
#include "run/submission.h"

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
    struct bats_open_kinds kinds; /* of tasks */
    uint16_t *category;           /* by task: its kind */
    uint8_t *state;               /* the engine's, of earlier sessions */
    struct bats_open_driver driver;
    bool is_closed;  /* no more tasks will come, */
    bool is_shut;    /* and the engine knows */
    int64_t busy_us; /* when a task was last in the bag */
};

static inline uint32_t bats_open_count(const struct master *m)
{
    return m->options->bag->n_tasks;
}

/* ---- open_tasks.c ---- */

bool bats_open_is_done(const struct master *m, uint32_t task);

/* Links the task with its parents. False: no memory. */
bool bats_open_link(struct bats_open *o, uint32_t task, const json_t *after,
                    bool any);

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

/* ---- open_requests.c ---- */

/* Carries out a request (bats_clients_request; `context` is the master). */
json_t *bats_open_take(void *context, uint32_t client, json_t *request,
                       struct bats_error *err);

/* Remembers the key of the task. False: no memory. */
bool bats_open_keep_key(struct bats_open *o, const char *key, uint32_t task);

/* Finds or adds the kind of the submission. BATS_EINPUT: the run cannot give
 * it what it needs. */
int bats_open_take_kind(struct master *m, const struct bats_submission *s,
                        uint16_t *kind, struct bats_error *err);

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

#endif
