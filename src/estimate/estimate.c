/* estimate: the schedules on offer, and the choice of one. See estimate.h. */
#include "estimate/plans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Costs within this relative difference count as equal. */
#define SAME 0.002
/* "cheapest" is the soonest end within this fraction of the least cost, which
 * is about the precision of a forecast. */
#define CHEAP 0.03
/* Least relative difference in cost or end between named schedules. */
#define DIFFERS 0.05

/* The planner of these plans; NULL: configurations. */
static const struct planner *planner_of(const struct bats_estimator *e)
{
    return e->plans == BATS_PLANS_WINDOWS      ? &planner_of_windows
           : e->plans == BATS_PLANS_ALLOCATION ? &planner_of_allocation
                                               : NULL;
}

/* ---- the frontier ---- */

static int by_time(const void *left, const void *right)
{
    const struct end *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->cost < b->cost ? -1 : a->cost > b->cost;
}

/* Lists the ends, the fastest first, without those that are too late unless
 * all are. Free ends->points, also after an error. */
static int find(const struct bats_estimator *e, struct ends *ends,
                struct bats_error *err)
{
    size_t kept = 1;
    *ends = (struct ends){.points = NULL};
    int rc = estimate_check(e, err);
    if (rc == 0)
        rc = planner_of(e)->find(e, ends, err);
    if (rc < 0)
        return rc;
    qsort(ends->points, ends->n, sizeof *ends->points, by_time);
    for (size_t i = 1; i < ends->n; i++) {
        const struct end *p = &ends->points[i];
        if (p->cost < ends->points[kept - 1].cost * (1 - SAME) &&
            !(e->until > 0 && p->time > (double)e->until))
            ends->points[kept++] = *p;
    }
    ends->n = kept;
    return 0;
}

/* ---- names ---- */

static bool differs(const struct end *sooner, const struct end *later)
{
    return later->time > sooner->time * (1 + DIFFERS) &&
           later->cost * (1 + DIFFERS) < sooner->cost;
}

/* The knee of the points from `first` to `last`; if there is none, the middle
 * of their ends; `last` if no point lies between them. */
static size_t knee(const struct ends *ends, size_t first, size_t last)
{
    const struct end *a = &ends->points[first], *b = &ends->points[last];
    double x = log(b->time / a->time), y = log(b->cost / a->cost);
    double farthest = 0, nearest = INFINITY;
    size_t best = last, middle = last;
    for (size_t i = first + 1; i < last; i++) {
        const struct end *p = &ends->points[i];
        double u = log(p->time / a->time), v = log(p->cost / a->cost);
        if (!differs(a, p) || !differs(p, b))
            continue;
        if (y * u - x * v > farthest) {
            farthest = y * u - x * v;
            best = i;
        }
        if (fabs(u - x / 2) < nearest) {
            nearest = fabs(u - x / 2);
            middle = i;
        }
    }
    return best < last ? best : middle;
}

#define NAMES 5

static const enum bats_offer names[NAMES] = {
    BATS_OFFER_CHEAPEST, BATS_OFFER_CHEAPER, BATS_OFFER_BALANCED,
    BATS_OFFER_FASTER, BATS_OFFER_FASTEST};

/* Finds the point of each name. */
static void find_names(const struct ends *ends, size_t place[NAMES])
{
    const struct end *last = &ends->points[ends->n - 1];
    place[0] = place[4] = 0;
    while (ends->points[place[0]].cost > last->cost * (1 + CHEAP))
        place[0]++;
    place[2] = knee(ends, place[4], place[0]);
    place[1] = knee(ends, place[2], place[0]);
    place[3] = knee(ends, place[4], place[2]);
}

/* The name's schedule differs from that of names further out. */
static bool is_listed(const size_t place[NAMES], int k)
{
    static const int outer[NAMES][3] = {
        {4, 4, 4}, {0, 2, 4}, {0, 4, 4}, {0, 2, 4}, {-1, -1, -1}};
    for (int i = 0; i < 3; i++)
        if (outer[k][i] >= 0 && place[k] == place[outer[k][i]])
            return false;
    return true;
}

/* Index of the wanted schedule among the ends: of that name, perhaps shared
 * with another one; for a budget or a deadline, the fastest within the cost
 * limit, or the cheapest that ends by the limit (microseconds). */
