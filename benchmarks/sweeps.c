/*
 * sweeps: what a large sweep costs before its first task runs.
 *
 *   sweeps POINTS FILE
 *
 * Once as the product of a hundred values and an array of POINTS / 100 numbers,
 * once with the lines of FILE as the only values. Creates the sweep, then an
 * engine for it (one machine), then expands the command of every point. Prints
 * for each
 *
 *   NAME POINTS SECONDS SECONDS BYTES BYTES
 *
 * the seconds of CPU to create and to expand, and the memory that the process
 * then has more than before, in bytes per point: after creating, and with the
 * engine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bats/policy.h"
#include "input/bagfile.h"
#include "input/sweep/sweep.h"
#include "workload.h"

static double resident_bytes(void)
{
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &pages, &resident) != 2)
        exit(1);
    fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static void must(int code, const struct bats_error *err)
{
    if (code >= 0)
        return;
    fprintf(stderr, "sweeps: %s\n", err->text);
    exit(1);
}

/* Expands every command; the seconds of CPU. */
static double expand(const struct bats_bagfile *bag)
{
    struct bats_text command = {0};
    double start = cpu_seconds();
    for (uint32_t i = 0; i < bag->n_tasks; i++)
        if (bats_bagfile_command(bag, i, &command) <= 0)
            exit(1);
    bats_text_release(&command);
    return cpu_seconds() - start;
}

static void measure(const char *name, const struct bats_sweep_spec *spec)
{
    struct bats_sweep *sweep;
    struct bats_bagfile *bag;
    struct bats_sched *sched;
    struct bats_error err;
    double before = resident_bytes(), start = cpu_seconds();
    must(bats_sweep_create(spec, &sweep, &err), &err);
    must(bats_bagfile_of_sweep(sweep, &bag, &err), &err);
    double creating = cpu_seconds() - start;
    double created = resident_bytes() - before;
    uint32_t n = bag->n_tasks;
    struct bats_sched_options o = {.policy = &bats_policy_rr,
                                   .n_tasks = n,
                                   .clusters = clusters,
                                   .n_clusters = N_CLUSTERS,
                                   .machines = make_machines(1),
                                   .n_machines = 1,
                                   .window = BATS_HOUR,
                                   .budget = BATS_UNLIMITED};
    must(bats_sched_create(&o, &sched, &err), &err);
    double all = resident_bytes() - before;
    printf("%s %u %.3f %.3f %.1f %.1f\n", name, n, creating, expand(bag),
           created / n, all / n);
    fflush(stdout);
    bats_sched_destroy(sched);
    bats_bagfile_destroy(bag);
}

int main(int argc, char **argv)
{
    static char numbers[100][4], array[32];
    const char *product[106] = {"./simulate", "--rate", "{1}",
                                "--seed",     "{2}",    ":::"};
    const char *lines[] = {"./simulate", "--seed", "{}", "::::", NULL};
    if (argc != 3 || atol(argv[1]) < 100) {
        fputs("usage: sweeps POINTS FILE\n", stderr);
        return 2;
    }
    const struct bats_sweep_source source = {.kind = BATS_SOURCE_ARRAY,
                                             .text = array};
    snprintf(array, sizeof array, "1-%ld", atol(argv[1]) / 100);
    for (int i = 0; i < 100; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%d", i);
        product[6 + i] = numbers[i];
    }
    const struct bats_sweep_spec spec = {
        .sources = &source, .n_sources = 1, .words = product, .n_words = 106};
    lines[4] = argv[2];
    measure("product", &spec);
    measure("lines", &(struct bats_sweep_spec){.words = lines, .n_words = 5});
    return 0;
}
