/*
 * master: shared by the parts of the master.
 * Layer: run, private to master.c (the run), prepare.c (before it), results.c
 * (ends of executions), losses.c (of machines), joined.c (worker jobs) and
 * shared.c (the other functions below).
 */
#ifndef BATS_MASTER_H
#define BATS_MASTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/clock.h"
#include "run/crew.h"
#include "run/journal.h"
#include "run/run.h"

/* Minimum sleep of the master and the workers, however compressed the time
 * is. */
#define BATS_MASTER_LOOK_US 500
/* for workers, because there are many */
#define BATS_MASTER_LOOK_WORKER_US 2000
/* for the answer of a rank, beyond the grace time of its task */
#define BATS_MASTER_ANSWER_US 3000000

struct master {
    const struct bats_run_options *options;
    const struct bats_observer *observer;
    struct bats_crew crew;
    struct bats_survey survey;
    struct bats_sched *sched;
    struct bats_journal journal;
    char run_id[64];
    uint32_t *first;    /* by machine: first of its slots in `worker` */
    uint32_t *worker;   /* by slot of a machine: its worker */
    uint32_t *attempts; /* by task: executions started */
    uint8_t *halves;    /* by task of a workflow: it was sent, and has not
                         * saved its state since; NULL: no workflow */
    size_t n_to_come;   /* workers that owe output */
    bool is_unseen;     /* output cannot be shown any more */
    struct bats_error late_error; /* of the master's own tasks, or code 0 */
    char machine_name[BATS_MACHINE_NAME];
    struct bats_text command; /* of the task that is assigned */
    struct bats_text holds;   /* the ranks that it holds; */
    uint32_t *held; /* room for those of any machine; NULL: each task holds
                     * one */
    struct bats_class_names names;
    struct bats_text variables; /* of its environment */
    struct bats_text outputs;   /* files that it has to make */
    int64_t start_us;
    struct bats_quiet quiet;
    int64_t progress_us;
    int64_t next_us; /* with a delay: no task begins before that */
    int64_t looked_us;
    bool stopping;
    bool hurried;          /* SIGTERM came: the master's own tasks end */
    int64_t answers_by_us; /* stopping: ranks with a task that has not
                            * answered by this time are lost */
    bool gave_up;          /* stopping because the record cannot be written */
    bool draining;
    bool choosing; /* the sampling phase is over, CHOSEN is due */
    struct bats_error refusal;
    bool finished;
    enum bats_finish finish;
    struct bats_joined *joined;     /* NULL: no worker jobs join */
    struct bats_open *open;         /* NULL: the bag is not open */
    struct bats_reclaims *reclaims; /* NULL: none is emulated */
};

bats_time bats_master_now(const struct master *m);
bats_time bats_master_virtual_time(const struct master *m, int64_t real_us);

/* The longest sleep between two checks for messages, at least `min_us`:
 * compressed time does not allow long ones. */
int64_t bats_master_sleep_us(const struct master *m, int64_t min_us);

/* Name of a machine as in BATS_MACHINE; valid until the next call. */
const char *bats_master_machine_name(struct master *m, uint32_t machine);

/* Reports something about this machine or task, or about neither, to people
 * and to the record. */
#define BATS_MASTER_NONE UINT32_MAX
void bats_master_notice(struct master *m, uint32_t machine, uint32_t task,
                        const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Passes the event to the record, then to the engine. */
int bats_master_handle(struct master *m, const struct bats_event *event,
                       struct bats_error *err);

/* Cancels everything; the run ends when all tasks have stopped. */
int bats_master_stop(struct master *m, struct bats_error *err);

/* The machine will not come back: what it runs goes back to the bag, the rest
 * of its output is not waited for, and what its ranks still send is ignored.
 * The other function does so because of worker i, and says why. */
int bats_master_part(struct master *m, uint32_t machine,
                     struct bats_error *err);
int bats_master_lose(struct master *m, size_t i, const char *why,
                     struct bats_error *err);

/* Sends worker i the setup that all tasks have in common; `sink` as below. */
int bats_master_set_up(struct master *m, size_t i,
                       const struct bats_executor_sink *sink,
                       struct bats_error *err);

/* Once the platform is matched with the crew: creates the engine and sends
 * every worker that is there the setup. `sink` is for the master's own
 * tasks. */
int bats_master_prepare(struct master *m,
                        const struct bats_executor_sink *sink,
                        struct bats_error *err);

/* Waits until the first command has run on all nodes, or for a signal. Ranks
 * that fail or get lost meanwhile are left out; BATS_ESYS: none remains. */
int bats_master_await_ready(struct master *m, struct bats_error *err);

/* All ranks of the machine can run tasks. */
bool bats_master_is_ready(const struct master *m, uint32_t machine);

#endif
