/* The least cost by a deadline: what policy bats makes of one. Equal tasks, so
 * that windows can be counted by hand. */
#include <unistd.h>

#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/directory.h"
#include "sim/world.h"

static const char path[] = "scenario";

/* Decisions that say that the bag will be late, and the deadline, in the last
 * run. */
static size_t n_late;
static bats_time deadline;

static void count_late(void *context, const struct bats_sched *sched)
{
    size_t n;
    const struct bats_decision *d = bats_sched_decisions(sched, &n);
    struct bats_sched_status status;
    bats_sched_status(sched, &status);
    deadline = status.deadline;
    n_late = 0;
    for (size_t i = 0; i < n; i++)
        n_late += d[i].reason == BATS_REASON_LATE;
}

/* A bag, on 8 machines for 1 a window, and 8 for 4. */
static struct bats_world_result play_bag(const char *bag, const char *run,
                                         bool informed)
{
    struct bats_scenario *s;
    struct bats_world *w;
    struct bats_world_result r;
    struct bats_sim_watch watch = {.after = count_late};
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out,
            "[run]\n%s\n[bag]\n%s\n"
            "[cluster cheap]\nmachines = 8\ncharge = 1\n"
            "[cluster dear]\nmachines = 8\ncharge = 4\n",
            run, bag);
    assert_int_equal(fclose(out), 0);
    assert_ok(bats_scenario_load(path, &s, &err));
    s->informed = informed;
    if (bats_world_create(s, 0, 0, &w, &err) < 0 ||
        bats_world_run(w, 0, 0, &watch, &r, &err) < 0)
        fail_msg("%s", err.text);
    bats_world_destroy(w);
    bats_scenario_destroy(s);
    return r;
}

/* 160 tasks of 15 min, 40 h of work. */
static struct bats_world_result play(const char *run, bool informed)
{
    return play_bag("tasks = 160\nruntime = constant 15m", run, informed);
}

static void assert_in_time(const struct bats_world_result *r, bats_time end)
{
    assert_int_equal(r->undone, 0);
    assert_true(r->makespan <= end);
}

TEST(a_bag_is_done_in_time_for_little_or_said_to_be_late)
{
    static const struct {
        const char *run;
        bool informed;
        int from, to, least, most; /* ends, in minutes; is charged */
        size_t late;
    } cases[] = {
        /* 5 windows of the cheap ones do the bag. */
        {"deadline = 5h30m", true, 0, 330, 40, 40, 0},
        /* Within 3 h the cheap ones do 96 of the tasks; 64 are 16 windows for
         * 4. One more machine may be held for 3 windows: nothing is divided. */
        {"deadline = 3h5m", true, 0, 185, 24 + 16 * 4, 24 + 19 * 4, 0},
        /* 8 cheap machines and 2 dear ones are a sample. */
        {"deadline = 6h", false, 0, 360, 40, 50, 0},
        {"deadline = 6h\nminimize = time", false, 0, 150, 81, 120, 0},
        /* 2 h are too few for all 16 machines: it is late, as little as
         * possible. */
        {"deadline = 2h", true, 150, 150, 100, 120, 1},
        {"deadline = 2h\nminimize = time", false, 0, 150, 81, 120, 1},
        /* No more than 40 h of the cheap ones and two dear windows. */
        {"deadline = 3h\nbudget = 50", true, 181, 300, 40, 50, 1},
        /* All machines are held there, come what may. */
        {"billing = allocation\ndeadline = 2h", false, 0, 150, 100, 120, 1},
        {"billing = allocation\ndeadline = 3h", false, 0, 150, 100, 120, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bats_world_result r = play(cases[i].run, cases[i].informed);
        assert_in_time(&r, cases[i].to * BATS_MINUTE);
        assert_true(r.makespan >= cases[i].from * BATS_MINUTE);
        if (r.charged < cases[i].least * BATS_UNIT ||
            r.charged > cases[i].most * BATS_UNIT || n_late != cases[i].late)
            fail_msg("%s: %g charged, late: %zu", cases[i].run,
                     (double)r.charged / (double)BATS_UNIT, n_late);
    }
}

/* All machines for 3 windows are 120. */
TEST(money_for_all_machines_lets_all_begin)
{
    struct bats_world_result r = play("deadline = 2h50m\nbudget = 120", false);
    assert_int_equal(r.machines[0], 8);
    assert_int_equal(r.machines[1], 8);
    assert_in_time(&r, 2 * BATS_HOUR + 50 * BATS_MINUTE);
    r = play("deadline = 2h50m\nbudget = 119", false);
    assert_int_equal(r.machines[0], 8);
    assert_int_equal(r.machines[1], 2);
}

/* All machines need 2.5 h, and 3 windows of each are 120; the cheap ones alone
 * 5 h, and 40. */
TEST(a_percentage_is_between_the_soonest_and_the_cheapest)
{
    struct bats_world_result r = play("deadline = 40%\nbudget = 25%", true);
    assert_true(llabs(deadline - 7 * BATS_HOUR / 2) < BATS_SECOND);
    assert_int_equal(r.amount, 60 * BATS_UNIT);
    play("deadline = 100%", true);
    assert_true(llabs(deadline - 5 * BATS_HOUR) < BATS_SECOND);
    r = play("budget = 0%", true);
    assert_int_equal(r.amount, 40 * BATS_UNIT);
}

/* 320 h of work: 40 h of the cheap machines. What runs is cut off only when it
 * is known that a cheaper machine will do it again in time. */
TEST(tasks_longer_than_a_window_are_done)
{
    struct bats_world_result r =
        play_bag("tasks = 16\nruntime = constant 20h", "deadline = 60h", true);
    assert_in_time(&r, 60 * BATS_HOUR);
    assert_int_equal(r.charged, 320 * BATS_UNIT);
    r = play_bag("tasks = 16\nruntime = constant 20h", "deadline = 60h",
                 false);
    assert_in_time(&r, 60 * BATS_HOUR);
    assert_true(r.charged < 3 * 320 * BATS_UNIT);
}

/* Nothing has ended when more machines are needed, and it is long before the
 * twelfth of a window after which plans are looked at without a deadline. */
TEST(a_deadline_within_a_window_is_watched)
{
    struct bats_world_result r =
        play_bag("tasks = 8\nruntime = constant 20s", "deadline = 35s", false);
    assert_in_time(&r, 35 * BATS_SECOND);
}

TEST_MAIN(enter_directory, leave_directory)
