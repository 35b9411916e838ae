/*
 * strategies: the table of time and cost of strategies (bats/strategy.h), for
 * people and for programs.
 *
 * Layer: report. Used by the verb frontier.
 */
#ifndef BATS_REPORT_STRATEGIES_H
#define BATS_REPORT_STRATEGIES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bats/plays.h"

/* Criteria; one candidate may be best for several. */
enum bats_mark {
    BATS_MARK_CHEAPEST,
    BATS_MARK_FASTEST,
    BATS_MARK_PRODUCT,
    BATS_MARK_BUDGET,
    BATS_MARK_DEADLINE,
    BATS_MARK_UTILITY,
    BATS_MARKS
};

struct bats_strategies {
    const char *name; /* of the pools' file */
    const char *currency;
    const struct bats_plays_model *model;
    uint32_t n_plays;
    struct bats_candidate *list;
    size_t n, n_grid; /* the static ones follow the grid */
    bool asked[BATS_MARKS];
    size_t best[BATS_MARKS]; /* n: none */
};

void bats_strategies_print(FILE *out, const struct bats_strategies *s);
void bats_strategies_print_csv(FILE *out, const struct bats_strategies *s);

/* The members of a page about them (page.h): "strategies", "plays",
 * "currency". To be decref'd; NULL: out of memory. */
json_t *bats_strategies_page(const struct bats_strategies *s);

json_t *bats_strategies_json(const struct bats_strategies *s,
                             const struct bats_candidate *candidate);

#endif
