/* model: the keys of a cluster that clusters files and scenarios share. See
 * model.h and sections.h. */
#include "input/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/sections.h"
#include "input/textfile.h"
#include "util/grow.h"
#include "util/hash.h"
#include "util/larger.h"

#define BLANKS " \t"
#define NAME_CHARACTERS                                                       \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
/* stream of random numbers for lifetimes */
#define LIVES UINT64_C(0x6c69666574696d65)

/* ---- the name ---- */

int bats_cluster_name_parse(const char *text, char name[BATS_CLUSTER_NAME],
                            struct bats_error *err)
{
    size_t length = strlen(text);
    if (length == 0)
        return bats_refuse(err,
                           "a cluster without a name: write [cluster NAME]");
    if (length >= BATS_CLUSTER_NAME)
        return bats_refuse(
            err, "the name of the cluster is longer than %d characters",
            BATS_CLUSTER_NAME - 1);
    if (strspn(text, NAME_CHARACTERS) < length)
        return bats_refuse(err,
                           "'%s' is not a name for a cluster: letters, "
                           "digits, '-', '_' and '.' only",
                           text);
    strcpy(name, text);
    return 0;
}

static struct bats_model *open_model(struct bats_sections *r)
{
    return &r->models[r->cluster];
}

/* ---- charges ---- */

