/*
 * Random scenarios: whatever the clusters, charges, distributions, budgets,
 * deadlines, losses, start-up times, noise and way of billing, no budget is
 * ever exceeded, no task gets lost and nobody beats the clairvoyant bound.
 * Where tasks need cores, memory and GPUs, no machine is oversold, and with
 * money for all of it every task is done.
 *
 *     BATS_SCENARIOS=200000 make tests TESTS=build/tests/test_sim_budget
 */
#include <math.h>

#include "helpers/directory.h"
#include "helpers/draw.h"
#include "sim/world.h"

#define SCENARIOS 3000 /* a fifteenth of them with needs */
/* More than any run takes. */
#define EVENTS 2000000

static const char path[] = "scenario";

/* Many small values, few large ones. */
static double skewed(double max)
{
    return max * pow(gsl_rng_uniform_pos(rng), 3);
}

static void write_runtime(FILE *out, double window)
{
    static const char *const kinds[] = {"constant", "normal", "lognormal",
                                        "levy", "uniform"};
    uint32_t kind = pick(6);
    double mean = 1 + skewed(3 * window);
    if (kind == 5)
        fprintf(out, "runtime = mixture\n");
    else if (kind == 0)
        fprintf(out, "runtime = constant %.6f\n", mean);
    else
        fprintf(out, "runtime = %s %.6f %.6f\n", kinds[kind], mean,
                kind == 3 || kind == 4 ? mean * (1 + pick(5))
                                       : mean * 2 * uniform());
}

/* Jobs wait in a queue, and cost something. */
static void write_cluster(FILE *out, uint32_t i, double window, bool is_job)
{
    fprintf(out, "[cluster c%u]\nmachines = %u\nspeed = %.3f\nslots = %u\n", i,
            1 + pick(8), 0.2 + skewed(5), 1 + pick(3));
    if (chance(0.05))
        fprintf(out, "charge = %d\n", is_job);
    else if (chance(0.5))
        fprintf(out, "charge = %u\n", 1 + pick(12));
    else
        fprintf(out, "charge = %.6f\n", 0.001 + skewed(5));
    if (chance(0.4))
        fprintf(out, "startup = %.6f\n", skewed(1.5 * window));
    if (chance(0.4))
        fprintf(out, "noise = %.3f\n", 0.001 + skewed(1));
    if (chance(0.5))
        fprintf(out, "expected = %.6f\n", 1 + skewed(3 * window));
    if (chance(0.3))
        fprintf(out, "loss = %.6f\n", 1 + skewed(100 * window));
    if (is_job)
        fprintf(out, "queue = %.6f\n", skewed(2 * window));
}

static void write_scenario(uint32_t number)
{
    static const char *const budgets[] = {
        "unlimited",     "rr",           "rr-20%",  "minimum",
        "cheapest+10%",  "cheapest+80%", "fastest", "fastest-20%",
        "cheapest+300%", "fastest+50%"};
    static const char *const policies[] = {
        "dbc-cost", "dbc-time", "dbc-conservative-time", "dbc-cost-time"};
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    double window = 60 * (1 + skewed(120));
    bool is_job = number % 7 == 5; /* the others know no jobs */
    const char *policy = policies[pick(4)];
    fprintf(out, "[run]\nwindow = %.6f\npolicy = rr, bats%s%s\nseeds = %u\n",
            window, is_job ? "" : ", ", is_job ? "" : policy, number);
    static const char *const billings[] = {"allocation", "window", "use"};
    fprintf(out, "billing = %s\n", is_job ? "job" : billings[number % 3]);
    fprintf(out, "budget = %s, %.6f\n", budgets[pick(10)], skewed(500));
    if (number % 4 < 2)
        fprintf(out, "deadline = %.6f\nminimize = %s\n",
                1 + skewed(20 * window), number % 8 ? "cost" : "time");
    if (chance(0.3))
        fprintf(out, "monitor = %.6f\n", 1 + uniform() * 2 * window);
    if (chance(0.3))
        fprintf(out, "tail = random\n");
    if (chance(0.4))
        fprintf(out, "grace = %.6f\n", skewed(0.9 * window));
    fprintf(out, "[bag]\ntasks = %u\n", 1 + (uint32_t)skewed(200));
    write_runtime(out, window);
    for (uint32_t i = 0, n = 1 + pick(4); i < n; i++)
        write_cluster(out, i, window, is_job);
    assert_int_equal(fclose(out), 0);
}

/* ---- tasks with needs ---- */

