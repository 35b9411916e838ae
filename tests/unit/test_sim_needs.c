/*
 * Random scenarios whose tasks need cores, memory and GPUs, under all policies:
 * no machine is oversold, no budget is exceeded, and with money for all of it
 * every task is done.
 *
 *     BATS_SCENARIOS=20000 make tests TESTS=build/tests/test_sim_needs
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <gsl/gsl_rng.h>

#include "helpers/test.h"
#include "sim/world.h"

#define SCENARIOS 200
#define EVENTS 200000 /* more than any run takes */

static char path[] = "/tmp/test_sim_needs.XXXXXX";

static uint32_t pick(gsl_rng *rng, uint32_t n)
{
    return (uint32_t)gsl_rng_uniform_int(rng, n);
}

static bool chance(gsl_rng *rng, double p)
{
    return gsl_rng_uniform(rng) < p;
}

/* Tasks, some of which wait for an earlier one. */
static void write_bag(FILE *out, gsl_rng *rng, bool waits)
{
    uint32_t n = 1 + pick(rng, 120);
    if (!waits) {
        fprintf(out, "tasks = %u\nruntime = lognormal 600 %u\n", n,
                1 + pick(rng, 900));
        return;
    }
    char name[64];
    snprintf(name, sizeof name, "%s.bag", path);
    FILE *bag = fopen(name, "w");
    assert_non_null(bag);
    fprintf(bag, "#BATS task t0\n@sleep 60\n#BATS task last after t0\n"
                 "@sleep 60\n");
    for (uint32_t i = 1; i < n; i++)
        if (chance(rng, 0.3))
            fprintf(bag, "#BATS task t%u\n@sleep %u\n", i,
                    1 + pick(rng, 1200));
        else
            fprintf(bag, "#BATS task t%u after t%u\n@sleep %u\n", i,
                    pick(rng, i), 1 + pick(rng, 1200));
    assert_int_equal(fclose(bag), 0);
    fprintf(out, "workflow = %s.bag\n", strrchr(path, '/') + 1);
}

/* The first cluster has all that the tasks need, and loses no machine. */
static void write_scenario(gsl_rng *rng, uint32_t number)
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
    write_bag(out, rng, waits);
    for (uint32_t i = 0, n = 1 + pick(rng, 4); i < n; i++) {
        fprintf(out, "%s%u/%uG", i > 0 ? ", " : "needs = ", 1 + pick(rng, 8),
                1 + pick(rng, 32));
        if (chance(rng, 0.3))
            fprintf(out, "/%u", 1 + pick(rng, 2));
        fprintf(out, ":%u", 1 + pick(rng, 9));
    }
    fprintf(out, "\n");
    for (uint32_t i = 0, n = 1 + pick(rng, 3); i < n; i++) {
        fprintf(out,
                "[cluster c%u]\nmachines = %u\nspeed = %.2f\nslots = %u\n"
                "memory = %uG\n%scharge = %u\n",
                i, 1 + pick(rng, 5), 0.5 + gsl_rng_uniform(rng),
                i == 0 ? 8 + pick(rng, 5) : 1 + pick(rng, 8),
                i == 0 ? 32 : 1 + pick(rng, 32),
                i == 0 || chance(rng, 0.3) ? "gpus = 2\n" : "",
                1 + pick(rng, 9));
        if (i > 0 && chance(rng, 0.3))
            fprintf(out, "loss = %u\n", 1 + pick(rng, 20000));
    }
    assert_int_equal(fclose(out), 0);
}

struct look {
    uint32_t scenario;
    const char *policy;
    uint64_t events;
};

/* The engine's invariants: what the tasks of a machine hold is not more than it
 * has, and what is held and charged not more than the budget. */
static void look(void *context, const struct bats_sched *sched)
{
    struct look *l = context;
    if (++l->events > EVENTS)
        fail_msg("%u, %s does not end: %s", l->scenario, l->policy, path);
    check_sched(sched);
}

struct totals {
    uint32_t runs, unpaid, lost;
};

static void play(uint32_t number, struct totals *t)
{
    struct bats_scenario *s;
    struct bats_world *w;
    struct bats_error err;
    if (bats_scenario_load(path, &s, &err) < 0 ||
        bats_world_create(s, 0, 0, &w, &err) < 0)
        fail_msg("%u: %s", number, err.text);
    for (uint32_t b = 0; b < s->n_budgets; b++)
        for (uint32_t p = 0; p < s->n_policies; p++) {
            struct bats_world_result r;
            struct look l = {number, bats_policy_name(s->policies[p]), 0};
            struct bats_sim_watch watch = {.context = &l, .after = look};
            if (bats_world_run(w, p, b, &watch, &r, &err) < 0)
                fail_msg("%u: %s", number, err.text);
            if (r.violations > 0 || r.charged > r.amount)
                fail_msg("%u, %s: budget exceeded", number, l.policy);
            if (r.amount == BATS_UNLIMITED && r.done < s->n_tasks)
                fail_msg("%u, %s: %u tasks undone (finish %d), %s", number,
                         l.policy, r.undone, r.finish, path);
            t->runs++;
            t->unpaid += r.undone > 0;
            t->lost += r.lost;
        }
    bats_world_destroy(w);
    bats_scenario_destroy(s);
}

TEST(no_policy_oversells_a_machine_or_starves_a_task)
{
    const char *wanted = getenv("BATS_SCENARIOS");
    uint32_t n = wanted ? (uint32_t)strtoul(wanted, NULL, 10) : SCENARIOS;
    struct totals t = {0};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (uint32_t i = 1; i <= n; i++) {
        gsl_rng_set(rng, i);
        write_scenario(rng, i);
        play(i, &t);
    }
    gsl_rng_free(rng);
    print_message("# %u runs, %u without enough money, %u machines lost\n",
                  t.runs, t.unpaid, t.lost);
    assert_true(t.runs > 10 * n && t.unpaid > n && t.lost > n / 10);
}

int main(void)
{
    char bag[64];
    int descriptor = mkstemp(path);
    if (descriptor < 0)
        return 1;
    close(descriptor);
    int failed = run_cases(NULL, NULL);
    snprintf(bag, sizeof bag, "%s.bag", path);
    unlink(bag);
    if (failed == 0)
        unlink(path);
    return failed;
}
