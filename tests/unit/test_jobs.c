/* Machines that are jobs, in runs that can be checked by hand: 3 per hour, a
 * window of an hour, tasks of 20 minutes at 1 each. The simulator plays the
 * batch system. */
#include "bats/bag.h"
#include "bats/billing.h"
#include "helpers/sim_fixture.h"

#define TASK (20 * BATS_MINUTE)
#define TASKS 400
#define MACHINES 8

static struct jobs {
    bats_time queue[2], startup[2];
    struct bats_sim_loss losses[MACHINES];
    uint32_t asked, most_asked, waiting, begun, at_once;
    bats_time asked_at[2], joined_at[2]; /* of the first two */
    bats_time longest, length[MACHINES]; /* of any, and of the first ones */
} jobs;

static void hear(void *context, bats_time now, const struct bats_event *ev)
{
    if (ev->type == BATS_EVENT_JOINED && jobs.begun++ < 2)
        jobs.joined_at[jobs.begun - 1] = now;
    jobs.waiting -= ev->type == BATS_EVENT_BILLED;
}

static void note(void *context, bats_time now, const struct bats_command *c)
{
    note_command(context, now, c);
    if (c->type == BATS_COMMAND_ACQUIRE) {
        if (jobs.asked < MACHINES)
            jobs.length[jobs.asked] = c->time;
        if (c->time > jobs.longest)
            jobs.longest = c->time;
        if (jobs.asked++ < 2)
            jobs.asked_at[jobs.asked - 1] = now;
        jobs.waiting++;
        jobs.at_once += now == 0;
    }
    if (jobs.waiting > jobs.most_asked)
        jobs.most_asked = jobs.waiting;
}

#define NONE UINT32_MAX
#define BILLED(...)                                                           \
    {                                                                         \
        __VA_ARGS__                                                           \
    }
#define LEASES(minutes, ...)                                                  \
    {                                                                         \
        .step = BATS_MINUTE, .lease = (minutes)*BATS_MINUTE, __VA_ARGS__      \
    }

/* Each cluster has n_machines; there is no second one if `dear` is 0. */
static void prepare_two(uint32_t n_tasks, uint32_t n_machines, double dear,
                        bats_money budget)
{
    jobs = (struct jobs){.asked = 0};
    set_up_world(&bats_policy_bats, n_tasks, TASK, n_machines, 3, dear,
                 budget);
    w->o.sched.billing.model = BATS_BILLING_JOB;
    w->o.sched.tail = BATS_TAIL_NONE;
    w->o.sched.seed = 7;
    w->o.queue = jobs.queue;
    w->o.startup = jobs.startup;
    w->o.losses = jobs.losses;
    w->o.watch.on_event = hear;
    w->o.watch.on_command = note;
}

static void prepare(uint32_t n_tasks, uint32_t n_machines, bats_money budget)
{
    prepare_two(n_tasks, n_machines, 0, budget);
}

static void play_jobs(void)
{
    play();
    assert_int_equal(w->booked + w->o.sched.earlier.charged,
                     w->status.charged);
    assert_int_equal(jobs.waiting, 0);
}

static void play_jobs_to(enum bats_finish finish)
{
    play_jobs();
    assert_int_equal(w->status.finish, finish);
}

/* A bag, its budget (0: none) and jobs, and how that ends. Where there are leases
 * half of the machines may be held at a time. */
