/* fuzz_profile: the reader of profiles. What it accepts makes sense, can be
 * estimated from, and is written so that it is read the same. */
#include <math.h>
#include <string.h>

#include "bats/estimate.h"
#include "bats/interval.h"
#include "fuzz.h"
#include "input/profile.h"

static void check(const struct bats_profile *p)
{
    bats_money charged = 0;

    must(p->bag_name != NULL && p->n_tasks > 0 && p->window > 0 &&
         p->elapsed >= 0 && p->n_clusters > 0);
    for (size_t i = 0; i < p->n_clusters; i++) {
        const struct bats_profile_cluster *c = &p->clusters[i];
        must(c->cluster.charge >= 0 && c->windows >= 0 && c->charged >= 0 &&
             isfinite(c->slots) && c->slots > 0);
        must(bats_units_add(charged, c->charged, &charged));
    }
    must(bats_profile_charged(p) == charged);
    for (size_t i = 0; i < p->n_observations; i++)
        must(p->observations[i].task < p->n_tasks &&
             p->observations[i].cluster < p->n_clusters &&
             p->observations[i].runtime >= 0);
    must(bats_profile_left(p) <= p->n_tasks);
}

static void estimate(const struct bats_profile *p)
{
    struct bats_cluster clusters[BATS_CLUSTERS_MAX];
    struct bats_runtimes runtimes[BATS_CLUSTERS_MAX];
    double slots[BATS_CLUSTERS_MAX];
    struct bats_schedule schedules[BATS_OFFERS];
    struct bats_sample sample;
    struct bats_error err;

    must(bats_sample_init(&sample, p->n_clusters, p->observations,
                          p->n_observations, &err) == 0);
    for (size_t i = 0; i < p->n_clusters; i++) {
        clusters[i] = p->clusters[i].cluster;
        slots[i] = p->clusters[i].slots;
    }
    bats_sample_runtimes(&sample, 0.9, NULL, runtimes, NULL);
    bats_sample_release(&sample);
    const struct bats_estimator e = {.clusters = clusters,
                                     .runtimes = runtimes,
                                     .slots = slots,
                                     .n_clusters = p->n_clusters,
                                     .n_tasks = bats_profile_left(p),
                                     .window = p->window};
    if (e.n_tasks > 0)
        bats_estimate_offers(&e, schedules, NULL, &err);
}

/* The file into which it is saved. */
static struct fuzz_bytes save(const struct bats_profile *p, const char *path)
{
    must(bats_profile_save(p, path, NULL) == 0);
    struct fuzz_bytes saved = fuzz_read(path);
    must(saved.at != NULL);
    return saved;
}

/* tests/unit/test_profile.c sees what a writer loses. */
static void save_again(const struct bats_profile *p)
{
    struct bats_profile q;
    char path[64];
    fuzz_make_directory();
    snprintf(path, sizeof path, "%s/saved", fuzz_dir);
    struct fuzz_bytes first = save(p, path);
    must(bats_profile_load(path, &q, NULL) == 0);
    struct fuzz_bytes second = save(&q, path);
    must(first.n == second.n && memcmp(first.at, second.at, first.n) == 0 &&
         memcmp(p->state, q.state, p->n_tasks) == 0 &&
         p->n_observations == q.n_observations);
    bats_profile_release(&q);
    free(first.at);
    free(second.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char path[32];
    int fd = fuzz_file(bytes, n, path);
    struct bats_profile p;
    struct bats_error err;

    if (bats_profile_load(path, &p, &err) == 0) {
        if (p.n_tasks <= 1000000) { /* each of these walks over all tasks */
            check(&p);
            estimate(&p);
            save_again(&p);
        }
        bats_profile_release(&p);
    }
    close(fd);
    return 0;
}
