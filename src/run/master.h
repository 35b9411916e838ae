/*
 * master: the parts of the master. Layer: run, private to them. master.c is
 * the run, prepare.c comes before it, shared.c has what all parts use; the
 * others have a section below, or a header (open.h).
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

/* time for a rank to answer, beyond the grace time of its task */
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
    uint32_t *worker;   /* by slot: its worker */
    uint32_t *attempts; /* by task: executions started */
    uint8_t *halves;    /* by task of a workflow: it was sent, and has not
                         * saved its state since; NULL: no workflow */
    size_t n_to_come;   /* workers that owe output */
    bool is_unseen;     /* output can no longer be shown */
    char machine_name[BATS_MACHINE_NAME];
    struct bats_text command; /* of the task being assigned */
    struct bats_text holds;   /* ranks that the task holds; */
    uint32_t *held;           /* room for the ranks of any machine */
    bool has_needs;           /* tasks may hold several ranks */
    bool has_budget;
    bool gives_gpus; /* tasks need GPUs: each sees only its own */
    struct bats_class_names names;
    struct bats_text variables; /* environment of the task */
    struct bats_text outputs;   /* files that the task must make */
    int64_t start_us;
    struct bats_quiet quiet;
    int64_t progress_us;
    int64_t next_us; /* with a delay: no task begins earlier */
    int64_t looked_us;
    bool stopping;
    int64_t answers_by_us; /* while stopping: a rank with a task that has not
                            * answered by then is lost */
    bool gave_up;          /* stopped because the record cannot be written */
    bool draining;
    bool choosing; /* the sampling phase is over, an event CHOSEN is due */
    struct bats_error refusal;
    bool finished;
    enum bats_finish finish;
    struct bats_joined *joined;     /* NULL: no worker jobs join */
    struct bats_open *open;         /* NULL: the bag is not open */
    struct bats_reclaims *reclaims; /* NULL: no losses are emulated */
};

bats_time bats_master_now(const struct master *m);

static inline uint32_t bats_master_machine(const struct master *m,
                                           size_t worker)
{
    return m->survey.platform.slot_of[worker].machine;
}

/* The worker of this slot. */
static inline size_t bats_master_worker(const struct master *m,
                                        uint32_t machine, uint32_t slot)
{
    return m->worker[m->first[machine] + slot];
}

/* Name of a machine as in BATS_MACHINE; valid until the next call. */
const char *bats_master_machine_name(struct master *m, uint32_t machine);

/* Reports something about this machine or task (NONE: about neither) to people
 * and to the record. */
#define BATS_MASTER_NONE UINT32_MAX
void bats_master_notice(struct master *m, uint32_t machine, uint32_t task,
                        const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#define bats_master_tell(m, ...)                                              \
    bats_master_notice(m, BATS_MASTER_NONE, BATS_MASTER_NONE, __VA_ARGS__)

/* Passes the event to the record, then to the engine. */
int bats_master_handle(struct master *m, const struct bats_event *event,
                       struct bats_error *err);

/* Cancels everything; the run ends when all tasks have stopped. */
int bats_master_stop(struct master *m, struct bats_error *err);

/* The machine will not come back: its tasks go back to the bag, the rest of
 * its output is not waited for, and further messages of its ranks are ignored.
 * bats_master_lose does this because of worker i, and tells people why;
 * BATS_ESYS: the first command (pernode.h) has failed on all nodes. */
int bats_master_part(struct master *m, uint32_t machine,
                     struct bats_error *err);
int bats_master_lose(struct master *m, size_t i, const char *why,
                     struct bats_error *err);

/* Call once the platform is matched with the crew: creates the engine. */
int bats_master_prepare(struct master *m, struct bats_error *err);

/* Sends worker i the setup common to all tasks. */
int bats_master_set_up(struct master *m, size_t i, struct bats_error *err);

/* ---- results.c: ends of executions ----
 *
 * The engine is told of an end and decides what it means; the record, the
 * joblog and the output follow from that. */

/* Handles the results in a RESULT message of worker i. */
#define BATS_RESULTS_ENDING 1 /* its whole worker job was told to end */
int bats_results_take(struct master *m, size_t i, struct bats_message *message,
                      struct bats_error *err);

/* One result, wanted or not. */
int bats_results_take_one(struct master *m, size_t i,
                          const struct bats_task_result *r,
                          struct bats_error *err);
int bats_results_refuse(struct master *m, size_t i,
                        const struct bats_task_result *r,
                        struct bats_error *err);

/* Handles lines of a task, from worker i. */
int bats_results_output(struct master *m, size_t i,
                        const struct bats_output_lines *output,
                        struct bats_error *err);

/* ---- joined.c: worker jobs, between the hub (connections), the job side
 * (joining.h has the functions it offers) and the engine ---- */

/* Replaces gathering a crew and taking a survey: makes a crew of absent ranks,
 * the platform of the job side, and the hub. Starts the heart. */
int bats_joined_expect(struct master *m, struct bats_error *err);

/* ---- these do nothing in a run without worker jobs ---- */

/* Call once in each turn of the loop: admits waiting jobs, takes the machines
 * of jobs that left or were cut, and gives the job side its turn. */
int bats_joined_step(struct master *m, struct bats_error *err);

/* True if the bills of all jobs are known. */
bool bats_joined_is_settled(const struct master *m);

/* Time until the next turn of the job side, at most. */
int64_t bats_joined_due_us(const struct master *m);

void bats_joined_command(struct master *m, const struct bats_command *command);

/* Worker i has sent something that gave the error `rc`. If that is the
 * worker's fault, its job is cut off, and the result is 0. */
int bats_joined_blame(struct master *m, size_t i, int rc,
                      struct bats_error *err);

/* Lets no job join from now on. */
void bats_joined_end(struct master *m);

/* ---- reclaims.c: machines that are taken away with a notice ----
 *
 * Emulated: a machine of a cluster with a lifetime (input/model.h) lives from
 * each ACQUIRE for a time drawn with the seed of the run. The engine gets its
 * notice before the end, and then its loss.
 * Real: a rank that got SIGTERM sends NOTICE and leaves by itself once the
 * notice is over. Or the batch system drains its host (asked every 10 s,
 * without waiting), and the machine is taken from the engine when the notice
 * is over. Only machines of reclaimable clusters get these notices. If there
 * are several, the first end counts. A worker job on a drained host gets no
 * more tasks (RETIRED) and is given back when its running tasks have ended. */

/* BATS_ENOMEM. */
int bats_reclaims_init(struct master *m, struct bats_error *err);
void bats_reclaims_release(struct master *m);

/* Call before the engine's command is carried out. */
void bats_reclaims_command(struct master *m,
                           const struct bats_command *command);

/* Virtual time of the next notice or end; BATS_NEVER if there is none. */
bats_time bats_reclaims_due(const struct master *m);

/* Tells the engine about notices and ends that are due. */
int bats_reclaims_step(struct master *m, struct bats_error *err);

/* Worker i was given notice: its machine ends after its cluster's delay. */
int bats_reclaims_notice(struct master *m, size_t i, struct bats_error *err);

#endif