static const struct row {
    const char *what;
    uint32_t tasks, machines;
    double budget;
    struct bats_billing billing;
    bats_time queue, startup, first, last; /* the work of these tasks */
    bats_time lead, bill, lost;
    bats_time work; /* of all tasks; 0: TASK */
    uint32_t max, slots;
    double dear, speed; /* of a second cluster of as many machines */
    bats_time deadline; /* by which the cost is least */
    bats_money earlier;
    enum bats_tail tail;
    const struct bats_policy *policy; /* NULL: bats */
    enum bats_finish finish;          /* 0: when all are done */
    struct {
        double charged;
        bats_time makespan;
        uint32_t done, failed, asked, begun, most_asked, at_once, replicas;
        uint32_t done1, windows1;  /* in the second cluster */
        bats_time second, longest; /* the lengths of jobs */
        double above, below;       /* charged, about; 0: is not looked at */
        bats_time last;            /* the most of the makespan */
    } ends;                        /* 0: is not looked at, NONE: none */
} rows[] = {
    /* Three tasks are an hour of one job; the fourth needs another one. */
    {"what jobs were billed is charged", 4, 2,
     .ends = {4, 2 * TASK, .asked = 2}},
    /* One machine: its job ends after an hour, and the next one begins then. */
    {"a job that is still needed is followed by another", 7, 2, .max = 1,
     .ends = {7, 7 * TASK, .begun = 3}},
    /* 7 buys two jobs of 3; the bill of these leaves 1, which pays no third. */
    {"money is held for jobs that wait", 20, MACHINES, 7, .queue = BATS_HOUR,
     .finish = BATS_FINISH_BUDGET, .ends = {6, .done = 6, .most_asked = 2}},
    /* 30 minutes more: then 7 buys only one at a time. */
    {"what the site may bill beyond the window is held too", 20, MACHINES, 7,
     BILLED(.overrun = 30 * BATS_MINUTE), .finish = BATS_FINISH_BUDGET,
     .ends = {3, .done = 3, .most_asked = 1}},
    {"no more jobs are asked for than tasks wait", 5, MACHINES, .slots = 2,
     .ends = {.done = 5, .most_asked = 3}},
    {"no more jobs are asked for than are allowed", 9, MACHINES,
     .billing = {.jobs = 3}, .ends = {.most_asked = 3}},
    /* The first job does both tasks; the one that waits is given up. */
    {"jobs that nobody needs any more are withdrawn", 2, 2,
     .queue = 1000 * BATS_HOUR,
     .ends = {2, .done = 2, .asked = 2, .begun = 1}},
    /* 10 minutes are billed, and the task runs again. */
    {"a job that is lost is replaced", 1, 1, .lost = 10 * BATS_MINUTE,
     .ends = {1.5, 30 * BATS_MINUTE}},
    /* 1 per hour: 5 pay a window of 3, and the run meanwhile. */
    {"the job of the run itself counts", 20, MACHINES, 5,
     BILLED(.rate = BATS_UNIT), .finish = BATS_FINISH_BUDGET,
     .ends = {4, .done = 3, .most_asked = 1}},
    /* The window of 3 could be paid, but not the hour of the run as well. */
    {"the job of the run is paid to the end of the others", 20, MACHINES, 3.5,
     BILLED(.rate = BATS_UNIT), .finish = BATS_FINISH_BUDGET,
     .ends = {.asked = NONE}},
    /* It pays nothing but its own time, until nothing else can be paid. */
    {"a run that waits in vain ends with its money", 20, 1, 5,
     BILLED(.rate = BATS_UNIT), 1000000 * BATS_HOUR,
     .finish = BATS_FINISH_BUDGET, .ends = {2, 2 * BATS_HOUR, .begun = NONE}},
    /* 2 were billed for jobs that an earlier session has lost sight of. */
    {"what was billed before is charged", 20, MACHINES, 7,
     BILLED(.before = 2 * BATS_UNIT), .earlier = BATS_UNIT,
     .finish = BATS_FINISH_BUDGET, .ends = {6, .most_asked = 1}},
    /* It takes 70 minutes, and no job has more than 60. */
    {"a task that is longer than a job fails in the end", 2, 2,
     .last = 70 * BATS_MINUTE, .ends = {1 + 3 * 3, .done = 1, .failed = 1}},
    /* It is told to stop 10 minutes before the end of the job, and does. */
    {"so does one that has time to stop", 1, 1, 20, .first = 70 * BATS_MINUTE,
     .lead = 10 * BATS_MINUTE, .ends = {.failed = 1, .begun = 3}},
    /* They begin soon after it in each job and are cut off with it. */
    {"copies in the same job do not count", 2, 1, 60, .first = BATS_MINUTE,
     .last = 70 * BATS_MINUTE, .slots = 2, .tail = BATS_TAIL_SOONEST,
     .ends = {.failed = 1, .replicas = 3, .begun = 3}},
    /* One job at a time. After 60 tasks of a minute the next one is asked for,
     * and needs no more than 20 minutes for the other ten. Not to have been
     * asked for an hour again is what lets the budget suffice. */
    {"the last job is as short as the rest of the bag", 70, 2, 4,
     BILLED(.step = BATS_MINUTE), .work = BATS_MINUTE, .max = 1,
     .ends = {3.5, .asked = 2, .second = 19 * BATS_MINUTE,
              .longest = BATS_HOUR}},
    {"no job is longer than is allowed", 60, 2, 1000,
     BILLED(.step = BATS_MINUTE, .longest = BATS_HOUR + 90 * BATS_SECOND),
     .max = 1, .ends = {.longest = BATS_HOUR + BATS_MINUTE}},
    /* Nothing is held then, and what is not used is not billed. */
    {"without a budget jobs are as long as is allowed", 60, 2,
     .billing = {.step = BATS_MINUTE, .longest = 100 * BATS_HOUR}, .max = 1,
     .ends = {60, .asked = 1, .longest = 100 * BATS_HOUR}},
    /* The task takes ten hours, and nobody knew. It ends with the money, and
     * not later. */
    {"a job whose lease cannot be paid ends", 1, 2, 10, LEASES(5),
     .first = 10 * BATS_HOUR, .finish = BATS_FINISH_BUDGET, .ends = {9.96875}},
    /* Tasks cost 1 each, and jobs hold a quarter each. */
    {"with leases a budget that just pays the bag does it at once", 60,
     MACHINES, 61, LEASES(5), .ends = {60, 15 * TASK, .asked = 4}},
    /* Nothing is cut off, and nothing is left that would pay a task. */
    {"with leases all money is for whole tasks", 60, MACHINES, 30.5, LEASES(5),
     .finish = BATS_FINISH_BUDGET, .ends = {30, .done = 30}},
    /* The start is billed, too. */
    {"a lease begins with the job", 1, 2, 2, LEASES(5),
     .startup = 4 * BATS_MINUTE, .ends = {1.2}},
    /* A job holds 1/2 for its lease, and 1 for its start until it has begun: 5
     * pay 3 jobs, and a fourth one when they have begun. */
    {"a start is paid until the job has begun", 60, MACHINES, 5,
     LEASES(10, .starting = TASK), BATS_MINUTE, .finish = BATS_FINISH_BUDGET,
     .ends = {.at_once = 3, .most_asked = 4}},
    /* Each job holds 1.5 at its end, so that 66 pay only four jobs to the end
     * of 60 tasks. But eight begin, and some leave before the others. */
    {"where money is short some jobs leave before the others", 60,
     2 * MACHINES, 66, LEASES(5, .overrun = 30 * BATS_MINUTE),
     .ends = {60, 9 * TASK}},
    /* Two jobs for four tasks, which are told to stop ten minutes before the
     * end. The second task of one needs 1.05, not 1.5, and of the other one a
     * third more, as runtimes may vary: 4.5 pay both at a time. */
    {"no time to stop is held for tasks that end before", 4, 4, 4.5,
     LEASES(30), .lead = 10 * BATS_MINUTE, .ends = {.makespan = 2 * TASK}},
    /* Four jobs have done a task each, for 4 of 7.75, and hold 0.8 each for a
     * lease and their ends. The last two tasks take 1.55 and a fifth, as
     * runtimes may vary, so two jobs wait until the others are billed. */
    {"an idle job waits for the bills that pay its task", 6, MACHINES, 7.75,
     LEASES(6, .overrun = 10 * BATS_MINUTE), .bill = BATS_SECOND,
     .ends = {.makespan = 2 * TASK + 2 * BATS_SECOND, .asked = 4}},
    /* Each of 40 tasks may cost 1.1. They cost 1 in the first cluster, and 1.5
     * in the second one, which does one and no more. */
    {"tasks are not run where they cost more than their share", 40, MACHINES,
     44, LEASES(5, .jobs = 2), .dear = 9, .speed = 2, .ends = {.done1 = 1}},
    /* They cost 1 each in the first cluster, and half in the second one: a
     * lease of it can be paid, but no window. */
    {"a cluster is used whose window costs more than there is", 8, MACHINES, 5,
     LEASES(5, .jobs = MACHINES), .dear = 6, .speed = 4,
     .policy = &bats_policy_dbc_cost, .ends = {.done1 = 7}},
    /* Eight tasks for eight jobs at 3 and 4 per hour. Ten leases of five
     * minutes cost them 27. */
    {"where money is short only one of the first jobs is dear", 8, MACHINES,
     12, LEASES(5, .jobs = MACHINES), .dear = 4, .speed = 1,
     .ends = {.windows1 = 1}},
    {"where it is not half of them are", 8, MACHINES, 30,
     LEASES(5, .jobs = MACHINES), .dear = 4, .speed = 1,
     .ends = {.windows1 = 4}},
    /* The second cluster's job has done its two tasks, for 1.5 each. A copy
     * there would take the money for which the other job ends its task. */
    {"where money is short no copy is run", 3, MACHINES, 5.3,
     LEASES(5, .jobs = 2), .first = 2 * TASK, .dear = 9, .speed = 2,
     .tail = BATS_TAIL_SOONEST, .ends = {5, .replicas = NONE}},
    {"nor where the least cost counts", 3, MACHINES,
     .billing = LEASES(5, .jobs = 2), .first = 2 * TASK, .dear = 9, .speed = 2,
     .tail = BATS_TAIL_SOONEST, .deadline = NONE,
     .ends = {5, .replicas = NONE}},
    /* 80 tasks of 1 in the first cluster, at 3 per hour. Those of the second
     * one take half the time, at 9 per hour: 1.5 each. It does two tasks until
     * the first one ends in the other. */
    {"the least cost is that of the cheapest cluster", 80, MACHINES,
     .billing = LEASES(5, .jobs = MACHINES), .dear = 9, .speed = 2,
     .deadline = NONE, .ends = {81, .done = 80}},
    /* They cost a third less in the second cluster. When a task of the first
     * one has ended, its jobs leave, but for those that have begun another. */
    {"jobs leave a dear cluster after its first result", 40, MACHINES,
     .billing = LEASES(5, .jobs = MACHINES), .dear = 8, .speed = 4,
     .deadline = NONE,
     .ends = {.done = 40, .last = 50 * BATS_MINUTE, .below = 31}},
    /* All in the first cluster take 10 tasks, all in the second 5. */
    {"a deadline is met with the dear cluster if it must be", 80, MACHINES,
     .billing = LEASES(5, .jobs = MACHINES), .dear = 9, .speed = 2,
     .deadline = 7 * TASK,
     .ends = {.done = 80, .last = 7 * TASK, .above = 90}},
    {"and only then", 80, MACHINES, .billing = LEASES(5, .jobs = MACHINES),
     .dear = 9, .speed = 2, .deadline = 14 * TASK,
     .ends = {.done = 80, .last = 14 * TASK, .below = 90}},
    /* The second cluster takes a quarter of the time, at the same price: 200
     * tasks are 50 there, and 200 in the first one. The last tasks of that one
     * end there. */
    {"jobs move to the cluster that is faster and no dearer", 200, MACHINES,
     .billing = {.step = BATS_MINUTE, .jobs = MACHINES / 2}, .dear = 3,
     .speed = 4, .max = MACHINES / 2, .ends = {.done = 200, .below = 55}}};

