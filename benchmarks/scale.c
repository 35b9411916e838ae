/*
 * scale: what an event costs the engine, from a bag to a graph, from ten
 * machines to a hundred thousand, policy by policy.
 *
 *   scale POLICY SHAPE TASKS MACHINES [EVERY]
 *
 * SHAPE: a `bag`; a `chain`, each task after the one before; a `diamond`, all
 * between the first and the last; or `random`, each task after two that are
 * drawn from those before it. Machines and runtimes as in workload.h. Policies
 * that need it are charged for use, within a unit per task: that pays for all
 * tasks on the machines that charge most. The others are charged for windows,
 * within ten units per task and one window of every machine. Runs in the
 * simulator and prints for each phase
 *
 *   PHASE EVENTS CALLS SECONDS
 *
 * the events that the engine has handled, and seconds of CPU, simulator
 * included. joins: while time is 0 (tasks begin in it); run: while tasks wait
 * for a slot or for others; tail: from there. Then `memory` and the most
 * memory of the process in MB, and `makespan` in seconds. Where only
 * bats_sched_handle is to be counted: scale.sh. With EVERY, callgrind counts
 * BLOCK events of EVERY times as many; `counted`: how many it has counted.
 */
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION ((void)0)
#define CALLGRIND_STOP_INSTRUMENTATION ((void)0)
#define CALLGRIND_DUMP_STATS ((void)0)
#endif
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "bats/graph.h"
#include "bats/policy.h"
#include "bats/status.h"
#include "bats/strategy.h"
#include "sim/sim.h"
#include "workload.h"

enum { BLOCK = 2000 };
enum phase { JOINS, RUN, TAIL, PHASES };

static struct {
    enum phase phase;
    uint32_t to_begin; /* tasks that have not begun */
    unsigned long events[PHASES];
    double since, seconds[PHASES];
    unsigned long every, seen, counted; /* events, by callgrind */
    bool counts;
} world;

static void enter(enum phase phase)
{
    double now = cpu_seconds();
    world.seconds[world.phase] += now - world.since;
    world.since = now;
    world.phase = phase;
}

/* Callgrind instruments no more than it is to count: that takes long. */
static void sample(void)
{
    bool is_first = world.seen % BLOCK == 0;
    bool counts = world.seen++ / BLOCK % world.every == world.every / 2;
    if (is_first && counts && !world.counts)
        CALLGRIND_START_INSTRUMENTATION;
    if (is_first && !counts && world.counts) {
        CALLGRIND_DUMP_STATS;
        CALLGRIND_STOP_INSTRUMENTATION;
    }
    world.counts = counts;
    world.counted += counts;
}

static void on_event(void *context, bats_time now,
                     const struct bats_event *event)
{
    if (world.phase == JOINS && now > 0)
        enter(RUN);
    if (world.phase == RUN && world.to_begin == 0)
        enter(TAIL);
    world.events[world.phase]++;
    sample();
}

static void on_command(void *context, bats_time now,
                       const struct bats_command *c)
{
    if (c->type == BATS_COMMAND_RUN && c->replica == 0 && world.to_begin > 0)
        world.to_begin--;
}

/* The parents of a task: their number, and which. */
static uint32_t parents(const char *shape, uint32_t task, uint32_t n_tasks,
                        gsl_rng *rng, uint32_t *list)
{
    if (task == 0 || strcmp(shape, "bag") == 0)
        return 0;
    if (strcmp(shape, "random") == 0) {
        list[0] = (uint32_t)gsl_rng_uniform_int(rng, task);
        list[1] = (uint32_t)gsl_rng_uniform_int(rng, task);
        return 2;
    }
    if (strcmp(shape, "diamond") == 0 && task == n_tasks - 1) {
        for (uint32_t i = 0; i + 2 < n_tasks; i++)
            list[i] = i + 1;
        return n_tasks - 2;
    }
    list[0] = strcmp(shape, "chain") == 0 ? task - 1 : 0;
    return 1;
}

