/* The runtimes of a kind of task are learned, and decide which chain comes
 * first. */
#include "bats/policy.h"
#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/test.h"

#define TASKS 7

/* 0 and 1 come first. Then two chains: 2 -> 4 -> 5 and 3 -> 6. */
static const struct bats_edge edges[] = {{0, 7}, {1, 7}, {7, 2}, {7, 3},
                                         {2, 4}, {4, 5}, {3, 6}};
static const uint16_t category[TASKS] = {0, 1, 0, 1, 0, 0, 1};

static struct bats_sched *create_on(const struct bats_graph *graph, bool kinds,
                                    const struct bats_machine_spec *machines,
                                    uint32_t n_machines)
{
    static const struct bats_cluster clusters[] = {
        {.name = "c", .charge = BATS_UNIT, .max = 4},
        {.name = "d", .charge = BATS_UNIT, .max = 4}};
    struct bats_sched_options o = {.policy = &bats_policy_rr,
                                   .n_tasks = TASKS,
                                   .graph = graph,
                                   .category = kinds ? category : NULL,
                                   .n_categories = kinds ? 2 : 0,
                                   .clusters = clusters,
                                   .n_clusters =
                                       machines[n_machines - 1].cluster + 1,
                                   .machines = machines,
                                   .n_machines = n_machines,
                                   .window = 1000 * BATS_HOUR,
                                   .budget = BATS_UNLIMITED};
    struct bats_sched *s;
    assert_ok(bats_sched_create(&o, &s, &err));
    return s;
}

static struct bats_sched *create(const struct bats_graph *graph, bool kinds,
                                 uint32_t n_machines)
{
    static const struct bats_machine_spec machines[4] = {
        {0, 1}, {0, 1}, {0, 1}, {0, 1}};
    return create_on(graph, kinds, machines, n_machines);
}

static bats_time now;

/* Tells it, and returns the task that it runs on machine 0 next. */
static uint32_t tell(struct bats_sched *s, struct bats_event event)
{
    struct bats_command c;
    uint32_t task = BATS_NO_TASK;
    assert_ok(bats_sched_handle(s, now, &event, &err));
    check_sched(s);
    while (bats_sched_next(s, &c))
        if (c.type == BATS_COMMAND_RUN && c.machine == 0)
            task = c.task;
    return task;
}

static uint32_t end(struct bats_sched *s, uint32_t task)
{
    bats_time runtime = category[task] == 0 ? BATS_MINUTE : BATS_HOUR;
    now += runtime;
    return tell(s, (struct bats_event){.type = BATS_EVENT_DONE,
                                       .task = task,
                                       .runtime = runtime});
}

/* The two first tasks in either order; returns what is run after them. */
static uint32_t begin(struct bats_sched *s)
{
    now = 1; /* later than 0: whoever is there begins */
    uint32_t task = tell(s, (struct bats_event){.type = BATS_EVENT_JOINED});
    assert_true(task < 2);
    task = end(s, task);
    assert_true(task < 2);
    return end(s, task);
}

static struct bats_graph graph(void)
{
    struct bats_graph g;
    assert_ok(bats_graph_init(&g, TASKS, TASKS + 1, edges, 7, &err));
    return g;
}

TEST(chain_of_long_tasks_comes_first_once_that_is_known)
{
    struct bats_graph g = graph();
    struct bats_sched *s = create(&g, false, 1);
    assert_int_equal(begin(s), 2); /* three tasks, against two */
    bats_sched_destroy(s);
    s = create(&g, true, 1);
    assert_int_equal(begin(s), 3); /* two hours, against three minutes */
    bats_sched_destroy(s);
    bats_graph_release(&g);
}

TEST(forecast_is_no_sooner_than_the_longest_chain)
{
    struct bats_graph g = graph();
    struct bats_sched *s = create(&g, true, 4);
    struct bats_sched_status status;
    begin(s);
    for (uint32_t i = 1; i < 4; i++)
        tell(s, (struct bats_event){.type = BATS_EVENT_JOINED, .machine = i});
    bats_sched_status(s, &status); /* by their number it would be 49 minutes */
    assert_int_equal(status.estimated_end, now + 2 * BATS_HOUR);
    bats_sched_destroy(s);
    bats_graph_release(&g);
}

