/*
 * words: the phrases that progress and closing report share.
 *
 * Layer: report. Each function writes into `text` (of `size` bytes, or of
 * BATS_UNITS_TEXT if there is no size) and returns it; text that does not fit
 * is cut off.
 */
#ifndef BATS_WORDS_H
#define BATS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/snapshot.h"
#include "util/encode.h"

/* "588 SU", or "588" if the currency has no name. */
const char *bats_words_money(char *text, size_t size, bats_money amount,
                             const char *currency);

/* A moment of the run in whole seconds: "0s", "1h5m". */
const char *bats_words_moment(char *text, bats_time time);

/* An estimated time, microseconds, to the second: "3h48m". */
const char *bats_words_makespan(char *text, double us);

/* "slow 32, fast 25" with `separator` for ", "; leaves out clusters without
 * machines; "no machines" if all are left out. */
const char *bats_words_machines(char *text, size_t size,
                                const struct bats_cluster *clusters, size_t n,
                                const uint32_t *machines,
                                const char *separator);

/* "slow 32 for 4 windows, 9 of them for a 5th; fast 17 for 2"; "no
 * machines". */
const char *bats_words_held(char *text, size_t size,
                            const struct bats_estimator *e,
                            const struct bats_schedule *schedule);

/* "every cluster sampled: slow 32, fast 25 for 4 windows, 784 tasks left". */
const char *bats_words_decision(char *text, size_t size,
                                const struct bats_platform *platform,
                                const struct bats_decision *decision);

/* The same, of decision `i` of a list: how much later and dearer it is than
 * the one before. */
const char *bats_words_listed(char *text, size_t size,
                              const struct bats_platform *platform,
                              const struct bats_decision *list, size_t n,
                              size_t i);

/* For people decision `i` of the list is one: of a plan that another replaces
 * before anything is carried out, only the other is, and neither if the machines
 * are kept that were kept before both. */
bool bats_words_counts(const struct bats_platform *platform,
                       const struct bats_decision *list, size_t n, size_t i);

/* "exit 3", "signal 9 (KILL)", "timed out" or "too long" (util/usage.h). */
const char *bats_words_end(char *text, size_t size, int exit_status,
                           int signal);

/* A cause and remedy that follow it where there is room: ": it did not end
 * within ..."; or "". Static. */
const char *bats_words_advice(int exit_status);

/* "1 task", "2 tasks". */
const char *bats_words_count(char *text, size_t size, uint64_t n,
                             const char *noun);

/* Prints `text` broken at blanks so that no line is longer than `width`; all
 * lines but the first are indented by `indent` blanks. `column` is where the
 * first one begins. Ends with a newline. */
void bats_words_wrap(FILE *out, const char *text, int column, int indent,
                     int width);

/* Bytes of `text`, which is encoded, in its first `columns` columns: characters
 * of UTF-8 are taken as one each. */
int bats_words_cut(const char *text, int columns);

/* Prints the formatted text as one line, encoded for a terminal, and a
 * newline. Use it for all text that quotes a bag, a record, a file or a
 * host. */
void bats_words_line(FILE *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints `text` encoded. */
void bats_words_put(FILE *out, enum bats_encoding encoding, const char *text);

/* The mark of a figure of a cluster on which no task has succeeded, or too few
 * for bounds, and the line that explains it below such a table. */
#define BATS_WORDS_GUESS "~"
#define BATS_WORDS_GUESSED                                                    \
    "~ is a guess: at most one task has succeeded there.\n"

#endif
