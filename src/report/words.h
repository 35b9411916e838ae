/*
 * words: phrases shared by the progress line and the closing report.
 *
 * Layer: report. A short phrase is returned as a value, for an argument of
 * printf: bats_words_count(2, "task").s lives as long as the call. A long one
 * is written into `text` of `size` bytes, which is returned. Text that does
 * not fit is cut off.
 */
#ifndef BATS_WORDS_H
#define BATS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bats/rules.h"
#include "report/snapshot.h"
#include "util/encode.h"

struct bats_phrase {
    char s[96];
};

/* "588 SU", or "588" if the currency has no name; "588" of an amount alone. */
struct bats_phrase bats_words_money(bats_money amount, const char *currency);
struct bats_phrase bats_words_amount(bats_money amount);

/* As bats_duration_format does it: "3h48m". */
struct bats_phrase bats_words_duration(bats_time time);

/* A moment of the run in whole seconds: "0s", "1h5m". */
struct bats_phrase bats_words_moment(bats_time time);

/* A moment by the local clock, microseconds since 1970: "2026-11-22
 * 18:30:00". */
struct bats_phrase bats_words_clock(int64_t us);

/* An estimated time, microseconds, to the second: "3h48m". */
struct bats_phrase bats_words_makespan(double us);

/* "exit 3", "signal 9 (KILL)", "timed out", "too long" or "out of memory"
 * (util/usage.h). */
struct bats_phrase bats_words_end(int exit_status, int signal);

/* "7.9/min", or "7.9 tasks/min": per the smallest unit of time with at least
 * one task. */
struct bats_phrase bats_words_rate(double per_hour, const char *noun);

/* "1 task", "2 tasks". */
struct bats_phrase bats_words_count(uint64_t n, const char *noun);

/* "slow 32, fast 25" with `separator` for ", "; leaves out clusters without
 * machines; "no machines" if all are left out. */
const char *bats_words_machines(char *text, size_t size,
                                const struct bats_cluster *clusters, size_t n,
                                const uint32_t *machines,
                                const char *separator);

/* "every cluster sampled: slow 32, fast 25 for 4 windows, 784 tasks left":
 * a decision. */
const char *bats_words_decision(char *text, size_t size,
                                const struct bats_platform *platform,
                                const struct bats_decision *d);

/* Whether decision `i` of the list is shown to people. A plan that is replaced
 * before any of it is carried out is not, nor is its replacement if the same
 * machines are kept as before both. */
bool bats_words_counts(const struct bats_platform *platform,
                       const struct bats_decision *list, size_t n, size_t i);

/* Cause and remedy, appended to an end if there is room: ": it did not end
 * within ..."; or "". Static. */
const char *bats_words_advice(int exit_status);

/* Prints `text` wrapped at blanks to lines of at most `width`; all but the
 * first are indented by `indent` blanks. column: where the first line begins.
 * Ends with a newline. */
void bats_words_wrap(FILE *out, const char *text, int column, int indent,
                     int width);

/* Number of bytes of the encoded `text` in its first `columns` columns; a
 * UTF-8 character takes one column. */
int bats_words_cut(const char *text, int columns);

/* Prints the formatted text as one line, encoded for a terminal, and a
 * newline. Use it for all text that quotes a bag, a record, a file or a
 * host. */
void bats_words_line(FILE *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints `text` encoded. */
void bats_words_put(FILE *out, enum bats_encoding encoding, const char *text);

/* ---- the end of a run ---- */

enum bats_exit {
    BATS_EXIT_OK = 0,      /* all tasks done */
    BATS_EXIT_FAILED = 1,  /* some tasks failed */
    BATS_EXIT_USAGE = 2,   /* usage or bad input */
    BATS_EXIT_SYSTEM = 3,  /* the system failed */
    BATS_EXIT_BUDGET = 4,  /* budget exhausted, tasks are left */
    BATS_EXIT_DEADLINE = 5 /* out of time, tasks are left */
    /* 128 + signal after an orderly stop */
};

/* A row for each reason for the end of a run. (The record has names of its own,
 * which belong to its format: record/schema.c.) */
struct bats_finish_row {
    const char *key;      /* in JSON and CSV: "budget_exhausted" */
    const char *sentence; /* "budget exhausted" */
    enum bats_exit exit;
};

/* The row of a run in which this many tasks have failed for good, or were
 * skipped. */
const struct bats_finish_row *bats_finish_row(enum bats_finish finish,
                                              uint32_t failed);

/* Marks a figure of a cluster with too few successful tasks for bounds; and
 * the line that explains the mark below such a table. */
#define BATS_WORDS_GUESS "~"
#define BATS_WORDS_GUESSED                                                    \
    "~ is a guess: at most one task has succeeded there.\n"

#endif