/* Tasks, some of which wait for an earlier one. */
static void write_waiting(FILE *out)
{
    FILE *bag = fopen("bag", "w");
    assert_non_null(bag);
    fprintf(bag, "#BATS task t0\n@sleep 60\n");
    for (uint32_t i = 1, n = 2 + pick(119); i < n; i++) {
        fprintf(bag, "#BATS task t%u", i);
        if (i == 1 || chance(0.7))
            fprintf(bag, " after t%u", pick(i));
        fprintf(bag, "\n@sleep %u\n", 1 + pick(1200));
    }
    assert_int_equal(fclose(bag), 0);
    fprintf(out, "workflow = bag\n");
}

/* The first cluster has all that the tasks need, and loses no machine. */
static void write_needs(uint32_t number)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    bool use = number % 2 == 0, waits = number % 3 == 0;
    fprintf(out, "[run]\nwindow = 15m\nbilling = %s\nseeds = %u\n",
            use ? "use" : "window", number);
    fprintf(out,
            "budget = unlimited, rr-30%%\npolicy = rr, dbc-cost, dbc-time, "
            "dbc-conservative-time, dbc-cost-time, %s\n",
            !use    ? "bats, bkp"
            : waits ? "flow, miser, mw-dbs"
                    : "bats");
    fprintf(out, "[bag]\n");
    if (waits)
        write_waiting(out);
    else
        fprintf(out, "tasks = %u\nruntime = lognormal 600 %u\n", 1 + pick(120),
                1 + pick(900));
    for (uint32_t i = 0, n = 1 + pick(4); i < n; i++) {
        fprintf(out, "%s%u/%uG", i > 0 ? ", " : "needs = ", 1 + pick(8),
                1 + pick(32));
        if (chance(0.3))
            fprintf(out, "/%u", 1 + pick(2));
        fprintf(out, ":%u", 1 + pick(9));
    }
    fprintf(out, "\n");
    for (uint32_t i = 0, n = 1 + pick(3); i < n; i++) {
        fprintf(out,
                "[cluster c%u]\nmachines = %u\nspeed = %.2f\nslots = %u\n"
                "memory = %uG\n%scharge = %u\n",
                i, 1 + pick(5), 0.5 + uniform(),
                i == 0 ? 8 + pick(5) : 1 + pick(8), i == 0 ? 32 : 1 + pick(32),
                i == 0 || chance(0.3) ? "gpus = 2\n" : "", 1 + pick(9));
        if (i > 0 && chance(0.3))
            fprintf(out, "loss = %u\n", 1 + pick(20000));
    }
    assert_int_equal(fclose(out), 0);
}

/* ---- runs ---- */

/* After every event of a run. */
struct look {
    uint32_t scenario;
    bool has_needs;
    uint64_t events;
};

/* A run ends. With needs, or in every hundredth scenario: the engine's own
 * invariants. */
static void look(void *context, const struct bats_sched *sched)
{
    struct look *l = context;
    if (++l->events > EVENTS)
        fail_msg("%u does not end: %s", l->scenario, path);
    if (l->has_needs || l->scenario % 100 == 0)
        check_sched(sched);
}

struct totals {
    uint64_t runs, complete, exhausted, no_machines, preempted, lost, exact;
    uint64_t undone;
};

/* All machines for all of the time; and after the last task there was the
 * grace time to give them back, if there was at the start. */
static void check_bill(const struct bats_scenario *s,
                       const struct bats_world_result *r)
{
    const struct bats_platform *p = &s->platform;
    double price = 0, window = (double)p->window;
    for (uint32_t i = 0; i < p->n_machines; i++)
        price += (double)p->clusters[p->machines[i].cluster].charge;
    double bill = price * (double)r->makespan / window;
    double leaving = price * (double)s->engine.preempt_lead / window;
    /* The rate is a whole number of millionths per hour. */
    double rounded =
        2 + (double)(r->makespan + s->engine.preempt_lead) / (double)BATS_HOUR;
    assert_true(fabs((double)r->charged - bill) <= rounded);
    if (r->amount == BATS_UNLIMITED || r->makespan == 0)
        return;
    if (bill + leaving > (double)r->amount + rounded)
        fail_msg("%s: %.0f and up to %.0f more billed of %.0f with seed %u",
                 path, bill, leaving, (double)r->amount, r->seed);
}

