/* fuzz_profile: the reader of profiles. What it accepts can be estimated from,
 * and is written so that it is read the same. */
#include <string.h>

#include "bats/estimate.h"
#include "bats/interval.h"
#include "fuzz.h"
#include "input/profile.h"

static void estimate(const struct bats_profile *p)
{
    struct bats_cluster clusters[BATS_CLUSTERS_MAX];
    struct bats_runtimes runtimes[BATS_CLUSTERS_MAX];
    double slots[BATS_CLUSTERS_MAX];
    struct bats_schedule schedules[BATS_OFFERS];
    struct bats_sample sample;
    struct bats_error err;

    if (bats_sample_init(&sample, p->n_clusters, p->observations,
                         p->n_observations, &err) != 0)
        abort();
    for (size_t i = 0; i < p->n_clusters; i++) {
        const struct bats_cluster_sample *c = &sample.clusters[i];
        clusters[i] = p->clusters[i].cluster;
        slots[i] = p->clusters[i].slots;
        runtimes[i] = c->n > 0 ? bats_runtimes_of(c->runtimes, c->n, 0.9)
                               : bats_runtimes_given(0);
    }
    bats_sample_release(&sample);
    const struct bats_estimator e = {.clusters = clusters,
                                     .runtimes = runtimes,
                                     .slots = slots,
                                     .n_clusters = p->n_clusters,
                                     .n_tasks = bats_profile_left(p),
                                     .window = p->window};
    if (e.n_tasks > 0)
        bats_estimate_offers(&e, schedules, &err);
}

static void write_and_read(const struct bats_profile *p)
{
    char path[64], name[] = "/tmp/bats-fuzz-XXXXXX";
    struct bats_profile q;
    struct bats_error err;

    if (!mkdtemp(name))
        abort();
    snprintf(path, sizeof path, "%s/p", name);
    if (bats_profile_save(p, path, &err) != 0 ||
        bats_profile_load(path, &q, &err) != 0)
        abort();
    unlink(path);
    rmdir(name);
    if (p->n_tasks != q.n_tasks || p->bag_hash != q.bag_hash ||
        p->window != q.window || p->n_clusters != q.n_clusters ||
        p->n_observations != q.n_observations || p->done.n != q.done.n ||
        bats_profile_left(p) != bats_profile_left(&q) ||
        bats_profile_charged(p) != bats_profile_charged(&q) ||
        strcmp(p->bag_name, q.bag_name) != 0)
        abort();
    bats_profile_release(&q);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char path[32];
    int fd = fuzz_file(bytes, n, path);
    struct bats_profile p;
    struct bats_error err;

    if (bats_profile_load(path, &p, &err) == 0) {
        estimate(&p);
        write_and_read(&p);
        bats_profile_release(&p);
    }
    close(fd);
    return 0;
}
