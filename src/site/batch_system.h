/*
 * batch_system: the interface to a batch system: how to detect a job of it,
 * and how to ask for the job's resources.
 *
 * Layer: site. Used inside site, and by src/run for the launcher.
 *
 * A batch system is a constant table of functions, one file, and a line in
 * batch_systems.c: src/doc/add-a-batch-system.md has the steps. Slurm is the
 * example, in slurm_system.c. Nothing else reads the variables of a batch
 * system or names it, except the job scripts of `plan --sbatch`
 * (report/sbatch).
 */
#ifndef BATS_SITE_BATCH_SYSTEM_H
#define BATS_SITE_BATCH_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "site/account.h"
#include "site/allocation.h"
#include "site/query.h"

struct bats_batch_system {
    const char *name;     /* for people: "Slurm" */
    const char *key;      /* in JSON: "slurm" */
    const char *currency; /* currency of the rates: "billing-h" */

    /* From the environment: the number of the job that this process is part
     * of. NULL: none. */
    const char *(*job)(void);

    /* From the environment, asked on every rank: the partition (queue) of the
     * part of the job that `host` belongs to. NULL: unknown. */
    const char *(*partition)(const char *host);

    /* From the environment, asked before MPI is started: the system's own
     * launcher has started this process, so it notices how the process
     * ends. */
    bool (*launched)(void);

    /* From the environment: the memory that the job asked for each process, in
     * KiB; 0: it is not known. NULL: the system does not tell. */
    int64_t (*memory)(void);

    /* Fills in the allocation, except system and job, which are set already:
     * at least one part and one node. Asked on rank 0 only. On failure end_s
     * counts if it is known from the environment, and the caller releases the
     * rest. See bats_batch_ask. */
    int (*ask)(double threads_per_core, struct bats_allocation *allocation,
               struct bats_error *err);

    /* The amount that may still be billed to the job's account. BATS_EINPUT:
     * the system does not tell; the sentence ends with "give an amount". NULL:
     * it keeps no accounts. */
    int (*account)(const struct bats_allocation *allocation,
                   struct bats_account *account, struct bats_error *err);

    /* The bill of the job so far, with all its earlier lives and sizes, by
     * the system's accounting. < 0: it does not say. NULL: it has none. */
    double (*billed)(const struct bats_allocation *allocation);

    /* Adds the words of a command that prints the hosts that are to leave
     * service, one in a line. NULL: it does not tell. */
    void (*draining)(struct bats_argv *argv);
};

/* All known systems, ended by NULL. */
extern const struct bats_batch_system *const bats_batch_systems[];

/* The first one with a job that this process is in. NULL: none. */
const struct bats_batch_system *bats_batch_system_here(void);

/* Asks the batch system of this job; being in no job is not an error.
 * `threads_per_core` (>= 1) converts CPUs that are hardware threads into
 * cores. BATS_ESYS, BATS_ENOMEM: the system gives no answer; then the
 * allocation has system and job, perhaps end_s, and no parts. */
int bats_batch_ask(double threads_per_core, struct bats_allocation *allocation,
                   struct bats_error *err);

/* The answer of the first system that has one. */
const char *bats_batch_partition(const char *host);
bool bats_batch_launched(void);
int64_t bats_batch_memory(void);

#endif
