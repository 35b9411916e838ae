/* model: the keys of priced and reclaimable machines. See model.h. */
#include "input/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/inifile.h"
#include "input/reliability.h"
#include "input/textfile.h"
#include "util/grow.h"

#define BLANKS " \t"
#define LIVES UINT64_C(0x6c69666574696d65) /* numbers of their own */

const char *const bats_model_keys[BATS_MODEL_KEYS] = {
    [BATS_MODEL_BLOCK] = "block",
    [BATS_MODEL_RECLAIMABLE] = "reclaimable",
    [BATS_MODEL_NOTICE] = "notice",
    [BATS_MODEL_GUARANTEED] = "guaranteed",
    [BATS_MODEL_FREE] = "free",
    [BATS_MODEL_LIFETIME] = "lifetime"};

/* ---- charges ---- */

/* Parses "3" or "3/h"; all of a cluster's charges are of one kind. */
static int parse_amount(const char *text, bool is_first, bats_money *charge,
                        bool *by_hour, struct bats_error *err)
{
    char amount[64];
    size_t length = strlen(text);
    bool hourly = length > 2 && strcmp(text + length - 2, "/h") == 0;
    if (length >= sizeof amount)
        return bats_error_set(err, BATS_EINPUT, "'%.60s...' is too long",
                              text);
    if (!is_first && hourly != *by_hour)
        return bats_error_set(err, BATS_EINPUT,
                              "'%.60s': either all are per hour or none is",
                              text);
    *by_hour = hourly;
    snprintf(amount, sizeof amount, "%.*s", (int)(length - (hourly ? 2 : 0)),
             text);
    return bats_money_parse(amount, charge, err);
}

/* Parses "0.013/h..0.016/h". */
static int parse_range(struct bats_tariff *t, char *text, char *dots,
                       bool *by_hour, struct bats_error *err)
{
    *dots = '\0';
    int rc = parse_amount(text, true, &t->step[0].charge, by_hour, err);
    if (rc == 0)
        rc = parse_amount(dots + 2, false, &t->charge_longest, by_hour, err);
    if (rc == 0 && t->charge_longest < t->step[0].charge)
        rc = bats_error_set(err, BATS_EINPUT,
                            "the longest block charges less than the "
                            "shortest one");
    t->n_steps = 2; /* a range; see bats_model_settle */
    return rc;
}

static int complain_of_steps(struct bats_error *err)
{
    return bats_error_set(err, BATS_EINPUT,
                          "expected AMOUNT, AMOUNT/h, AMOUNT..AMOUNT or "
                          "AMOUNT for TIME, AMOUNT after");
}

/* Parses an item of "1/h for 2h, 0.25/h after". */
static int parse_step(struct bats_tariff *t, char *item, bats_time *from,
                      bool is_last, bool *by_hour, struct bats_error *err)
{
    char *rest = NULL;
    char *amount = strtok_r(item, BLANKS, &rest);
    char *word = strtok_r(NULL, BLANKS, &rest);
    char *time = strtok_r(NULL, BLANKS, &rest);
    bats_time duration = 0;
    if (!amount || !word || strcmp(word, is_last ? "after" : "for") != 0 ||
        (time == NULL) != is_last || strtok_r(NULL, BLANKS, &rest))
        return complain_of_steps(err);
    if (t->n_steps == BATS_TARIFF_STEPS)
        return bats_error_set(err, BATS_EINPUT, "more than %d prices",
                              BATS_TARIFF_STEPS);
    struct bats_tariff_step *step = &t->step[t->n_steps];
    int rc =
        parse_amount(amount, t->n_steps == 0, &step->charge, by_hour, err);
    if (rc == 0 && time)
        rc = bats_duration_parse(time, &duration, err);
    if (rc == 0 && time && duration == 0)
        rc = bats_error_set(err, BATS_EINPUT, "'%s' is not above 0", time);
    step->from = *from;
    t->n_steps++;
    *from += duration;
    return rc;
}

int bats_model_charge(struct bats_cluster *c, const char *value, bool *by_hour,
                      struct bats_error *err)
{
    struct bats_tariff *t = &c->tariff;
    bats_time from = 0;
    char *text = strdup(value), *dots = text ? strstr(text, "..") : NULL;
    int rc = text ? 0 : bats_no_memory(err);
    bool has_steps = !dots && strchr(value, ',');
    if (dots)
        rc = parse_range(t, text, dots, by_hour, err);
    else if (rc == 0 && !has_steps)
        rc = parse_amount(value, true, &t->step[t->n_steps++].charge, by_hour,
                          err);
    for (char *item = text, *next; rc == 0 && has_steps && item; item = next) {
        next = strchr(item, ',');
        if (next)
            *next++ = '\0';
        rc = parse_step(t, item, &from, next == NULL, by_hour, err);
    }
    free(text);
    c->charge = t->step[0].charge;
    return rc;
}

