#include "sim/campaign.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct campaign {
    const struct bats_scenario *scenario;
    struct bats_world_result *results;
    size_t n_worlds;
    size_t per_world; /* results */
    atomic_size_t next;
    pthread_mutex_t lock;
    size_t failed; /* first world that failed; n_worlds: none */
    struct bats_error err;
};

/* Plays every policy with every budget in one world. */
static int play(const struct campaign *c, size_t which, struct bats_error *err)
{
    const struct bats_scenario *s = c->scenario;
    struct bats_world_result *result = &c->results[which * c->per_world];
    struct bats_world *world;
    int rc = bats_world_create(s, which / s->repeats,
                               (uint32_t)(which % s->repeats), &world, err);
    if (rc < 0)
        return rc;
    for (uint32_t b = 0; rc == 0 && b < s->n_budgets; b++)
        for (uint32_t p = 0; rc == 0 && p < s->n_policies; p++)
            rc = bats_world_run(world, p, b, NULL, result++, err);
    bats_world_destroy(world);
    return rc;
}

static void *work(void *context)
{
    struct campaign *c = context;
    struct bats_error err;
    size_t which;
    while ((which = atomic_fetch_add(&c->next, 1)) < c->n_worlds) {
        if (play(c, which, &err) == 0)
            continue;
        /* Earlier worlds are still being played and may also fail. */
        pthread_mutex_lock(&c->lock);
        if (which < c->failed) {
            c->failed = which;
            c->err = err;
        }
        pthread_mutex_unlock(&c->lock);
        atomic_store(&c->next, c->n_worlds);
    }
    return NULL;
}

static int work_on_threads(struct campaign *c, unsigned jobs,
                           struct bats_error *err)
{
    size_t n = jobs < c->n_worlds ? jobs : c->n_worlds;
    pthread_t *threads = calloc(n, sizeof *threads);
    size_t started = 1; /* this thread */
    int rc = 0;
    if (!threads)
        return bats_no_memory(err);
    for (; rc == 0 && started < n; started++)
        rc = pthread_create(&threads[started], NULL, work, c);
    if (rc != 0) {
        atomic_store(&c->next, c->n_worlds);
        started--;
    }
    work(c);
    for (size_t i = 1; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return rc == 0 ? 0
                   : bats_error_set(err, BATS_ESYS, "no %u threads: %s", jobs,
                                    strerror(rc));
}

int bats_campaign_run(const struct bats_scenario *scenario, unsigned jobs,
                      struct bats_world_result **results, size_t *n,
                      struct bats_error *err)
{
    struct campaign c = {.scenario = scenario,
                         .n_worlds = scenario->n_seeds * scenario->repeats,
                         .per_world =
                             scenario->n_policies * scenario->n_budgets,
                         .lock = PTHREAD_MUTEX_INITIALIZER};
    c.failed = c.n_worlds;
    c.results = calloc(c.n_worlds * c.per_world, sizeof *c.results);
    if (!c.results)
        return bats_no_memory(err);
    int rc = work_on_threads(&c, jobs, err);
    if (rc == 0 && c.failed < c.n_worlds) {
        *err = c.err;
        rc = err->code;
    }
    if (rc < 0) {
        free(c.results);
        return rc;
    }
    *results = c.results;
    *n = c.n_worlds * c.per_world;
    return 0;
}

/* ---- summaries ---- */

static void summarise_makespans(double *makespans,
                                struct bats_campaign_summary *s)
{
    size_t n = s->complete;
    if (n == 0)
        return;
    gsl_sort(makespans, 1, n);
    s->mean = gsl_stats_mean(makespans, 1, n);
    s->median = gsl_stats_median_from_sorted_data(makespans, 1, n);
    if (n > 1)
        s->margin = gsl_cdf_tdist_Pinv(0.975, (double)(n - 1)) *
                    gsl_stats_sd(makespans, 1, n) / sqrt((double)n);
}

int bats_campaign_summarise(const struct bats_world_result *results, size_t n,
                            uint32_t policy, uint32_t budget,
                            struct bats_campaign_summary *summary,
                            struct bats_error *err)
{
    struct bats_campaign_summary s = {0};
    double *makespans = malloc(n * sizeof *makespans);
    if (!makespans)
        return bats_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const struct bats_world_result *r = &results[i];
        if (r->policy != policy || r->budget != budget)
            continue;
        s.runs++;
        s.amount += r->amount == BATS_UNLIMITED ? INFINITY : (double)r->amount;
        s.charged += (double)r->charged;
        s.most = r->charged > s.most ? r->charged : s.most;
        s.violations += r->violations;
        s.reconfigured += r->reconfigurations;
        s.undone += r->undone;
        if (r->undone > 0)
            continue;
        makespans[s.complete++] = (double)r->makespan;
        s.worst = r->makespan > s.worst ? r->makespan : s.worst;
        s.mean_ratio += r->ratio;
        s.worst_ratio = fmax(s.worst_ratio, r->ratio);
    }
    summarise_makespans(makespans, &s);
    free(makespans);
    s.amount /= (double)s.runs;
    s.charged /= (double)s.runs;
    s.reconfigured /= (double)s.runs;
    if (s.complete < s.runs)
        s.undone /= (double)(s.runs - s.complete);
    if (s.complete > 0)
        s.mean_ratio /= (double)s.complete;
    *summary = s;
    return 0;
}
