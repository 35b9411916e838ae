/* See estimate.h: the names of the schedules. */
#include <stdlib.h>
#include <string.h>

#include "bats/estimate.h"

const char *bats_offer_name(enum bats_offer offer)
{
    static const char *const names[BATS_OFFERS] = {
        "cheapest",    "cheapest+10%", "cheapest+20%",
        "fastest-20%", "fastest-10%",  "fastest"};

    return offer < BATS_OFFERS ? names[offer] : "";
}

int bats_choice_parse(const char *text, struct bats_choice *choice,
                      struct bats_error *err)
{
    for (int i = 0; i < BATS_OFFERS; i++) {
        char place[2] = {(char)('1' + i), '\0'};
        if (strcmp(text, bats_offer_name((enum bats_offer)i)) != 0 &&
            strcmp(text, place) != 0)
            continue;
        *choice = (struct bats_choice){.offer = (enum bats_offer)i};
        return 0;
    }
    return bats_error_set(err, BATS_EINPUT,
                          "invalid value '%.60s'; expected one of cheapest, "
                          "cheapest+10%%, cheapest+20%%, fastest-20%%, "
                          "fastest-10%%, fastest and 1 to %d",
                          text, BATS_OFFERS);
}

int bats_estimate_choose(const struct bats_estimator *e,
                         const struct bats_choice *choice,
                         struct bats_schedule *schedule,
                         struct bats_error *err)
{
    struct bats_schedule offers[BATS_OFFERS];

    if (choice->offer == BATS_OFFER_BUDGET)
        return bats_estimate_for_budget(e, choice->budget, schedule, err);
    if (choice->offer == BATS_OFFER_DEADLINE)
        return bats_estimate_for_deadline(e, choice->deadline, schedule, err);
    int rc = bats_estimate_offers(e, offers, err);
    if (rc < 0)
        return rc;
    const struct bats_schedule *chosen = &offers[choice->offer];
    if (!chosen->plan.feasible)
        return bats_estimate_for_budget(e, chosen->budget, schedule, err);
    *schedule = *chosen;
    return 0;
}
