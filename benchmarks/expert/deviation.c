/*
 * Table 5 of ExPERT at its full size, where the truth is simulated: its 13
 * experiments by the engine, and what the Estimator says of each run: offline,
 * from all that the run has shown of its pools, and online, from what was known
 * when the tail began.
 *
 *   build/bench/expert/deviation RUNS SHARE FIRST
 *
 * SHARE of the machines and tasks: 1, or less; the seed of the FIRST run. A row
 * of tab-separated values for every run: number, seed, tail in seconds and cost
 * of the run, then tail and cost by the pools as they are, offline, online, and
 * online from the state in which the tail began. Tasks keep their runtime
 * wherever they run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/answers.h"
#include "bats/plays.h"
#include "bats/status.h"
#include "sim/sim.h"

#define TASKS 3276
#define MACHINES 300
#define INSTANCES 40000
#define PLAYS 100

struct workload {
    uint32_t tasks;
    double t, d, mean, low, high; /* seconds */
};

/* Tables 3 and 4. Of 5 to 7 the columns "average" and "min" of the print are
 * taken for each other. */
static const struct workload workloads[] = {
    {0},
    {820, 2500, 4000, 1597, 1019, 3558},
    {820, 1700, 4000, 1597, 1019, 3558},
    {3276, 5000, 8000, 1911, 1484, 6435},
    {3276, 3000, 5000, 2232, 1643, 4517},
    {615, 4000, 6000, 1571, 878, 4947},
    {615, 4000, 4000, 1512, 729, 3534},
    {615, 2500, 4000, 1542, 987, 3250}};

struct experiment {
    int workload;
    const char *n;
    uint32_t unreliable, reliable;
    double gamma;
};

static const struct experiment experiments[] = {
    {1, "0", 202, 20, 0.995},     {1, "2", 199, 20, 0.983},
    {6, "inf", 220, 0, 0.981},    {3, "0", 206, 20, 0.974},
    {6, "CNinf", 200, 20, 0.970}, {5, "inf", 201, 0, 0.942},
    {1, "0", 208, 20, 0.864},     {2, "1", 208, 20, 0.857},
    {1, "0", 251, 20, 0.853},     {7, "0", 208, 20, 0.844},
    {1, "0", 200, 20, 0.827},     {1, "0", 200, 20, 0.788},
    {4, "0", 204, 20, 0.746}};

/* A run is watched for these. */
struct watch {
    struct bats_instance list[2][INSTANCES];
    size_t n[2];
    struct {
        uint32_t task;
        bats_time sent;
        bool busy, told;
    } slot[MACHINES];
    uint32_t n_unreliable, left;
    bool done[TASKS];
    bats_time began, end;
    size_t n_began[2]; /* instances by then */
    struct bats_plays_task tail[TASKS];
    uint32_t n_tail;
    uint32_t n_tasks;
    double charged; /* when the tail began */
};

static struct watch w;

static bool is_reliable(uint32_t machine)
{
    return machine >= w.n_unreliable;
}

static void note(uint32_t machine, bats_time now, bool answers)
{
    int pool = is_reliable(machine);
    if (!w.slot[machine].busy)
        return;
    w.slot[machine].busy = false;
    if (w.n[pool] < INSTANCES)
        w.list[pool][w.n[pool]++] = (struct bats_instance){
            .sent = w.slot[machine].sent,
            .time = answers ? now - w.slot[machine].sent : -1};
}

/* The state in which the tail begins: tasks that run, and those that wait. */
static void begin(bats_time now, double t_ur)
{
    bool runs[TASKS] = {false};
    uint32_t n_machines = MACHINES;
    w.began = now;
    w.n_began[0] = w.n[0];
    w.n_began[1] = w.n[1];
    for (uint32_t i = 0; i < n_machines; i++) {
        uint32_t task = w.slot[i].task;
        if (!w.slot[i].busy || w.done[task])
            continue;
        runs[task] = true;
        bats_time started = w.slot[i].sent - now;
        bats_time end = started + (bats_time)(BATS_THROUGHPUT_D * t_ur);
        w.tail[w.n_tail++] =
            (struct bats_plays_task){.started = started,
                                     .is_reliable = is_reliable(i),
                                     .given_up = is_reliable(i) ? BATS_NEVER
                                                 : end > 0      ? end
                                                                : 1};
    }
    for (uint32_t i = 0; i < w.n_tasks; i++)
        if (!w.done[i] && !runs[i])
            w.tail[w.n_tail++] = (struct bats_plays_task){
                .is_pending = true, .given_up = BATS_NEVER};
}

