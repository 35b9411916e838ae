/* plays: by hand where nothing is left to chance, and beside the engine in the
 * simulator where something is. */
#include "bats/plays.h"
#include "helpers/sim_fixture.h"

#define TIMES 100
#define WORLDS 60
#define NEVER 9e17

static struct bats_plays_model model(const bats_time *times, size_t n,
                                     double gamma)
{
    return (struct bats_plays_model){.n_tasks = 60,
                                     .n_unreliable = 20,
                                     .n_reliable = 4,
                                     .unreliable = times,
                                     .n_times = n,
                                     .reliable = times,
                                     .n_reliable_times = n,
                                     .gamma = gamma,
                                     .price_unreliable = 1,
                                     .price_reliable = 30,
                                     .lost_is_free = true};
}

static struct bats_candidate estimate(const struct bats_plays_model *m,
                                      uint32_t n, const char *strategy)
{
    struct bats_plays *plays;
    struct bats_candidate c = {.is_efficient = false};
    assert_ok(bats_strategy_parse(strategy, &c.strategy, &err));
    assert_ok(bats_plays_create(m, n, 7, &plays, &err));
    assert_ok(bats_candidate_play(plays, n, &c, &err));
    bats_plays_destroy(plays);
    return c;
}

TEST(where_all_answer_it_is_self_scheduling)
{
    static const bats_time time[] = {100};
    struct bats_plays_model m = model(time, 1, 1);
    struct bats_candidate c = estimate(&m, 3, "N=0,T=4x,D=4x");
    assert_true(c.mean.makespan == 300 && c.margin.makespan == 0);
    assert_true(c.mean.cost == 6000 && c.mean.sent_reliable == 0);
    c = estimate(&m, 3, "AR"); /* 15 rounds on 4 */
    assert_true(c.mean.makespan == 1500 && c.mean.cost == 30 * 6000);
}

/* Fewer tasks than machines: all is tail. With T = 0 every task is sent to the
 * reliable pool, too, which takes four at once; all end at the same time, those
 * that were sent first before the others. */
TEST(a_tail_costs_what_it_does_by_hand)
{
    static const bats_time time[] = {100};
    struct bats_plays_model m = model(time, 1, 1);
    m.n_tasks = 19;
    struct bats_candidate c = estimate(&m, 2, "N=0,T=0x,D=4x");
    assert_true(c.mean.makespan == 100 && c.mean.tail == 100);
    assert_true(c.mean.sent_reliable == 4 && c.mean.used_reliable == 4);
    assert_true(c.mean.longest_queue == 19);
    assert_true(c.mean.cost == 19 * 100 + 4 * 30 * 100);
}

/* More tasks than machines take longer than 4 T_ur, wherever they run. */
TEST(long_tasks_end_before_the_tail)
{
    static const bats_time times[] = {10, 10, 10, 10, 10,
                                      10, 10, 10, 10, 1000};
    struct bats_plays_model m = model(times, 10, 0.3);
    m.n_unreliable = 2;
    struct bats_candidate c = estimate(&m, 5, "AUR");
    assert_true(c.mean.makespan > 2000 && c.mean.makespan < NEVER);
}

TEST(a_given_tail_goes_on_from_its_ages)
{
    static const bats_time time[] = {100};
    struct bats_plays_model m = model(time, 1, 1);
    const struct bats_plays_task tail[] = {{.started = -30, .given_up = 370},
                                           {.started = -99, .given_up = 301}};
    m.n_tasks = 2;
    m.tail = tail;
    struct bats_candidate c = estimate(&m, 2, "AUR");
    assert_true(c.mean.makespan == 70 && c.mean.cost == 200);
}

/* Tasks with the turnaround times of the model, in the engine. */
static void run(const struct bats_plays_model *m,
                const struct bats_strategy *strategy, const char *utility,
                const struct bats_reliability *cheap, uint64_t seed)
{
    static struct bats_reliability reliability[2];
    static const bats_time expected[] = {50 * BATS_MINUTE, 50 * BATS_MINUTE};
    uint32_t n_machines = m->n_unreliable + m->n_reliable;
    reliability[0] = *cheap;
    set_up_world(&bats_policy_expert, m->n_tasks, 0, n_machines / 2, 1, 1,
                 BATS_UNLIMITED);
    w->clusters[0] = (struct bats_cluster){.name = "cheap",
                                           .charge = BATS_HOUR,
                                           .max = m->n_unreliable,
                                           .unreliable = true,
                                           .noticed = m->noticed,
                                           .lost_is_free = true};
    w->clusters[1] = (struct bats_cluster){
        .name = "safe", .charge = 30 * BATS_HOUR, .max = m->n_reliable};
    for (uint32_t i = 0; i < n_machines; i++)
        w->machines[i].cluster = i >= m->n_unreliable;
    for (uint32_t i = 0; i < m->n_tasks; i++)
        w->work[i] = m->unreliable[(i * 37 + seed * 11) % m->n_times];
    w->o.sched.expected = expected;
    w->o.sched.billing.model = BATS_BILLING_USE;
    w->o.sched.strategy = *strategy;
    w->o.sched.utility = utility;
    w->o.sched.seed = w->o.noise_seed = seed;
    w->o.reliability = reliability;
    play_to(BATS_FINISH_ALL_DONE);
}

