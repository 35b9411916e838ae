#include "cli/pools_source.h"

#include <gsl/gsl_rng.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/look.h"
#include "sim/scenario.h"

#define DRAWS 20000 /* executions drawn from a scenario */

/* ---- a scenario ---- */

/* Executions of a pool; room for DRAWS each. */
struct drawn {
    bats_time *times, *lost; /* runtimes of all executions, < 0 if one does not
                              * answer; times until a loss */
    size_t n_times, n_lost, n_answers;
};

/* Draws executions of the scenario's tasks on the machines of the pool, in
 * turn. */
static void draw_times(const struct bats_scenario *s, int pool,
                       struct drawn *d)
{
    const struct bats_platform *p = &s->platform;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    uint32_t number[BATS_CLUSTERS_MAX] = {0}, machine = 0;
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
        bats_time lost =
            bats_reliability_lost(&p->reliability[c], 1, number[c], i, 0, 0);
        lost = lost > 0 ? lost : 1;
        d->times[d->n_times++] = lost > time ? time : -time;
        if (lost < BATS_NEVER)
            d->lost[d->n_lost++] = lost < BATS_LONGEST ? lost : BATS_LONGEST;
        d->n_answers += lost > time;
    }
    gsl_rng_free(rng);
}

/* Keeps the times of all executions, or only of those that answer. */
static void sort_out(struct drawn *d, bool all)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n_times; i++)
        if (all || d->times[i] > 0)
            d->times[n++] = d->times[i] > 0 ? d->times[i] : -d->times[i];
    d->n_times = n;
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
    bats_time noticed = 0;
    struct drawn d = {.times = malloc(DRAWS * sizeof *d.times),
                      .lost = malloc(DRAWS * sizeof *d.lost)};
    if (d.times && d.lost)
        draw_times(s, pool, &d);
    if (pool == 0 && d.n_answers > 0)
        noticed = bats_strategy_noticed(p->clusters, p->n_clusters);
    sort_out(&d, noticed > 0);
    if (d.n_answers == 0) {
        bool no_memory = !d.times || !d.lost;
        free(d.times);
        free(d.lost);
        return no_memory ? bats_no_memory(err)
                         : bats_refuse(err, "no execution answers in a pool");
    }
    if (pool == 0)
        m->gamma = (double)d.n_answers / DRAWS;
    bats_pools_set(pools, pool, d.times, d.n_times);
    if (noticed > 0)
        bats_pools_set_lost(pools, noticed, (double)d.n_lost / DRAWS, d.lost,
                            d.n_lost);
    else
        free(d.lost);
    bats_pools_set_charge(
        pools, pool,
        (bats_money)llround(charge / slots * (double)BATS_HOUR /
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

int bats_pools_read(const char *word, bool is_online, struct bats_pools *pools,
                    struct bats_error *err)
{
    char head[16] = "", path[PATH_MAX];
    bats_look_find(word, path, sizeof path);
    FILE *in = fopen(path, "re");
    if (!in)
        return bats_refuse(err, "cannot read %s", path);
    size_t n = fread(head, 1, sizeof head - 1, in);
    fclose(in);
    *pools = (struct bats_pools){0};
    int rc = n > 0 && head[strspn(head, " \t\r\n")] == '{'
                 ? bats_pools_load(path, pools, err)
             : memcmp(head, "SQLite format 3", 15) == 0
                 ? bats_pools_of_record(path, is_online, pools, err)
                 : from_scenario(path, pools, err);
    if (rc == 0 && pools->model.n_unreliable == 0)
        rc = bats_refuse(err, "%s: there is no cluster with reliable = no",
                         path);
    if (rc < 0)
        bats_pools_release(pools);
    return rc;
}
