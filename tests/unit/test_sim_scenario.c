/* Scenarios: what they mean, and every mistake with its line. */
#include <sys/stat.h>

#include "helpers/directory.h"
#include "sim/scenario.h"
#include "util/text.h"

#define BAG "[bag]\ntasks = 10\nruntime = constant 1m\n"
#define CLUSTER "[cluster c]\nmachines = 4\ncharge = 1.5\n"

static const char path[] = "there/scenario";

static int load_text(const char *text, struct bats_scenario **scenario,
                     struct bats_error *err)
{
    write_text(path, text);
    return bats_scenario_load(path, scenario, err);
}

static struct bats_scenario *load(const char *text)
{
    struct bats_scenario *scenario = NULL;
    assert_ok(load_text(text, &scenario, &err));
    return scenario;
}

/* `where` is ":line: sentence". */
static void refuse(const char *text, const char *where)
{
    struct bats_scenario *scenario = NULL;
    char expected[600];
    snprintf(expected, sizeof expected, "%s%s", path, where);
    assert_refused(load_text(text, &scenario, &err), BATS_EINPUT, expected);
    assert_null(scenario);
}

/* ---- what it means ---- */

static void add(char *text, const char *name, bats_time time)
{
    char word[BATS_UNITS_TEXT];
    bats_append(text, 1024, " %s %s", name, bats_duration_format(word, time));
}

/* The scenario in words: what its runs have in common; policies, budgets and
 * seeds; and its clusters. */
static void expect(struct bats_scenario *s, const char *expected)
{
    const struct bats_sched_options *e = &s->engine;
    const struct bats_platform *p = &s->platform;
    char text[1024] = "", word[BATS_UNITS_TEXT];
    add(text, "window", p->window);
    add(text, "monitor", e->monitor_interval);
    add(text, "deadline", e->goal.deadline);
    add(text, "grace", e->preempt_lead);
    bats_append(text, sizeof text, " '%s' %s %g %s, %u tasks;", p->currency,
                e->goal.minimize == BATS_MINIMIZE_COST ? "cost" : "time",
                e->goal.confidence, bats_tail_name(e->tail), s->n_tasks);
    for (size_t i = 0; i < s->n_policies; i++)
        bats_append(text, sizeof text, " %s",
                    bats_policy_name(s->policies[i]));
    for (size_t i = 0; i < s->n_budgets; i++)
        bats_append(text, sizeof text, ", %s %d %g", s->budgets[i].text,
                    s->budgets[i].base, s->budgets[i].factor);
    for (size_t i = 0; i < s->n_seeds; i++)
        bats_append(text, sizeof text, " #%u", s->seeds[i]);
    bats_append(text, sizeof text, " x%u;", s->repeats);
    for (size_t i = 0; i < p->n_clusters; i++) {
        bats_append(text, sizeof text, " %s %s %u speed %g noise %g",
                    p->clusters[i].name,
                    bats_money_format(word, p->clusters[i].charge),
                    p->clusters[i].max, p->speed[i], s->noise[i]);
        add(text, "startup", s->startup[i]);
        add(text, "loss", s->loss[i]);
    }
    for (uint32_t i = 0; i < p->n_machines; i++)
        bats_append(text, sizeof text, " %u:%u", p->machines[i].cluster,
                    p->machines[i].slots);
    assert_string_equal(text, expected);
    bats_scenario_destroy(s);
}

TEST(the_least_scenario_has_defaults)
{
    struct bats_scenario *s = load(BAG CLUSTER);
    assert_true(s->budgets[0].amount == BATS_UNLIMITED);
    assert_int_equal(s->runtime.kind, BATS_DRAW_CONSTANT);
    assert_true(s->runtime.a == (double)BATS_MINUTE);
    expect(s, " window 1h monitor 0s deadline 0s grace 0s '' time 0 soonest, "
              "10 tasks; bats, unlimited 1 0 #1 x1; c 1.5 4 speed 1 noise 0 "
              "startup 0s loss 0s 0:1 0:1 0:1 0:1");
}

static const struct bats_policy *policy_of(const char *run)
{
    char text[400];
    snprintf(text, sizeof text, "%s" CLUSTER "reliable = no\n" BAG, run);
    struct bats_scenario *s = load(text);
    const struct bats_policy *policy = s->policies[0];
    bats_scenario_destroy(s);
    return policy;
}

