/*
 * choice: the names of schedules (estimate.h), for those who pass them on.
 *
 * Layer: estimate.
 */
#ifndef BATS_CHOICE_H
#define BATS_CHOICE_H

#include <stdint.h>

#include "bats/error.h"
#include "bats/units.h"

/* The kinds of schedules, and the policy that carries them out. */
enum bats_plans {
    BATS_PLANS_WINDOWS,        /* policy bats */
    BATS_PLANS_CONFIGURATIONS, /* policy bkp */
    BATS_PLANS_ALLOCATION      /* a job that is billed for all that it holds */
};

enum bats_offer {
    BATS_OFFER_CHEAPEST,
    BATS_OFFER_CHEAPEST_10, /* cheapest+10% */
    BATS_OFFER_CHEAPEST_20,
    BATS_OFFER_FASTEST_20, /* fastest-20% */
    BATS_OFFER_FASTEST_10,
    BATS_OFFER_FASTEST,
    BATS_OFFERS,
    /* not in the list: made for a given budget */
    BATS_OFFER_BUDGET = BATS_OFFERS,
    BATS_OFFER_DEADLINE, /* or for a deadline */
    BATS_OFFER_NONE,     /* none of these */
    /* of machine-windows, with cheapest and fastest */
    BATS_OFFER_CHEAPER,
    BATS_OFFER_BALANCED,
    BATS_OFFER_FASTER,
    BATS_OFFER_STRATEGY, /* of the policy expert, for its tail */
    BATS_OFFER_KINDS     /* records have these numbers */
};

struct bats_choice {
    enum bats_offer offer;
    bats_money budget;  /* for BATS_OFFER_BUDGET */
    bats_time deadline; /* for BATS_OFFER_DEADLINE */
    uint32_t strategy;  /* for BATS_OFFER_STRATEGY: its place in the offers of
                           bats_sched_strategies */
};

/* "cheapest", "cheapest+10%" ..., "fastest"; "" for those without a name. */
const char *bats_offer_name(enum bats_offer offer);

/* Parses one of the names that there are by such rules. BATS_EINPUT with a
 * sentence that lists them. A name that is not among the schedules on offer,
 * since two are the same, is that one. */
int bats_choice_parse(enum bats_plans plans, const char *text,
                      struct bats_choice *choice, struct bats_error *err);

#endif
