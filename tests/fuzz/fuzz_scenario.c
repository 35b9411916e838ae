/* fuzz_scenario: the reader of scenarios; the small ones it accepts are also
 * played, to see the engine in odd worlds. */
#include "fuzz.h"
#include "sim/scenario.h"
#include "sim/world.h"

/* True for a scenario that takes a few milliseconds. */
static bool is_small(const struct bats_scenario *s)
{
    const struct bats_platform *p = &s->platform;
    double most = 20 * (double)p->window;
    if (s->n_tasks > 64 || p->n_machines > 16 || s->n_seeds > 2 ||
        s->repeats > 2 || s->n_budgets > 2)
        return false;
    if (s->runtime.kind == BATS_DRAW_MIXTURE
            ? p->window < 10 * BATS_MINUTE
            : s->runtime.a > most || s->runtime.b > most)
        return false;
    if (s->engine.monitor_interval > 0 &&
        s->engine.monitor_interval < p->window / 100)
        return false;
    for (size_t i = 0; i < p->n_clusters; i++)
        if (p->speed[i] < 0.1 || s->noise[i] > 1 ||
            (double)s->startup[i] > most ||
            (s->loss[i] > 0 && s->loss[i] < p->window))
            return false;
    for (uint32_t m = 0; m < p->n_machines; m++)
        if (p->machines[m].slots > 4)
            return false;
    return true;
}

static void check(const struct bats_scenario *s)
{
    const struct bats_platform *p = &s->platform;
    uint64_t machines = 0;
    for (size_t i = 0; i < p->n_clusters; i++) {
        machines += p->clusters[i].max;
        must(p->clusters[i].charge >= 0 && p->speed[i] > 0 &&
             s->startup[i] >= 0 && s->loss[i] >= 0 && s->noise[i] >= 0);
    }
    must(machines > 0 && machines == p->n_machines && p->window > 0 &&
         s->n_tasks > 0 && s->n_seeds > 0 && s->repeats > 0 &&
         s->n_policies > 0 && s->n_budgets > 0);
}

static void check_run(const struct bats_scenario *s,
                      const struct bats_world_result *r)
{
    must(r->charged <= r->amount && r->violations == 0 && r->makespan >= 0 &&
         r->done + r->failed + r->undone == s->n_tasks);
    /* Nobody is better than who knows everything beforehand. */
    must(r->undone > 0 || !(r->ratio < 1 - 1e-9));
}

static void play(const struct bats_scenario *s, size_t seed, uint32_t repeat)
{
    struct bats_world *world;
    struct bats_error err;
    if (bats_world_create(s, seed, repeat, &world, &err) < 0) {
        must(err.code == BATS_EOVERFLOW);
        return;
    }
    for (uint32_t i = 0; i < s->n_policies * s->n_budgets; i++) {
        struct bats_world_result result;
        int rc =
            bats_world_run(world, i % (uint32_t)s->n_policies,
                           i / (uint32_t)s->n_policies, NULL, &result, &err);
        must(rc == 0 || rc == BATS_EOVERFLOW);
        if (rc == 0)
            check_run(s, &result);
    }
    bats_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char path[32];
    int fd = fuzz_file(bytes, n, path);
    struct bats_scenario *s;
    struct bats_error err;

    if (bats_scenario_load(path, &s, &err) == 0) {
        check(s);
        for (size_t i = 0; is_small(s) && i < s->n_seeds * s->repeats; i++)
            play(s, i / s->repeats, (uint32_t)(i % s->repeats));
        bats_scenario_destroy(s);
    }
    close(fd);
    return 0;
}
