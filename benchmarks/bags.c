/*
 * bags: what a large bag costs before its first task runs.
 *
 *   bags FILE
 *
 * Loads the bag and creates an engine for it (one cluster of 1000 machines).
 * Prints
 *
 *   TASKS SECONDS SECONDS BYTES BYTES
 *
 * the seconds of CPU to load and to create, and the memory that the process
 * then has more than before, in bytes per task, the text of the bag not
 * counted: after loading, and with the engine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bats/policy.h"
#include "input/bagfile.h"
#include "workload.h"

#define MACHINES 1000

static double resident_bytes(void)
{
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &pages, &resident) != 2)
        exit(1);
    fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv)
{
    struct bats_bagfile *bag;
    struct bats_sched *sched;
    struct bats_error err;
    struct stat st;
    if (argc != 2 || stat(argv[1], &st) < 0) {
        fputs("usage: bags FILE\n", stderr);
        return 2;
    }
    double before = resident_bytes() + (double)st.st_size;
    double start = cpu_seconds();
    if (bats_bagfile_load(argv[1], &bag, &err) < 0) {
        fprintf(stderr, "bags: %s\n", err.text);
        return 1;
    }
    double loading = cpu_seconds() - start;
    double loaded = resident_bytes() - before;
    uint32_t n = bag->n_tasks;

    struct bats_sched_options o = {.policy = &bats_policy_rr,
                                   .n_tasks = n,
                                   .clusters = clusters,
                                   .n_clusters = N_CLUSTERS,
                                   .machines = make_machines(MACHINES),
                                   .n_machines = MACHINES,
                                   .window = BATS_HOUR,
                                   .budget = BATS_UNLIMITED};
    start = cpu_seconds();
    if (bats_sched_create(&o, &sched, &err) < 0) {
        fprintf(stderr, "bags: %s\n", err.text);
        return 1;
    }
    printf("%u %.3f %.3f %.1f %.1f\n", n, loading, cpu_seconds() - start,
           loaded / n, (resident_bytes() - before) / n);
    bats_sched_destroy(sched);
    bats_bagfile_destroy(bag);
    return 0;
}
