/* strategy: names of strategies, and their utility. See bats/strategy.h. */
#include "bats/strategy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/expression.h"

#define MANY BATS_INSTANCES_INFINITE
#define LATE                                                                  \
    {                                                                         \
        .of_tur = BATS_THROUGHPUT_D                                           \
    }

/* Named strategies: D = 4 T_ur, and all of the reliable pool. */
static const struct named {
    const char *name;
    struct bats_strategy is;
} names[] = {{"AR", {MANY, LATE, LATE, INFINITY, true, true, false}},
             {"TRR", {0, {0, 0}, LATE, INFINITY, false, false, false}},
             {"TR", {0, LATE, LATE, INFINITY, false, false, false}},
             {"AUR", {MANY, LATE, LATE, INFINITY, false, false, false}},
             {"CNinf", {MANY, LATE, LATE, INFINITY, false, true, false}},
             {"CN1T0", {1, {0, 0}, LATE, INFINITY, false, true, true}}};

#define NAMES (sizeof names / sizeof *names)

/* ---- reading ---- */

static int read_count(const char *text, uint32_t *n, struct bats_error *err)
{
    uint64_t count;
    *n = BATS_INSTANCES_INFINITE;
    if (strcmp(text, "inf") == 0)
        return 0;
    if (bats_count_parse(text, &count, NULL) || count > 1000)
        return bats_error_set(
            err, BATS_EINPUT,
            "N: '%.40s' is neither inf nor a whole number up "
            "to 1000",
            text);
    *n = (uint32_t)count;
    return 0;
}

/* Parses "1.5x", "35m" or "inf". */
static int read_span(const char *name, const char *text,
                     struct bats_span *span, struct bats_error *err)
{
    struct bats_error why;
    size_t length = strlen(text);
    char number[40];
    *span = (struct bats_span){0};
    if (strcmp(text, "inf") == 0) {
        span->of_tur = INFINITY;
        return 0;
    }
    if (length > 1 && length < sizeof number && text[length - 1] == 'x') {
        memcpy(number, text, length - 1);
        number[length - 1] = '\0';
        if (strspn(number, "0.") == length - 1)
            return 0;
        if (bats_factor_parse(number, &span->of_tur, &why) == 0 &&
            span->of_tur <= 1000)
            return 0;
    } else if (bats_duration_parse(text, &span->fixed, &why) == 0) {
        return 0;
    }
    return bats_error_set(err, BATS_EINPUT,
                          "%s: '%.40s' is neither a multiple of T_ur, such as "
                          "1.5x, nor a duration, nor inf",
                          name, text);
}

static int read_parameter(char *item, struct bats_strategy *s, unsigned *seen,
                          struct bats_error *err)
{
    static const char *const keys[] = {"N", "T", "D", "Mr"};
    char *value = strchr(item, '=');
    unsigned i = 0;
    if (value)
        *value++ = '\0';
    while (i < 4 && strcmp(item, keys[i]) != 0)
        i++;
    if (i == 4 || !value)
        return bats_error_set(err, BATS_EINPUT,
                              "'%.40s' is not a strategy: AR, TRR, TR, AUR, "
                              "CNinf, CN1T0, or N=,T=,D=,Mr=",
                              item);
    if (*seen & 1U << i)
        return bats_error_set(err, BATS_EINPUT, "%s is given twice", keys[i]);
    *seen |= 1U << i;
    if (i == 0)
        return read_count(value, &s->n, err);
    if (i < 3)
        return read_span(keys[i], value, i == 1 ? &s->t : &s->d, err);
    return bats_factor_parse(value, &s->m_r, NULL) == 0 && s->m_r <= 1000
               ? 0
               : bats_error_set(err, BATS_EINPUT,
                                "Mr: '%.40s' is not a number above 0", value);
}

/* a is longer than b. A multiple of T_ur and a fixed time can be compared only
 * in a run. */
static bool is_longer(const struct bats_span *a, const struct bats_span *b)
{
    if (isinf(a->of_tur) && !isinf(b->of_tur))
        return true;
    return (a->fixed == 0 || b->of_tur == 0) &&
           (a->of_tur > b->of_tur ||
            (a->of_tur == b->of_tur && a->fixed > b->fixed)) &&
           !(a->of_tur > 0 && b->of_tur == 0 && b->fixed > 0);
}

static int read_parameters(const char *text, struct bats_strategy *s,
                           struct bats_error *err)
{
    char items[BATS_STRATEGY_TEXT], *at, *item;
    unsigned seen = 0;
    if (strlen(text) >= sizeof items)
        return bats_error_set(err, BATS_EINPUT, "'%.40s...' is too long",
                              text);
    strcpy(items, text);
    *s = (struct bats_strategy){.m_r = INFINITY};
    for (item = strtok_r(items, ",", &at); item;
         item = strtok_r(NULL, ",", &at)) {
        int rc = read_parameter(item, s, &seen, err);
        if (rc < 0)
            return rc;
    }
    if ((seen & 7) != 7)
        return bats_error_set(err, BATS_EINPUT,
                              "'%.40s': N, T and D must be given", text);
    if (s->d.of_tur <= 0 && s->d.fixed == 0)
        return bats_error_set(err, BATS_EINPUT, "D must be longer than 0");
    if (is_longer(&s->t, &s->d))
        return bats_error_set(err, BATS_EINPUT,
                              "T is longer than D: an instance would be given "
                              "up before the next one may be sent");
    if (s->n == BATS_INSTANCES_INFINITE && s->t.of_tur <= 0 && s->t.fixed == 0)
        return bats_error_set(err, BATS_EINPUT,
                              "N = inf with T = 0 never ends sending "
                              "instances");
    return 0;
}

