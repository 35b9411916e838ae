#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/strategy.h"
#include "sim/scenario/section.h"

#define RUNS_MAX 10000000

static int set_billing(struct bats_sections *r, const char *value,
                       struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    return bats_billing_find(value, &s->engine.billing.model)
               ? 0
               : bats_refuse(why,
                             "'%.60s' is neither window, allocation, use, job "
                             "nor second",
                             value);
}

static int add_policy(struct bats_sections *r, char *item,
                      struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    const struct bats_policy *policy = bats_policy_find(item);
    if (!policy)
        return bats_refuse(why, "'%s' is not a policy", item);
    for (size_t i = 0; i < s->n_policies; i++)
        if (s->policies[i] == policy)
            return bats_refuse(why, "'%s' is given twice", item);
    s->policies[s->n_policies++] = policy;
    return 0;
}

/* Parses "+10%": 1.1. */
static bool read_share(const char *text, double *factor)
{
    char number[24];
    double percent;
    size_t n = strlen(text);
    if (n == 0) {
        *factor = 1;
        return true;
    }
    if ((*text != '+' && *text != '-') || text[n - 1] != '%' ||
        n > sizeof number)
        return false;
    snprintf(number, sizeof number, "%.*s", (int)n - 2, text + 1);
    if (bats_factor_parse(number, &percent, NULL))
        return false;
    *factor = 1 + (*text == '+' ? percent : -percent) / 100;
    return *factor > 0;
}

static int read_budget(const char *item, struct bats_scenario_budget *budget,
                       struct bats_error *why)
{
    static const char *const words[] = {[BATS_BUDGET_RR] = "rr",
                                        [BATS_BUDGET_CHEAPEST] = "cheapest",
                                        [BATS_BUDGET_MINIMUM] = "minimum",
                                        [BATS_BUDGET_FASTEST] = "fastest"};
    if (strcmp(item, "unlimited") == 0) {
        budget->base = BATS_BUDGET_UNLIMITED;
        budget->amount = BATS_UNLIMITED;
        return 0;
    }
    for (int i = BATS_BUDGET_RR; i <= BATS_BUDGET_FASTEST; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(item, words[i], length) != 0)
            continue;
        budget->base = (enum bats_budget_base)i;
        if (read_share(item + length, &budget->factor))
            return 0;
    }
    if (bats_share_parse(item, &budget->factor)) {
        budget->base = BATS_BUDGET_SHARE;
        return 0;
    }
    if (bats_money_parse(item, &budget->amount, NULL))
        return bats_refuse(why,
                           "invalid value '%s'; expected an amount, a "
                           "percentage up to 100%%, unlimited, rr, cheapest, "
                           "minimum or fastest, with +P%% or -P%% behind it",
                           item);
    budget->base = BATS_BUDGET_AMOUNT;
    return 0;
}

static int add_budget(struct bats_sections *r, char *item,
                      struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    struct bats_scenario_budget *budget = &s->budgets[s->n_budgets];
    if (s->n_budgets == BATS_SCENARIO_BUDGETS)
        return bats_refuse(why, "more than %d budgets", BATS_SCENARIO_BUDGETS);
    if (strlen(item) >= sizeof budget->text)
        return bats_refuse(why, "'%s' is too long", item);
    for (size_t i = 0; i < s->n_budgets; i++)
        if (strcmp(s->budgets[i].text, item) == 0)
            return bats_refuse(why, "'%s' is given twice", item);
    strcpy(budget->text, item);
    int rc = read_budget(item, budget, why);
    s->n_budgets += rc == 0;
    return rc;
}

/* Parses "7" or "1-100". */
static int add_seeds(struct bats_sections *r, char *item,
                     struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    uint32_t from = 0, to = 0;
    char *dash = strchr(item, '-');
    if (dash)
        *dash = '\0';
    int rc = bats_count_within(item, 1, UINT32_MAX, &from, why);
    to = from;
    if (rc == 0 && dash)
        rc = bats_count_within(dash + 1, 1, UINT32_MAX, &to, why);
    if (dash)
        *dash = '-';
    if (rc < 0)
        return rc;
    if (to < from || s->n_seeds + (to - from) >= BATS_SCENARIO_SEEDS)
        return bats_refuse(why,
                           to < from ? "'%s' is in descending order"
                                     : "'%s' makes more than a million",
                           item);
    size_t n = s->n_seeds + (to - from) + 1;
    uint32_t *seeds = realloc(s->seeds, n * sizeof *seeds);
    if (!seeds)
        return bats_no_memory(why);
    s->seeds = seeds;
    for (uint64_t seed = from; seed <= to; seed++)
        seeds[s->n_seeds++] = (uint32_t)seed;
    return 0;
}

static int set_deadline(struct bats_sections *r, const char *value,
                        struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    s->has_deadline = true;
    s->deadline_is_share = bats_share_parse(value, &s->deadline_share);
    return s->deadline_is_share
               ? 0
               : bats_period_parse(value, &s->engine.goal.deadline, why);
}

static int set_minimize(struct bats_sections *r, const char *value,
                        struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    return bats_minimize_find(value, &s->engine.goal.minimize)
               ? 0
               : bats_refuse(why, "'%.60s' is neither cost nor time", value);
}

static int set_confidence(struct bats_sections *r, const char *value,
                          struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    double *confidence = &s->engine.goal.confidence;
    int rc = bats_factor_parse(value, confidence, why);
    return rc < 0 || (*confidence >= 0.5 && *confidence <= 0.9999)
               ? rc
               : bats_refuse(why, "not from 0.5 to 0.9999");
}

