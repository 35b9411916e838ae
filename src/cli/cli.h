/*
 * cli: the verbs of bats-mpi and its exit codes.
 *
 * Layer: cli. Only this layer prints messages and decides the exit code.
 */
#ifndef BATS_CLI_H
#define BATS_CLI_H

#include "bats/error.h"

#ifndef BATS_VERSION
#define BATS_VERSION "0.1"
#endif

enum bats_exit {
    BATS_EXIT_OK = 0,       /* all tasks done */
    BATS_EXIT_FAILED = 1,   /* some tasks failed */
    BATS_EXIT_USAGE = 2,    /* usage or bad input */
    BATS_EXIT_SYSTEM = 3,   /* the system failed */
    BATS_EXIT_BUDGET = 4,   /* budget exhausted, tasks are left */
    BATS_EXIT_DEADLINE = 5, /* deadline reached, tasks are left */
    BATS_EXIT_SHRINK = 6    /* to go on with fewer nodes, tasks are left */
    /* 128 + signal after an orderly stop */
};

/* One per verb. argv[0] is not looked at, what follows are the verb's options
 * and arguments. The result is the exit code. */
int cmd_run(int argc, char **argv);
int cmd_sample(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_simulate(int argc, char **argv);
int cmd_clusters(int argc, char **argv);
int cmd_output(int argc, char **argv);

int cmd_status(int argc, char **argv);
int cmd_log(int argc, char **argv);
int cmd_tasks(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_record(int argc, char **argv);

/* Says this on standard error, as the program. */
void bats_say(const char *sentence);

/* The exit code for the error `code` of a library function. */
int bats_exit_of(int code);

/* Says the error, and returns its exit code. */
int bats_complain(const struct bats_error *err);

#endif
