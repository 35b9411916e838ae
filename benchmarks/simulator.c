/*
 * simulator: how fast the simulator is, without reading or writing a file.
 *
 *   simulator POLICY TASKS MACHINES RUNS [BUDGET [TAIL]]
 *
 * RUNS bags of TASKS tasks (seeds 1, 2, ...; see workload.h), with the options
 * that a run has by default. A BUDGET of 0 is none. Prints the seconds of CPU
 * per run, the events that the engine has handled per run, and the most memory
 * the process had, in MB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "bats/policy.h"
#include "sim/sim.h"
#include "workload.h"

static long memory_mb(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss / 1024;
}

static void count(void *context, const struct bats_sched *sched)
{
    ++*(unsigned long *)context;
}

int main(int argc, char **argv)
{
    const struct bats_policy *policy =
        argc >= 5 ? bats_policy_find(argv[1]) : NULL;
    long n_tasks = argc >= 5 ? strtol(argv[2], NULL, 10) : 0;
    long n_machines = argc >= 5 ? strtol(argv[3], NULL, 10) : 0;
    long runs = argc >= 5 ? strtol(argv[4], NULL, 10) : 0;
    bats_money budget = 0;
    enum bats_tail tail = BATS_TAIL_DEFAULT;
    struct bats_error err;
    if (!policy || n_tasks < 1 || n_machines < 1 || runs < 1 ||
        (argc > 5 && bats_money_parse(argv[5], &budget, &err) < 0) ||
        (argc > 6 && !bats_tail_find(argv[6], &tail))) {
        fputs("usage: simulator POLICY TASKS MACHINES RUNS [BUDGET [TAIL]]\n",
              stderr);
        return 2;
    }
    if (budget == 0)
        budget = BATS_UNLIMITED;
    uint32_t most = (uint32_t)n_machines;
    struct bats_machine_spec *machines = make_machines(most);
    bats_time *work = allocate((size_t)n_tasks, sizeof *work);
    unsigned long events = 0;
    double seconds = 0;
    for (long run = 1; run <= runs; run++) {
        struct bats_sim_options o = {.sched = {.policy = policy,
                                               .n_tasks = (uint32_t)n_tasks,
                                               .clusters = clusters,
                                               .n_clusters = N_CLUSTERS,
                                               .machines = machines,
                                               .n_machines = most,
                                               .window = BATS_HOUR,
                                               .budget = budget,
                                               .seed = (uint64_t)run,
                                               .tail = tail},
                                     .work = work,
                                     .speed = speed,
                                     .watch.after = count,
                                     .watch.context = &events};
        struct bats_sched *sched;
        bats_time makespan;
        draw_work(work, (uint32_t)n_tasks, (unsigned long)run);
        double start = cpu_seconds();
        if (bats_sim_run(&o, &sched, &makespan, &err) < 0) {
            fprintf(stderr, "simulator: %s\n", err.text);
            return 1;
        }
        bats_sched_destroy(sched);
        seconds += cpu_seconds() - start;
    }
    printf("%.9f %lu %ld\n", seconds / (double)runs,
           events / (unsigned long)runs, memory_mb());
    free(work);
    free(machines);
    return 0;
}