/* ---- the other keys ---- */

/* Parses "1h..6h". */
static int parse_block(struct bats_tariff *t, const char *value,
                       struct bats_error *err)
{
    const char *dots = strstr(value, "..");
    char *first = dots ? strndup(value, (size_t)(dots - value)) : NULL;
    int rc = first ? bats_duration_parse(first, &t->shortest, err)
                   : bats_error_set(err, BATS_EINPUT,
                                    "expected TIME..TIME, as 1h..6h");
    free(first);
    if (rc == 0)
        rc = bats_duration_parse(dots + 2, &t->longest, err);
    if (rc == 0 && (t->shortest == 0 || t->longest < t->shortest))
        rc = bats_error_set(err, BATS_EINPUT,
                            "'%.60s' is not a range of lengths above 0",
                            value);
    return rc;
}

static int complain_of_lifetime(struct bats_error *err)
{
    return bats_error_set(err, BATS_EINPUT,
                          "expected exponential(MEAN), weibull(SCALE, SHAPE) "
                          "or lognormal(MEDIAN, SIGMA), and perhaps ', P%%', "
                          "or trace FILE");
}

static int by_length(const void *left, const void *right)
{
    bats_time a = *(const bats_time *)left, b = *(const bats_time *)right;
    return (a > b) - (a < b);
}

/* The middles of equal parts stand for more ages than there is room for. */
static void keep_ages(struct bats_lifetime *l, bats_time *ages, size_t n)
{
    qsort(ages, n, sizeof *ages, by_length);
    l->n_ages = n < BATS_LIFETIME_AGES ? (uint32_t)n : BATS_LIFETIME_AGES;
    for (size_t i = 0; i < l->n_ages; i++)
        l->age[i] = ages[(2 * i + 1) * n / (2 * l->n_ages)];
}

struct trace {
    bats_time *ages;
    size_t n, room, survivors;
};

/* A line of a trace: an age, or "never"; blank lines and # count nothing. */
static int read_age(void *context, char *line, struct bats_error *err)
{
    struct trace *t = context;
    bats_time age;
    char *rest = NULL, *word;
    line[strcspn(line, "#")] = '\0';
    if (!(word = strtok_r(line, BLANKS, &rest)))
        return 0;
    if (strcmp(word, "never") == 0) {
        t->survivors++;
        return 0;
    }
    int rc = bats_duration_parse(word, &age, err);
    if (rc == 0 && strtok_r(NULL, BLANKS, &rest))
        rc = bats_error_set(err, BATS_EINPUT, "expected one age in a line");
    if (rc < 0)
        return rc;
    if (!bats_grow(&t->ages, &t->room, t->n + 1, sizeof *t->ages))
        return bats_no_memory(err);
    t->ages[t->n++] = age;
    return 0;
}

static int read_trace(struct bats_lifetime *l, const char *path,
                      struct bats_error *err)
{
    struct trace t = {0};
    int rc = bats_textfile_lines(path, read_age, &t, err);
    if (rc == 0 && t.n == 0)
        rc = bats_error_at(err, path, 0, "no age");
    if (rc == 0) {
        l->survival = BATS_SURVIVAL_TRACE;
        l->share = (double)t.n / (double)(t.n + t.survivors);
        keep_ages(l, t.ages, t.n);
    }
    free(t.ages);
    return rc;
}

/* Parses "lognormal(90m, 1.39), 34%", or "trace FILE". */
static int parse_lifetime(struct bats_lifetime *l, const char *value,
                          const char *from, struct bats_error *err)
{
    if (strncmp(value, "trace", 5) == 0 && value[5] != '\0' &&
        strchr(BLANKS, value[5])) {
        value += 5;
        char *path = bats_textfile_beside(from, value + strspn(value, BLANKS));
        int rc = path ? read_trace(l, path, err) : bats_no_memory(err);
        free(path);
        return rc;
    }
    char name[16] = "", time[32], shape[32], share[32] = "", rest[2];
    const char *close = strchr(value, ')');
    int n = sscanf(value, "%15[a-z]( %31[^,) \t] , %31[^,) \t] )", name, time,
                   shape),
        m = 0, wanted = bats_survival_find(name, &l->survival);
    if (close && strspn(close + 1, BLANKS) < strlen(close + 1))
        m = sscanf(close + 1, " , %31[^% \t]%1[%] %1s", share, rest, rest) == 2
                ? 1
                : -1;
    if (!close || wanted == 0 || n != 1 + wanted || m < 0)
        return complain_of_lifetime(err);
    int rc = bats_survival_set(time, n == 3 ? shape : NULL, &l->a, &l->b, err);
    l->share = 100;
    if (rc == 0 && m == 1)
        rc = bats_factor_parse(share, &l->share, err);
    if (rc == 0 && l->share > 100)
        rc = bats_error_set(err, BATS_EINPUT, "more than 100 %%");
    l->share /= 100;
    return rc;
}