static void set_up_row(const struct row *r)
{
    prepare_two(r->tasks, r->machines, r->dear,
                r->budget > 0 ? (bats_money)(r->budget * BATS_UNIT)
                              : BATS_UNLIMITED);
    w->o.sched.billing = r->billing;
    w->o.sched.billing.model = BATS_BILLING_JOB;
    w->o.sched.earlier.charged = r->earlier;
    w->o.sched.preempt_lead = r->lead;
    if (r->policy)
        w->o.sched.policy = r->policy;
    if (r->tail)
        w->o.sched.tail = r->tail;
    w->o.bill = r->bill;
    w->o.n_losses = r->lost > 0;
    jobs.losses[0].time = r->lost;
    jobs.queue[0] = r->queue;
    jobs.startup[0] = r->startup;
    if (r->max > 0 || (r->billing.lease > 0 && r->dear == 0))
        w->clusters[0].max = w->clusters[1].max =
            r->max > 0 ? r->max : r->machines / 2;
    w->speed[1] = r->speed;
    if (r->deadline > 0) {
        w->o.sched.goal.minimize = BATS_MINIMIZE_COST;
        w->o.sched.goal.deadline = r->deadline == NONE ? 0 : r->deadline;
    }
    for (uint32_t i = 0; r->slots > 0 && i < r->machines; i++)
        w->machines[i].slots = r->slots;
    for (uint32_t i = 0; r->work > 0 && i < r->tasks; i++)
        w->work[i] = r->work;
    if (r->first > 0)
        w->work[0] = r->first;
    if (r->last > 0)
        w->work[r->tasks - 1] = r->last;
}

