/*
 * choice: names of schedules (estimate.h), for code that only passes them on.
 *
 * Layer: estimate.
 */
#ifndef BATS_CHOICE_H
#define BATS_CHOICE_H

#include "bats/error.h"
#include "bats/units.h"

/* Kinds of schedules, with the policy that carries them out. */
enum bats_plans {
    BATS_PLANS_WINDOWS,        /* policy bats */
    BATS_PLANS_CONFIGURATIONS, /* policy bkp */
    BATS_PLANS_ALLOCATION      /* a job billed for all it holds */
};

enum bats_offer {
    BATS_OFFER_CHEAPEST,
    BATS_OFFER_CHEAPEST_10, /* cheapest+10% */
    BATS_OFFER_CHEAPEST_20,
    BATS_OFFER_FASTEST_20, /* fastest-20% */
    BATS_OFFER_FASTEST_10,
    BATS_OFFER_FASTEST,
    BATS_OFFERS,
    /* not listed: made for a given budget */
    BATS_OFFER_BUDGET = BATS_OFFERS,
    BATS_OFFER_DEADLINE, /* or for a deadline */
    BATS_OFFER_NONE,     /* none of these */
    /* of machine-windows, with cheapest and fastest */
    BATS_OFFER_CHEAPER,
    BATS_OFFER_BALANCED,
    BATS_OFFER_FASTER,
    BATS_OFFER_KINDS /* recorded as these numbers */
};

struct bats_choice {
    enum bats_offer offer;
    bats_money budget;  /* for BATS_OFFER_BUDGET */
    bats_time deadline; /* for BATS_OFFER_DEADLINE */
};

/* "cheapest", "cheapest+10%" ..., "fastest"; "" if it has no name. */
const char *bats_offer_name(enum bats_offer offer);

/* Parses one of the names that exist for these plans. BATS_EINPUT with a
 * sentence that lists them. A name that is not on offer, because two schedules
 * are the same, means that one. */
int bats_choice_parse(enum bats_plans plans, const char *text,
                      struct bats_choice *choice, struct bats_error *err);

#endif