static double mean_so_far(void)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < w.n[0]; i++)
        if (w.list[0][i].time >= 0) {
            sum += (double)w.list[0][i].time;
            n++;
        }
    return n > 0 ? sum / n : 1;
}

static void hear(void *context, bats_time now, const struct bats_event *e)
{
    if (e->type == BATS_EVENT_PREEMPTED && w.left > 0)
        note(e->machine, now, false);
    if (e->type != BATS_EVENT_DONE)
        return;
    note(e->machine, now, true);
    w.left -= !w.done[e->task];
    w.done[e->task] = true;
    if (w.left == 0)
        w.end = now;
    if (w.left < w.n_unreliable && w.began < 0)
        begin(now, mean_so_far());
}

static void see(void *context, bats_time now, const struct bats_command *c)
{
    if (c->type == BATS_NOTICE_CHARGE && w.began < 0)
        w.charged += (double)c->amount;
    if (c->type != BATS_COMMAND_RUN)
        return;
    w.slot[c->machine].task = c->task;
    w.slot[c->machine].sent = now;
    w.slot[c->machine].busy = true;
}

/* ---- the estimates ---- */

static struct bats_play play(const struct bats_plays_model *m,
                             const struct bats_strategy *s)
{
    struct bats_candidate c = {.strategy = *s};
    struct bats_plays *plays;
    struct bats_error err;
    if (bats_plays_create(m, PLAYS, 1, &plays, &err) < 0 ||
        bats_candidate_play(plays, PLAYS, &c, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    bats_plays_destroy(plays);
    return c.mean;
}

static struct bats_play estimate(const struct bats_plays_model *truth,
                                 const struct bats_strategy *s,
                                 const struct bats_answers *a)
{
    struct bats_plays_model m = *truth;
    m.gamma = a->gamma;
    m.unreliable = a->times;
    m.n_times = a->n_times;
    return play(&m, s);
}

/* The instances that were known when the tail began. */
static size_t known(struct bats_instance *list)
{
    size_t n = 0;
    for (size_t i = 0; i < w.n[0]; i++) {
        list[n] = w.list[0][i];
        if (list[n].sent >= w.began)
            continue;
        if (list[n].time >= 0 && list[n].sent + list[n].time > w.began)
            list[n].time = -1;
        n++;
    }
    return n;
}

static void print(const struct bats_play *p)
{
    printf("\t%.0f\t%.4f", p->tail / 1e6, p->cost / 1e6 / w.n_tasks);
}

/* ---- a run ---- */

static bats_time runtimes[TASKS];

static void fill(const struct workload *l, uint32_t n)
{
    double k = (l->high - l->low) / (l->mean - l->low) - 1;
    for (uint32_t i = 0; i < n; i++)
        runtimes[i] = (bats_time)(1e6 * (l->low + (l->high - l->low) *
                                                      pow((i + .5) / n, k)));
}

static void run(int number, uint64_t seed, double share)
{
    const struct experiment *x = &experiments[number - 1];
    const struct workload *l = &workloads[x->workload];
    uint32_t n_ur = (uint32_t)(x->unreliable * share + 0.5);
    uint32_t n_r = (uint32_t)ceil(x->reliable * share);
    struct bats_cluster clusters[2] = {
        {.name = "cheap",
         .charge = BATS_UNIT,
         .max = n_ur,
         .unreliable = true,
         .lost_is_free = true},
        {.name = "safe", .charge = 34 * BATS_UNIT, .max = n_r}};
    struct bats_machine_spec machines[MACHINES];
    bats_time expected[2] = {(bats_time)(l->mean * 1e6),
                             (bats_time)(l->mean * 1e6)};
    double speed[2] = {1, 1};
    struct bats_reliability loses[2] = {{.n_steps = 1, .share = {x->gamma}}};
    struct bats_strategy strategy;
    char text[64];
    snprintf(text, sizeof text, "N=%s,T=%.0fs,D=%.0fs", x->n, l->t, l->d);
    bats_strategy_parse(strcmp(x->n, "CNinf") == 0 ? "CNinf" : text, &strategy,
                        NULL);
    memset(&w, 0, sizeof w);
    w.began = -1;
    w.n_unreliable = n_ur;
    w.n_tasks = w.left = (uint32_t)(l->tasks * share + 0.5);
    for (uint32_t i = 0; i < n_ur + n_r; i++)
        machines[i] = (struct bats_machine_spec){i >= n_ur, 1};
    fill(l, w.n_tasks);
    struct bats_sim_options o = {.sched = {.policy = &bats_policy_expert,
                                           .n_tasks = w.n_tasks,
                                           .clusters = clusters,
                                           .n_clusters = n_r > 0 ? 2 : 1,
                                           .expected = expected,
                                           .machines = machines,
                                           .n_machines = n_ur + n_r,
                                           .window = BATS_HOUR,
                                           .budget = BATS_UNLIMITED,
                                           .billing.model = BATS_BILLING_USE,
                                           .strategy = strategy,
                                           .seed = seed},
                                 .work = runtimes,
                                 .speed = speed,
                                 .noise_seed = seed,
                                 .reliability = loses,
                                 .watch.on_event = hear,
                                 .watch.on_command = see};
    struct bats_sched *sched;
    struct bats_sched_status status;
    struct bats_error err;
    bats_time makespan;
    if (bats_sim_run(&o, &sched, &makespan, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    bats_sched_status(sched, &status);
    bats_sched_destroy(sched);
    printf("%d\t%llu\t%.0f\t%.4f", number, (unsigned long long)seed,
           (double)(w.end - w.began) / 1e6,
           (double)status.charged / 1e6 / w.n_tasks);

    struct bats_plays_model m = {.n_tasks = w.n_tasks,
                                 .n_unreliable = n_ur,
                                 .n_reliable = n_r,
                                 .unreliable = runtimes,
                                 .n_times = w.n_tasks,
                                 .reliable = runtimes,
                                 .n_reliable_times = w.n_tasks,
                                 .gamma = x->gamma,
                                 .price_unreliable = 1 / 3600.0,
                                 .price_reliable = 34 / 3600.0,
                                 .lost_is_free = true};
    struct bats_play p = play(&m, &strategy);
    print(&p);

    static struct bats_instance list[INSTANCES];
    struct bats_answers a;
    memcpy(list, w.list[0], w.n[0] * sizeof *list);
    bats_answers_find(list, w.n[0], BATS_NEVER, 0, &a);
    p = estimate(&m, &strategy, &a);
    print(&p);
    free(a.times);

    size_t n = known(list);
    bats_answers_find(list, n, w.began,
                      (bats_time)(BATS_THROUGHPUT_D * mean_so_far()), &a);
    p = estimate(&m, &strategy, &a);
    print(&p);
    m.n_tasks = w.n_tail;
    m.tail = w.tail;
    p = estimate(&m, &strategy, &a);
    p.cost += w.charged;
    print(&p);
    printf("\t%.4f\n", a.gamma);
    free(a.times);
}

int main(int argc, char **argv)
{
    uint64_t runs = argc > 1 ? strtoul(argv[1], NULL, 10) : 20;
    double share = argc > 2 ? strtod(argv[2], NULL) : 1;
    uint64_t first = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
    for (int i = 1; i <= 13; i++)
        for (uint64_t seed = first; seed < first + runs; seed++)
            run(i, seed, share);
    return 0;
}