static void expect(const struct row *r, const char *name, uint64_t is,
                   int64_t wanted)
{
    if (wanted > 0 && is != (wanted == NONE ? 0 : (uint64_t)wanted))
        fail_msg("%s: %s is %llu", r->what, name, (unsigned long long)is);
}

TEST(jobs_do_what_the_rows_say)
{
    for (const struct row *r = rows; r < rows + sizeof rows / sizeof *rows;
         r++) {
        set_up_row(r);
        play_jobs_to(r->finish ? r->finish : BATS_FINISH_ALL_DONE);
        double charged = (double)w->status.charged / BATS_UNIT;
        if (r->ends.charged > 0)
            assert_near(charged, r->ends.charged, 1e-9);
        assert_true(charged >= r->ends.above);
        assert_true(charged < r->ends.below || r->ends.below == 0);
        assert_true(w->makespan <= r->ends.last || r->ends.last == 0);
        expect(r, "makespan", (uint64_t)w->makespan, r->ends.makespan);
        expect(r, "second", (uint64_t)jobs.length[1], r->ends.second);
        expect(r, "longest", (uint64_t)jobs.longest, r->ends.longest);
        expect(r, "done", w->status.done, r->ends.done);
        expect(r, "failed", w->status.failed, r->ends.failed);
        expect(r, "replicas", w->status.replicas, r->ends.replicas);
        expect(r, "done1", w->of[1].done, r->ends.done1);
        expect(r, "windows1", (uint64_t)w->of[1].windows, r->ends.windows1);
        expect(r, "asked", jobs.asked, r->ends.asked);
        expect(r, "begun", jobs.begun, r->ends.begun);
        expect(r, "most_asked", jobs.most_asked, r->ends.most_asked);
        expect(r, "at_once", jobs.at_once, r->ends.at_once);
    }
}