/* One result is too few to rank the tasks of a large graph by. */
TEST(forecast_of_a_large_graph_counts_the_tasks_of_its_chain)
{
    enum { MANY = 300 };
    struct bats_edge chain[MANY - 1];
    struct bats_graph g;
    struct bats_sched *s;
    struct bats_sched_status status;
    for (uint32_t i = 0; i + 1 < MANY; i++)
        chain[i] = (struct bats_edge){i, i + 1};
    assert_ok(bats_graph_init(&g, MANY, MANY, chain, MANY - 1, &err));
    const struct bats_cluster cluster = {.charge = BATS_UNIT, .max = 4};
    const struct bats_machine_spec machines[4] = {
        {0, 1}, {0, 1}, {0, 1}, {0, 1}};
    struct bats_sched_options o = {.policy = &bats_policy_rr,
                                   .n_tasks = MANY,
                                   .graph = &g,
                                   .clusters = &cluster,
                                   .n_clusters = 1,
                                   .machines = machines,
                                   .n_machines = 4,
                                   .window = 1000 * BATS_HOUR,
                                   .budget = BATS_UNLIMITED};
    assert_ok(bats_sched_create(&o, &s, &err));
    now = 1;
    assert_int_equal(tell(s, (struct bats_event){.type = BATS_EVENT_JOINED}),
                     0);
    for (uint32_t i = 1; i < 4; i++)
        tell(s, (struct bats_event){.type = BATS_EVENT_JOINED, .machine = i});
    now += BATS_MINUTE;
    tell(s,
         (struct bats_event){.type = BATS_EVENT_DONE, .runtime = BATS_MINUTE});
    bats_sched_status(s, &status); /* by their number, on 4 machines: 75 */
    assert_int_equal(status.estimated_end, now + (MANY - 1) * BATS_MINUTE);
    assert_int_equal(status.longest_chain, (MANY - 1) * BATS_MINUTE);
    bats_sched_destroy(s);
    bats_graph_release(&g);
}

TEST(categories_know_their_mean_and_deviation)
{
    struct bats_graph g = graph();
    struct bats_sched *s = create(&g, true, 1);
    struct bats_category_status k;
    uint32_t task = begin(s);
    task = end(s, task);
    bats_sched_category_status(s, 1, &k);
    assert_int_equal(k.done, 2);
    assert_int_equal(k.left, 1);
    assert_true(k.mean == (double)BATS_HOUR && k.deviation == 0);
    now += 3 * BATS_HOUR;
    tell(s, (struct bats_event){.type = BATS_EVENT_DONE,
                                .task = task,
                                .runtime = 3 * BATS_HOUR});
    bats_sched_category_status(s, category[task], &k);
    if (category[task] == 1) {
        assert_int_equal(k.left, 0);
        assert_true(k.mean > 1.66 * (double)BATS_HOUR &&
                    k.mean < 1.67 * (double)BATS_HOUR);
        assert_true(k.deviation > 1.15 * (double)BATS_HOUR &&
                    k.deviation < 1.16 * (double)BATS_HOUR);
    }
    bats_sched_destroy(s);
    bats_graph_release(&g);
}

/* Tells it, and notes which task each of two machines is given. */
static void tell_both(struct bats_sched *s, struct bats_event event,
                      uint32_t *runs)
{
    struct bats_command c;
    assert_ok(bats_sched_handle(s, now, &event, &err));
    check_sched(s);
    while (bats_sched_next(s, &c))
        if (c.type == BATS_COMMAND_RUN)
            runs[c.machine] = c.task;
}

/* The two first tasks end at once on a machine that takes so long, and one that
 * takes two hours; what both are given then. */
static void begin_on_both(bats_time slow, uint32_t *runs)
{
    static const struct bats_machine_spec machines[] = {{0, 1}, {1, 1}};
    struct bats_graph g = graph();
    struct bats_sched *s = create_on(&g, false, machines, 2);
    struct bats_sched_status status;
    uint32_t first[2];
    now = 0;
    for (uint32_t i = 0; i < 2; i++)
        tell_both(s,
                  (struct bats_event){.type = BATS_EVENT_JOINED, .machine = i},
                  first);
    runs[0] = runs[1] = BATS_NO_TASK;
    now = slow;
    for (uint32_t i = 2; i-- > 0;)
        tell_both(
            s,
            (struct bats_event){.type = BATS_EVENT_DONE,
                                .machine = i,
                                .task = first[i],
                                .runtime = i == 0 ? slow : 2 * BATS_HOUR},
            runs);
    /* Task 2 goes on there for an hour, and 4 and 5 follow. */
    now += BATS_HOUR;
    tell_both(s, (struct bats_event){.type = BATS_EVENT_TICK}, runs);
    bats_sched_status(s, &status);
    assert_int_equal(status.longest_chain, 5 * BATS_HOUR);
    bats_sched_destroy(s);
    bats_graph_release(&g);
}

TEST(longest_chain_goes_to_the_faster_machine)
{
    uint32_t runs[2];
    begin_on_both(3 * BATS_HOUR, runs);
    assert_int_equal(runs[1], 2);
    assert_int_equal(runs[0], 3); /* 3 hours, or 2 after 2 */
}

TEST(task_waits_for_a_machine_where_it_ends_sooner)
{
    uint32_t runs[2];
    begin_on_both(5 * BATS_HOUR, runs);
    assert_int_equal(runs[1], 2);
    assert_int_equal(runs[0], BATS_NO_TASK); /* 5 hours, or 2 after 2 */
}

TEST_MAIN(NULL, NULL)
