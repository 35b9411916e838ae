/*
 * finish: a row for each reason for the end of a run, with its name for
 * programs, its words for people and the exit code of bats-mpi.
 *
 * Layer: report. Used by all code that reports the end of a run; cli/cli.h
 * adopts the exit codes. The record has names of its own, which belong to its
 * format (record/schema.c).
 */
#ifndef BATS_FINISH_H
#define BATS_FINISH_H

#include "bats/rules.h"

enum bats_exit {
    BATS_EXIT_OK = 0,      /* all tasks done */
    BATS_EXIT_FAILED = 1,  /* some tasks failed */
    BATS_EXIT_USAGE = 2,   /* usage or bad input */
    BATS_EXIT_SYSTEM = 3,  /* the system failed */
    BATS_EXIT_BUDGET = 4,  /* budget exhausted, tasks are left */
    BATS_EXIT_DEADLINE = 5 /* out of time, tasks are left */
    /* 128 + signal after an orderly stop */
};

struct bats_finish_row {
    const char *key;      /* in JSON and CSV: "budget_exhausted" */
    const char *sentence; /* "budget exhausted" */
    enum bats_exit exit;
};

/* The row of a run in which this many tasks have failed for good, or were
 * skipped. */
const struct bats_finish_row *bats_finish_row(enum bats_finish finish,
                                              uint32_t failed);

#endif
