/*
 * help: the option table as text for people, for man and for shells.
 *
 * Layer: cli. Used by main and by the verbs.
 */
#ifndef BATS_HELP_H
#define BATS_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/verbs.h"

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

/* ---- completion: what a shell offers for the word at the cursor. The scripts
 * for the shells are a few lines that ask the program, so they never differ
 * from the option table. ---- */

/* bats-mpi --completion SHELL: the script for bash, zsh or fish. False: another
 * shell. */
bool bats_complete_script(FILE *out, const char *shell);

/* bats-mpi --complete WORD...: what the last of the n words, which may be "",
 * can become, by the words before it, without the name of the program. A line
 * for each, with a tab and what it means. None: the shell offers files. */
void bats_complete_words(FILE *out, int n, char **words);

#endif