static int make_graph(struct bats_graph *graph, const char *shape, uint32_t n,
                      struct bats_error *err)
{
    struct bats_edge *edges = allocate((size_t)n + n, sizeof *edges);
    uint32_t *list = allocate((size_t)n + 2, sizeof *list);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    uint64_t n_edges = 0;
    for (uint32_t task = 0; task < n; task++) {
        uint32_t n_parents = parents(shape, task, n, rng, list);
        for (uint32_t k = 0; k < n_parents; k++)
            edges[n_edges++] = (struct bats_edge){list[k], task};
    }
    int rc = bats_graph_init(graph, n, n, edges, n_edges, err);
    gsl_rng_free(rng);
    free(list);
    free(edges);
    return rc;
}

static bool is_for_use(const struct bats_policy *policy)
{
    return policy != &bats_policy_bats && policy != &bats_policy_bkp &&
           policy != &bats_policy_rr;
}

static void print(bats_time makespan)
{
    static const char *const name[PHASES] = {"joins", "run", "tail"};
    struct rusage u;
    enter(world.phase);
    getrusage(RUSAGE_SELF, &u);
    for (int i = 0; i < PHASES; i++)
        printf("%s %lu %.3f\n", name[i], world.events[i], world.seconds[i]);
    printf("memory %ld\nmakespan %.0f\ncounted %lu\n", u.ru_maxrss / 1024,
           (double)makespan / BATS_SECOND, world.counted);
}

int main(int argc, char **argv)
{
    const struct bats_policy *policy =
        argc >= 5 ? bats_policy_find(argv[1]) : NULL;
    long n_tasks = argc >= 5 ? strtol(argv[3], NULL, 10) : 0;
    long n_machines = argc >= 5 ? strtol(argv[4], NULL, 10) : 0;
    world.every = argc > 5 ? strtoul(argv[5], NULL, 10) : 1;
    if (!policy || n_tasks < 3 || n_machines < 1 || world.every < 1) {
        fputs("usage: scale POLICY SHAPE TASKS MACHINES [EVERY]\n", stderr);
        return 2;
    }
    bool use = is_for_use(policy);
    bats_money budget = use ? n_tasks : 10 * n_tasks + 12 * n_machines;
    uint32_t n = (uint32_t)n_tasks, most = (uint32_t)n_machines;
    struct bats_cluster pools[N_CLUSTERS];
    memcpy(pools, clusters, sizeof pools);
    for (size_t i = 0; policy == &bats_policy_expert && i < 2; i++)
        pools[i].unreliable = true;
    struct bats_error err;
    struct bats_graph graph = {0};
    struct bats_sched *sched;
    bats_time makespan, *work = allocate(n, sizeof *work);
    draw_work(work, n, 1);
    bool has_graph = strcmp(argv[2], "bag") != 0;
    if (has_graph && make_graph(&graph, argv[2], n, &err) < 0)
        goto failed;
    struct bats_sim_options o = {
        .sched = {.policy = policy,
                  .n_tasks = n,
                  .clusters = pools,
                  .n_clusters = N_CLUSTERS,
                  .machines = make_machines(most),
                  .n_machines = most,
                  .window = BATS_HOUR,
                  .budget = budget * BATS_UNIT,
                  .billing = {.model = use ? BATS_BILLING_USE
                                           : BATS_BILLING_WINDOW},
                  .graph = has_graph ? &graph : NULL,
                  .seed = 1,
                  .utility = policy == &bats_policy_expert ? "product" : NULL,
                  .tail = BATS_TAIL_DEFAULT},
        .work = work,
        .speed = speed,
        .watch.on_event = on_event,
        .watch.on_command = on_command};
    bats_strategy_parse("AUR", &o.sched.strategy, NULL); /* at first */
    world.to_begin = n;
    world.since = cpu_seconds();
    if (bats_sim_run(&o, &sched, &makespan, &err) < 0)
        goto failed;
    print(makespan);
    bats_sched_destroy(sched);
    bats_graph_release(&graph);
    free(work);
    return 0;
failed:
    fprintf(stderr, "scale: %s\n", err.text);
    return 1;
}
