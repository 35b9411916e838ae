/*
 * engine: what the engine costs per event, and how much memory it takes.
 *
 *   engine POLICY TASKS MACHINES EVENTS [PARENTS]
 *
 * With PARENTS, every task waits for so many others that are far enough before
 * it for all machines to be busy; the memory of the graph counts as theirs.
 *
 * Neither MPI nor the simulator: a calendar of one-second buckets says which
 * machine ends its task next, in no order that would help a cache. Machines and
 * runtimes as in workload.h. Stops after EVENTS results, a few machines having
 * been lost on the way, and prints
 *
 *   NS EVENTS TICK TICK RECONFIGURE RECONFIGURE TASK MACHINE CALENDAR
 *
 * nanoseconds of CPU per event (calendar and monitoring included, but not the
 * lost machines), events handled, microseconds for a monitoring interval
 * (median and longest) and for a lost machine, which makes policy bats plan
 * anew (the same), bytes per task and per machine, and nanoseconds per event
 * that the calendar takes by itself.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "bats/policy.h"
#include "workload.h"

#define BUCKETS 8192 /* seconds; longer than any task */
#define AHEAD 4      /* events for which the calendar is asked for */
#define LOSSES 9
#define NOBODY UINT32_MAX

static struct {
    struct bats_sched *sched;
    struct bats_machine_spec *machines;
    uint32_t n_machines;
    uint32_t bucket[BUCKETS]; /* machine that ends then, or NOBODY */
    struct place {            /* by machine: */
        uint32_t next;        /* in its bucket */
        uint32_t task;        /* what it runs */
        uint32_t seconds;     /* for so long */
        uint32_t cluster;
    } * places;
    uint64_t random;
    bats_time now;
    bool finished;
    unsigned long events;
    uint32_t parents;
    struct bats_graph graph;
    double ticks[100000], losses[LOSSES]; /* microseconds */
    size_t n_ticks, n_losses;
} world;