/* One machine, which may be two jobs for a while. The first job waited for so
 * long, and the second one is asked for as long before the first one ends. */
TEST(the_next_job_is_asked_for_as_early_as_jobs_wait)
{
    prepare(5, 2, BATS_UNLIMITED);
    jobs.queue[0] = 20 * BATS_MINUTE;
    w->o.sched.billing.jobs = 1;
    play_jobs_to(BATS_FINISH_ALL_DONE);
    assert_int_equal(jobs.asked, 2);
    bats_time wait = jobs.joined_at[0];
    assert_true(wait > BATS_MINUTE && wait < BATS_HOUR);
    assert_int_equal(jobs.asked_at[1], wait + BATS_HOUR - wait);
    assert_int_equal(w->status.charged, 5 * BATS_UNIT);
}

/* ---- for how long they work ---- */

/* So many jobs at a time, of any number of minutes. */
static void prepare_lengths(uint32_t n_tasks, uint32_t n_machines,
                            uint32_t max, bats_money budget)
{
    prepare(n_tasks, n_machines, budget);
    w->clusters[0].max = max;
    w->o.sched.billing.step = BATS_MINUTE;
}

/* Three tasks are an hour: then jobs are asked for that lose less with what is cut
 * off at their ends, but not beyond the end of the bag. */
TEST(where_tasks_are_long_jobs_become_longer)
{
    prepare_lengths(60, 2, 1, 1000 * BATS_UNIT);
    play_jobs_to(BATS_FINISH_ALL_DONE);
    assert_int_equal(jobs.length[0], BATS_HOUR);
    assert_true(jobs.length[1] >= 3 * BATS_HOUR);
    assert_true(jobs.longest < 60 * TASK);
    assert_true(jobs.asked < 10);
}

/* 30 pay ten hours. Four jobs of an hour have 12 when the next four are asked for:
 * 18 pay each of these an hour and a half. */
TEST(longer_jobs_leave_the_others_their_money)
{
    prepare_lengths(200, MACHINES, 4, 30 * BATS_UNIT);
    play_jobs_to(BATS_FINISH_BUDGET);
    for (int i = 4; i < MACHINES; i++)
        assert_int_equal(jobs.length[i], 90 * BATS_MINUTE);
    assert_true(w->status.charged <= 30 * BATS_UNIT);
}

/* The others take a minute. It fills jobs of 1, 4 and 16 hours before it has one
 * that is long enough, and none of the two longer ones tells against it. */
TEST(a_task_that_is_much_longer_than_a_window_is_done)
{
    prepare(20, 2, BATS_UNLIMITED);
    w->o.sched.billing.step = BATS_MINUTE;
    for (uint32_t i = 1; i < 20; i++)
        w->work[i] = BATS_MINUTE;
    w->work[0] = 17 * BATS_HOUR;
    play_jobs_to(BATS_FINISH_ALL_DONE);
    assert_int_equal(w->status.done, 20);
    assert_in_range(jobs.longest, 17 * BATS_HOUR, 64 * BATS_HOUR);
}

