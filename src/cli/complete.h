/*
 * complete: what a shell offers for the word at the cursor.
 *
 * Layer: cli. Used by main. The scripts for the shells are a few lines that ask
 * the program, so they never differ from the option table.
 */
#ifndef BATS_COMPLETE_H
#define BATS_COMPLETE_H

#include <stdbool.h>
#include <stdio.h>

/* bats-mpi --completion SHELL: the script for bash, zsh or fish. False: another
 * shell. */
bool bats_complete_script(FILE *out, const char *shell);

/* bats-mpi --complete WORD...: what the last of the n words, which may be "",
 * can become, by the words before it, without the name of the program. A line
 * for each, with a tab and what it means. None: the shell offers files. */
void bats_complete_words(FILE *out, int n, char **words);

#endif
