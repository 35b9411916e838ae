/*
 * proto: the messages between the master and the workers, as bytes.
 *
 * Layer: proto. Used by src/run. No MPI, no I/O.
 *
 * Every integer has a fixed width and is little-endian; a double travels as
 * its IEEE 754 bits; a text is its length (32 bits), its bytes and a NUL. A
 * message is
 *
 *     type (8 bits), version (8 bits), body
 *
 * and ASSIGN and RESULT carry several items: a count (32 bits), then the
 * items.
 *
 * Reading checks the whole message before it returns any part of it: a message
 * that is truncated, too long, of another version or with a value out of range
 * is BATS_EPROTO with a sentence, never a crash.
 */
#ifndef BATS_PROTO_H
#define BATS_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "util/node.h"
#include "util/text.h"
#include "util/usage.h"

#define BATS_PROTO_VERSION 21
#define BATS_PROTO_OUTPUTS 4 /* kinds of output, numbered from 0 */
#define BATS_PROTO_BINDS 3   /* ways to bind tasks, numbered from 0 */
#define BATS_PROTO_JOB 64    /* longest number of a job, with the NUL */

enum bats_message_type {
    BATS_MESSAGE_HELLO = 1, /* worker: I am here */
    BATS_MESSAGE_SETUP,     /* master: what is common to all your tasks */
    BATS_MESSAGE_ASSIGN,    /* master: run these tasks, one after the other */
    BATS_MESSAGE_RESULT,    /* worker: these tasks have ended */
    BATS_MESSAGE_CANCEL,    /* master: stop this task; answered by RESULT */
    BATS_MESSAGE_STOP,      /* master: kill the running tasks; worker: done */
    BATS_MESSAGE_HEARTBEAT, /* master, worker: sign of life */
    BATS_MESSAGE_OUTPUT,    /* worker: complete lines printed by a task */
    BATS_MESSAGE_ERROR,     /* worker: I cannot go on, because ... */
    BATS_MESSAGE_VERDICT,   /* master: whether the ended execution gives the
                             * task's result, so that its output counts */
    BATS_MESSAGE_READY,     /* worker: its node has run the START commands of
                             * its SETUP */
    /* Between the master and the gateway of a worker job (run/hub.h), before
     * anything else. There, ERROR is a refusal. */
    BATS_MESSAGE_KNOCK,   /* gateway: this job wants to join */
    BATS_MESSAGE_WELCOME, /* master: say HELLO */
    BATS_MESSAGE_NOTICE,  /* worker: my node will be taken away */
    BATS_MESSAGE_TAKEN,   /* master: this many of your RESULTs, the oldest
                             * ones, are on record */
    BATS_MESSAGE_LEASE    /* master, to a gateway: its job is paid until this
                             * age (run/watchdog.h) */
};

enum bats_leave {
    BATS_LEAVE_NOT,    /* stay */
    BATS_LEAVE,        /* this is the end: answer STOP and go */
    BATS_LEAVE_BROKEN, /* like LEAVE, but a rank is lost: MPI cannot be
                        * finalized */
    BATS_LEAVE_CUT,    /* gateway: the master is gone; stop the tasks within
                        * their grace time, then like LEAVE */
    BATS_LEAVE_AGAIN   /* gateway: the master is gone; stay, and say HELLO to
                        * the next one. Tasks go on if SETUP said `keep`, else
                        * they are stopped as for CUT */
};

struct bats_hello {
    struct bats_node node;
    int64_t age_us; /* age of its job if a watchdog counts it; else 0 */
    /* For another master: what the worker keeps of the run `kept_run` ("":
     * nothing). */
    const char *kept_run;
    uint32_t task, attempt; /* the running task; attempt 0: none */
    const char *results;    /* a RESULT message not yet taken */
    size_t n_results;       /* its bytes; 0: none */
};

struct bats_setup {
    double speed; /* of the cluster, for emulation; 1 = real speed */
    int64_t grace_ms;
    int64_t notice_ms;       /* from SIGTERM to the end of the node, to be
                              * announced by NOTICE; 0: SIGTERM ends the run */
    int64_t beat_us;         /* silence after which a sign of life is due */
    uint32_t master_pid;     /* 0: not on the worker's host */
    uint8_t output;          /* enum bats_output of exec/process/runner.h */
    bool hold;               /* lines come with the RESULT */
    bool keep;               /* RESULTs are kept until TAKEN, and tasks go on
                              * for another master */
    uint8_t bind;            /* enum bats_bind of site/hardware.h */
    uint32_t share_index;    /* bind to part share_index of share_count */
    uint32_t share_count;    /* of the cores shared with other ranks */
    uint8_t nice;            /* niceness of tasks, 0 to 19 */
    int64_t memfree;         /* free bytes that a node needs to start a task;
                              * 0: any */
    const char *workdir;     /* of tasks; "": the rank's */
    const char *output_path; /* results: directory; stream: prefix; else "" */
    const char *run_id;
    const char *cluster;
    const char *machine;
    const char *task_file; /* for the DISBATCH_* variables; "": none */
    uint32_t number;       /* unique number of the rank in the run */
    /* Commands for the node, before its first task and after its last, as
     * `variables` below. */
    const char *start, *stop;
    size_t n_start, n_stop;
};