int bats_model_set(struct bats_cluster *c, enum bats_model_key key,
                   const char *value, const char *from,
                   struct bats_error *err)
{
    switch (key) {
    case BATS_MODEL_BLOCK:
        return parse_block(&c->tariff, value, err);
    case BATS_MODEL_RECLAIMABLE:
        return bats_inifile_yes(value, &c->reclaimable, err);
    case BATS_MODEL_NOTICE:
        return bats_duration_parse(value, &c->notice, err);
    case BATS_MODEL_GUARANTEED:
        return bats_duration_parse(value, &c->lifetime.guaranteed, err);
    case BATS_MODEL_FREE:
        return bats_duration_parse(value, &c->tariff.free, err);
    case BATS_MODEL_LIFETIME:
        return parse_lifetime(&c->lifetime, value, from, err);
    case BATS_MODEL_KEYS:
        break;
    }
    return 0;
}

/* ---- all together ---- */

bool bats_model_is_by_age(const struct bats_cluster *c)
{
    return c->tariff.n_steps > 1 || c->tariff.longest > 0 ||
           c->tariff.free > 0;
}

static bool is_range(const struct bats_tariff *t)
{
    return t->n_steps == 2 && t->step[1].from == 0;
}

int bats_model_check(const struct bats_cluster *c,
                     enum bats_billing_model billing, enum bats_model_key *key,
                     struct bats_error *err)
{
    const struct bats_tariff *t = &c->tariff;
    const struct {
        enum bats_model_key key;
        bool is_wrong;
        const char *sentence;
    } mistakes[] = {
        {BATS_MODEL_KEYS, is_range(t) && t->longest == 0,
         "a range of prices is for blocks: block = 1h..6h"},
        {BATS_MODEL_KEYS, t->longest > 0 && t->n_steps > 1 && !is_range(t),
         "a block has one price, or two for its ends: AMOUNT..AMOUNT"},
        {BATS_MODEL_BLOCK, t->longest > 0 && c->reclaimable,
         "a block is not reclaimed before its end: no reclaimable = yes"},
        {BATS_MODEL_NOTICE, c->notice > 0 && !c->reclaimable,
         "is for reclaimable = yes"},
        {BATS_MODEL_GUARANTEED, c->lifetime.guaranteed > 0 && !c->reclaimable,
         "is for reclaimable = yes"},
        {BATS_MODEL_FREE, t->free > 0 && !c->reclaimable,
         "is for reclaimable = yes"},
        {BATS_MODEL_LIFETIME,
         c->lifetime.survival != BATS_SURVIVAL_ALL && !c->reclaimable,
         "is for reclaimable = yes"},
        {t->longest > 0 ? BATS_MODEL_BLOCK
         : t->free > 0  ? BATS_MODEL_FREE
                        : BATS_MODEL_KEYS,
         bats_model_is_by_age(c) && billing != BATS_BILLING_SECOND,
         "needs billing = second"}};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        if (mistakes[i].is_wrong) {
            *key = mistakes[i].key;
            return bats_error_set(err, BATS_EINPUT, "%s",
                                  mistakes[i].sentence);
        }
    return 0;
}

bats_time bats_model_lifetime(const struct bats_cluster *c, uint64_t seed,
                              uint32_t machine, uint32_t life)
{
    uint64_t n = (uint64_t)life << 32 | machine;
    return c->reclaimable
               ? bats_lifetime_draw(&c->lifetime,
                                    bats_reliability_uniform(seed ^ LIVES, n))
               : BATS_NEVER;
}

bool bats_model_settle(struct bats_cluster *c, bool by_hour, bats_time window,
                       enum bats_billing_model billing)
{
    struct bats_tariff *t = &c->tariff;
    t->per = by_hour ? BATS_HOUR : window;
    if (t->longest > 0 && !is_range(t))
        t->charge_longest = t->step[0].charge;
    if (is_range(t)) {
        t->step[1] = (struct bats_tariff_step){0, 0};
        t->n_steps = 1;
    }
    if (by_hour)
        c->charge = bats_billing_use(t->step[0].charge, BATS_HOUR, window);
    if (billing != BATS_BILLING_SECOND)
        *t = (struct bats_tariff){.per = 0};
    return c->charge < BATS_UNLIMITED;
}