static size_t place_of(const struct ends *ends, enum bats_offer offer,
                       double limit)
{
    size_t i = 0, place[NAMES];
    int k = 0;
    switch (offer) {
    case BATS_OFFER_BUDGET:
        while (i + 1 < ends->n && ends->points[i].cost > limit)
            i++;
        return i;
    case BATS_OFFER_DEADLINE:
        while (i + 1 < ends->n && ends->points[i + 1].time <= limit)
            i++;
        return i;
    default:
        find_names(ends, place);
        while (k < NAMES - 1 && names[k] != offer)
            k++;
        return place[k];
    }
}

static int choose(const struct bats_estimator *e, enum bats_offer offer,
                  double limit, struct bats_schedule *schedule,
                  struct bats_error *err)
{
    struct ends ends;
    int rc = find(e, &ends, err);
    if (rc == 0)
        rc =
            planner_of(e)->make(e, &ends.points[place_of(&ends, offer, limit)],
                                offer, schedule, err);
    free(ends.points);
    return rc;
}

/* ---- all schedules ---- */

int bats_estimate_offers(const struct bats_estimator *e,
                         struct bats_schedule schedules[BATS_OFFERS],
                         size_t *n, struct bats_error *err)
{
    struct ends ends;
    size_t none, place[NAMES];
    n = n ? n : &none;
    if (!planner_of(e))
        return configurations_offer(e, schedules, n, err);
    int rc = find(e, &ends, err);
    *n = 0;
    if (rc == 0)
        find_names(&ends, place);
    for (int k = 0; k < NAMES && rc == 0; k++)
        if (is_listed(place, k))
            rc = planner_of(e)->make(e, &ends.points[place[k]], names[k],
                                     &schedules[(*n)++], err);
    free(ends.points);
    return rc;
}

int bats_estimate_frontier(const struct bats_estimator *e,
                           struct bats_schedule **schedules, size_t *n,
                           bool *complete, struct bats_error *err)
{
    struct ends ends;
    *complete = true;
    if (!planner_of(e))
        return configurations_frontier(e, schedules, n, complete, err);
    int rc = find(e, &ends, err);
    *n = 0;
    *schedules = rc == 0 ? calloc(ends.n, sizeof **schedules) : NULL;
    if (rc == 0 && !*schedules)
        rc = bats_no_memory(err);
    for (size_t k = ends.n; k-- > 0 && rc == 0;)
        rc = planner_of(e)->make(e, &ends.points[k], BATS_OFFER_NONE,
                                 &(*schedules)[(*n)++], err);
    free(ends.points);
    if (rc < 0)
        free(*schedules);
    return rc;
}

int bats_estimate_least_budget(const struct bats_estimator *e,
                               bats_money *budget, struct bats_error *err)
{
    struct ends ends;
    if (!planner_of(e))
        return configurations_least_budget(e, budget, err);
    int rc = find(e, &ends, err);
    if (rc == 0)
        *budget = estimate_money(ceil(ends.points[ends.n - 1].cost));
    free(ends.points);
    return rc;
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
    int rc = planner_of(e)
                 ? choose(e, BATS_OFFER_BUDGET, (double)budget, schedule, err)
                 : configurations_for_budget(e, budget, schedule, err);
    if (rc == 0 && planner_of(e)) {
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
    int rc = planner_of(e)
                 ? choose(e, BATS_OFFER_DEADLINE, limit, schedule, err)
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

/* ---- choosing by name ---- */

const char *bats_offer_name(enum bats_offer offer)
{
    static const char *const texts[BATS_OFFER_KINDS] = {
        [BATS_OFFER_CHEAPEST] = "cheapest",
        [BATS_OFFER_CHEAPEST_10] = "cheapest+10%",
        [BATS_OFFER_CHEAPEST_20] = "cheapest+20%",
        [BATS_OFFER_FASTEST_20] = "fastest-20%",
        [BATS_OFFER_FASTEST_10] = "fastest-10%",
        [BATS_OFFER_FASTEST] = "fastest",
        [BATS_OFFER_CHEAPER] = "cheaper",
        [BATS_OFFER_BALANCED] = "balanced",
        [BATS_OFFER_FASTER] = "faster"};
    return offer < BATS_OFFER_KINDS && texts[offer] ? texts[offer] : "";
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
    for (enum bats_offer i = 0; i < BATS_OFFER_KINDS; i++)
        if (is_of(plans, i) && strcmp(text, bats_offer_name(i)) == 0) {
            *choice = (struct bats_choice){.offer = i};
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
    if (planner_of(e))
        return choose(e, choice->offer, 0, schedule, err);
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