TEST(the_policy_for_machines_that_may_not_answer_is_expert)
{
    assert_ptr_equal(policy_of("[run]\nbilling = use\n"), &bats_policy_expert);
    assert_ptr_equal(policy_of(""), &bats_policy_bats);
    assert_ptr_equal(policy_of("[run]\nbilling = use\ntimeout = 1h\n"),
                     &bats_policy_bats);
}

TEST(every_key_is_read)
{
    struct bats_scenario *s = load("[run]\n"
                                   "window = 15m ; a comment\n"
                                   "currency = SU\n"
                                   "policy = rr,bats\n"
                                   "budget = 12.5, unlimited,rr ,\n"
                                   "    cheapest+10%\n"
                                   "    fastest-2.5%, cheapest, minimum+20%\n"
                                   "seeds = 3-5, 7,\n"
                                   "repeats = 4\n"
                                   "monitor = 2m\n"
                                   "deadline = 7h\n"
                                   "confidence = 0.8\n"
                                   "grace = 10\n"
                                   "tail = random\n"
                                   "[cluster a]\n"
                                   "machines = 2\n"
                                   "charge = 0\n"
                                   "[bag]\n"
                                   "tasks = 1000\n"
                                   "runtime = normal 15m 2m\n"
                                   "[cluster b]\n"
                                   "machines = 1\n"
                                   "charge = 3\n"
                                   "speed = 0.5\n"
                                   "slots = 3\n"
                                   "startup = 90\n"
                                   "noise = 0.05\n"
                                   "loss = 500h\n");
    assert_int_equal(s->budgets[0].amount, 25 * BATS_UNIT / 2);
    expect(
        s,
        " window 15m monitor 2m deadline 7h grace 10s 'SU' cost 0.8 random, "
        "1000 tasks; rr bats, 12.5 0 0, unlimited 1 0, rr 2 1, "
        "cheapest+10% 3 1.1, fastest-2.5% 5 0.975, cheapest 3 1, "
        "minimum+20% 4 1.2 #3 #4 #5 #7 x4; a 0 2 speed 1 noise 0 startup 0s "
        "loss 0s b 3 1 speed 0.5 noise 0.05 startup 1m30s loss 20d20h "
        "0:1 0:1 1:3");
}

/* ---- runtimes from files ---- */

static const char measured[] = "there/measured";

/* The scenario with `runtime = file` and this content. */
static int load_measured(const char *tasks, const char *content,
                         struct bats_scenario **scenario,
                         struct bats_error *err)
{
    char text[200];
    write_text(measured, content);
    snprintf(text, sizeof text, "[bag]\n%sruntime = file %s\n" CLUSTER, tasks,
             strrchr(measured, '/') + 1);
    return load_text(text, scenario, err);
}