int bats_strategy_parse(const char *text, struct bats_strategy *strategy,
                        struct bats_error *err)
{
    for (size_t i = 0; i < NAMES; i++)
        if (strcmp(text, names[i].name) == 0) {
            *strategy = names[i].is;
            return 0;
        }
    return read_parameters(text, strategy, err);
}

/* ---- writing ---- */

static const char *span_text(char text[BATS_UNITS_TEXT],
                             const struct bats_span *span)
{
    if (span->fixed > 0)
        return bats_duration_format(text, span->fixed);
    if (isinf(span->of_tur))
        return strcpy(text, "inf");
    snprintf(text, BATS_UNITS_TEXT, "%.4gx", span->of_tur);
    return text;
}

static bool same_span(const struct bats_span *a, const struct bats_span *b)
{
    return a->of_tur == b->of_tur && a->fixed == b->fixed;
}

static bool is_same(const struct bats_strategy *a,
                    const struct bats_strategy *b)
{
    return a->n == b->n && same_span(&a->t, &b->t) &&
           same_span(&a->d, &b->d) && a->m_r == b->m_r &&
           a->only_reliable == b->only_reliable &&
           a->reliable_works == b->reliable_works && a->both == b->both;
}

const char *bats_strategy_format(char text[BATS_STRATEGY_TEXT],
                                 const struct bats_strategy *s)
{
    char t[BATS_UNITS_TEXT], d[BATS_UNITS_TEXT], n[16] = "inf";
    int used = 0;
    for (size_t i = 0; i < NAMES; i++)
        if (is_same(s, &names[i].is))
            return strcpy(text, names[i].name);
    if (s->n != BATS_INSTANCES_INFINITE)
        snprintf(n, sizeof n, "%u", s->n);
    used = snprintf(text, BATS_STRATEGY_TEXT, "N=%s,T=%s,D=%s", n,
                    span_text(t, &s->t), span_text(d, &s->d));
    if (isfinite(s->m_r))
        snprintf(text + used, BATS_STRATEGY_TEXT - (size_t)used, ",Mr=%.4g",
                 s->m_r);
    return text;
}

bool bats_strategy_needs_reliable(const struct bats_strategy *s)
{
    return s->n != BATS_INSTANCES_INFINITE || s->only_reliable;
}

int bats_strategy_check(const struct bats_strategy *s,
                        const struct bats_cluster *clusters, size_t n,
                        struct bats_error *err)
{
    bool has_reliable = false, has_unreliable = false;
    for (size_t i = 0; i < n; i++) {
        has_reliable |= clusters[i].max > 0 && !clusters[i].unreliable;
        has_unreliable |= clusters[i].max > 0 && clusters[i].unreliable;
    }
    if (isinf(s->d.of_tur) && bats_strategy_noticed(clusters, n) == 0)
        return bats_error_set(
            err, BATS_EINPUT,
            "D = inf waits for ever for silent losses: it needs clusters "
            "with noticed");
    if (!has_unreliable)
        return bats_error_set(
            err, BATS_EINPUT,
            "the policy expert needs a cluster with reliable "
            "= no");
    if (!has_reliable && (bats_strategy_needs_reliable(s) || isfinite(s->m_r)))
        return bats_error_set(err, BATS_EINPUT,
                              "the strategy needs a reliable cluster, and "
                              "there is none: only N = inf without Mr does "
                              "not");
    return 0;
}

bats_time bats_strategy_noticed(const struct bats_cluster *clusters, size_t n)
{
    bats_time longest = 0;
    for (size_t i = 0; i < n; i++) {
        if (clusters[i].unreliable && clusters[i].noticed == 0)
            return 0;
        if (clusters[i].unreliable && clusters[i].noticed > longest)
            longest = clusters[i].noticed;
    }
    return longest;
}

bats_time bats_span_time(const struct bats_span *span, double t_ur)
{
    double time = span->of_tur * t_ur + (double)span->fixed;
    return time < (double)BATS_LONGEST ? (bats_time)(time + 0.5)
                                       : BATS_LONGEST;
}

bats_time bats_strategy_throughput(double t_ur, bool noticed)
{
    const struct bats_span d = {.of_tur = BATS_THROUGHPUT_D};
    return noticed ? BATS_LONGEST : bats_span_time(&d, t_ur);
}

/* ---- utility ---- */

/* The expression for a named utility. */
static const char *expression(const char *text)
{
    return strcmp(text, "cheapest") == 0  ? "cost"
           : strcmp(text, "fastest") == 0 ? "makespan"
           : strcmp(text, "product") == 0 ? "makespan * cost"
                                          : text;
}

int bats_utility_value(const char *text, double makespan, double tail,
                       double cost, uint32_t n_tasks, double *value,
                       struct bats_error *err)
{
    static const char *const members[] = {"makespan", "tail", "cost",
                                          "task_cost"};
    const double values[] = {makespan / 1e6, tail / 1e6,
                             cost / (double)BATS_UNIT,
                             cost / (double)BATS_UNIT / n_tasks};
    return bats_expression_value(expression(text), members, values, 4, value,
                                 err);
}

int bats_utility_check(const char *text, struct bats_error *err)
{
    double value;
    return bats_utility_value(text, 1, 1, 1, 1, &value, err);
}
