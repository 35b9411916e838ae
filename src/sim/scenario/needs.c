/* needs: resource needs of a scenario's tasks, and resources of its
 * machines. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bats/rules.h"
#include "sim/scenario/section.h"
#include "util/hash.h"

#define SEED 34 /* the same needs for all seeds */

/* ---- the key `needs` ---- */

/* "4", "4/8G" or "4/8G/1". */
static int parse_kind(char *text, struct bats_need *need,
                      struct bats_error *why)
{
    char *memory = strchr(text, '/');
    char *gpus = memory ? strchr(memory + 1, '/') : NULL;
    int64_t bytes = 0;
    *need = (struct bats_need){0};
    if (memory)
        *memory++ = '\0';
    if (gpus)
        *gpus++ = '\0';
    int rc = bats_sections_count(text, BATS_CORES_MOST, &need->cores, why);
    if (rc == 0 && memory && *memory)
        rc = bats_size_parse(memory, &bytes, why);
    if (rc == 0 && gpus)
        rc = bats_sections_count(gpus, BATS_GPUS_MOST, &need->gpus, why);
    need->memory_kib = bytes > 0 ? (bytes - 1) / 1024 + 1 : 0;
    return rc;
}

int bats_scenario_needs_parse(struct bats_scenario *s, const char *value,
                              struct bats_error *why)
{
    char *text = strdup(value), *rest = text, *part;
    double sum = 0;
    int rc = text ? 0 : bats_no_memory(why);
    while (rc == 0 && (part = strsep(&rest, ","))) {
        part += strspn(part, BLANKS);
        part[strcspn(part, BLANKS)] = '\0';
        char *share = strchr(part, ':');
        if (s->n_kinds == BATS_SCENARIO_NEEDS)
            rc = bats_refuse(why, "more than %d kinds", BATS_SCENARIO_NEEDS);
        if (share)
            *share++ = '\0';
        if (rc == 0)
            rc = parse_kind(part, &s->kind[s->n_kinds], why);
        if (rc == 0 && share)
            rc = bats_factor_parse(share, &s->share[s->n_kinds], why);
        if (rc == 0 && !share)
            s->share[s->n_kinds] = 1;
        sum += s->share[s->n_kinds];
        s->n_kinds += rc == 0;
    }
    free(text);
    for (size_t i = 0; rc == 0 && i < s->n_kinds; i++)
        s->share[i] /= sum;
    return rc;
}

/* ---- the tasks ---- */

static struct bats_need draw(const struct bats_scenario *s, uint32_t task)
{
    double at = (double)(bats_mix_at(SEED, task) >> 11) * 0x1p-53;
    size_t k = 0;
    while (k + 1 < s->n_kinds && at >= s->share[k])
        at -= s->share[k++];
    return s->kind[k];
}

/* Measured needs differ within a category; a user would request the
 * largest. */
static int level(struct bats_scenario *s, struct bats_error *err)
{
    int64_t *most = calloc(BATS_CATEGORIES_MAX, sizeof *most);
    if (!most)
        return bats_no_memory(err);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < s->n_tasks; i++) {
            int64_t *of = &most[s->category ? s->category[i] : 0];
            if (pass == 1)
                s->own[i].memory_kib = *of;
            else if (s->own[i].memory_kib > *of)
                *of = s->own[i].memory_kib;
        }
    free(most);
    return 0;
}

static int draw_all(struct bats_scenario *s, struct bats_error *err)
{
    if (s->n_kinds == 0)
        return s->own_measured ? level(s, err) : 0;
    free(s->own);
    s->own = calloc(s->n_tasks, sizeof *s->own);
    for (uint32_t i = 0; s->own && i < s->n_tasks; i++)
        s->own[i] = draw(s, i);
    return s->own ? 0 : bats_no_memory(err);
}

/* ---- the machines ---- */

