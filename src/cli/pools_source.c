#include "cli/pools_source.h"

#include <gsl/gsl_rng.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/answers.h"
#include "cli/look.h"
#include "record/read/view.h"
#include "sim/scenario.h"

#define DRAWS 20000 /* executions that a scenario is asked for */

/* ---- a scenario ---- */

/* Draws executions of the scenario's tasks on the machines of the pool, in
 * turn. Returns the times of those that answer. */
static size_t draw_times(const struct bats_scenario *s, int pool,
                         bats_time *times)
{
    const struct bats_platform *p = &s->platform;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    uint32_t number[BATS_CLUSTERS_MAX] = {0}, machine = 0;
    size_t n = 0;
    for (uint32_t i = 0; rng && i < DRAWS; i++) {
        uint32_t c;
        do {
            c = p->machines[machine].cluster;
            number[c] = machine == 0 ? 0 : number[c] + 1;
            machine = (machine + 1) % p->n_machines;
        } while (p->clusters[c].unreliable != (pool == 0));
        double work = s->as_measured
                          ? (double)s->measured[i % s->n_tasks]
                          : (double)bats_draw_next(&s->runtime, rng);
        work *= bats_draw_noise(1, i, 0, s->noise[c]);
        bats_time time = (bats_time)llround(fmax(work / p->speed[c], 1));
        if (bats_reliability_lost(&p->reliability[c], 1, number[c], i, 0, 0) >
            time)
            times[n++] = time;
    }
    gsl_rng_free(rng);
    return n;
}

static int draw_pool(const struct bats_scenario *s, int pool,
                     struct bats_pools *pools, struct bats_error *err)
{
    const struct bats_platform *p = &s->platform;
    struct bats_plays_model *m = &pools->model;
    double charge = 0;
    uint32_t slots = 0;
    for (uint32_t i = 0; i < p->n_machines; i++) {
        const struct bats_cluster *c = &p->clusters[p->machines[i].cluster];
        if (c->unreliable != (pool == 0))
            continue;
        slots += p->machines[i].slots;
        charge += (double)c->charge;
        if (pool == 0)
            m->lost_is_free = c->lost_is_free;
    }
    *(pool ? &m->n_reliable : &m->n_unreliable) = slots;
    if (slots == 0)
        return 0;
    bats_time *times = malloc(DRAWS * sizeof *times);
    if (!times)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    size_t n = draw_times(s, pool, times);
    if (n == 0) {
        free(times);
        return bats_error_set(err, BATS_EINPUT,
                              "no execution answers in a pool");
    }
    if (pool == 0)
        m->gamma = (double)n / DRAWS;
    bats_pools_set(pools, pool, times, n);
    bats_pools_set_charge(pools, pool,
                          (bats_money)llround(charge / slots *
                                              (double)BATS_HOUR /
                                              (double)p->window));
    return 0;
}

static int from_scenario(const char *path, struct bats_pools *pools,
                         struct bats_error *err)
{
    struct bats_scenario *s = NULL;
    int rc = bats_scenario_load(path, &s, err);
    if (rc < 0)
        return rc;
    pools->model.n_tasks = s->n_tasks;
    strcpy(pools->currency, s->platform.currency);
    for (int i = 0; rc == 0 && i < 2; i++)
        rc = draw_pool(s, i, pools, err);
    bats_scenario_destroy(s);
    return rc;
}

/* ---- a record ---- */

/* The fields read of one. */
struct reading {
    struct bats_view *view;
    struct bats_view_status status;
    bool unreliable[BATS_CLUSTERS_MAX], is_free;
    struct machine {
        char name[BATS_MACHINE_NAME];
        size_t cluster;
        /* The task that runs there, and the one before: its end may be logged
         * after the next one was sent. */
        int64_t task[2];
        bats_time sent[2]; /* -1: nothing */
    } *machines;
    size_t n_machines;
    struct bats_instance *instances[2];
    size_t n[2];
    bats_time *done_times; /* of tasks, ascending */
    size_t n_done_times;
    bool is_online; /* only what was known when the tail began, */
    bats_time now, d; /* then, and how long an instance may take */
};

static int read_kinds(struct reading *r, const char *path,
                      struct bats_error *err)
{
    char *text = NULL;
    int rc = bats_view_options(r->view, &text, err);
    if (rc < 0)
        return rc;
    json_t *o = json_loads(text, 0, NULL);
    const json_t *kinds =
        json_object_get(json_object_get(o, "engine"), "unreliable");
    bool any = false;
    for (size_t i = 0; i < json_array_size(kinds) && i < BATS_CLUSTERS_MAX;
         i++) {
        json_int_t kind = json_integer_value(json_array_get(kinds, i));
        r->unreliable[i] = kind > 0;
        r->is_free |= kind > 1;
        any |= kind > 0;
    }
    json_decref(o);
    free(text);
    return any ? 0
               : bats_error_set(err, BATS_EINPUT,
                                "%s: the run had no cluster with reliable = "
                                "no",
                                path);
}