static void simulate(const struct bats_plays_model *m,
                     const struct bats_strategy *strategy,
                     const struct bats_reliability *cheap, double *makespan,
                     double *cost)
{
    *makespan = *cost = 0;
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        run(m, strategy, NULL, cheap, seed);
        *makespan += (double)w->makespan / WORLDS;
        *cost += (double)w->status.charged / WORLDS;
    }
}

/* The mean of both differs by less than the margins of both. */
static void compare(const struct bats_plays_model *m,
                    const struct bats_reliability *cheap,
                    const char *const *strategies, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct bats_candidate c = estimate(m, WORLDS, strategies[i]);
        double makespan, cost;
        simulate(m, &c.strategy, cheap, &makespan, &cost);
        if (fabs(makespan - c.mean.makespan) >
                2 * c.margin.makespan + 0.02 * makespan ||
            fabs(cost - c.mean.cost) > 2 * c.margin.cost + 0.02 * cost)
            fail_msg("%s: makespan %.0f s, played %.0f +- %.0f; cost %.4g, "
                     "played %.4g +- %.4g",
                     strategies[i], makespan / 1e6, c.mean.makespan / 1e6,
                     c.margin.makespan / 1e6, cost, c.mean.cost,
                     c.margin.cost);
    }
}

/* From the n-th on they take four times as long as most. */
static void fill_times(bats_time times[TIMES], int n)
{
    for (int i = 0; i < TIMES; i++)
        times[i] = (i < n ? 30 + i * 40 / TIMES : 140) * BATS_MINUTE;
}

/* The strategy that the engine has chosen in the end, by makespan x cost. */
static struct bats_sched_strategy choose(const struct bats_plays_model *m,
                                         const struct bats_reliability *cheap)
{
    struct bats_sched_strategy chosen;
    struct bats_strategy s;
    assert_ok(bats_strategy_parse("AUR", &s, &err));
    run(m, &s, "product", cheap, 1);
    assert_int_equal(m->noticed > 0 ? w->status.timed_out : 0, 0);
    assert_true(bats_sched_strategy(w->sched, &chosen));
    return chosen;
}

TEST(the_engine_does_what_is_played)
{
    static const char *const strategies[] = {"TRR",
                                             "TR",
                                             "AUR",
                                             "AR",
                                             "CNinf",
                                             "CN1T0",
                                             "N=2,T=0.5x,D=2x,Mr=0.1",
                                             "N=1,T=1x,D=1x",
                                             "N=inf,T=0.5x,D=2x"};
    bats_time times[TIMES];
    fill_times(times, TIMES / 10 * 9);
    const struct bats_plays_model m = model(times, TIMES, 0.8);
    const struct bats_reliability cheap = {.n_steps = 1, .share = {m.gamma}};
    compare(&m, &cheap, strategies, sizeof strategies / sizeof *strategies);
}

TEST(losses_that_are_noticed_are_played_as_such)
{
    static const char *const strategies[] = {"TRR",
                                             "AUR",
                                             "CNinf",
                                             "N=inf,T=inf,D=inf",
                                             "N=inf,T=0.5x,D=inf",
                                             "N=1,T=0.5x,D=inf,Mr=0.1",
                                             "N=0,T=inf,D=inf",
                                             "N=1,T=1x,D=1x"};
    const size_t n = sizeof strategies / sizeof *strategies;
    bats_time times[TIMES], lost[1000] = {0};
    fill_times(times, TIMES / 10 * 9);
    struct bats_plays_model m = model(times, TIMES, 0.7);
    m.noticed = 3 * BATS_MINUTE;
    m.loses = 0.3;
    m.lost = lost;
    m.n_lost = 1;
    compare(&m, &(struct bats_reliability){.n_steps = 1, .share = {0.7}},
            strategies, n);
    for (int i = 0; i < 1000; i++)
        lost[i] =
            llround(-log1p(-(i + 0.5) / 1000) * 90 * (double)BATS_MINUTE);
    m.loses = 1;
    m.n_lost = 1000;
    compare(&m,
            &(struct bats_reliability){.survival = BATS_SURVIVAL_EXPONENTIAL,
                                       .a = 90.0 * BATS_MINUTE},
            strategies, n);
}

