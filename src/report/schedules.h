/*
 * schedules: the table of schedules to choose from, and the frontier, for
 * people and for programs.
 *
 * Layer: report. Used by `plan`, `sample` and `run --choose`. Functions that
 * return int: 0, or -1 if out of memory or writing failed.
 */
#ifndef BATS_SCHEDULES_H
#define BATS_SCHEDULES_H

#include <jansson.h>
#include <stdio.h>

#include "bats/estimate.h"

/* Prints the clusters: charge, mean runtime with its bounds, profitability,
 * machines. */
void bats_schedules_print_clusters(FILE *out, const struct bats_estimator *e);

/* Prints, after a blank line, the time of the longest chain of tasks on the
 * fastest of these clusters; nothing without dependencies. task: its n tasks
 * in order, counted from 0; n = 0: unknown. */
void bats_schedules_print_path(FILE *out, const struct bats_estimator *e,
                               const uint32_t *task, uint32_t n);

/* The same as JSON, to be decref'd: null without dependencies. NULL: out of
 * memory. */
json_t *bats_schedules_path_json(const struct bats_estimator *e,
                                 const uint32_t *task, uint32_t n);

/* The sentence alone; "" without dependencies. Returns `text`. */
const char *bats_schedules_path(char *text, size_t size,
                                const struct bats_estimator *e,
                                const uint32_t *task, uint32_t n);

/* Prints the `n` offers as a table, numbered from 1, and the meaning of its
 * figures. Machine-windows that do not fit into `width` become paragraphs. */
void bats_schedules_print(FILE *out, const struct bats_estimator *e,
                          const struct bats_schedule *schedules, size_t n,
                          int width);

/* The same offers as JSON objects, to be decref'd; NULL: out of memory. */
json_t *bats_schedules_json(const struct bats_estimator *e,
                            const struct bats_schedule *schedule);
json_t *bats_schedules_json_list(const struct bats_estimator *e,
                                 const struct bats_schedule *schedules,
                                 size_t n);

/* The members of a page about them (page.h), to be decref'd: offers, and a
 * frontier, the cheapest first. */
json_t *bats_schedules_page(const struct bats_estimator *e,
                            const struct bats_schedule *offers,
                            size_t n_offers,
                            const struct bats_schedule *frontier, size_t n);

/* "slow 32 for 4 windows, 9 of them for 5; fast 17 for 2"; "slow 32, fast 17"
 * where all are held for the same time; "no machines". Returns `text`. */
const char *bats_schedules_machines(char *text, size_t size,
                                    const struct bats_estimator *e,
                                    const struct bats_schedule *schedule);

enum bats_frontier_format {
    BATS_FRONTIER_TEXT,
    BATS_FRONTIER_CSV,
    BATS_FRONTIER_JSON
};

/* Prints the `n` schedules of a frontier, the cheapest first, one line for
 * each. */
int bats_schedules_print_frontier(FILE *out, const struct bats_estimator *e,
                                  const struct bats_schedule *schedules,
                                  size_t n, bool complete,
                                  enum bats_frontier_format format);

#endif
