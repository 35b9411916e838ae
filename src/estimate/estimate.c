/* See estimate.h. */
#include "estimate/plans.h"

#include <math.h>
#include <string.h>

const struct planner *estimate_planner(const struct bats_estimator *e)
{
    return e->plans == BATS_PLANS_WINDOWS      ? &planner_of_windows
           : e->plans == BATS_PLANS_ALLOCATION ? &planner_of_allocation
                                               : NULL;
}

int bats_estimate_offers(const struct bats_estimator *e,
                         struct bats_schedule schedules[BATS_OFFERS],
                         size_t *n, struct bats_error *err)
{
    const struct planner *planner = estimate_planner(e);
    size_t none;
    n = n ? n : &none;
    return planner ? ends_offer(planner, e, schedules, n, err)
                   : configurations_offer(e, schedules, n, err);
}

int bats_estimate_least_budget(const struct bats_estimator *e,
                               bats_money *budget, struct bats_error *err)
{
    const struct planner *planner = estimate_planner(e);
    return planner ? ends_least_budget(planner, e, budget, err)
                   : configurations_least_budget(e, budget, err);
}

/* ---- for a budget or a deadline ---- */

/* "588 SU" */
static const char *money_text(const struct bats_estimator *e,
                              bats_money amount, char text[BATS_UNITS_TEXT])
{
    bats_money_format(text, amount);
    size_t n = strlen(text);
    if (e->currency && e->currency[0] != '\0' &&
        n + strlen(e->currency) + 2 <= BATS_UNITS_TEXT) {
        text[n] = ' ';
        strcpy(text + n + 1, e->currency);
    }
    return text;
}

int bats_estimate_for_budget(const struct bats_estimator *e, bats_money budget,
                             struct bats_schedule *schedule,
                             struct bats_error *err)
{
    char given[BATS_UNITS_TEXT], needed[BATS_UNITS_TEXT];
    bats_money least;
    const struct planner *planner = estimate_planner(e);
    int rc = planner ? ends_choose(planner, e, BATS_OFFER_BUDGET,
                                   (double)budget, schedule, err)
                     : configurations_for_budget(e, budget, schedule, err);

    if (rc == 0 && planner) {
        schedule->budget = budget;
        schedule->plan.feasible = schedule->plan.cost <= budget;
    }
    if (rc < 0 || schedule->plan.feasible)
        return rc;
    rc = bats_estimate_least_budget(e, &least, err);
    if (rc < 0)
        return rc;
    return bats_error_set(
        err, BATS_EBUDGET,
        "%llu task%s cannot be done for %s; for %s they can",
        (unsigned long long)e->n_tasks, e->n_tasks == 1 ? "" : "s",
        money_text(e, budget, given), money_text(e, least, needed));
}

int bats_estimate_for_deadline(const struct bats_estimator *e,
                               bats_time deadline,
                               struct bats_schedule *schedule,
                               struct bats_error *err)
{
    char given[BATS_UNITS_TEXT], needed[BATS_UNITS_TEXT];
    double limit = (double)deadline * (1 + TOLERANCE);
    const struct planner *planner = estimate_planner(e);
    int rc = planner ? ends_choose(planner, e, BATS_OFFER_DEADLINE, limit,
                                   schedule, err)
                     : configurations_for_deadline(e, limit, schedule, err);

    if (rc < 0 || schedule->makespan.estimate <= limit)
        return rc;
    double end = ceil(schedule->makespan.estimate / (double)BATS_SECOND);
    return bats_error_set(
        err, BATS_EDEADLINE,
        "%llu task%s cannot be done in %s; with all machines they take %s",
        (unsigned long long)e->n_tasks, e->n_tasks == 1 ? "" : "s",
        bats_duration_format(given, deadline),
        bats_duration_format(needed, end < 9e12 ? (bats_time)end * BATS_SECOND
                                                : BATS_NEVER));
}

int bats_estimate_frontier(const struct bats_estimator *e,
                           struct bats_schedule **schedules, size_t *n,
                           bool *complete, struct bats_error *err)
{
    const struct planner *planner = estimate_planner(e);
    *complete = true;
    return planner ? ends_frontier(planner, e, schedules, n, err)
                   : configurations_frontier(e, schedules, n, complete, err);
}
