/*
 * slurm: the resources of a Slurm job, their end, and the amount that Slurm
 * bills.
 * Layer: site, private to slurm_system.c, which asks scontrol.
 * Source of the facts: `scontrol show job -d`, `show partition` and `show
 * node` (Slurm 20 and later). Model: Slurm bills a job for the TRES it holds,
 * each times its weight (slurm.conf, TRESBillingWeights), per hour. If a
 * partition has no weights, this program takes 1 for each core. If the sum
 * over the nodes differs from the amount that Slurm itself reports for the job
 * (it may take the largest weight instead of the sum), Slurm's amount is used,
 * and the nodes share it in proportion.
 */
#ifndef BATS_SITE_SLURM_H
#define BATS_SITE_SLURM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "site/allocation.h"
#include "site/query.h"

#define BATS_SLURM_WEIGHTS 256

/* A job, or one component of a heterogeneous job. */
struct bats_slurm_part {
    char partition[BATS_NODE_PARTITION];
    char weights[BATS_SLURM_WEIGHTS]; /* TRESBillingWeights; "": none */
    bool exclusive;                   /* its nodes are its own */
    double billing;                   /* by Slurm, per hour; < 0: not known */
    int64_t start_s;                  /* since 1970; 0: not known */
    int64_t end_s;                    /* since 1970; 0: no limit */
};

struct bats_slurm_node {
    char host[BATS_NODE_HOST];
    uint32_t part;
    uint32_t cpus; /* held by the job on this node */
    double memory_mb;
    char gres[64]; /* as Slurm writes it, "gpu:2" */
    bool whole;    /* the job holds all of it */
    double rate;   /* billed per hour */
};

/* All zero: no job. Release with bats_slurm_release. */
struct bats_slurm {
    char job[BATS_ALLOCATION_NAME]; /* its number */
    char account[BATS_ALLOCATION_NAME];
    char qos[BATS_ALLOCATION_NAME];
    char user[BATS_ALLOCATION_NAME];
    uint32_t restarts;
    int64_t submitted_s; /* since 1970: when it was queued, the last time */
    struct bats_slurm_part *parts;
    size_t n_parts;
    struct bats_slurm_node *nodes;
    size_t n_nodes;
};

void bats_slurm_release(struct bats_slurm *slurm);

const struct bats_slurm_node *bats_slurm_find(const struct bats_slurm *slurm,
                                              const char *host);

/* The first end of a part, seconds since 1970; 0: none has one. */
int64_t bats_slurm_end(const struct bats_slurm *slurm);

/* The amount that Slurm reports for the whole job per hour. */
double bats_slurm_billing(const struct bats_slurm *slurm);

/* Parses the output of `scontrol show job -d -o`: everything but weights,
 * whole and rate. BATS_ENOMEM; BATS_EINPUT: it is something else. */
int bats_slurm_read_job(const char *text, struct bats_slurm *slurm,
                        struct bats_error *err);

/* The billed hours, summed over the records of all lives and sizes of a job in
 * the output of `sacct -D -X -n -P -o ElapsedRaw,AllocTRES`; < 0: no
 * record. */
double bats_slurm_read_billed(const char *text);

/* From `scontrol show partition -o`: the weights of the partition's parts. */
void bats_slurm_read_partition(const char *text, struct bats_slurm *slurm);

/* Parses `scontrol show node -o`: which nodes are held as a whole. */
void bats_slurm_read_nodes(const char *text, struct bats_slurm *slurm);

/* Computes the rates of all nodes. */
void bats_slurm_bill(double threads_per_core, struct bats_slurm *slurm);

/* The command for nodes that are DRAINING (jobs still run there) or DRAINED, by
 * the names that they give themselves. */
void bats_slurm_draining(struct bats_argv *argv);

/* Parses the output of `scontrol show config`. BATS_EINPUT: it is something
 * else, or the site has no time limits. */
struct bats_job_rules;
int bats_slurm_read_rules(const char *text, struct bats_job_rules *rules,
                          struct bats_error *err);

#endif
