/*
 * queue: submits the jobs of a run to a batch system and settles them, without
 * ever waiting for it.
 *
 * Layer: site. Used by cli (alloc). There is a fixed number of places. A place
 * has one job after the other:
 *
 *   NONE -> WANTED -> SENT -> QUEUED -> RUNS -> ENDED -> NONE
 *
 * The mark of a job is TAG.PLACE.N.END: the tag of the session, the place, the
 * number of the job there (from 1), and the end in the request. Jobs alike at
 * places one after the other are submitted together, as an array, with the mark
 * of the first one.
 *
 * WANTED waits for its turn, SENT for the answer of the submission, ENDED for
 * the bill. A submission without an answer is UNSURE until a list of the jobs
 * shows whether there is one with its mark.
 *
 * The load on the batch system is small. One command runs at a time. One
 * command lists all jobs, at most every `interval` and only while there are
 * jobs; one asks for the bills of all jobs that have ended. While a job is
 * about to end or waits for its bill, which holds money, both ask every
 * second, for half a minute, and four times in the first second. After a failed
 * submission the next one waits for 1 s, then for twice as long each time, up to
 * a minute; failed lists are repeated ever less often in the same way.
 *
 * A job is identified by its number, its mark and the time of its submission,
 * because a system that has lost its state counts from the start. The earlier
 * job with the number has then ended.
 *
 * The bill comes from the system's accounting, once it knows the job's end.
 * Without accounting, or if the end stays unknown for ten minutes, the bill is
 * the time from start to end in the list, at the job's rate; if the job is not
 * in the list any more, the time until it was missed. That is so after half a
 * minute if the list would still show a job that has ended: the controller has
 * died, and forgotten it. If the accounting never knew it either, it has no
 * bill. A run that waits for bills says so.
 */
#ifndef BATS_SITE_QUEUE_H
#define BATS_SITE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/units.h"
#include "site/job_system.h"

#define BATS_NO_JOB UINT32_MAX

struct bats_queue; /* opaque */

struct bats_queue_options {
    const struct bats_batch_system *system;
    struct bats_job_rules rules;
    const char *name;                        /* of all jobs of the run */
    const struct bats_job_request *requests; /* by place, n of them: all but
                                              * the name; of the mark, the
                                              * end */
    const char *tag; /* for marks; unique among the sessions of the run */
    uint32_t n;
    int64_t interval_us;
    int64_t confirm_us; /* time for the host of a job to confirm its start */
};

/* The options' pointers must stay valid. BATS_ENOMEM. */
int bats_queue_create(const struct bats_queue_options *options,
                      struct bats_queue **jobs, struct bats_error *err);
void bats_queue_destroy(struct bats_queue *jobs);

/* Submits a job at a place that has none. */
void bats_queue_submit(struct bats_queue *jobs, uint32_t place);

/* The place takes over a job of an earlier session, as `view` shows it. */
void bats_queue_adopt(struct bats_queue *jobs, uint32_t place,
                      const struct bats_job_view *view);

/* Ends the job: cancels it unless it has left by `at_us`, a monotonic time. */
void bats_queue_cancel(struct bats_queue *jobs, uint32_t place, int64_t at_us);

/* The place of the job with this number. BATS_NO_JOB: the job is not ours, is
 * not to be kept, or (*unsure) its number is not known yet. */
uint32_t bats_queue_find(const struct bats_queue *jobs, const char *id,
                         bool *unsure);

/* The longest time for which the job may have run, microseconds: since its
 * start if a list has shown that (*known), else since its submission. For a job
 * that was submitted here it does not matter whether the system's clock is
 * right. */
int64_t bats_queue_age(const struct bats_queue *jobs, uint32_t place,
                       int64_t now_us, bool *known);

/* The number of places with a job. */
uint32_t bats_queue_count(const struct bats_queue *jobs);

/* Does what is due. Lowers *due_us to the monotonic time of its next turn.
 * BATS_ENOMEM. */
int bats_queue_turn(struct bats_queue *jobs, int64_t now_us, int64_t *due_us,
                    struct bats_error *err);

enum bats_queue_news_type {
    BATS_QUEUE_SUBMITTED, /* place: the number of its job is known */
    BATS_QUEUE_RUNS,   /* place, start_s, end_s, rate: first seen running, or
                        * its end has changed */
    BATS_QUEUE_ENDED,  /* place: it does not run, and never will again */
    BATS_QUEUE_BILLED, /* place, amount, energy_j: the place is free again */
    BATS_QUEUE_SAYS    /* a sentence */
};

struct bats_queue_news {
    enum bats_queue_news_type type;
    uint32_t place;
    char id[BATS_JOB_ID]; /* the number of its job; "": it never had one */
    int64_t start_s, end_s;
    double rate; /* per hour; < 0: unknown */
    bats_money amount;
    int64_t energy_j; /* joules; 0: not measured */
    bool is_lost; /* ENDED: a list had shown the job, and the system does not
                   * know it any more, or its host has never confirmed it */
    char sentence[256];
};

/* Takes the next event, oldest first; false: no more. */
bool bats_queue_next(struct bats_queue *jobs, struct bats_queue_news *news);

/* Why jobs wait: how many wait in the queue, since when the oldest
 * (monotonic), and the system's reason for most of them ("": not known
 * yet). */
struct bats_queue_waiting {
    uint32_t n;
    int64_t since_us;
    char reason[BATS_JOB_ID];
};
void bats_queue_waiting(const struct bats_queue *jobs,
                        struct bats_queue_waiting *waiting);

#endif