static int set_tail(struct bats_sections *r, const char *value,
                    struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    return bats_tail_find(value, &s->engine.tail)
               ? 0
               : bats_refuse(why,
                             "'%.60s' is not a strategy for the tail; see "
                             "'bats-mpi run --help'",
                             value);
}

static int set_strategy(struct bats_sections *r, const char *value,
                        struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    return bats_strategy_parse(value, &s->engine.strategy, why);
}

static int set_utility(struct bats_sections *r, const char *value,
                       struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    if (strlen(value) >= sizeof s->utility)
        return bats_refuse(why, "it is too long");
    strcpy(s->utility, value);
    return bats_utility_check(value, why);
}

const struct bats_key bats_scenario_run_keys[] = {
    NUMBER("window", PERIOD, platform.window, 0),
    NUMBER("currency", TEXT, platform.currency,
           sizeof((struct bats_scenario *)NULL)->platform.currency),
    BATS_KEY("billing", set_billing, false, false),
    BATS_KEY_EACH("policy", add_policy, true, false),
    BATS_KEY_EACH("budget", add_budget, true, false),
    BATS_KEY("deadline", set_deadline, false, false),
    BATS_KEY("minimize", set_minimize, false, false),
    BATS_KEY("confidence", set_confidence, false, false),
    BATS_KEY_EACH("seeds", add_seeds, true, false),
    NUMBER("repeats", COUNT, repeats, BATS_SCENARIO_SEEDS),
    NUMBER("lease", PERIOD, engine.billing.lease, 0),
    NUMBER("starting", PERIOD, engine.billing.starting, 0),
    NUMBER("bill", DURATION, bill, 0),
    NUMBER("overrun", PERIOD, engine.billing.overrun, 0),
    NUMBER("jobs", COUNT, engine.billing.jobs, 1000000),
    NUMBER("monitor", PERIOD, engine.monitor_interval, 0),
    NUMBER("grace", DURATION, engine.preempt_lead, 0),
    BATS_KEY("tail", set_tail, false, false),
    BATS_KEY("strategy", set_strategy, false, false),
    BATS_KEY("utility", set_utility, false, false),
    NUMBER("timeout", PERIOD, engine.rules.timeout, 0),
    NUMBER("retries", COUNT, engine.rules.retries, UINT8_MAX),
    {0},
};

/* ---- after the last line ---- */

int bats_scenario_run_goal(struct bats_sections *r)
{
    struct bats_scenario *s = r->object;
    bool has_strategy = bats_scenario_line(r, RUN, "strategy") > 0;
    if (!bats_scenario_line(r, RUN, "minimize") && s->has_deadline)
        s->engine.goal.minimize = BATS_MINIMIZE_COST;
    if (s->engine.goal.minimize == BATS_MINIMIZE_COST && !s->has_deadline &&
        s->engine.billing.lease == 0)
        return FAIL(r, bats_scenario_line(r, RUN, NULL),
                    "minimize = cost needs a deadline, or jobs with leases");
    if (has_strategy && s->utility[0] != '\0')
        return FAIL(r, bats_scenario_line(r, RUN, NULL),
                    "strategy and utility exclude each other");
    if (!has_strategy && s->utility[0] == '\0')
        strcpy(s->utility, "product");
    if (!has_strategy)
        bats_strategy_parse("AUR", &s->engine.strategy, NULL);
    return 0;
}

/* Checks that the clusters have the pools that the strategy needs. */
static int check_strategy(struct bats_sections *r)
{
    const struct bats_scenario *s = r->object;
    struct bats_error why;
    for (size_t i = 0; i < s->n_policies; i++)
        if (s->policies[i] == &bats_policy_expert &&
            bats_strategy_check(&s->engine.strategy, s->platform.clusters,
                                s->platform.n_clusters, &why) < 0)
            return FAIL(r, bats_scenario_line(r, RUN, NULL), "%s", why.text);
    return 0;
}

/* The default policy, as in a real run. */
static const struct bats_policy *default_policy(const struct bats_scenario *s)
{
    bool unreliable = false;
    for (size_t i = 0; i < s->platform.n_clusters; i++)
        unreliable |= s->platform.clusters[i].unreliable;
    return bats_policy_default(unreliable, s->engine.billing.model,
                               s->engine.rules.timeout > 0,
                               s->graph.n_nodes > 0);
}

int bats_scenario_run_settle(struct bats_sections *r)
{
    struct bats_scenario *s = r->object;
    char unlimited[] = "unlimited", one[] = "1";
    int rc = 0;
    if (s->n_policies == 0)
        s->policies[s->n_policies++] = default_policy(s);
    if (rc == 0 && s->n_budgets == 0)
        rc = add_budget(r, unlimited, r->err);
    if (rc == 0 && s->n_seeds == 0)
        rc = add_seeds(r, one, r->err);
    if (rc == 0 && s->engine.preempt_lead >= s->platform.window)
        return FAIL(r, bats_scenario_line(r, RUN, NULL),
                    "grace has to be shorter than a window");
    if (rc == 0 &&
        s->n_seeds * s->repeats * s->n_policies * s->n_budgets > RUNS_MAX)
        return FAIL(r, bats_scenario_line(r, RUN, NULL),
                    "more than ten million runs");
    return rc == 0 ? check_strategy(r) : rc;
}