/* 24 hours of work for jobs at 1 an hour, of which four are to be had at any
 * time, and at 0.3, four at most: these wait for 3 hours, and last for one.
 * Then the same with jobs that ask for what the bag needs. */
TEST(what_is_reclaimed_makes_nobody_late)
{
    static const bats_time work[] = {5 * BATS_MINUTE, 5 * BATS_MINUTE};
    bats_money charged = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        prepare_two(288, 4, 24 * 0.3, BATS_UNLIMITED);
        for (uint32_t i = 0; i < 288; i++)
            w->work[i] = work[0];
        jobs.queue[1] = 3 * BATS_HOUR;
        w->clusters[0].charge = 24 * BATS_UNIT;
        w->clusters[1].reclaimable = true;
        w->clusters[1].lifetime =
            (struct bats_lifetime){.survival = BATS_SURVIVAL_EXPONENTIAL,
                                   .a = (double)BATS_HOUR,
                                   .share = 1};
        w->o.sched.expected = work;
        w->o.sched.window = 24 * BATS_HOUR;
        w->o.sched.goal = (struct bats_goal){.deadline = 7 * BATS_HOUR,
                                             .minimize = BATS_MINIMIZE_COST};
        w->o.sched.billing.step = seed > 10 ? BATS_MINUTE : 0;
        w->o.sched.monitor_interval = BATS_MINUTE;
        w->o.sched.rules.losses = 200;
        w->o.sched.seed = w->o.noise_seed = seed;
        w->o.watch.after = NULL; /* it would take most of the time */
        play_jobs();
        assert_end(.done = 288);
        assert_in_range(w->makespan, 0, 7 * BATS_HOUR);
        charged += w->status.charged;
    }
    assert_true(charged < 20 * 24 * BATS_UNIT);
}

/* ---- jobs that may not answer ---- */

/* One in each pool, and a safe one only for the tail. */
static void prepare_pools(uint32_t n_tasks, const char *strategy)
{
    prepare(n_tasks, 4, BATS_UNLIMITED);
    w->o.sched.policy = &bats_policy_expert;
    w->o.sched.n_clusters = 2;
    w->clusters[0].unreliable = true;
    w->clusters[1].charge = 3 * BATS_UNIT;
    w->clusters[0].max = w->clusters[1].max = 2;
    for (uint32_t i = 0; i < 4; i++)
        w->machines[i].cluster = i / 2;
    assert_ok(bats_strategy_parse(strategy, &w->o.sched.strategy, NULL));
}

TEST(safe_jobs_are_not_asked_for_before_they_are_needed)
{
    prepare_pools(6, "TR");
    play_jobs_to(BATS_FINISH_ALL_DONE);
    assert_end(.done0 = 6, .used1 = 0);
}

/* N = 0, T = 0: when one task is left, it goes to the safe pool at once, whose
 * job is given back when the other one has answered. */
TEST(a_safe_job_is_asked_for_when_the_tail_needs_it)
{
    prepare_pools(3, "TRR");
    w->work[0] = w->work[1] = w->work[2] = TASK;
    play_jobs_to(BATS_FINISH_ALL_DONE);
    assert_end(.used1 = 1, .makespan = 2 * TASK);
}

/* Nothing answers in the unreliable pool: D, and then a safe job. */
TEST(what_does_not_answer_is_done_by_a_safe_job)
{
    struct bats_reliability loses[2] = {{.n_steps = 1, .share = {1e-9}}};
    bats_time expected[2] = {TASK, TASK};
    prepare_pools(1, "N=0,T=1x,D=2x");
    w->o.sched.expected = expected;
    w->o.reliability = loses;
    play_jobs_to(BATS_FINISH_ALL_DONE);
    assert_end(.done1 = 1, .makespan = 2 * TASK);
}

/* The time limits of jobs as well as their losses: no task fails for that. */
TEST(jobs_that_are_lost_are_asked_for_again)
{
    prepare_pools(1, "AUR");
    w->clusters[0].max = 1;
    w->o.n_losses = 8;
    for (uint32_t i = 0; i < w->o.n_losses; i++)
        jobs.losses[i] = (struct bats_sim_loss){(i + 1) * BATS_MINUTE, i % 2};
    play_jobs_to(BATS_FINISH_ALL_DONE);
    assert_true(jobs.asked > 4);
    assert_int_equal(w->of[0].done, 1);
}

TEST_MAIN(NULL, NULL)