static void check_run(const struct bats_scenario *s,
                      const struct bats_world_result *r, bool has_noise,
                      struct totals *totals)
{
    if (r->violations > 0 || r->charged > r->amount)
        fail_msg("%s: budget exceeded with seed %u", path, r->seed);
    if (s->engine.billing.model == BATS_BILLING_ALLOCATION)
        check_bill(s, r);
    assert_int_equal(r->done + r->failed + r->undone, s->n_tasks);
    /* Failed: lost with its machine once too often, or longer than jobs. */
    assert_true(r->failed == 0 || r->lost > 1 ||
                s->engine.billing.model == BATS_BILLING_JOB);
    assert_int_equal(r->finish == BATS_FINISH_ALL_DONE, r->undone == 0);
    assert_true(r->finish == BATS_FINISH_ALL_DONE ||
                r->finish == BATS_FINISH_BUDGET ||
                r->finish == BATS_FINISH_TIME_LIMIT ||
                r->finish == BATS_FINISH_TOO_LATE ||
                r->finish == BATS_FINISH_NO_MACHINES);
    /* With noise, a task that was stopped may be faster the second time. The
     * bound is that of whole windows. */
    if (r->undone == 0 && r->failed == 0 && !has_noise &&
        s->engine.billing.model == BATS_BILLING_WINDOW) {
        if (!isfinite(r->bound) || r->ratio < 1 - 1e-9)
            fail_msg("%s: %.9f of the bound with seed %u", path, r->ratio,
                     r->seed);
        totals->exact += r->ratio < 1.001;
    }
    if (s->needs && r->amount == BATS_UNLIMITED && r->done < s->n_tasks)
        fail_msg("%s: tasks undone with seed %u", path, r->seed);
    totals->runs++;
    totals->undone += r->undone > 0;
    totals->complete += r->undone == 0;
    totals->exhausted += r->finish == BATS_FINISH_BUDGET;
    totals->no_machines += r->finish == BATS_FINISH_NO_MACHINES;
    totals->preempted += r->preempted;
    totals->lost += r->lost;
}

static void play(uint32_t number, struct totals *totals)
{
    struct bats_scenario *s;
    struct bats_world *w;
    bool has_noise = false;
    if (bats_scenario_load(path, &s, &err) < 0 ||
        bats_world_create(s, 0, 0, &w, &err) < 0)
        fail_msg("%u: %s", number, err.text);
    for (size_t i = 0; i < s->platform.n_clusters; i++)
        has_noise = has_noise || s->noise[i] > 0;
    for (uint32_t b = 0; b < s->n_budgets; b++)
        for (uint32_t p = 0; p < s->n_policies; p++) {
            struct bats_world_result r;
            struct look l = {.scenario = number, .has_needs = s->needs};
            struct bats_sim_watch watch = {.context = &l, .after = look};
            if (bats_world_run(w, p, b, &watch, &r, &err) < 0)
                fail_msg("%u: %s", number, err.text);
            check_run(s, &r, has_noise, totals);
        }
    bats_world_destroy(w);
    bats_scenario_destroy(s);
}

/* Plays n of them. */
static struct totals play_all(uint32_t n, void (*write)(uint32_t number))
{
    struct totals t = {0};
    for (uint32_t i = 1; i <= n; i++) {
        draw_from(i);
        write(i);
        play(i, &t);
    }
    return t;
}

static uint32_t n_scenarios(void)
{
    const char *wanted = getenv("BATS_SCENARIOS");
    return wanted ? (uint32_t)strtoul(wanted, NULL, 10) : SCENARIOS;
}

TEST(no_budget_is_ever_exceeded)
{
    uint32_t n = n_scenarios();
    struct totals t = play_all(n, write_scenario);
    /* All of these were tried. */
    assert_true(t.complete > n / 4 && t.exhausted > n / 4);
    assert_true(t.no_machines > n / 100 && t.preempted > n && t.lost > n);
    assert_true(t.exact > n / 100);
}

TEST(no_policy_oversells_a_machine_or_starves_a_task)
{
    uint32_t n = n_scenarios() / 15;
    struct totals t = play_all(n, write_needs);
    assert_true(t.runs > 10 * n && t.undone > n && t.lost > n / 10);
}

/* A task that is cut off at the end of a window is begun again, and that can go
 * on for ever where windows cost nothing. */
TEST(a_run_on_machines_without_charge_ends)
{
    struct totals t = {0};
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "[run]\nwindow = 800\npolicy = rr, bats\nseeds = 18254\n"
                 "budget = 69\ngrace = 640\n"
                 "[bag]\ntasks = 70\nruntime = lognormal 1500 1800\n"
                 "[cluster a]\nmachines = 8\nspeed = 1.241\ncharge = 4\n"
                 "[cluster b]\nmachines = 3\nspeed = 4.534\nslots = 3\n"
                 "charge = 0\n"
                 "[cluster c]\nmachines = 1\nspeed = 0.2\nslots = 3\n"
                 "charge = 1\n");
    assert_int_equal(fclose(out), 0);
    play(18254, &t);
    assert_int_equal(t.complete, 2);
}

TEST_MAIN(enter_directory, leave_directory)