/* Parses "3" or "3/h"; all charges of a cluster must be of one kind. */
static int parse_amount(const char *text, bool is_first, bats_money *charge,
                        bool *by_hour, struct bats_error *err)
{
    char amount[64];
    size_t length = strlen(text);
    bool hourly = length > 2 && strcmp(text + length - 2, "/h") == 0;
    if (length >= sizeof amount)
        return bats_refuse(err, "'%.60s...' is too long", text);
    if (!is_first && hourly != *by_hour)
        return bats_refuse(err, "'%.60s': either all are per hour or none is",
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
        rc = bats_refuse(
            err, "the longest block charges less than the shortest one");
    t->n_steps = 2; /* a range; see bats_sections_settle */
    return rc;
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
        return bats_refuse(err, "expected AMOUNT, AMOUNT/h, AMOUNT..AMOUNT or "
                                "AMOUNT for TIME, AMOUNT after");
    if (t->n_steps == BATS_TARIFF_STEPS)
        return bats_refuse(err, "more than %d prices", BATS_TARIFF_STEPS);
    struct bats_tariff_step *step = &t->step[t->n_steps];
    int rc =
        parse_amount(amount, t->n_steps == 0, &step->charge, by_hour, err);
    if (rc == 0 && time)
        rc = bats_duration_parse(time, &duration, err);
    if (rc == 0 && time && duration == 0)
        rc = bats_refuse(err, "'%s' is not above 0", time);
    step->from = *from;
    t->n_steps++;
    *from += duration;
    return rc;
}

static int set_charge(struct bats_sections *r, const char *value,
                      struct bats_error *err)
{
    struct bats_cluster *c = &open_model(r)->cluster;
    struct bats_tariff *t = &c->tariff;
    bool *by_hour = &open_model(r)->by_hour;
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
static int set_block(struct bats_sections *r, const char *value,
                     struct bats_error *err)
{
    struct bats_tariff *t = &open_model(r)->cluster.tariff;
    const char *dots = strstr(value, "..");
    char *first = dots ? strndup(value, (size_t)(dots - value)) : NULL;
    int rc = first ? bats_duration_parse(first, &t->shortest, err)
                   : bats_refuse(err, "expected TIME..TIME, as 1h..6h");
    free(first);
    if (rc == 0)
        rc = bats_duration_parse(dots + 2, &t->longest, err);
    if (rc == 0 && (t->shortest == 0 || t->longest < t->shortest))
        rc = bats_refuse(err, "'%.60s' is not a range of lengths above 0",
                         value);
    return rc;
}

static int complain_of_lifetime(struct bats_error *err)
{
    return bats_refuse(
        err, "expected exponential(MEAN), weibull(SCALE, SHAPE) or "
             "lognormal(MEDIAN, SIGMA), and perhaps ', P%%', or trace FILE");
}

struct trace {
    bats_time *ages;
    size_t n, room, survivors;
};

/* Reads a line of a trace: an age, or "never". Blank lines and # lines are
 * skipped. */
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
        rc = bats_refuse(err, "expected one age in a line");
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
    int rc = bats_textfile_lines(path, NULL, read_age, &t, err);
    if (rc == 0 && t.n == 0)
        rc = bats_error_at(err, path, 0, "no age");
    if (rc == 0) {
        l->survival = BATS_SURVIVAL_TRACE;
        l->share = (double)t.n / (double)(t.n + t.survivors);
        l->n_ages = (uint32_t)bats_thin_out(t.ages, t.n, BATS_LIFETIME_AGES);
        memcpy(l->age, t.ages, l->n_ages * sizeof *l->age);
    }
    free(t.ages);
    return rc;
}

/* Parses "lognormal(90m, 1.39), 34%", or "trace FILE". */
static int set_lifetime(struct bats_sections *r, const char *value,
                        struct bats_error *err)
{
    struct bats_lifetime *l = &open_model(r)->cluster.lifetime;
    if (strncmp(value, "trace", 5) == 0 && value[5] != '\0' &&
        strchr(BLANKS, value[5])) {
        value += 5;
        char *path =
            bats_textfile_beside(r->path, value + strspn(value, BLANKS));
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
        rc = bats_refuse(err, "more than 100 %%");
    l->share /= 100;
    return rc;
}

/* ---- losses ---- */

static int set_reliable(struct bats_sections *r, const char *value,
                        struct bats_error *err)
{
    struct bats_model *m = open_model(r);
    int rc = bats_yes_parse(value, &m->is_reliable, err);
    m->cluster.unreliable |= !m->is_reliable;
    return rc;
}

/* Makes the cluster unreliable, for keys of emulated losses. */
static struct bats_reliability *losses(struct bats_sections *r)
{
    open_model(r)->cluster.unreliable = true;
    return &open_model(r)->reliability;
}

static int set_reliability(struct bats_sections *r, const char *value,
                           struct bats_error *err)
{
    return bats_reliability_parse(losses(r), value, err);
}

static int set_survival(struct bats_sections *r, const char *value,
                        struct bats_error *err)
{
    return bats_survival_parse(losses(r), value, err);
}

static int set_noticed(struct bats_sections *r, const char *value,
                       struct bats_error *err)
{
    bats_time *noticed = &open_model(r)->cluster.noticed;
    losses(r);
    *noticed = 0;
    int rc = strcmp(value, "no") == 0
                 ? 0
                 : bats_duration_parse(value, noticed, err);
    return rc == 0 && *noticed == 0 && strcmp(value, "no") != 0
               ? bats_refuse(err, "'%s' is not above 0", value)
               : rc;
}

static int set_charge_lost(struct bats_sections *r, const char *value,
                           struct bats_error *err)
{
    bool yes;
    int rc = bats_yes_parse(value, &yes, err);
    open_model(r)->cluster.lost_is_free = !yes;
    return rc;
}

static int set_memory(struct bats_sections *r, const char *value,
                      struct bats_error *err)
{
    int64_t bytes = 0;
    int rc = bats_size_parse(value, &bytes, err);
    open_model(r)->stock.memory_kib = bytes / 1024;
    return rc;
}

#define COUNT(name, member, most)                                             \
    BATS_KEY_MEMBER(name, COUNT, bats_model, member, most)
#define MEMBER(name, kind, member)                                            \
    BATS_KEY_MEMBER(name, kind, bats_model, member, 0)

const struct bats_key bats_model_keys[] = {
    BATS_KEY("charge", set_charge, false, true),
    MEMBER("speed", FACTOR, speed),
    MEMBER("expected", DURATION, expected),
    BATS_KEY("reliable", set_reliable, false, false),
    BATS_KEY("reliability", set_reliability, false, false),
    BATS_KEY("survival", set_survival, false, false),
    BATS_KEY("noticed", set_noticed, false, false),
    BATS_KEY("charge_lost", set_charge_lost, false, false),
    BATS_KEY("block", set_block, false, false),
    MEMBER("reclaimable", YES, cluster.reclaimable),
    MEMBER("notice", DURATION, cluster.notice),
    MEMBER("guaranteed", DURATION, cluster.lifetime.guaranteed),
    MEMBER("free", DURATION, cluster.tariff.free),
    BATS_KEY("lifetime", set_lifetime, false, false),
    COUNT("slots", stock.cores, 1024),
    BATS_KEY("memory", set_memory, false, false),
    COUNT("gpus", stock.gpus, BATS_GPUS_MOST),
    {0},
};

bats_time bats_model_lifetime(const struct bats_cluster *c, uint64_t seed,
                              uint32_t machine, uint32_t life)
{
    uint64_t n = (uint64_t)life << 32 | machine;
    return c->reclaimable ? bats_lifetime_draw(
                                &c->lifetime,
                                bats_mix_uniform(bats_mix_at(seed ^ LIVES, n)))
                          : BATS_NEVER;
}