static int read_machines(struct reading *r, struct bats_error *err)
{
    struct bats_view_machine m;
    int64_t n = 0;
    for (size_t i = 0; i < r->status.n_clusters; i++)
        n += r->status.clusters[i].machines;
    r->machines = calloc((size_t)n + 1, sizeof *r->machines);
    r->done_times =
        calloc((size_t)r->status.tasks + 1, sizeof *r->done_times);
    if (!r->machines || !r->done_times)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    int rc = bats_view_machines(r->view, err);
    while (rc == 0 && (rc = bats_view_next_machine(r->view, &m, err)) > 0) {
        struct machine *to = &r->machines[r->n_machines];
        rc = 0;
        if (r->n_machines == (size_t)n)
            continue;
        r->n_machines++;
        snprintf(to->name, sizeof to->name, "%s", m.name);
        to->sent[0] = to->sent[1] = -1;
        while (to->cluster + 1 < r->status.n_clusters &&
               strcmp(r->status.clusters[to->cluster].name, m.cluster) != 0)
            to->cluster++;
    }
    return rc < 0 ? rc : 0;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct machine *)left)->name,
                  ((const struct machine *)right)->name);
}

static int add_instance(struct reading *r, int pool,
                        struct bats_instance instance, struct bats_error *err)
{
    size_t n = r->n[pool];
    if ((n & (n + 1)) == 0 || n == 0) {
        struct bats_instance *list =
            realloc(r->instances[pool], (2 * n + 2) * sizeof *list);
        if (!list)
            return bats_error_set(err, BATS_ENOMEM, "out of memory");
        r->instances[pool] = list;
    }
    r->instances[pool][r->n[pool]++] = instance;
    return 0;
}

/* Executions that were stopped for another reason than their time say
 * nothing. */
static int read_entry(struct reading *r, const struct bats_view_entry *e,
                      struct bats_error *err)
{
    struct machine key, *m;
    snprintf(key.name, sizeof key.name, "%s", e->machine);
    m = bsearch(&key, r->machines, r->n_machines, sizeof key, by_name);
    if (!m || e->task == 0)
        return 0;
    if (strcmp(e->what, "run") == 0) {
        m->task[1] = m->task[0];
        m->sent[1] = m->sent[0];
        m->task[0] = e->task;
        m->sent[0] = e->time;
        return 0;
    }
    bool is_done = strcmp(e->what, "done") == 0;
    bool is_late = strcmp(e->what, "superseded") == 0;
    bool has_failed = strcmp(e->what, "failed") == 0;
    bool is_lost =
        (is_late || has_failed) && strstr(e->text, "timed out") != NULL;
    bool answers =
        is_done ||
        (is_late && !is_lost && strstr(e->text, "signal") == NULL);
    bool ends = is_done || is_late || has_failed ||
                strcmp(e->what, "preempted") == 0;
    if (is_done && r->n_done_times < (size_t)r->status.tasks)
        r->done_times[r->n_done_times++] = e->time;
    int which = m->sent[1] >= 0 && m->task[1] == e->task ? 1 : 0;
    bats_time sent = m->sent[which];
    if (!ends || sent < 0 || m->task[which] != e->task)
        return 0;
    struct bats_instance instance = {sent, answers ? e->time - sent : -1};
    m->sent[which] = -1;
    return answers || is_lost
               ? add_instance(r, r->unreliable[m->cluster] ? 0 : 1, instance,
                              err)
               : 0;
}

static int read_instances(struct reading *r, struct bats_error *err)
{
    struct bats_view_entry e;
    qsort(r->machines, r->n_machines, sizeof *r->machines, by_name);
    int rc = bats_view_log(r->view, NULL, 0, err);
    while (rc == 0 && (rc = bats_view_next_entry(r->view, &e, err)) > 0)
        rc = read_entry(r, &e, err);
    return rc < 0 ? rc : 0;
}

/* When fewer tasks were left than the pool has slots, and what was sent since
 * then, or answered, is not known. */