static struct bats_stock stock_of(const struct bats_scenario *s, uint32_t id)
{
    return s->stock[s->platform.machines[id].cluster];
}

static bool fits(const struct bats_scenario *s, const struct bats_need *need)
{
    bool does = false;
    for (uint32_t i = 0; i < s->platform.n_machines && !does; i++) {
        struct bats_stock stock = stock_of(s, i);
        does = bats_need_room(&stock, need) > 0;
    }
    return does;
}

/* Every slot of any machine satisfies every task. */
static bool are_none(const struct bats_scenario *s)
{
    struct bats_need most = {.cores = 1};
    for (uint32_t i = 0; i < s->n_tasks; i++) {
        const struct bats_need *need = &s->own[i];
        if (need->cores > 1 || need->gpus > 0)
            return false;
        if (need->memory_kib > most.memory_kib)
            most.memory_kib = need->memory_kib;
    }
    for (uint32_t i = 0; i < s->platform.n_machines; i++) {
        struct bats_stock stock = stock_of(s, i);
        if (bats_need_room(&stock, &most) < stock.cores)
            return false;
    }
    return true;
}

/* ---- categories ---- */

struct kind {
    struct bats_need need;
    uint16_t of; /* category of the bag */
};

/* Splits categories whose tasks differ in needs. */
static int sort(struct bats_sections *r, struct kind *list)
{
    struct bats_scenario *s = r->object;
    uint16_t *category = calloc(s->n_tasks, sizeof *category);
    uint32_t n = 0;
    int rc = category ? 0 : bats_no_memory(r->err);
    for (uint32_t i = 0; rc == 0 && i < s->n_tasks; i++) {
        struct kind kind = {s->own[i], s->category ? s->category[i] : 0};
        uint32_t k = 0;
        while (k < n && (list[k].of != kind.of ||
                         list[k].need.cores != kind.need.cores ||
                         list[k].need.gpus != kind.need.gpus ||
                         list[k].need.memory_kib != kind.need.memory_kib))
            k++;
        if (k == BATS_CATEGORIES_MAX)
            rc = FAIL(r, bats_scenario_line(r, BAG, NULL),
                      "tasks of more than %d kinds", BATS_CATEGORIES_MAX);
        else if (k == n && !fits(s, &kind.need))
            rc = FAIL(r, bats_scenario_line(r, BAG, NULL),
                      "task %" PRIu64 " needs %" PRIu32 " cores, %" PRId64
                      " KiB of memory and %" PRIu32
                      " GPUs: no machine has all of it",
                      (uint64_t)i + 1, kind.need.cores, kind.need.memory_kib,
                      kind.need.gpus);
        if (rc == 0 && k == n)
            list[n++] = kind;
        category[i] = (uint16_t)k;
    }
    free(s->category);
    s->category = category;
    s->engine.n_categories = n;
    return rc;
}

int bats_scenario_needs_settle(struct bats_sections *r)
{
    struct bats_scenario *s = r->object;
    uint32_t n_machines = s->platform.n_machines;
    int rc = draw_all(s, r->err);
    for (uint32_t i = 0; rc == 0 && s->own && i < s->n_tasks; i++)
        if (s->own[i].cores == 0)
            s->own[i].cores = 1;
    if (rc < 0 || !s->own || are_none(s))
        return rc;
    struct kind *list = calloc(BATS_CATEGORIES_MAX, sizeof *list);
    s->needs = calloc(BATS_CATEGORIES_MAX, sizeof *s->needs);
    s->stocks = calloc(n_machines, sizeof *s->stocks);
    rc =
        list && s->needs && s->stocks ? sort(r, list) : bats_no_memory(r->err);
    for (uint32_t k = 0; rc == 0 && k < s->engine.n_categories; k++)
        s->needs[k] = list[k].need;
    for (uint32_t i = 0; rc == 0 && i < n_machines; i++)
        s->stocks[i] = stock_of(s, i);
    free(list);
    return rc;
}
