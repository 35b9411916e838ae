/*
 * job_system: operations on a run's jobs in a batch system, which wait for its
 * answers. Layer: site. Used by cli (alloc), and by queue.c for bills.
 */
#ifndef BATS_SITE_JOB_SYSTEM_H
#define BATS_SITE_JOB_SYSTEM_H

#include "bats/units.h"
#include "site/batch_system.h"

/* Finds the first system that tells its rules, of those with this key
 * (NULL: any). BATS_ESYS: one is installed but does not answer; BATS_EINPUT:
 * none is installed. The sentence says why. */
int bats_job_system_find(const char *key,
                         const struct bats_batch_system **system,
                         struct bats_job_rules *rules, struct bats_error *err);

/* The number of the job in the answer to its submission. BATS_ESYS: it has
 * none. */
int bats_job_number(const struct bats_batch_system *system, const char *answer,
                    char id[BATS_JOB_ID], struct bats_error *err);

/* Finds the kinds of nodes in the partition, at most `room`. Returns their
 * number, or an error. */
int bats_job_system_nodes(const struct bats_batch_system *system,
                          const char *partition, struct bats_stock *kinds,
                          size_t room, struct bats_error *err);

/* Gives an element of an array a mark of its own: TAG.PLACE.N.END (queue.h) is
 * that of the first element, and the others have the next places. */
void bats_job_find_mark(struct bats_job_view *view);

/* Lists the jobs of this name, for free(). */
int bats_job_system_list(const struct bats_batch_system *system,
                         const char *name, struct bats_job_view **list,
                         size_t *n, struct bats_error *err);

/* The jobs of a run: those of its name (n in the system's list), which it has
 * bought, and those that it ran in. */
struct bats_job_past {
    const char *name;
    const struct bats_job_view *list;
    const bool *is_taken; /* by job in the list: true if its bill comes
                           * later */
    size_t n;
    const char *own; /* numbers of jobs the run was in, "12,17"; "": none */
    const char *now; /* the job that the run is in, without a final bill; "":
                      * none */
};

/* Asks the accounting for the sum of the bills, and how many are not final.
 * With `by_list`, a job whose end only the list knows is billed by the list.
 * (Just after a job's end, sacct does not always find it by name.) */
int bats_job_system_bills(const struct bats_batch_system *system,
                          const struct bats_job_past *past, bool by_list,
                          bats_money *sum, size_t *open,
                          struct bats_error *err);

/* True if the bill belongs to the job of this name and number that was
 * submitted at submit_s (0: unknown). */
bool bats_job_is_billed(const struct bats_job_bill *bill, const char *name,
                        const char *id, int64_t submit_s);

/* The bill of this job will not change. Just after its end, sacct may show an
 * element of an array with the end of a job that failed before it, and no time:
 * a bill that ends before the job's start in the list is not its own yet. */
bool bats_job_bill_is_final(const struct bats_job_bill *bill,
                            const struct bats_job_view *job);

/* Cancels those jobs of the list that have not ended and are not spared (NULL:
 * none is), with one command. Returns their number. */
int bats_job_system_cancel(const struct bats_batch_system *system,
                           const char *name, const struct bats_job_view *list,
                           size_t n, const bool *is_spared,
                           struct bats_error *err);

/* The bill for the time from start to end in `view`, but not beyond now: for
 * sites without accounting. */
bats_money bats_job_bill_by_time(const struct bats_job_view *view);

/* The rate per hour times the seconds, rounded up to a millionth. */
bats_money bats_job_bill(double rate, int64_t seconds);

/* Cancels all jobs of this name. */
int bats_job_system_clear(const struct bats_batch_system *system,
                          const char *name, struct bats_error *err);

/* Finds the hourly rate of a job like this one: submits a job that cannot
 * start, asks, and cancels it. Signals that end the process wait for that;
 * after SIGKILL, bats_job_system_clear removes the job. *whole: the job gets
 * whole nodes, and the rate is theirs. *partition: the rules for the job.
 * BATS_ESYS, BATS_EINPUT. */
int bats_job_system_rate(const struct bats_batch_system *system,
                         const struct bats_job_request *request, double *rate,
                         bool *whole, struct bats_job_partition *partition,
                         struct bats_error *err);

#endif
