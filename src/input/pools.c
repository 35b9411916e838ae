#include "input/pools.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/larger.h"

#define LONGEST_LIST 1000000

static const char *const names[] = {"unreliable", "reliable"};

/* Sorts the times, and keeps quantiles if there are too many. Returns how many
 * are left. */
static size_t thin_out(bats_time *times, size_t n)
{
    size_t kept = n < BATS_POOLS_TIMES ? n : BATS_POOLS_TIMES;
    if (n > 0)
        qsort(times, n, sizeof *times, bats_ascending);
    for (size_t i = 0; i < kept; i++)
        times[i] = times[(2 * i + 1) * n / (2 * kept)];
    return kept;
}

void bats_pools_set(struct bats_pools *p, int pool, bats_time *times, size_t n)
{
    size_t kept = thin_out(times, n);
    free(p->times[pool]);
    p->times[pool] = times;
    if (pool == 0) {
        p->model.unreliable = times;
        p->model.n_times = kept;
    } else {
        p->model.reliable = times;
        p->model.n_reliable_times = kept;
    }
}

void bats_pools_set_lost(struct bats_pools *p, bats_time noticed, double loses,
                         bats_time *times, size_t n)
{
    free(p->lost);
    p->lost = times;
    p->model.noticed = noticed;
    p->model.loses = loses;
    p->model.lost = times;
    p->model.n_lost = thin_out(times, n);
}

void bats_pools_set_charge(struct bats_pools *p, int pool, bats_money per_hour)
{
    double price = (double)per_hour / (double)BATS_HOUR;
    p->charge[pool] = per_hour;
    if (pool == 0)
        p->model.price_unreliable = price;
    else
        p->model.price_reliable = price;
}

static bats_time quantile(const bats_time *times, size_t n, double u)
{
    size_t i = (size_t)(u * (double)n);
    return times[i < n ? i : n - 1];
}

size_t bats_pools_instances(const struct bats_pools *p, int pool,
                            struct bats_instance list[BATS_POOLS_INSTANCES])
{
    const struct bats_plays_model *m = &p->model;
    size_t n = pool ? m->n_reliable_times : m->n_times;
    for (size_t i = 0; n > 0 && i < BATS_POOLS_INSTANCES; i++) {
        double rank = ((double)i + 0.5) / BATS_POOLS_INSTANCES;
        /* Losses alternate between long and short times: 37 and 100 are
         * coprime. */
        double x = ((double)(i * 37 % BATS_POOLS_INSTANCES) + 0.5) /
                   BATS_POOLS_INSTANCES;
        bats_time time = quantile(p->times[pool], n, rank), lost = BATS_NEVER;
        if (pool == 0 && m->noticed == 0 && x > m->gamma)
            lost = 0;
        if (pool == 0 && m->noticed > 0 && x < m->loses)
            lost = quantile(m->lost, m->n_lost, x / m->loses);
        list[i] = lost > time
                      ? (struct bats_instance){.time = time, .ended = time}
                      : (struct bats_instance){
                            .time = -1,
                            .ended = lost + (m->noticed > 0 ? m->noticed : 1),
                            .noticed = true};
    }
    return n > 0 ? BATS_POOLS_INSTANCES : 0;
}

void bats_pools_release(struct bats_pools *pools)
{
    free(pools->times[0]);
    free(pools->times[1]);
    free(pools->lost);
    *pools = (struct bats_pools){0};
}

/* ---- reading ---- */

static int fail(const char *path, const char *what, struct bats_error *err)
{
    return bats_refuse(err, "%s: %s", path, what);
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static bats_time to_time(double seconds)
{
    return (bats_time)llround(fmax(seconds * 1e6, 1));
}

static bool is_time(double seconds)
{
    return seconds > 0 && seconds < (double)BATS_LONGEST / 1e6;
}

/* Reads a list of times. The caller frees it. */
static int read_times(const json_t *list, bats_time **times, const char *path,
                      struct bats_error *err)
{
    size_t n = json_array_size(list);
    *times = malloc((n + 1) * sizeof **times);
    if (!*times)
        return bats_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        double s = json_number_value(json_array_get(list, i));
        if (!is_time(s)) {
            free(*times);
            return fail(path,
                        "times_s or lost_s has an item that is not a time "
                        "above 0",
                        err);
        }
        (*times)[i] = to_time(s);
    }
    return 0;
}

/* Reads how losses are noticed, if they are. */
static int read_lost(const json_t *object, struct bats_pools *p,
                     const char *path, struct bats_error *err)
{
    const json_t *list = json_object_get(object, "lost_s");
    double noticed = number(object, "noticed_s");
    double loses = number(object, "loses");
    size_t n = json_array_size(list);
    bats_time *times;
    if (!json_object_get(object, "noticed_s"))
        return 0;
    if (!is_time(noticed) || n > LONGEST_LIST ||
        !(loses >= 0 && loses <= (n > 0 ? 1 : 0)))
        return fail(path,
                    "noticed_s needs a time above 0, loses, from 0 to 1, and "
                    "the times lost_s",
                    err);
    int rc = read_times(list, &times, path, err);
    if (rc == 0)
        bats_pools_set_lost(p, to_time(noticed), loses, times, n);
    return rc;
}

