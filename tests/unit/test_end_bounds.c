/* The bounds of the time at which a run is expected to end, against the time at
 * which it does. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/sim_fixture.h"

#define WORLDS 200
#define TASKS 400

/* The end as it was foretold when half of the tasks had ended. */
struct answer {
    bool asked, known;
    bats_time now, low, high, estimate;
};

static void ask_at_half(void *context, const struct bats_sched *s)
{
    struct answer *a = context;
    struct bats_sched_status status;
    bats_sched_status(s, &status);
    if (a->asked || status.done < TASKS / 2)
        return;
    a->asked = true;
    a->now = status.now;
    a->estimate = status.estimated_end;
    a->known = bats_sched_end_bounds(s, &a->low, &a->high);
}

/* Tasks of around 5 minutes, lognormal: most are shorter, some much longer. */
static struct answer one(uint64_t seed, double sigma)
{
    struct answer a = {0};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, seed);
    set_up_world(&bats_policy_rr, TASKS, BATS_MINUTE, 8, 1, 4, BATS_UNLIMITED);
    w->speed[1] = 2;
    for (uint32_t i = 0; i < TASKS; i++)
        w->work[i] =
            (bats_time)(5 * BATS_MINUTE *
                        gsl_ran_lognormal(rng, -sigma * sigma / 2, sigma));
    gsl_rng_free(rng);
    w->o.watch.after = ask_at_half;
    w->o.watch.context = &a;
    play();
    assert_true(a.asked);
    return a;
}

/* Both are to hold in 70 % of all cases at least (interval.h, 4.13). Of 200
 * worlds that would be 140, with a standard deviation of 6.5. */
TEST(the_end_comes_between_the_bounds)
{
    static const double sigmas[] = {0.2, 0.5, 0.8};
    for (size_t k = 0; k < 3; k++) {
        uint32_t kept = 0;
        double width = 0;
        for (uint64_t seed = 1; seed <= WORLDS; seed++) {
            struct answer a = one(seed, sigmas[k]);
            assert_true(a.known);
            assert_true(a.low <= a.estimate && a.estimate <= a.high);
            kept += a.low <= w->makespan && w->makespan <= a.high;
            width += (double)(a.high - a.low) / (double)(w->makespan - a.now);
        }
        assert_in_range(kept, 153, WORLDS);
        /* They say something: less than what is left. */
        assert_true(width / WORLDS < 0.3 + sigmas[k]);
    }
}

TEST(equal_tasks_have_narrow_bounds)
{
    struct answer a = one(1, 0);
    assert_true(a.known);
    assert_true(a.low <= w->makespan && w->makespan <= a.high);
    /* Two tasks of the slow cluster, which has one under way. */
    assert_true(a.high - a.low <= 10 * BATS_MINUTE);
}

TEST(without_two_results_nothing_is_known)
{
    struct bats_sched *s;
    bats_time low, high;
    struct bats_cluster cluster = {.name = "c", .charge = BATS_UNIT, .max = 1};
    struct bats_machine_spec machine = {0, 1};
    struct bats_sched_options o = {.policy = &bats_policy_rr,
                                   .n_tasks = 10,
                                   .clusters = &cluster,
                                   .n_clusters = 1,
                                   .machines = &machine,
                                   .n_machines = 1,
                                   .window = BATS_HOUR,
                                   .budget = BATS_UNLIMITED,
                                   .seed = 1};
    assert_ok(bats_sched_create(&o, &s, &err));
    struct bats_event ev = {.type = BATS_EVENT_JOINED};
    for (int ended = 0; ended <= 2; ended++) {
        struct bats_command c;
        assert_ok(bats_sched_handle(s, ended * BATS_MINUTE, &ev, &err));
        assert_int_equal(bats_sched_end_bounds(s, &low, &high), ended == 2);
        while (bats_sched_next(s, &c))
            if (c.type == BATS_COMMAND_RUN)
                ev = (struct bats_event){.type = BATS_EVENT_DONE,
                                         .task = c.task,
                                         .runtime = BATS_MINUTE};
    }
    bats_sched_destroy(s);
}

TEST_MAIN(NULL, NULL)
