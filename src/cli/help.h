/*
 * help: the option table as text for people and for man.
 *
 * Layer: cli. Used by main and by the verbs.
 */
#ifndef BATS_HELP_H
#define BATS_HELP_H

#include <stdio.h>

#include "cli/options.h"

/* bats-mpi --help. */
void bats_help_program(FILE *out);

/* bats-mpi VERB --help. */
void bats_help_verb(FILE *out, enum bats_verb verb);

/* bats-mpi --version. `library`: one line about the MPI library. */
void bats_help_version(FILE *out, const char *library);

/* The man page, roff with the an macros. */
void bats_help_man(FILE *out);

/* That of one verb, bats-mpi-VERB. */
void bats_help_man_verb(FILE *out, enum bats_verb verb);

#endif
