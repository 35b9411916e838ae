/* See estimate.h: the names of the schedules. */
#include "estimate/plans.h"

#include <stdlib.h>
#include <string.h>

const char *bats_offer_name(enum bats_offer offer)
{
    static const char *const names[BATS_OFFER_KINDS] = {
        [BATS_OFFER_CHEAPEST] = "cheapest",
        [BATS_OFFER_CHEAPEST_10] = "cheapest+10%",
        [BATS_OFFER_CHEAPEST_20] = "cheapest+20%",
        [BATS_OFFER_FASTEST_20] = "fastest-20%",
        [BATS_OFFER_FASTEST_10] = "fastest-10%",
        [BATS_OFFER_FASTEST] = "fastest",
        [BATS_OFFER_CHEAPER] = "cheaper",
        [BATS_OFFER_BALANCED] = "balanced",
        [BATS_OFFER_FASTER] = "faster"};

    return offer < BATS_OFFER_KINDS && names[offer] ? names[offer] : "";
}

static bool is_same(const struct bats_schedule *a,
                    const struct bats_schedule *b)
{
    return a->plan.feasible == b->plan.feasible &&
           memcmp(a->held, b->held, sizeof a->held) == 0 &&
           memcmp(a->longer, b->longer, sizeof a->longer) == 0 &&
           memcmp(a->plan.machines, b->plan.machines,
                  sizeof a->plan.machines) == 0;
}

size_t bats_offers_merge(struct bats_schedule *schedules, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < kept && !is_same(&schedules[i], &schedules[k]))
            k++;
        if (k == kept)
            schedules[kept++] = schedules[i];
    }
    return kept;
}

/* These plans have such an offer. */
static bool is_of(enum bats_plans plans, enum bats_offer offer)
{
    bool named = bats_offer_name(offer)[0] != '\0';
    bool both = offer == BATS_OFFER_CHEAPEST || offer == BATS_OFFER_FASTEST;
    return named && (both || (plans != BATS_PLANS_CONFIGURATIONS) ==
                                 (offer > BATS_OFFERS));
}

static int refuse(enum bats_plans plans, const char *text,
                  struct bats_error *err)
{
    return bats_error_set(err, BATS_EINPUT,
                          "invalid value '%.60s'; expected one of %s", text,
                          plans == BATS_PLANS_CONFIGURATIONS
                              ? "cheapest, cheapest+10%, cheapest+20%, "
                                "fastest-20%, fastest-10% and fastest"
                              : "cheapest, cheaper, balanced, faster and "
                                "fastest");
}

int bats_choice_parse(enum bats_plans plans, const char *text,
                      struct bats_choice *choice, struct bats_error *err)
{
    for (int i = 0; i < BATS_OFFER_KINDS; i++) {
        enum bats_offer offer = (enum bats_offer)i;
        if (!is_of(plans, offer) || strcmp(text, bats_offer_name(offer)) != 0)
            continue;
        *choice = (struct bats_choice){.offer = offer};
        return 0;
    }
    return refuse(plans, text, err);
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
    if (!is_of(e->plans, choice->offer))
        return refuse(e->plans, bats_offer_name(choice->offer), err);
    if (estimate_planner(e))
        return ends_choose(estimate_planner(e), e, choice->offer, 0, schedule,
                           err);
    int rc = bats_estimate_offers(e, offers, NULL, err);
    if (rc < 0)
        return rc;
    const struct bats_schedule *chosen = &offers[choice->offer];
    if (!chosen->plan.feasible)
        return bats_estimate_for_budget(e, chosen->budget, schedule, err);
    *schedule = *chosen;
    return 0;
}

size_t bats_offers_find(const struct bats_estimator *e,
                        const struct bats_schedule *schedules, size_t n,
                        enum bats_offer offer)
{
    const struct bats_choice choice = {.offer = offer};
    struct bats_schedule chosen;
    struct bats_error err;
    size_t i = 0;

    if (!is_of(e->plans, offer) ||
        bats_estimate_choose(e, &choice, &chosen, &err) < 0)
        return n;
    while (i < n && schedules[i].offer != offer &&
           !is_same(&schedules[i], &chosen))
        i++;
    return i;
}
