/*
 * Tasks that need several slots, memory or GPUs of one machine: who begins
 * when. A driver plays the machines; runtimes are told by the test.
 */
#include <math.h>

#include "bats/bag.h"
#include "bats/estimate.h"
#include "bats/need.h"
#include "bats/policy.h"
#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/test.h"
#include "util/text.h"

#define TASKS_MOST 20000
#define NODES_MOST 8
#define CORES 16

static struct play {
    struct bats_sched *sched; /* until the next one begins */
    struct bats_sched_options o;
    struct bats_graph graph;
    struct bats_need needs[8];
    struct bats_stock stocks[NODES_MOST];
    struct bats_machine_spec machines[NODES_MOST];
    uint16_t category[TASKS_MOST];
    bats_time runtime[TASKS_MOST], began[TASKS_MOST];
    struct {
        bats_time end;
        uint32_t task, machine;
    } slot[NODES_MOST * CORES]; /* end 0: it runs nothing */
    bats_time now;
    bool finished;
} the_play, *const p = &the_play;

static const struct bats_cluster one = {.name = "a", .max = NODES_MOST};

static void obey(void)
{
    struct bats_command c;
    while (bats_sched_next(p->sched, &c)) {
        p->finished |= c.type == BATS_NOTICE_FINISHED;
        if (c.type != BATS_COMMAND_RUN)
            continue;
        uint32_t at = c.machine * CORES + c.slot;
        assert_int_equal(p->slot[at].end, 0);
        p->slot[at].end = p->now + p->runtime[c.task];
        p->slot[at].task = c.task;
        p->slot[at].machine = c.machine;
        p->began[c.task] = p->now;
    }
}

static void tell(struct bats_event ev)
{
    assert_int_equal(bats_sched_handle(p->sched, p->now, &ev, NULL), 0);
    obey();
}

/* The options that a test has set already are kept. */
static void begin(uint32_t n_tasks, uint32_t n_nodes, uint32_t cores,
                  uint32_t n_needs)
{
    struct bats_sched_options *o = &p->o;
    for (uint32_t i = 0; i < n_nodes; i++) {
        p->machines[i] = (struct bats_machine_spec){0, cores};
        p->stocks[i] = (struct bats_stock){cores, 2, 100, 1};
    }
    memset(p->slot, 0, sizeof p->slot);
    p->now = p->finished = 0;
    o->policy = o->sampling.on ? &bats_policy_bats : &bats_policy_rr;
    o->n_tasks = n_tasks;
    o->clusters = &one;
    o->n_clusters = 1;
    o->machines = p->machines;
    o->n_machines = n_nodes;
    o->stocks = p->stocks;
    o->needs = p->needs;
    o->category = p->category;
    o->n_categories = n_needs;
    o->window = BATS_HOUR;
    o->budget = BATS_UNLIMITED;
    o->in_order = true;
    bats_sched_destroy(p->sched);
    p->sched = NULL;
    assert_int_equal(bats_sched_create(o, &p->sched, NULL), 0);
    for (uint32_t i = 0; i < n_nodes; i++)
        tell((struct bats_event){BATS_EVENT_JOINED, .machine = i});
}

/* Nothing is known of another test. */
static int forget(void **state)
{
    bats_sched_destroy(p->sched);
    bats_graph_release(&p->graph);
    memset(p, 0, sizeof *p);
    return 0;
}

#define PLAY(name) TEST_WITH(name, forget, NULL)

/* The needs of the kinds of tasks. */
#define NEEDS(...)                                                            \
    memcpy(p->needs, ((const struct bats_need[]){__VA_ARGS__}),               \
           sizeof((const struct bats_need[]){__VA_ARGS__}))

/* The tasks of a bag, KIND:SECONDSxNUMBER; returns how many they are. */
static uint32_t tasks(const char *words)
{
    uint32_t kind, seconds, many, n = 0;
    for (int used;
         sscanf(words, " %u:%ux%u%n", &kind, &seconds, &many, &used) == 3;
         words += used)
        for (; many > 0; many--) {
            p->category[n] = (uint16_t)kind;
            p->runtime[n++] = seconds * BATS_SECOND;
        }
    return n;
}

/* The slots of machine 0 begin tasks so, "2 - 0": task 2 in the first one. */
static void runs(const char *expected)
{
    char text[64] = "";
    for (uint32_t i = 0; i < p->machines[0].slots; i++)
        if (p->slot[i].end > 0)
            bats_append(text, sizeof text, " %u", p->slot[i].task);
        else
            bats_append(text, sizeof text, " -");
    assert_string_equal(text + 1, expected);
}