static void forget_tail(struct reading *r, int64_t n_unreliable,
                        bats_time *now, bats_time *d)
{
    struct bats_answers a;
    *now = BATS_NEVER;
    if (r->status.tasks < n_unreliable || r->n_done_times == 0)
        return;
    size_t at = (size_t)(r->status.tasks - n_unreliable);
    if (at >= r->n_done_times)
        return;
    *now = r->done_times[at];
    for (int pool = 0; pool < 2; pool++) {
        size_t kept = 0;
        for (size_t i = 0; i < r->n[pool]; i++) {
            struct bats_instance instance = r->instances[pool][i];
            if (instance.sent >= *now)
                continue;
            if (instance.sent + instance.time > *now)
                instance.time = -1;
            r->instances[pool][kept++] = instance;
        }
        r->n[pool] = kept;
    }
    *d = BATS_HOUR;
    if (bats_answers_find(r->instances[0], r->n[0], BATS_NEVER, 0, &a)) {
        *d = (bats_time)(BATS_THROUGHPUT_D * a.mean);
        free(a.times);
    }
}

/* The size of the pool is that of its machines that were there to the end. */
static int make_pool(struct reading *r, int pool, const char *path,
                     struct bats_pools *pools, struct bats_error *err)
{
    struct bats_plays_model *m = &pools->model;
    struct bats_answers a;
    double charge = 0;
    int64_t n = 0;
    for (size_t i = 0; i < r->status.n_clusters; i++) {
        const struct bats_view_cluster *c = &r->status.clusters[i];
        if (r->unreliable[i] != (pool == 0))
            continue;
        n += c->machines - c->lost;
        charge += (double)c->charge * (double)(c->machines - c->lost);
    }
    if (n <= 0 && pool == 1)
        return 0;
    if (pool == 0 && r->is_online)
        forget_tail(r, n, &r->now, &r->d);
    bool is_known = n > 0 && bats_answers_find(r->instances[pool], r->n[pool],
                                               r->now, r->d, &a);
    if (!is_known && pool == 1) /* never used: it takes as long there */
        is_known = n > 0 && bats_answers_find(r->instances[0], r->n[0], r->now,
                                              r->d, &a);
    if (!is_known)
        return bats_error_set(err, BATS_EINPUT,
                              "%s: nothing has answered in the unreliable "
                              "clusters",
                              path);
    *(pool ? &m->n_reliable : &m->n_unreliable) = (uint32_t)n;
    if (pool == 0)
        m->gamma = a.gamma;
    bats_pools_set(pools, pool, a.times, a.n_times);
    bats_pools_set_charge(pools, pool,
                          (bats_money)llround(charge / (double)n *
                                              (double)BATS_HOUR /
                                              (double)r->status.window));
    return 0;
}

static int from_record(const char *path, bool is_online,
                       struct bats_pools *pools, struct bats_error *err)
{
    struct reading r = {.is_online = is_online, .now = BATS_NEVER};
    int rc = bats_view_open(path, &r.view, err);
    if (rc == 0)
        rc = bats_view_status(r.view, &r.status, err);
    if (rc == 0)
        rc = read_kinds(&r, path, err);
    if (rc == 0)
        rc = read_machines(&r, err);
    if (rc == 0)
        rc = read_instances(&r, err);
    for (int i = 0; rc == 0 && i < 2; i++)
        rc = make_pool(&r, i, path, pools, err);
    pools->model.n_tasks = (uint32_t)r.status.tasks;
    pools->model.lost_is_free = r.is_free;
    snprintf(pools->currency, sizeof pools->currency, "%.15s",
             r.status.currency);
    bats_view_close(r.view);
    free(r.machines);
    free(r.done_times);
    free(r.instances[0]);
    free(r.instances[1]);
    return rc;
}

int bats_pools_read(const char *word, bool is_online,
                    struct bats_pools *pools, struct bats_error *err)
{
    char head[16] = "", path[PATH_MAX];
    bats_look_find(word, path, sizeof path);
    FILE *in = fopen(path, "re");
    if (!in)
        return bats_error_set(err, BATS_EINPUT, "cannot read %s", path);
    size_t n = fread(head, 1, sizeof head - 1, in);
    fclose(in);
    *pools = (struct bats_pools){0};
    int rc = n > 0 && head[strspn(head, " \t\r\n")] == '{'
                 ? bats_pools_load(path, pools, err)
             : memcmp(head, "SQLite format 3", 15) == 0
                 ? from_record(path, is_online, pools, err)
                 : from_scenario(path, pools, err);
    if (rc == 0 && pools->model.n_unreliable == 0)
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s: there is no cluster with reliable = no",
                            path);
    if (rc < 0)
        bats_pools_release(pools);
    return rc;
}
