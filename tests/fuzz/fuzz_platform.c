/* fuzz_platform: the reader of clusters files; what it accepts is laid over
 * eight ranks. */
#include "fuzz.h"
#include "input/platform.h"

static const struct bats_worker_rank workers[] = {
    {1, "a1", "p"}, {2, "a1", "p"}, {3, "a2", "p"}, {4, "a2", "p"},
    {5, "b1", "q"}, {6, "b1", "q"}, {7, "b2", "q"}, {8, "b2.org", "q"}};
static const size_t n_workers = sizeof workers / sizeof *workers;

/* Every worker has a slot of its own on a machine of its own cluster. */
static void check(const struct bats_platform *p)
{
    size_t slots = 0, max = 0;
    for (uint32_t m = 0; m < p->n_machines; m++) {
        slots += p->machines[m].slots;
        must(p->machines[m].cluster < p->n_clusters && p->machines[m].slots);
    }
    for (size_t c = 0; c < p->n_clusters; c++) {
        max += p->clusters[c].max;
        must(p->clusters[c].max > 0 && p->clusters[c].charge >= 0);
    }
    must(slots == n_workers && max <= p->n_machines && p->window > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char path[32];
    int fd = fuzz_file(bytes, n, path);
    struct bats_clusters_file *file;
    struct bats_error err;

    if (bats_clusters_file_load(path, 0, &file, &err) == 0) {
        struct bats_platform platform;
        if (bats_platform_build(file, workers, n_workers, &platform, &err) ==
            0) {
            check(&platform);
            bats_platform_release(&platform);
        }
        bats_clusters_file_destroy(file);
    }
    close(fd);
    return 0;
}
