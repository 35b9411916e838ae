/*
 * slurm_limits: what a job of Slurm may ask for where it was handed in.
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
#ifndef BATS_SITE_SLURM_LIMITS_H
#define BATS_SITE_SLURM_LIMITS_H

#include "site/job_system.h"

/* `job`: what `scontrol -o show job` prints of a job that waits. What Slurm
 * does not tell is no limit. */
struct bats_job_partition bats_slurm_partition(const char *job);

#endif
