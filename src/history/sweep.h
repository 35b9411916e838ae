/*
 * sweep: runtimes of a sweep by its numeric parameters, as the history keeps
 * them, and what they predict for other points.
 *
 * Layer: history. Used by cli. The model is that of bats/factors.h, from the
 * last bags of a kind that have parameters of the same names, the later the
 * more.
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

/* As text: the names, and a line of numbers. NULL: no memory. For free(). */
char *bats_past_sweep_text(const struct bats_past_sweep *sweep);

/* Parses that text. NULL: no memory, or another text. For free(). */
struct bats_past_sweep *bats_past_sweep_parse(const char *text);

/* How a bag's points are: of those of one kind, and of what its model says. */
struct bats_past_model {
    struct bats_factor_model model; /* in seconds; may not be there */
    double mean, cv;                /* of what it says of the bag's points */
};

/* The models of the kinds, for a bag whose parameters have these names.
 * BATS_ENOMEM. */
int bats_history_models(const struct bats_past *past,
                        const struct bats_task_kinds *kinds, const char *names,
                        struct bats_past_model *models,
                        struct bats_error *err);

#endif
