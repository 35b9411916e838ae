/*
 * gridengine: reads the output of Grid Engine's commands into an allocation,
 * and has the members of bats_batch_system for submitted jobs.
 *
 * Layer: site, private to gridengine.c and gridengine_list.c (readers),
 * gridengine_jobs.c (submitted jobs), gridengine_system.c (the table), and
 * their test. Each reader gets the whole output of a command; members it does
 * not find stay as they were.
 */
#ifndef BATS_SITE_GRIDENGINE_H
#define BATS_SITE_GRIDENGINE_H

#include "site/allocation.h"
#include "site/batch_system.h"

/* The file of PE_HOSTFILE, "fast1 8 fast.q@fast1 UNDEFINED": a part for each
 * queue, a node for each line. BATS_ENOMEM. */
int bats_gridengine_read_hosts(const char *text,
                               struct bats_allocation *allocation,
                               struct bats_error *err);

/* `qstat -F charge`: a node's charge per slot and hour is the complex value
 * `charge` of its queue there, or 1. A node is whole if the job has all slots.
 * The nodes are sorted. */
void bats_gridengine_read_charges(const char *text,
                                  struct bats_allocation *allocation);

/* `qstat -xml -j JOB`: the start of this task of the job, its user and account,
 * and the shorter one of h_rt and s_rt if it is below *limit_s (0: none). */
void bats_gridengine_read_job(const char *xml, const char *task,
                              struct bats_allocation *allocation,
                              int64_t *limit_s);

/* `qconf -sq QUEUE`: the same, for the queue's own limits. s_rt counts as
 * `apart_s` shorter than it is. */
void bats_gridengine_read_queue(const char *text, int64_t apart_s,
                                int64_t *limit_s);

/* `qstat -F charge`: the charge per slot and hour of the queue on the host
 * where it is highest, or 1 where the site has set none; < 0: no such queue. */
double bats_gridengine_read_charge(const char *text, const char *queue);

/* `qstat -F mem_total,gpu`: slots, memory and GPUs of each kind of instance of
 * a queue, at most `room`. Returns their number. */
size_t bats_gridengine_read_kinds(const char *text, struct bats_stock *kinds,
                                  size_t room);

/* The text after `before`, which is searched from `from` on; NULL: not
 * found. */
const char *bats_gridengine_behind(const char *from, const char *before);

/* "1:30:00" or "5400", after blanks; 0: INFINITY. */
int64_t bats_gridengine_seconds(const char *text);

/* ---- gridengine_jobs.c ---- */

void bats_gridengine_read_rules(const char *text,
                                struct bats_job_rules *rules);
int bats_gridengine_rules(struct bats_job_rules *rules,
                          struct bats_error *err);
const char *bats_gridengine_refuses(const char *word);
int bats_gridengine_nodes(const char *queue, struct bats_stock *kinds,
                          size_t room, struct bats_error *err);
void bats_gridengine_submit(const struct bats_job_request *request,
                            struct bats_argv *argv, char **script);
int bats_gridengine_read_submit(const char *answer, char id[BATS_JOB_ID],
                                struct bats_error *err);
void bats_gridengine_cancel(const char *name, const char *const *ids, size_t n,
                            struct bats_argv *argv);
void bats_gridengine_list(const char *name, struct bats_argv *argv);
bool bats_gridengine_read_list(const char **at, struct bats_job_view *view);
void bats_gridengine_bills(const char *name, const char *const *ids, size_t n,
                           struct bats_argv *argv);
bool bats_gridengine_read_bills(const char **at, struct bats_job_bill *bill);
int bats_gridengine_price(const char *id, double *rate, bool *whole,
                          struct bats_job_partition *partition,
                          struct bats_error *err);

#endif
