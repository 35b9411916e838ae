/*
 * batch_system: what the program has to know of a batch system: how it is seen
 * that this is a job of its, and what such a job holds.
 *
 * Layer: site. Used inside site, and by src/run for the launcher.
 *
 * A batch system is a constant table of functions, one file, and a line in
 * batch_systems.c: src/doc/add-a-batch-system.md has the steps. Slurm is the
 * example, in slurm_system.c. Nothing else reads the variables of a batch
 * system or names it, but for the job scripts of `plan --sbatch`
 * (report/sbatch).
 */
#ifndef BATS_SITE_BATCH_SYSTEM_H
#define BATS_SITE_BATCH_SYSTEM_H

#include <stdbool.h>

#include "site/account.h"
#include "site/allocation.h"

struct bats_batch_system {
    const char *name;     /* for people: "Slurm" */
    const char *key;      /* in JSON: "slurm" */
    const char *currency; /* of the rates: "billing-h" */

    /* From the environment: the number of the job that this process is part
     * of. NULL: none. */
    const char *(*job)(void);

    /* From the environment, asked on every rank: the partition (queue) of the
     * part of the job that `host` belongs to. NULL: not known. */
    const char *(*partition)(const char *host);

    /* From the environment, asked before MPI is started: the system's own
     * launcher has started this process, so it sees how the process ends. */
    bool (*launched)(void);

    /* Fills in the allocation, but for system and job, which it has already:
     * a part and a node at least. Asked on rank 0 only. On failure end_s
     * counts where it is known from the environment, all else is released by
     * the caller. See bats_batch_ask. */
    int (*ask)(double threads_per_core, struct bats_allocation *allocation,
               struct bats_error *err);

    /* What may still be billed to the account of the job. BATS_EINPUT: the
     * system does not tell; the sentence ends with "give an amount".
     * NULL: it keeps no accounts. */
    int (*account)(const struct bats_allocation *allocation,
                   struct bats_account *account, struct bats_error *err);

    /* What the job has been billed so far, with all its earlier lives and
     * sizes, by the system's accounting. < 0: it does not say. NULL: it has
     * none. */
    double (*billed)(const struct bats_allocation *allocation);
};

/* All that are known, ended by NULL. */
extern const struct bats_batch_system *const bats_batch_systems[];

/* The first one that this process is in a job of. NULL: none. */
const struct bats_batch_system *bats_batch_system_here(void);

/* Asks the batch system whose job this is; to be in none is no error.
 * `threads_per_core` (>= 1) turns CPUs that are hardware threads into cores.
 * BATS_ESYS, BATS_ENOMEM: the system does not tell; then the allocation has
 * system and job, perhaps end_s, and no parts. */
int bats_batch_ask(double threads_per_core, struct bats_allocation *allocation,
                   struct bats_error *err);

/* The answers of the first system that has one. */
const char *bats_batch_partition(const char *host);
bool bats_batch_launched(void);

#endif
