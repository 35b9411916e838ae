/*
 * gridengine: reads the output of Grid Engine's commands into an allocation.
 *
 * Layer: site, private to gridengine.c (the job that this process is in, and
 * the table of the system), gridengine_jobs.c (submitted jobs), and their
 * test. Each reader gets the whole output of a command; members it does not
 * find stay as they were.
 */
#ifndef BATS_SITE_GRIDENGINE_H
#define BATS_SITE_GRIDENGINE_H

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

extern const struct bats_batch_jobs bats_gridengine_jobs;

#endif
