/*
 * cli: the verbs of bats-mpi and its exit codes.
 *
 * Layer: cli. Only this layer prints messages and decides the exit code.
 */
#ifndef BATS_CLI_H
#define BATS_CLI_H

#include "bats/error.h"
#include "cli/options.h"
#include "report/finish.h" /* enum bats_exit */
#include "report/words.h"

#ifndef BATS_VERSION
#define BATS_VERSION "0.1"
#endif

/* One per verb. argv[0] is ignored; the verb's options and arguments follow
 * it. Returns the exit code. */
int cmd_run(int argc, char **argv);
int cmd_alloc(int argc, char **argv);
int cmd_sample(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_simulate(int argc, char **argv);
int cmd_frontier(int argc, char **argv);
int cmd_clusters(int argc, char **argv);
int cmd_output(int argc, char **argv);
int cmd_worker(int argc, char **argv);

int cmd_status(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_log(int argc, char **argv);
int cmd_tasks(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_history(int argc, char **argv);

/* Prints the sentence on standard error, after the name of the program. */
void bats_say(const char *sentence);

/* The same for a formatted one, which may quote anything. */
#define bats_tell(...) bats_words_line(stderr, "bats-mpi: " __VA_ARGS__)

/* The exit code for the error `code` of a library function. */
int bats_exit_of(int code);

/* Prints the error, and returns its exit code. */
int bats_complain(const struct bats_error *err);

/* A part of a verb: 0, an error, or above 0 an exit code, if all is said. */
typedef int bats_act(const struct bats_settings *set, void *context,
                     struct bats_error *err);

/* Finds what is wrong with the options, and may complete them. */
typedef int bats_check(struct bats_settings *set, void *context,
                       struct bats_error *err);

/* The frame of a verb that starts no ranks: reads its options, answers --help,
 * lets `check` (or NULL) find what is wrong with them and `act` carry it out,
 * and reports errors, also of standard output. Returns the exit code. */
int bats_carry_out(enum bats_verb verb, int argc, char **argv,
                   bats_check *check, bats_act *act, void *context);

/* BATS_ESYS: what was printed could not be written. */
int bats_flush(struct bats_error *err);

#endif
