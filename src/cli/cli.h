/*
 * cli: the verbs of bats-mpi and its exit codes.
 *
 * Layer: cli. Only this layer prints messages and decides the exit code.
 */
#ifndef BATS_CLI_H
#define BATS_CLI_H

#include "bats/error.h"
#include "report/finish.h" /* enum bats_exit */

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

/* Prints the sentence on standard error, after the name of the program. */
void bats_say(const char *sentence);

/* The exit code for the error `code` of a library function. */
int bats_exit_of(int code);

/* Prints the error, and returns its exit code. */
int bats_complain(const struct bats_error *err);

#endif
