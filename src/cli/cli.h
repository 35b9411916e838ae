/*
 * cli: the messages of bats-mpi and its exit codes.
 *
 * Layer: cli. Only this layer prints messages and decides the exit code.
 */
#ifndef BATS_CLI_H
#define BATS_CLI_H

#include "bats/error.h"
#include "cli/options.h"
#include "report/words.h"

#ifndef BATS_VERSION
#error "the Makefile defines BATS_VERSION"
#endif

/* Prints the sentence on standard error, after the name of the program. */
void bats_say(const char *sentence);

/* The same for a formatted sentence, which may quote untrusted text. */
#define bats_tell(...) bats_words_line(stderr, "bats-mpi: " __VA_ARGS__)

/* The exit code for the error `code` of a library function. */
int bats_exit_of(int code);

/* Prints the error, and returns its exit code. */
int bats_complain(const struct bats_error *err);

/* BATS_ESYS: standard output could not be written. */
int bats_flush(struct bats_error *err);

/*
 * A verb ends at its first error. bats_must ends the program with the sentence
 * in bats_why and its exit code if `rc`, of a function that was given
 * &bats_why, is negative; else it returns `rc`. bats_have ends it if there is
 * no memory; else it returns the memory. bats_die ends it with the formatted
 * sentence, which may quote untrusted text, and the exit code of the error
 * `code`.
 */
extern struct bats_error bats_why;
int bats_must(int rc);
void *bats_have(void *memory);
void bats_die(int code, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* Calls `end` before one of these ends the program; it gets the exit code, and
 * returns the one to use. NULL: nothing is called. */
void bats_at_death(int (*end)(void *context, int code), void *context);

/* ---- jobs.c: --jobs, the number of workers or threads on this machine ---- */

/* Returns `jobs`, or for 0 the number of cores that this process may use. */
uint32_t bats_jobs_count(uint32_t jobs);

/* Starts the ranks of a run: by MPI if a launcher has started several, else
 * the workers of --jobs (run/forked.c). Rank 0 continues as `master`, unless
 * the options are wrong: then it reports *usage, which is also set if --jobs
 * is given beside a launcher. The other ranks work until they are dismissed.
 * Returns the exit code of this rank. */
int bats_jobs_run(enum bats_verb verb, struct bats_settings *set, int argc,
                  char **argv, struct bats_error *usage,
                  int (*master)(enum bats_verb verb,
                                struct bats_settings *set));

#endif