static size_t allocated(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static void fail(const char *text)
{
    fprintf(stderr, "engine: %s\n", text);
    exit(1);
}

static uint32_t draw(uint32_t n)
{
    world.random = world.random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(world.random >> 33) % n;
}

/* Task i waits for tasks of the twenty rounds of all machines that end two
 * rounds before it. */
static const struct bats_graph *make_graph(uint32_t n_tasks, uint32_t machines)
{
    uint64_t n = 0;
    struct bats_edge *edges =
        allocate((size_t)n_tasks * world.parents, sizeof *edges);
    struct bats_error err;
    for (uint32_t i = 2 * machines; i < n_tasks; i++)
        for (uint32_t k = 0; k < world.parents; k++) {
            uint32_t back = 2 * machines + draw(20 * machines);
            edges[n++] = (struct bats_edge){back < i ? i - back : 0, i};
        }
    if (bats_graph_init(&world.graph, n_tasks, n_tasks, edges, n, &err) < 0)
        fail(err.text);
    free(edges);
    return &world.graph;
}

static struct bats_sched *create(const char *policy, uint32_t n_tasks,
                                 uint32_t n_machines, size_t *bytes)
{
    bats_graph_release(&world.graph);
    size_t before = allocated();
    struct bats_sched_options o = {.policy = bats_policy_find(policy),
                                   .n_tasks = n_tasks,
                                   .clusters = clusters,
                                   .n_clusters = N_CLUSTERS,
                                   .machines = world.machines,
                                   .n_machines = n_machines,
                                   .window = BATS_HOUR,
                                   .budget = INT64_MAX / 2,
                                   .seed = 1};
    struct bats_sched *sched;
    struct bats_error err;
    if (world.parents > 0 && n_tasks > 1)
        o.graph = make_graph(n_tasks, world.n_machines);
    if (bats_sched_create(&o, &sched, &err) < 0)
        fail(err.text);
    *bytes = allocated() - before;
    return sched;
}

/* Seconds from 8 to 22 minutes. */
static uint32_t draw_seconds(void)
{
    return 480 + draw(840);
}

static void begin(uint32_t machine, uint32_t task)
{
    struct place *p = &world.places[machine];
    double length = draw_seconds() / speed[p->cluster];
    p->seconds = (uint32_t)length + 1;
    uint32_t *at =
        &world.bucket[(world.now / BATS_SECOND + p->seconds) % BUCKETS];
    p->next = *at;
    *at = machine;
    p->task = task;
}

static void obey(void)
{
    struct bats_command c;
    while (bats_sched_next(world.sched, &c)) {
        if (c.type == BATS_NOTICE_FINISHED)
            world.finished = true;
        if (c.type == BATS_COMMAND_RUN)
            begin(c.machine, c.task);
    }
}

static void tell(struct bats_event event)
{
    struct bats_error err;
    if (bats_sched_handle(world.sched, world.now, &event, &err) < 0)
        fail(err.text);
    world.events++;
    obey();
}

static double timed_tell(struct bats_event event)
{
    double start = cpu_seconds();
    tell(event);
    return 1e6 * (cpu_seconds() - start);
}

static void end(uint32_t machine)
{
    const struct place *p = &world.places[machine];
    if (p->task != BATS_NO_TASK)
        tell((struct bats_event){.type = BATS_EVENT_DONE,
                                 .machine = machine,
                                 .task = p->task,
                                 .runtime = p->seconds * BATS_SECOND});
}

/* The first machine whose task ends in the present second. */
static uint32_t empty_bucket(void)
{
    uint32_t *bucket = &world.bucket[world.now / BATS_SECOND % BUCKETS];
    uint32_t first = *bucket;
    *bucket = NOBODY;
    return first;
}

static uint32_t behind(uint32_t machine)
{
    return machine == NOBODY ? NOBODY : world.places[machine].next;
}

/* The turn of this machine comes soon: the calendar, which is not what is to be
 * measured, does not wait for its own memory. Returns the next one. */
static uint32_t expect(uint32_t machine)
{
    if (machine == NOBODY)
        return NOBODY;
    uint32_t next = behind(machine);
    __builtin_prefetch(&world.places[next < world.n_machines ? next : 0], 1);
    return next;
}

/* Everything that happens in the present second. */
static void pass_second(void)
{
    uint32_t machine = empty_bucket(), ahead = machine;
    for (int i = 0; i < AHEAD; i++)
        ahead = expect(ahead);
    while (machine != NOBODY) {
        uint32_t next = behind(machine);
        ahead = expect(ahead);
        end(machine);
        machine = next;
    }
    if (bats_sched_wakeup(world.sched) > world.now)
        return;
    double time = timed_tell((struct bats_event){.type = BATS_EVENT_TICK});
    if (world.n_ticks < sizeof world.ticks / sizeof *world.ticks)
        world.ticks[world.n_ticks++] = time;
}

static void lose(uint32_t machine)
{
    world.places[machine].task = BATS_NO_TASK;
    world.losses[world.n_losses++] = timed_tell(
        (struct bats_event){.type = BATS_EVENT_LOST, .machine = machine});
}

static void set_up(void)
{
    world.now = 0;
    world.random = 0;
    world.events = 0;
    for (uint32_t i = 0; i < BUCKETS; i++)
        world.bucket[i] = NOBODY;
}

/* In place of the engine: the next task. */
static void begin_next(uint32_t machine)
{
    world.events++;
    begin(machine, world.places[machine].task + 1);
}

/* Nanoseconds per event of the calendar without an engine. */
static double calendar_alone(unsigned long events)
{
    set_up();
    double start = cpu_seconds();
    for (uint32_t i = 0; i < world.n_machines; i++)
        begin_next(i);
    while (world.events < events) {
        world.now += BATS_SECOND;
        for (uint32_t machine = empty_bucket(), next; machine != NOBODY;
             machine = next) {
            next = behind(machine);
            begin_next(machine);
        }
    }
    return 1e9 * (cpu_seconds() - start) / (double)world.events;
}

static int ascending(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void run(unsigned long events)
{
    for (uint32_t i = 0; i < world.n_machines; i++)
        tell((struct bats_event){.type = BATS_EVENT_JOINED, .machine = i});
    unsigned long next_loss = world.events + events / 2;
    while (!world.finished && world.events < events) {
        world.now += BATS_SECOND;
        pass_second();
        if (world.events > next_loss && world.n_losses < LOSSES &&
            world.n_machines > 2 * LOSSES) {
            lose((uint32_t)world.n_losses);
            next_loss += events / 4 / LOSSES;
        }
    }
}

int main(int argc, char **argv)
{
    bool usable = argc == 5 || argc == 6;
    uint32_t n_tasks = usable ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    uint32_t most = usable ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    unsigned long events = usable ? strtoul(argv[4], NULL, 10) : 0;
    world.parents = argc == 6 ? (uint32_t)strtoul(argv[5], NULL, 10) : 0;
    if (n_tasks < 2 || most < 2 || events < 1 || !bats_policy_find(argv[1])) {
        fputs("usage: engine POLICY TASKS MACHINES EVENTS [PARENTS]\n",
              stderr);
        return 2;
    }
    size_t bytes, with_one_task, with_one_machine;
    world.machines = make_machines(most);
    world.n_machines = most;
    bats_sched_destroy(create(argv[1], 1, most, &with_one_task));
    bats_sched_destroy(create(argv[1], n_tasks, 1, &with_one_machine));
    world.sched = create(argv[1], n_tasks, most, &bytes);
    world.places = allocate(most, sizeof *world.places);
    for (uint32_t i = 0; i < most; i++)
        world.places[i].cluster = world.machines[i].cluster;
    double alone = calendar_alone(events);

    set_up();
    double start = cpu_seconds();
    run(events);
    double seconds = cpu_seconds() - start;
    for (size_t i = 0; i < world.n_losses; i++)
        seconds -= 1e-6 * world.losses[i];
    qsort(world.ticks, world.n_ticks, sizeof(double), ascending);
    qsort(world.losses, world.n_losses, sizeof(double), ascending);
    printf("%.0f %lu %.1f %.1f %.1f %.1f %.1f %.1f %.0f\n",
           1e9 * seconds / (double)world.events, world.events,
           world.n_ticks ? world.ticks[world.n_ticks / 2] : 0,
           world.n_ticks ? world.ticks[world.n_ticks - 1] : 0,
           world.n_losses ? world.losses[world.n_losses / 2] : 0,
           world.n_losses ? world.losses[world.n_losses - 1] : 0,
           ((double)bytes - (double)with_one_task) / (n_tasks - 1),
           ((double)bytes - (double)with_one_machine) / (most - 1), alone);
    bats_sched_destroy(world.sched);
    bats_graph_release(&world.graph);
    return 0;
}