struct bats_assign {
    uint32_t task;
    uint32_t attempt;      /* 1 = first */
    uint32_t replica;      /* replica number (0 = original) */
    bool once;             /* must not run twice at the same time, so it is
                            * stopped when the master is gone */
    int64_t wait_us;       /* delay of its start, real microseconds */
    int64_t sleep_us;      /* built-in sleep, real microseconds */
    int64_t lost_us;       /* emulation: lost this long after its start, real
                            * microseconds; 0: never */
    int64_t noticed_us;    /* the loss is noticed this long after it; 0: only
                            * when the task is cancelled */
    const char *command;   /* "": a built-in sleep */
    const char *variables; /* its environment: "NAME=value", each with its NUL,
                            * n_variables bytes in all */
    size_t n_variables;
    const char *outputs; /* files that it must make, as a rule of a workflow,
                          * likewise */
    size_t n_outputs;
    int64_t memory_kib; /* killed if it holds more; 0: no limit */
    uint32_t cores;     /* slots of its node that it holds */
    const char *holds;  /* if it holds several: the hardware threads of their
                         * ranks and the shares of them, "THREADS:INDEX:COUNT",
                         * separated by blanks; else "" */
};

struct bats_task_result {
    uint32_t task;
    uint32_t attempt;
    bool cancelled;     /* stopped by us; usage.start_us is 0 if it never
                         * started */
    bool out_of_memory; /* killed because it ran out of memory */
    bool asks;          /* its output waits for a VERDICT */
    struct bats_usage usage;
    const char *last; /* end of its standard error, if it failed */
    size_t n_last;
    /* If lines are held, for standard output and error: */
    const char *lines[2]; /* all lines; if it asks, those after the VERDICT */
    size_t n_lines[2];    /* allows `to_come` bytes to follow as OUTPUT */
    int64_t to_come[2];
};

struct bats_verdict {
    uint32_t task;
    uint32_t attempt;
    bool is_result;
};

struct bats_knock {
    uint32_t n_ranks;
    const char *job;
};

struct bats_output_lines {
    uint32_t task;
    int stream; /* 1 = standard output, 2 = standard error */
    const char *bytes;
    size_t n;
};

/* A message. After reading, its texts point into the bytes. */
struct bats_message {
    enum bats_message_type type;
    union {
        struct bats_hello hello;
        struct bats_setup setup;
        uint32_t task; /* CANCEL */
        uint32_t taken;
        struct bats_verdict verdict;
        enum bats_leave leave; /* STOP */
        struct bats_output_lines output;
        const char *sentence; /* ERROR */
        struct bats_knock knock;
        int64_t silence_us; /* WELCOME */
        int64_t age_us;     /* LEASE */
    } u;
    /* Read, ASSIGN and RESULT: items not taken yet. */
    uint32_t left;
    const uint8_t *at;
    const uint8_t *end;
};

/* ---- writing ---- */

/* A packet is a text of util/text.h with one message; all zero is an empty
 * one. If memory is short, `failed` is set, and everything written later is
 * dropped. */

/* Writes any message but ASSIGN and RESULT into an empty packet. */
void bats_proto_put(struct bats_text *p, const struct bats_message *message);

/* The message as an argument: BATS_SAY(BATS_MESSAGE_READY), or
 * BATS_SAY(BATS_MESSAGE_CANCEL, .u.task = task). */
#define BATS_SAY(...) (&(struct bats_message){.type = __VA_ARGS__})

/* Add an item to an empty packet, or to one with items of the same kind. */
void bats_proto_assign(struct bats_text *p, const struct bats_assign *assign);
void bats_proto_result(struct bats_text *p,
                       const struct bats_task_result *result);

/* ---- reading ---- */

/* Checks the n bytes and opens the message. BATS_EPROTO. */
int bats_proto_open(const void *bytes, size_t n, struct bats_message *message,
                    struct bats_error *err);

/* Takes the next item of an ASSIGN or a RESULT; false: no item is left. */
bool bats_proto_next_assign(struct bats_message *message,
                            struct bats_assign *assign);
bool bats_proto_next_result(struct bats_message *message,
                            struct bats_task_result *result);

#endif
