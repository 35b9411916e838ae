/*
 * peer: self-scheduling, by our simulator and by SimGrid, in one process.
 *
 *   peer TASKS MACHINES RUNS
 *
 * The bags and machines of ../workload.h, policy rr, no start-up times. For
 * every bag our simulator runs first; the order in which it hands out tasks
 * (the random draw) is given to SimGrid, where one actor per machine executes
 * the next task of that order whenever it is idle. Which machine that is, and
 * when, SimGrid finds out for itself. Prints
 *
 *   SECONDS SECONDS ERROR
 *
 * of CPU per run, ours and SimGrid's, and the largest difference between the
 * two makespans, in seconds of virtual time. Runtimes are whole microseconds on
 * every machine, so that nothing is rounded differently.
 *
 * SimGrid is given its cheapest way to say this: no messages, one engine for
 * all runs, small stacks.
 */
#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../workload.h"
#include "bats/policy.h"
#include "sim/sim.h"

static struct {
    uint32_t n_tasks, n_machines;
    long runs;
    struct bats_machine_spec *machines;
    bats_time *work;
    uint32_t *order; /* in which tasks were handed out */
    uint32_t n_ordered, next;
    sg_host_t *hosts;
    double ours, theirs, error;
} world;

static void note_order(void *context, bats_time now,
                       const struct bats_command *command)
{
    if (command->type == BATS_COMMAND_RUN)
        world.order[world.n_ordered++] = command->task;
}

/* Returns seconds of virtual time. */
static double run_ours(unsigned long seed, bool note)
{
    struct bats_sim_options o = {.sched = {.policy = &bats_policy_rr,
                                           .n_tasks = world.n_tasks,
                                           .clusters = clusters,
                                           .n_clusters = N_CLUSTERS,
                                           .machines = world.machines,
                                           .n_machines = world.n_machines,
                                           .window = BATS_HOUR,
                                           .budget = BATS_UNLIMITED,
                                           .seed = seed},
                                 .work = world.work,
                                 .speed = speed,
                                 .watch.on_command = note ? note_order : NULL};
    struct bats_sched *sched;
    struct bats_error err;
    bats_time makespan;
    world.n_ordered = 0;
    if (bats_sim_run(&o, &sched, &makespan, &err) < 0) {
        fprintf(stderr, "peer: %s\n", err.text);
        exit(1);
    }
    bats_sched_destroy(sched);
    return (double)makespan / 1e6;
}

static void worker(int argc, char **argv)
{
    while (world.next < world.n_tasks)
        sg_actor_execute((double)world.work[world.order[world.next++]]);
}

static double run_theirs(void)
{
    sg_actor_t *workers = allocate(world.n_machines, sizeof(sg_actor_t));
    double start = simgrid_get_clock();
    world.next = 0;
    for (uint32_t i = 0; i < world.n_machines; i++) {
        workers[i] =
            sg_actor_create("worker", world.hosts[i], worker, 0, NULL);
        sg_actor_ref(workers[i]);
    }
    for (uint32_t i = 0; i < world.n_machines; i++) {
        sg_actor_join(workers[i], -1);
        sg_actor_unref(workers[i]);
    }
    free(workers);
    return simgrid_get_clock() - start;
}

/* The actor that runs bag after bag. */
static void director(int argc, char **argv)
{
    for (long run = 1; run <= world.runs; run++) {
        draw_work(world.work, world.n_tasks, (unsigned long)run);
        double makespan = run_ours((unsigned long)run, true);
        double start = cpu_seconds();
        run_ours((unsigned long)run, false);
        double middle = cpu_seconds();
        double error = fabs(run_theirs() - makespan);
        world.theirs += cpu_seconds() - middle;
        world.ours += middle - start;
        world.error = fmax(world.error, error);
    }
}

/* One host per machine; its speed in operations per second is what a task of
 * one microsecond of work needs. */
static void load_platform(void)
{
    char path[] = "/tmp/bats-platform-XXXXXX.xml";
    int fd = mkstemps(path, 4);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f) {
        perror("peer: the platform file");
        exit(1);
    }
    fputs("<?xml version='1.0'?>\n"
          "<!DOCTYPE platform SYSTEM "
          "\"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\"><zone id=\"all\" routing=\"None\">\n",
          f);
    for (uint32_t i = 0; i < world.n_machines; i++)
        fprintf(f, "<host id=\"m%u\" speed=\"%gMf\"/>\n", i,
                speed[world.machines[i].cluster]);
    fputs("</zone></platform>\n", f);
    fclose(f);
    simgrid_load_platform(path);
    unlink(path);
}

int main(int argc, char **argv)
{
    char *settings[] = {argv[0], "--cfg=contexts/stack-size:64",
                        "--cfg=contexts/guard-size:0",
                        "--log=root.thres:error", NULL};
    int n_settings = 4;
    world.n_tasks = argc == 4 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    world.n_machines = argc == 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    world.runs = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
    if (world.n_tasks < 1 || world.n_machines < 1 || world.runs < 1) {
        fputs("usage: peer TASKS MACHINES RUNS\n", stderr);
        return 2;
    }
    world.machines = make_machines(world.n_machines);
    world.work = allocate(world.n_tasks, sizeof *world.work);
    world.order = allocate(world.n_tasks, sizeof *world.order);
    world.hosts = allocate(world.n_machines, sizeof(sg_host_t));
    simgrid_init(&n_settings, settings);
    load_platform();
    for (uint32_t i = 0; i < world.n_machines; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%u", i);
        world.hosts[i] = sg_host_by_name(name);
    }
    sg_actor_create("director", world.hosts[0], director, 0, NULL);
    simgrid_run();
    printf("%.9f %.9f %.9f\n", world.ours / (double)world.runs,
           world.theirs / (double)world.runs, world.error);
    return 0;
}