/* Tasks of six times the mean are not given up, nor taken for lost. */
TEST(where_losses_are_noticed_nothing_is_given_up)
{
    const struct bats_reliability cheap = {.n_steps = 1, .share = {0.7}};
    bats_time times[TIMES];
    for (int i = 0; i < TIMES; i++)
        times[i] = (i < TIMES - 5 ? 10 : 90) * BATS_MINUTE;
    struct bats_plays_model m = model(times, TIMES, 0.7);
    m.noticed = BATS_MINUTE;
    struct bats_sched_strategy chosen = choose(&m, &cheap);
    assert_true(isinf(chosen.strategy.d.of_tur) && chosen.decided >= 0);
    assert_true(chosen.gamma > 0.5 && chosen.gamma < 0.9);
}

/* Instances sent until the moment of the decision answer as before, and those
 * sent later always. */
TEST(it_decides_again_when_more_answer)
{
    struct bats_reliability cheap = {.n_steps = 1, .share = {0.4, 1}};
    bats_time times[TIMES];
    fill_times(times, TIMES);
    const struct bats_plays_model m = model(times, TIMES, 0.4);
    struct bats_sched_strategy before = choose(&m, &cheap);
    cheap.n_steps = 2;
    cheap.from[1] = before.decided + 1;
    struct bats_sched_strategy after = choose(&m, &cheap);
    assert_true(before.decided > 0 && after.decided > before.decided);
    assert_true(after.gamma > before.gamma + 0.1);
}

TEST(the_grid_has_420_and_its_frontier_is_a_frontier)
{
    static struct bats_candidate list[BATS_CANDIDATES_MAX];
    bats_time times[TIMES];
    struct bats_plays *plays;
    fill_times(times, TIMES);
    const struct bats_plays_model m = model(times, TIMES, 0.8);
    assert_int_equal(bats_candidates_grid(50, 25, false, list), 420);
    assert_int_equal(bats_candidates_grid(50, 0, false, list), 20);
    assert_int_equal(bats_candidates_grid(50, 25, true, list), 118);
    size_t n = bats_candidates_grid(20, 4, false, list);
    assert_ok(bats_plays_create(&m, 10, 7, &plays, &err));
    for (size_t i = 0; i < n; i++)
        assert_ok(bats_candidate_play(plays, 10, &list[i], &err));
    bats_plays_destroy(plays);
    bats_candidates_mark(list, n);
    for (size_t i = 0; i < n; i++) {
        bool is_beaten = false;
        for (size_t k = 0; k < n; k++)
            is_beaten |= list[k].is_efficient &&
                         list[k].mean.makespan <= list[i].mean.makespan &&
                         list[k].mean.cost <= list[i].mean.cost && k != i;
        assert_true(list[i].is_efficient != is_beaten);
    }
}

TEST(of_equals_but_for_rounding_the_first_is_efficient)
{
    const double third = 1.0 / 3, more = third * (1 + 1e-15);
    struct bats_candidate list[] = {
        {.mean = {.makespan = third, .cost = more}},
        {.mean = {.makespan = more, .cost = third}},
        {.mean = {.makespan = more, .cost = more}},
        {.mean = {.makespan = 2 * third, .cost = third / 2}}};
    bats_candidates_mark(list, 4);
    assert_true(list[0].is_efficient && list[3].is_efficient);
    assert_false(list[1].is_efficient || list[2].is_efficient);
}

/* Common random numbers: the n-th play of each strategy has the same throughput
 * phase; strategies that never differ in what they send have the same tail. */
TEST(strategies_meet_the_same_worlds)
{
    static const char *const names[] = {"N=50,T=4x,D=4x", "TRR",
                                        "N=2,T=0.5x,D=2x,Mr=0.1"};
    enum { N = 20 };
    struct bats_play first[N], other[N];
    struct bats_strategy s;
    bats_time times[TIMES];
    struct bats_plays *plays;
    double differ = 0;
    fill_times(times, TIMES);
    const struct bats_plays_model m = model(times, TIMES, 0.8);
    assert_ok(bats_plays_create(&m, N, 7, &plays, &err));
    assert_ok(bats_strategy_parse("AUR", &s, &err));
    assert_ok(bats_plays_run(plays, &s, 0, N, first, &err));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_ok(bats_strategy_parse(names[i], &s, &err));
        assert_ok(bats_plays_run(plays, &s, 0, N, other, &err));
        for (int k = 0; k < N; k++) {
            assert_true(fabs((other[k].makespan - other[k].tail) -
                             (first[k].makespan - first[k].tail)) < 1);
            differ += fabs(first[k].makespan - first[0].makespan);
            assert_true(i > 0 || (other[k].tail == first[k].tail &&
                                  other[k].cost == first[k].cost));
        }
    }
    assert_true(differ > 0);
    bats_plays_destroy(plays);
}

TEST_MAIN(NULL, NULL)
