/*
 * slurm_price: what a job of Slurm may ask for where it was handed in,
 * and what it will be billed.
 *
 * Layer: site, private to slurm_jobs.c.
 *
 * Source of the facts: `scontrol show partition`, `show assoc_mgr` and `sinfo`
 * of Slurm 22.05. A job that asks for more time than MaxTime of its partition
 * waits for ever, and so does one that asks for more than MaxWall: that of its
 * QOS, or if there is none that of its association, which shows what it has
 * inherited from the accounts above it. The QOS of a partition limits all of
 * its jobs. Where Slurm gives whole cores, a job is billed for all of their
 * threads, but shows only those that it asks for until it starts.
 */
#ifndef BATS_SITE_SLURM_PRICE_H
#define BATS_SITE_SLURM_PRICE_H

#include "site/job_system.h"

/* `job`: the output of `scontrol -o show job` for a waiting job. What Slurm
 * does not mention is not limited. */
struct bats_job_partition bats_slurm_partition(const char *job);

/* TRES of a job that waits has what it asks for (no billing: less than 1), also
 * where the partition or --exclusive makes whole nodes of it: then
 * OverSubscribe is NO, and *whole their number, else 0. Per hour; < 0: unknown.
 * The second function is for the output of `scontrol -o show partition`: the
 * rate of a node, a mean where they differ. */
double bats_slurm_read_rate(const char *job, uint32_t *whole);
double bats_slurm_read_node_rate(const char *partition);

/* See `price` of struct bats_job_system. */
int bats_slurm_price(const char *id, double *rate, bool *whole,
                     struct bats_job_partition *partition,
                     struct bats_error *err);

#endif