static int read_pool(const json_t *object, struct bats_pools *p, int pool,
                     const char *path, struct bats_error *err)
{
    struct bats_plays_model *m = &p->model;
    const char *charge =
        json_string_value(json_object_get(object, "charge_per_hour"));
    const json_t *list = json_object_get(object, "times_s");
    json_int_t slots = json_integer_value(json_object_get(object, "slots"));
    size_t n = json_array_size(list);
    bats_money per_hour;
    bats_time *times;
    if (!json_is_object(object) && pool == 1)
        return 0;
    if (!charge || bats_money_parse(charge, &per_hour, NULL))
        return fail(path, "a pool has no charge_per_hour, an amount as text",
                    err);
    if (slots < 1 || slots > 10000000)
        return fail(path, "slots of a pool must be a number from 1", err);
    if (n == 0 || n > LONGEST_LIST)
        return fail(path, "a pool has no list times_s", err);
    int rc = read_times(list, &times, path, err);
    if (rc < 0)
        return rc;
    bats_pools_set_charge(p, pool, per_hour);
    *(pool ? &m->n_reliable : &m->n_unreliable) = (uint32_t)slots;
    bats_pools_set(p, pool, times, n);
    if (pool == 1)
        return 0;
    rc = read_lost(object, p, path, err);
    m->gamma = number(object, "gamma");
    m->lost_is_free = json_is_false(json_object_get(object, "charge_lost"));
    return rc < 0 || (m->gamma > 0 && m->gamma <= 1)
               ? rc
               : fail(path, "gamma is not above 0 and at most 1", err);
}

int bats_pools_from_json(const json_t *o, const char *path,
                         struct bats_pools *p, struct bats_error *err)
{
    json_int_t tasks = json_integer_value(json_object_get(o, "tasks"));
    const char *currency = json_string_value(json_object_get(o, "currency"));
    int rc = 0;
    *p = (struct bats_pools){0};
    if (json_integer_value(json_object_get(o, "bats_pools")) != 1)
        rc = fail(path,
                  "it has no \"bats_pools\": 1, as bats-mpi frontier "
                  "--save writes it",
                  err);
    else if (tasks < 1 || tasks > 100000000)
        rc = fail(path, "tasks is not a number from 1", err);
    p->model.n_tasks = (uint32_t)tasks;
    for (int i = 0; rc == 0 && i < 2; i++)
        rc = read_pool(json_object_get(o, names[i]), p, i, path, err);
    if (currency && strlen(currency) < sizeof p->currency)
        strcpy(p->currency, currency);
    if (rc < 0)
        bats_pools_release(p);
    return rc;
}

int bats_pools_load(const char *path, struct bats_pools *p,
                    struct bats_error *err)
{
    json_error_t where;
    json_t *o = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    const json_t *pools = o;
    *p = (struct bats_pools){0};
    if (!o && where.line < 0)
        return bats_refuse(err, "cannot read %s", path);
    if (!o)
        return bats_refuse(err, "%s:%d: %s", path, where.line, where.text);
    if (json_object_get(o, "bats_profile"))
        pools = json_object_get(o, "pools");
    int rc = pools ? bats_pools_from_json(pools, path, p, err)
                   : fail(path,
                          "this profile knows of no clusters with reliable = "
                          "no that have answered",
                          err);
    json_decref(o);
    return rc;
}

/* ---- writing ---- */

static json_t *times_json(const bats_time *times, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_real((double)times[i] / 1e6));
    return list;
}

static json_t *pool_json(const struct bats_pools *p, int pool)
{
    const struct bats_plays_model *m = &p->model;
    char charge[BATS_UNITS_TEXT];
    json_t *times =
        times_json(p->times[pool], pool ? m->n_reliable_times : m->n_times);
    json_t *o = json_pack("{s:I, s:s, s:o}", "slots",
                          (json_int_t)(pool ? m->n_reliable : m->n_unreliable),
                          "charge_per_hour",
                          bats_money_format(charge, p->charge[pool]),
                          "times_s", times);
    if (pool == 0) {
        json_object_set_new(o, "gamma", json_real(m->gamma));
        json_object_set_new(o, "charge_lost", json_boolean(!m->lost_is_free));
    }
    if (pool == 0 && m->noticed > 0) {
        json_object_set_new(o, "noticed_s",
                            json_real((double)m->noticed / 1e6));
        json_object_set_new(o, "loses", json_real(m->loses));
        json_object_set_new(o, "lost_s", times_json(p->lost, m->n_lost));
    }
    return o;
}

json_t *bats_pools_to_json(const struct bats_pools *p)
{
    json_t *o =
        json_pack("{s:i, s:I, s:s}", "bats_pools", 1, "tasks",
                  (json_int_t)p->model.n_tasks, "currency", p->currency);
    for (int i = 0; o && i < (p->model.n_reliable > 0 ? 2 : 1); i++)
        json_object_set_new(o, names[i], pool_json(p, i));
    return o;
}

int bats_pools_save(const struct bats_pools *p, const char *path,
                    struct bats_error *err)
{
    json_t *o = bats_pools_to_json(p);
    int rc = !o ? bats_no_memory(err)
             : json_dump_file(o, path, JSON_INDENT(1)) != 0
                 ? bats_error_set(err, BATS_ESYS, "cannot write %s", path)
                 : 0;
    json_decref(o);
    return rc;
}
