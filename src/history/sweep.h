/*
 * sweep: a sweep's runtimes by its numeric parameters, as kept in the history,
 * and predictions for other points.
 *
 * Layer: history. Used by cli. The model is that of bats/factors.h, from the
 * last bags of a kind with the same parameter names; later ones have more
 * weight.
 */
#ifndef BATS_HISTORY_SWEEP_H
#define BATS_HISTORY_SWEEP_H

#include "bats/error.h"
#include "bats/factors.h"
#include "history/kinds.h"

#define BATS_PAST_NAMES 160 /* bytes of the names of all parameters */

struct bats_past; /* history/store.h */

struct bats_past_sweep {
    char names[BATS_PAST_NAMES]; /* "n,rate": one line */
    struct bats_factors sums;    /* of seconds */
};

/* As text: the names, and a line of numbers. For free(). NULL: out of
 * memory. */
char *bats_past_sweep_text(const struct bats_past_sweep *sweep);

/* Parses that text. For free(). NULL: out of memory, or not such a text. */
struct bats_past_sweep *bats_past_sweep_parse(const char *text);

/* The model of a kind, and its predictions for the bag's points. */
struct bats_past_model {
    struct bats_factor_model model; /* in seconds; may be missing */
    double mean, cv;                /* of its predictions for the bag's
                                       points */
};

/* Fits the models of the kinds, for a bag with these parameter names.
 * BATS_ENOMEM. */
int bats_history_models(const struct bats_past *past,
                        const struct bats_task_kinds *kinds, const char *names,
                        struct bats_past_model *models,
                        struct bats_error *err);

#endif