static void expect_measured(const char *content, const double *seconds,
                            uint32_t n)
{
    struct bats_scenario *s = NULL;
    assert_ok(load_measured("", content, &s, &err));
    assert_true(s->as_measured);
    assert_int_equal(s->n_tasks, n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(s->measured[i], (bats_time)(seconds[i] * 1e6 + 0.5));
    bats_scenario_destroy(s);
}

TEST(what_tasks_need_is_read)
{
    struct bats_scenario *s = load(BAG "needs = 2/4G/1\n" CLUSTER
                                       "slots = 8\nmemory = 8G\ngpus = 1\n");
    assert_int_equal(s->needs[0].cores, 2);
    assert_int_equal(s->needs[0].memory_kib, 4 << 20);
    assert_int_equal(s->needs[0].gpus, 1);
    assert_int_equal(s->stocks[3].memory_kib, 8 << 20);
    assert_int_equal(s->stocks[3].gpus, 1);
    bats_scenario_destroy(s);
}

TEST(runtimes_are_read_from_three_kinds_of_text)
{
    expect_measured("# a comment\n\n90\n 15m \n0.25",
                    (double[]){90, 900, 0.25}, 3);
    /* Jobs that failed or were killed took another time. */
    expect_measured("Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval"
                    "\tSignal\tCommand\n"
                    "2\ta\t1.000\t    12.345\t0\t0\t0\t0\tsleep 12\n"
                    "1\ta\t1.000\t     7.000\t0\t0\t1\t0\tfalse\n"
                    "3\tb\t1.000\t     8.000\t0\t0\t0\t9\tkill -9 $$\n"
                    "4\tb\t1.000\t     3.500\t0\t0\t0\t0\ta\tb\n",
                    (double[]){12.345, 3.5}, 2);
    /* Standard workload format: the run time is the fourth column. */
    expect_measured("; Version: 2.2\n"
                    "1 0 7 1451 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
                    " 2 5 0   -1 1 -1 -1 1 -1 -1 0 1 1 -1 -1 -1 -1 -1\n"
                    "3 9 0 60.5 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1 {a}\n"
                    "4 9 0 0 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n",
                    (double[]){1451, 60.5}, 2);
}

TEST(with_tasks_measured_runtimes_are_drawn)
{
    struct bats_scenario *s = NULL;
    assert_int_equal(load_measured("tasks = 77\n", "1\n2\n3\n", &s, NULL), 0);
    assert_false(s->as_measured);
    assert_int_equal(s->n_tasks, 77);
    assert_int_equal(s->runtime.kind, BATS_DRAW_EMPIRICAL);
    assert_int_equal(s->runtime.n, 3);
    bats_scenario_destroy(s);
}

TEST(files_of_runtimes_are_checked)
{
    static const char *const wrong[][2] = {
        {"1\nx\n", ":2: 'x' is not a duration"},
        {"1\n\n0\n", ":3: a runtime of 0"},
        {"# nothing\n", ": no runtime in it"},
        {"1 2 3\n", ":1: '1 2 3' is not a duration"},
        {"Seq\tHost\tStarttime\tJobRuntime\tSend\n1\ta\t1\n",
         ":2: not a line of a joblog"},
        {"Seq\tHost\tStarttime\tJobRuntime\tSend\n1\ta\t1\tx\t0\t0\t0\t0\n",
         ":2: not a line of a joblog"},
        {"1 0 7 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n1 0 7 x\n",
         ":2: no run time in column 4"},
        {"SQLite format 3", ":1: 'SQLite format 3' is not a duration"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct bats_scenario *s = NULL;
        char expected[300];
        assert_int_equal(load_measured("", wrong[i][0], &s, &err),
                         BATS_EINPUT);
        snprintf(expected, sizeof expected, "%s:2: runtime: %s%s", path,
                 measured, wrong[i][1]);
        assert_memory_equal(err.text, expected, strlen(expected));
    }
}

/* ---- mistakes ---- */

#define NO_BUDGET                                                             \
    "; expected an amount, a percentage up to 100%, unlimited, rr, "          \
    "cheapest, minimum or fastest, with +P% or -P% behind it"
#define RUN(lines) "[run]\n" lines "\n" BAG CLUSTER
#define IN_BAG(line) BAG line "\n" CLUSTER
#define IN_CLUSTER(line) CLUSTER line "\n" BAG

/* What all such files have in common, and what is said of a cluster in a file
 * of clusters, too: test_clusters_file. */
TEST(mistakes_are_refused_with_their_line)
{
    static const char *const wrong[][2] = {
        {"", ":1: the file ends without a section [bag]"},
        {"[run]\n" CLUSTER, ":4: the file ends without a section [bag]"},
        {BAG, ":3: the file ends without a section [cluster NAME]"},
        {BAG CLUSTER "[runs]\n", ":7: unknown section [runs]; known are "
                                 "[run], [bag] and [cluster NAME]"},
        {BAG CLUSTER BAG, ":7: section [bag] is already on line 1"},
        {"[run]\npolicy = expert\nstrategy = N=inf,T=1x,D=2x,Mr=0.1\n" BAG
             CLUSTER "reliable = no\n",
         ":1: the strategy needs a reliable cluster, and there is none: only "
         "N = inf without Mr does not"},
        {RUN("windows = 1h"),
         ":2: unknown key 'windows' in [run]; known are window, "
         "currency, billing, policy, budget, deadline, minimize, "
         "confidence, seeds, repeats, lease, starting, bill, overrun, jobs, "
         "monitor, grace, "
         "tail, strategy, utility, timeout and retries"},
        {IN_BAG("task = 1"),
         ":4: unknown key 'task' in [bag]; known are "
         "tasks, runtime, workflow, class, needs, known and saves"},
        {IN_CLUSTER("nodes = a"),
         ":4: unknown key 'nodes' in [cluster c]; known "
         "are machines, startup, queue, noise, loss, charge, speed, "
         "expected, reliable, reliability, survival, "
         "noticed, charge_lost, block, reclaimable, "
         "notice, guaranteed, free, lifetime, slots, memory and gpus"},
        {"[bag]\ntasks = 3\n" CLUSTER, ":1: [bag] has no runtime"},
        {"\n[bag]\nruntime = mixture\n" CLUSTER, ":2: [bag] has no tasks"},
        {BAG "[cluster c]\ncharge = 1\n", ":4: [cluster c] has no machines"},
        {BAG "[cluster c]\nmachines = 1\n", ":4: [cluster c] has no charge"},
        {RUN("window = 0"), ":2: window: it must be longer than 0"},
        {RUN("minimize = money"),
         ":2: minimize: 'money' is neither cost nor time"},
        {RUN("minimize = cost"),
         ":1: minimize = cost needs a deadline, or jobs with leases"},
        {RUN("confidence = 0.4"), ":2: confidence: not from 0.5 to 0.9999"},
        {RUN("currency = 1234567890123456"),
         ":2: currency: '1234567890123456' is longer than 15 bytes"},
        {RUN("policy = dbc"), ":2: policy: 'dbc' is not a policy"},
        {RUN("policy ="), ":2: policy: '' is not a policy"},
        {RUN("policy = rr,,bats"), ":2: policy: '' is not a policy"},
        {RUN("policy = rr, rr"), ":2: policy: 'rr' is given twice"},
        {RUN("repeats = 0"),
         ":2: repeats: '0' is not a whole number from 1 to 1000000"},
        {RUN("seeds = 0"),
         ":2: seeds: '0' is not a whole number from 1 to 4294967295"},
        {RUN("seeds = 5-3"), ":2: seeds: '5-3' is in descending order"},
        {RUN("grace = 1h"), ":1: grace has to be shorter than a window"},
        {RUN("strategy = N=1,T=3x,D=2x"),
         ":2: strategy: T is longer than D: an instance would be given "
         "up before the next one may be sent"},
        {RUN("utility = makespan * dog"),
         ":2: utility: an unknown name in 'makespan * dog', character 12"},
        {RUN("policy = expert"),
         ":1: the policy expert needs a cluster with reliable = no"},
        {RUN("tail = dog"), ":2: tail: 'dog' is not a strategy for the tail; "
                            "see 'bats-mpi run --help'"},
        {RUN("seeds = 1-1000001"),
         ":2: seeds: '1-1000001' makes more than a million"},
        {RUN("seeds = 1-1000000\nrepeats = 100"),
         ":1: more than ten million runs"},
        {RUN("budget = 3, rr, 3"), ":2: budget: '3' is given twice"},
        {RUN("budget = 3,\n  rr,\n  x"),
         ":4: budget: invalid value 'x'" NO_BUDGET},
        {RUN("budget = 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,"
             "21,22,23,24,25"),
         ":2: budget: more than 24 budgets"},
        {RUN("budget = 1234567890123456789012345"),
         ":2: budget: '1234567890123456789012345' is too long"},
        {"[bag]\ntasks = 0\n",
         ":2: tasks: '0' is not a whole number from 1 to 1000000000"},
        {"[bag]\nruntime = normal 15m\n",
         ":2: runtime: 'normal 15m' is not 'normal MEAN DEVIATION'"},
        {"[bag]\nruntime = file /nowhere\n",
         ":2: runtime: /nowhere: No such file or directory"},
        {"[bag]\nruntime = file\n",
         ":2: runtime: invalid value 'file'; expected one of "
         "constant, normal, lognormal, levy, uniform, mixture and file"},
        {"[cluster c]\nmachines = -1\n",
         ":2: machines: '-1' is not a whole number from 1 to 10000000"},
        {IN_CLUSTER("noise = 11"), ":4: noise: more than 10"},
        {IN_CLUSTER("loss = 0"), ":4: loss: it must be longer than 0"},
        {BAG "[cluster a]\nmachines = 9000000\ncharge = 1\n"
             "[cluster b]\nmachines = 9000000\ncharge = 1\n",
         ":7: more than 10000000 machines in all clusters"},
        {IN_CLUSTER("noticed = 5s"), ":4: noticed: the cluster has no losses"},
        {IN_CLUSTER("notice = 2m"), ":4: notice: is for reclaimable = yes"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refuse(wrong[i][0], wrong[i][1]);
}

TEST(budgets_are_checked)
{
    static const char *const wrong[] = {
        "",     "-3",    "3 SU",         "cheap",         "rrr",
        "rr+%", "rr+10", "cheapest*10%", "fastest-100%",  "fastest+ 5%",
        "1e3",  "rr10%", "cheapest+-5%", "unlimited+10%", "rr+10%%"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[400], expected[200];
        snprintf(text, sizeof text, RUN("budget = %s"), wrong[i]);
        snprintf(expected, sizeof expected, ":2: budget: invalid value '%s'%s",
                 wrong[i], NO_BUDGET);
        refuse(text, expected);
    }
}

static int set_up(void **state)
{
    return enter_directory(state) | mkdir("there", 0777);
}

TEST_MAIN(set_up, leave_directory)