static uint32_t slot_of(uint32_t task)
{
    uint32_t slot = 0;
    while (p->slot[slot].end == 0 || p->slot[slot].task != task)
        slot++;
    return slot;
}

/* The next task ends. */
static void step(void)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < NODES_MOST * CORES; i++)
        if (p->slot[i].end > 0 &&
            (p->slot[next].end == 0 || p->slot[i].end < p->slot[next].end))
            next = i;
    assert_true(p->slot[next].end > 0);
    p->now = p->slot[next].end;
    p->slot[next].end = 0;
    tell((struct bats_event){.type = BATS_EVENT_DONE,
                             .machine = p->slot[next].machine,
                             .slot = next % CORES,
                             .task = p->slot[next].task,
                             .runtime = p->runtime[p->slot[next].task]});
}

static void play(void)
{
    while (!p->finished)
        step();
}

TEST(a_machine_has_room_for_as_many_as_its_scarcest_part)
{
    static const struct {
        struct bats_stock stock;
        struct bats_need need;
        uint32_t room;
    } rows[] = {{{16, 4, 64, 1}, {6, 0, 0, 0}, 2},
                {{16, 4, 64, 1}, {1, 2, 0, 0}, 2},
                {{16, 4, 64, 1}, {1, 0, 20, 0}, 3},
                {{16, 4, 64, 1}, {17, 0, 0, 0}, 0},
                {{16, 4, 64, 1}, {1, 5, 0, 0}, 0},
                {{16, 0, 0, 0}, {1, 0, 99, 0}, 16},
                {{16, 4, 64, 2}, {6, 0, 0, 0}, 4},
                {{16, 4, 64, 2}, {17, 0, 0, 0}, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(bats_need_room(&rows[i].stock, &rows[i].need),
                         rows[i].room);
}

/* Tasks of 6 cores take half of a node of 16: 2 of them run, not 16/6. One of
 * one core for each of these runs in the 4 slots that 2 leave: 4 at a time, not
 * the 32/9 of the mean share. With 3 each the gaps hold 2 of them, and the
 * third takes a slot: 4 tasks take 9 slots. Of 100 units of memory tasks of 30
 * take a third, whatever their cores. */
PLAY(a_machine_runs_as_many_of_a_mixture_as_fit_beside_each_other)
{
    static const struct {
        const char *tasks;
        double room;
    } rows[] = {{"0:60x3", 2},
                {"0:60x3 1:60x3", 4},
                {"0:60x3 1:60x6", 16 * 3 / 8.0},
                {"0:60x3 1:60x9", 16 * 4 / 9.0},
                {"2:60x3", 3}};
    NEEDS({6, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 30, 0});
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(tasks(rows[i].tasks), 1, 16, 3);
        assert_near(bats_sched_room(p->sched, 0), rows[i].room, 1e-9);
    }
}

PLAY(schedules_count_the_tasks_that_fit_on_a_machine)
{
    struct bats_estimator e;
    NEEDS({6, 0, 0, 0});
    p->o.sampling.on = true;
    begin(tasks("0:60x200"), 2, 16, 1);
    while (bats_sched_estimator(p->sched, &e, NULL) < 0)
        step();
    assert_near(e.slots[0], 2, 1e-9);
}

PLAY(the_largest_begin_first_and_others_fill_the_gaps)
{
    NEEDS({3, 0, 0, 0}, {1, 0, 0, 0});
    begin(tasks("1:1x2 0:1x1 1:1x1 0:1x1 1:1x1"), 1, 4, 2);
    runs("2 - - 0"); /* of three slots, and the first of one slot */
    uint32_t slots[4];
    assert_int_equal(bats_sched_holds(p->sched, 0, 0, slots), 3);
    assert_int_equal(slots[2], 2);
    play();
    assert_int_equal(p->now, 3 * BATS_SECOND);
}

static bats_time told(const void *play, uint32_t task, uint32_t cluster)
{
    return p->runtime[task];
}

/* Tasks with known runtimes, of one slot or, if of kind 1, of four. */
static void begin_told(const char *words, const struct bats_edge *edges,
                       uint32_t n_edges, uint32_t n_nodes)
{
    uint32_t n = tasks(words);
    assert_ok(bats_graph_init(&p->graph, n, n, edges, n_edges, NULL));
    NEEDS({1, 0, 0, 0}, {4, 0, 0, 0});
    p->o.graph = &p->graph;
    p->o.told_runtime = told;
    p->o.true_context = p;
    begin(n, n_nodes, 4, 2);
}

/* Tasks of one slot may not take each slot that becomes free. */
PLAY(a_large_task_is_not_starved)
{
    /* Task 0 leads to the large one, 201; all others are ready at once. */
    const struct bats_edge edge = {0, 201};
    begin_told("0:10x1 0:16x50 0:11x50 0:15x50 0:13x50 1:14x1", &edge, 1, 1);
    play();
    /* Its parent has the longest chain, and is first: 10 s. What runs then
     * ends within 16 s, and nothing longer begins. */
    assert_int_equal(p->began[0], 0);
    assert_true(p->began[201] < 40 * BATS_SECOND);
}

/* Task 49 of a whole machine waits for task 0, which ends after 1 s. Then the
 * second machine is free after 1000 s, the first one, that is lost, after 500 s;
 * tasks of 300 s would never leave room. */
PLAY(a_reservation_is_where_it_is_soonest_and_moves_from_a_lost_machine)
{
    const struct bats_edge edge = {0, 49};
    begin_told("0:1x1 0:1000x3 0:500x4 0:300x41 1:5000x1", &edge, 1, 2);
    step();
    assert_int_equal(bats_sched_reservation(p->sched).machine, 0);
    memset(p->slot, 0, 4 * sizeof *p->slot);
    tell((struct bats_event){.type = BATS_EVENT_LOST, .machine = 0});
    while (p->began[49] == 0)
        step();
    assert_int_equal(p->began[49], 1000 * BATS_SECOND);
}

/* At most 5 % of all slots until the end are wasted beyond what no schedule can
 * avoid: the area, or the longest task. */
PLAY(mixed_tasks_end_near_the_bound)
{
    static const uint32_t cores[] = {1, 2, 4, 6, 8};
    uint64_t seed = 1;
    double area = 0;
    for (uint32_t k = 0; k < 5; k++)
        p->needs[k] = (struct bats_need){cores[k], 0, 0, 0};
    for (uint32_t i = 0; i < TASKS_MOST; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        p->category[i] = (uint16_t)((seed >> 33) % 5);
        p->runtime[i] = (bats_time)(1 + (seed >> 40) % 600) * BATS_SECOND;
        area += (double)p->runtime[i] * cores[p->category[i]];
    }
    begin(TASKS_MOST, NODES_MOST, CORES, 5);
    play();
    double bound = area / (NODES_MOST * CORES);
    print_message("# %.2f %% above the bound\n",
                  100 * ((double)p->now / bound - 1));
    assert_true((double)p->now < 1.05 * bound);
}

PLAY(what_fits_no_machine_is_refused)
{
    static const struct bats_need large[] = {{5, 0, 0, 0}, {1, 3, 0, 0}};
    NEEDS({1, 0, 0, 0});
    begin(1, 1, 4, 1);
    for (int i = 0; i < 2; i++) {
        p->needs[0] = large[i];
        assert_int_equal(bats_sched_create(&p->o, &p->sched, &err),
                         BATS_EINPUT);
    }
}

static void fail_task(uint32_t slot, bool out_of_memory)
{
    p->now += BATS_SECOND;
    p->slot[slot].end = 0;
    tell((struct bats_event){.type = BATS_EVENT_FAILED,
                             .slot = slot,
                             .task = p->slot[slot].task,
                             .runtime = BATS_SECOND,
                             .out_of_memory = out_of_memory});
}

/* On a node of 4 slots and 100 KiB. */
PLAY(a_task_that_was_out_of_memory_needs_more_the_next_time)
{
    static const uint16_t more[] = {1, 2, 2};
    NEEDS({1, 0, 30, 0}, {1, 0, 60, 0}, {1, 0, 100, 0});
    p->o.more = more;
    begin(tasks("0:60x5"), 1, 4, 3);
    assert_int_equal(p->slot[3].end, 0); /* three tasks of 30 KiB */
    uint32_t task = p->slot[0].task;
    fail_task(0, true);
    assert_int_equal(bats_sched_need(p->sched, task)->memory_kib, 60);
    /* One takes all slots and four a third each: the means of their shares. */
    assert_near(bats_sched_room(p->sched, 0), 4 * 5 / (4 + 16 / 3.0), 1e-9);
    /* The fourth one had the reservation. Now that is the first one's: the
     * last one, of 30 KiB, does not begin before it. */
    step();
    step();
    assert_true(p->began[task] == p->now);
    fail_task(slot_of(task), true);
    assert_int_equal(bats_sched_need(p->sched, task)->memory_kib, 100);
    while (p->began[task] < p->now)
        step();
    for (uint32_t i = 0; i < 4; i++) /* it alone */
        assert_true(p->slot[i].end == 0 || p->slot[i].task == task);
    struct bats_sched_status st;
    bats_sched_status(p->sched, &st);
    assert_int_equal(st.failed, 0);
    fail_task(slot_of(task), true); /* there is no more */
    bats_sched_status(p->sched, &st);
    assert_int_equal(st.failed, 1);
    play();
}

PLAY(a_task_that_failed_waits_for_another_machine)
{
    NEEDS({3, 0, 0, 0});
    p->o.rules.retries = 2;
    begin(tasks("0:60x2"), 2, 4, 1);
    uint32_t task = p->slot[0].task;
    fail_task(0, false);
    assert_int_equal(p->slot[0].end, 0);
    step();
    assert_true(p->slot[CORES].end > 0);
    assert_int_equal(p->slot[CORES].task, task);
}

/* Tasks 1 to 10 of one slot are a chain, which takes longer than all others. */
PLAY(an_urgent_chain_comes_before_larger_tasks)
{
    struct bats_edge edges[9];
    for (uint32_t i = 0; i < 9; i++)
        edges[i] = (struct bats_edge){i, i + 1};
    begin_told("0:10x10 1:10x5", edges, 9, 1);
    assert_true(p->slot[0].end > 0);
    assert_int_equal(p->slot[0].task, 0);
}

PLAY(what_earlier_sessions_gave_a_task_is_kept)
{
    static const uint16_t more[] = {1, 2, 2};
    static const uint8_t memory[] = {2, 1}, time[] = {0, 2};
    forget(NULL);
    NEEDS({1, 0, 30, 0}, {1, 0, 60, 0}, {1, 0, 90, 0});
    p->o.more = more;
    p->o.earlier.memory_more = memory;
    p->o.earlier.time_more = time;
    p->o.rules.timeout = BATS_MINUTE;
    p->o.rules.retry_time = 3;
    p->o.monitor_interval = BATS_HOUR;
    begin(2, 2, 4, 3);
    assert_int_equal(bats_sched_need(p->sched, 0)->memory_kib, 90);
    assert_int_equal(bats_sched_need(p->sched, 1)->memory_kib, 60);
    assert_int_equal(bats_sched_wakeup(p->sched), BATS_MINUTE);
    p->o.earlier.time_more = time + 1;
    begin(1, 1, 4, 3);
    assert_int_equal(bats_sched_wakeup(p->sched), 9 * BATS_MINUTE);
}

/* ---- open bags ---- */

/* An open bag to which these tasks may be added, of kinds with 1, 4, 6, 2 and
 * all cores; kind 0 is there. */
static void begin_open(const char *words, uint32_t n_nodes, uint32_t cores)
{
    static uint8_t none[TASKS_MOST];
    forget(NULL);
    memset(none, BATS_TASK_LEFT_OUT, sizeof none);
    NEEDS({1, 0, 0, 0}, {4, 0, 0, 0}, {6, 0, 0, 0}, {2, 0, 0, 0},
          {cores, 0, 0, 0});
    p->o.open = true;
    p->o.earlier.state = none;
    uint32_t n = tasks(words);
    memset(p->category, 0, sizeof p->category);
    begin(n, n_nodes, cores, 1);
    tasks(words);
}

static void add(uint32_t first, uint32_t n)
{
    for (uint32_t task = first; task < first + n; task++)
        tell((struct bats_event){.type = BATS_EVENT_ADDED,
                                 .task = task,
                                 .category = p->category[task],
                                 .need = p->needs[p->category[task]]});
}

static void check_cores(uint32_t n_nodes)
{
    uint32_t used[NODES_MOST] = {0};
    for (uint32_t i = 0; i < n_nodes * CORES; i++)
        if (p->slot[i].end > 0)
            used[i / CORES] += p->needs[p->category[p->slot[i].task]].cores;
    for (uint32_t i = 0; i < n_nodes; i++)
        assert_true(used[i] <= CORES);
    check_sched(p->sched);
}

/* Kinds come out of their order, tasks end and are withdrawn in between. */
TEST(tasks_of_new_kinds_are_added_to_an_open_bag)
{
    const uint32_t n = 400;
    begin_open("0:1x400", 2, CORES);
    uint32_t random = 7, n_withdrawn = 0, n_run = 0;
    for (uint32_t i = 0; i < n; i++) {
        random = random * 1664525 + 1013904223;
        uint16_t kind = (uint16_t)(random >> 29);
        p->needs[kind] = (struct bats_need){.cores = 1 + 2u * kind};
        p->runtime[i] = (1 + (random >> 20) % 9) * BATS_SECOND;
        p->category[i] = kind;
        add(i, 1);
        if (i % 7 == 3) {
            bool waits = p->began[i] == 0 && p->now > 0;
            n_withdrawn += waits;
            if (waits)
                tell((struct bats_event){.type = BATS_EVENT_WITHDRAWN,
                                         .task = i});
        }
        check_cores(2);
        if (i > 20 && i % 3 != 0)
            step();
    }
    tell((struct bats_event){.type = BATS_EVENT_SHUT});
    while (!p->finished) {
        step();
        check_cores(2);
    }
    for (uint32_t i = 0; i < n; i++)
        n_run += bats_sched_has_result(p->sched, i);
    assert_true(n_withdrawn > 10);
    assert_int_equal(n_run, n - n_withdrawn);
}

TEST(what_fits_no_machine_is_not_added)
{
    begin_open("0:1x2", 1, CORES);
    struct bats_event ev = {
        .type = BATS_EVENT_ADDED, .category = 3, .need = {.cores = CORES + 1}};
    assert_int_equal(bats_sched_handle(p->sched, 0, &ev, NULL), BATS_ESTATE);
    ev.need.cores = CORES;
    assert_int_equal(bats_sched_handle(p->sched, 0, &ev, NULL), 0);
    ev.category = BATS_CATEGORIES_MAX;
    ev.task = 1;
    assert_int_equal(bats_sched_handle(p->sched, 0, &ev, NULL), BATS_ESTATE);
}

TEST(kinds_of_an_open_bag_take_turns_by_age)
{
    begin_open("4:1x1 5:1x1 4:1x1 5:1x1 4:1x1 5:1x1", 1, CORES);
    p->needs[5] = p->needs[4];
    add(0, 6);
    for (uint32_t i = 0; i < 5; i++)
        step();
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(p->began[i], i * BATS_SECOND);
}

/* Adds task 0 of 6 cores of 9 behind `n` others that have run for `since`, and
 * then others of one core, until it begins. */
static void add_wide(const char *words, uint32_t n, bats_time since)
{
    begin_open(words, 1, 9);
    add(1, n);
    p->now = since;
    add(0, 1);
    add(n + 1, p->o.n_tasks - n - 1);
    while (p->began[0] == 0)
        step();
}

/* Three slots are left beside the reservation, also when it is late, and when
 * the other task is expected to end at once. */
TEST(slots_beside_a_reservation_are_used_again)
{
    for (uint32_t since = 0; since < 2; since++) {
        add_wide("2:1x1 1:100x1 0:1x36", 1, since * BATS_SECOND);
        for (uint32_t i = 2; i < 38; i++)
            assert_int_equal(p->began[i], (since + (i - 2) / 3) * BATS_SECOND);
        assert_int_equal(p->began[0], 100 * BATS_SECOND);
    }
}

/* All five slots are used until a task of 10 s should have ended, which takes
 * 20; then three. */
TEST(tasks_that_end_before_a_reservation_make_room_when_it_is_late)
{
    begin_open("2:1x1 0:1x149 1:10x1 1:20x1", 1, 9);
    add(1, 1);
    add(150, 1);
    step();
    step();
    add(151, 1);
    add(0, 1);
    add(2, 148);
    while (p->began[0] == 0)
        step();
    assert_int_equal(p->began[51], 19 * BATS_SECOND);
    assert_int_equal(p->began[0], 30 * BATS_SECOND);
}

/* Once the reservation is late, tasks beside it are not expected to end. */
TEST(tasks_beside_a_reservation_do_not_delay_it)
{
    add_wide("2:1x1 3:10x1 3:41x1 3:50x1 3:60x1 0:3600x33", 4, BATS_SECOND);
    assert_int_equal(p->began[0], 50 * BATS_SECOND);
    assert_int_equal(p->began[5], BATS_SECOND);
}

TEST(a_task_is_stopped_at_the_limit_of_its_kind)
{
    begin_open("0:1x1 3:1x1", 1, CORES);
    struct bats_event tick = {.type = BATS_EVENT_TICK};
    struct bats_command c = {.type = BATS_COMMAND_RUN};
    p->needs[3].limit = BATS_MINUTE;
    add(0, 2);
    assert_int_equal(bats_sched_wakeup(p->sched), BATS_MINUTE);
    assert_int_equal(bats_sched_handle(p->sched, BATS_MINUTE, &tick, NULL), 0);
    while (bats_sched_next(p->sched, &c) && c.type != BATS_COMMAND_CANCEL)
        ;
    assert_int_equal(c.type, BATS_COMMAND_CANCEL);
    assert_int_equal(c.task, 1);
    assert_true(c.time_out);
}

TEST_MAIN(NULL, NULL)
