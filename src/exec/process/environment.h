/*
 * environment: the environment of a task.
 * Layer: exec. Used by runner. Model: the environment of the process that runs
 * tasks, without the variables that an MPI launcher set for that process alone
 * (Open MPI, PMIx, Hydra, Slurm's step and rank), plus the variables that the
 * caller adds. So a task that is itself an MPI program starts as if from a
 * terminal. Variables that describe the whole job (SLURM_JOB_ID) stay.
 */
#ifndef BATS_ENVIRONMENT_H
#define BATS_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "bats/error.h"
#include "util/text.h"

struct bats_environment {
    char **clean; /* copies it owns */
    size_t n;
    char **merged; /* the latest result of bats_environment_merge */
    size_t capacity;
};

/* True if the variable ("NAME=value") is not one of a launcher. */
bool bats_environment_keeps(const char *entry);

/* Copies `from` ("NAME=value", NULL-terminated) without the launcher's
 * variables. BATS_ENOMEM. */
int bats_environment_init(struct bats_environment *environment,
                          char *const *from, struct bats_error *err);
void bats_environment_release(struct bats_environment *environment);

/*
 * Merges the clean environment with `added` (NULL-terminated, or NULL), which
 * takes precedence. Valid until the next merge and as long as `added`. NULL:
 * out of memory.
 */
char **bats_environment_merge(struct bats_environment *environment,
                              const char *const *added);

/* The variables of a text, each with its NUL, as a NULL-terminated array for
 * free(). NULL: memory is short, or was for the text. */
const char **bats_environment_list(const struct bats_text *variables);

#endif
