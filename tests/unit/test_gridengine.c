/* gridengine: what the commands of Grid Engine 8.1.9 printed for a job of 20
 * slots in two queues, and for submitted jobs. */
#include <time.h>

#include "helpers/test.h"
#include "site/gridengine.h"

static const char hosts[] = "fast1 8 fast.q@fast1 UNDEFINED\n"
                            "fast2.example.org 8 fast.q@fast2 <NULL>\n"
                            "slow2 4 slow.q@slow2 UNDEFINED\n";

static const char charges[] =
    "queuename                      qtype resv/used/tot. load_avg arch  "
    "        states\n"
    "-----------------------------------------------------------------\n"
    "fast.q@fast1                   BIP   0/8/8          27.56    lx-amd64\n"
    "\tqf:charge=8.000000\n"
    "-----------------------------------------------------------------\n"
    "fast.q@fast2                   BIP   0/8/8          27.56    lx-amd64\n"
    "\tqf:charge=8.000000\n"
    "-----------------------------------------------------------------\n"
    "other.q@slow2                  BIP   0/0/4          27.56    lx-amd64\n"
    "\tqf:charge=5.000000\n"
    "-----------------------------------------------------------------\n"
    "slow.q@slow2                   BIP   0/4/8          27.56    lx-amd64\n";

static const char xml[] =
    "<JB_job_number>7</JB_job_number>\n<JB_owner>anna</JB_owner>\n"
    "<JB_account>phys</JB_account>\n<JB_hard_resource_list>\n"
    "<qstat_l_requests>\n<CE_name>h_rt</CE_name>\n<CE_valtype>3</CE_valtype>\n"
    "<CE_stringval>300</CE_stringval>\n<CE_doubleval>300.000000</"
    "CE_doubleval>\n</qstat_l_requests>\n<JB_ja_tasks>\n"
    "<JAT_task_number>1</JAT_task_number>\n"
    "<JAT_start_time>1795546502</JAT_start_time>\n"
    "<JAT_task_number>12</JAT_task_number>\n"
    "<JAT_start_time>1795546700</JAT_start_time>\n</JB_ja_tasks>\n";

#define NODE "%s %d %d %d %g"
#define IN_NODE(n) n.host, (int)n.cpus, (int)n.part, n.whole, n.rate

TEST(hosts_of_a_job_are_nodes_and_its_queues_are_parts)
{
    struct bats_allocation a = {0};
    assert_ok(bats_gridengine_read_hosts(hosts, &a, &err));
    bats_allocation_sort(&a);
    bats_gridengine_read_charges(charges, &a);
    assert_int_equal(a.n_nodes, 3);
    assert_int_equal(a.n_parts, 2);
    /* On slow2 half of the slots; and the charge of another queue there is not
     * its. */
    assert_reads("fast1 8 0 1 64, fast2 8 0 1 64, slow2 4 1 0 4: 132",
                 NODE ", " NODE ", " NODE ": %g", IN_NODE(a.nodes[0]),
                 IN_NODE(a.nodes[1]), IN_NODE(a.nodes[2]), a.rate);
    assert_reads("Grid Engine: charge=8 of fast.q; "
                 "Grid Engine: 1 per slot, for slow.q has no",
                 "%s; %.42s", a.parts[0].source, a.parts[1].source);
    bats_allocation_release(&a);
}

TEST(the_shortest_limit_of_job_and_queues_counts)
{
    struct bats_allocation a = {0};
    int64_t limit_s = 0;
    bats_gridengine_read_job(xml, "12", &a, &limit_s);
    assert_numbers("300 1795546700", limit_s, a.start_s);
    assert_reads("anna phys", "%s %s", a.user, a.account);
    /* A submitted job keeps away from s_rt. */
    static const struct {
        const char *queue;
        int64_t lead_s, before, limit_s;
    } queues[] = {{"h_rt   1:0:0\ns_rt  INFINITY\n", 0, 300, 300},
                  {"s_rt   0:4:30\nh_rt  600\n", 0, 300, 270},
                  {"h_rt   2:0:30\n", 0, 0, 7230},
                  {"s_rt   2:0:0\nh_rt  2:0:3\n", 60, 7230, 7140},
                  {"s_rt   50\nh_rt  2:0:3\n", 60, 7140, 1}};
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
        char text[64];
        snprintf(text, sizeof text, "qname  slow.q\n%s", queues[i].queue);
        limit_s = queues[i].before;
        bats_gridengine_read_queue(text, queues[i].lead_s, &limit_s);
        assert_int_equal(limit_s, queues[i].limit_s);
    }
}

/* ---- submitted jobs ---- */

/* `qstat -g d`, `qstat -xml -j NAME` and `qstat -ne -F charge` of three jobs and
 * one of another name, without the elements that are not read. */
static const char list[] =
    "job-ID  prior   name       user         state submit/start at     queue   "
    "                       slots ja-task-ID \n"
    "--------------------------------------------------------------------\n"
    "      4 0.26021 bats-aaa1  root         r     11/24/2026 21:47:11 "
    "fast.q@fast1                       3 2\n"
    "      9 0.26021 other      root         r     11/24/2026 21:47:11 "
    "fast.q@fast1                       3        \n"
    "      3 0.75000 bats-aaa1  root         qw    11/24/2026 21:47:11         "
    "                          99        \n"
    "      1 0.00000 bats-aaa1  root         hqw   11/24/2026 21:47:11         "
    "                           1 1\n"
    "<?xml version='1.0'?>\n"
    "    <element>\n      <JB_job_number>4</JB_job_number>\n"
    "      <JB_submission_time>1795556831</JB_submission_time>\n"
    "          <CE_name>h_rt</CE_name>\n"
    "          <CE_doubleval>100.000000</CE_doubleval>\n"
    "          <QR_name>fast.q</QR_name>\n"
    "          <VA_variable>mark</VA_variable>\n"
    "          <VA_value>/bin/sh</VA_value>\n"
    "          <JAT_task_number>1</JAT_task_number>\n"
    "          <JAT_start_time>17</JAT_start_time>\n"
    "          <JAT_task_number>2</JAT_task_number>\n"
    "          <JAT_start_time>START</JAT_start_time>\n"
    "      <JB_context>\n        <context_list>\n"
    "          <VA_variable>mark</VA_variable>\n"
    "          <VA_value>1.3.1.x-20</VA_value>\n"
    "      <JB_pe>mpi</JB_pe>\n      <JB_pe_range>\n        <ranges>\n"
    "          <RN_min>3</RN_min>\n          <RN_max>3</RN_max>\n"
    "      <JB_ja_structure>\n          <RN_min>1</RN_min>\n"
    "    <element>\n      <JB_job_number>3</JB_job_number>\n"
    "      <JB_submission_time>1795556831</JB_submission_time>\n"
    "          <QR_name>slow.q</QR_name>\n      <JB_context>\n"
    "          <VA_value>1.2.1.x-20</VA_value>\n      <JB_pe_range>\n"
    "          <RN_min>99</RN_min>\n"
    "    <element>\n      <JB_job_number>1</JB_job_number>\n"
    "          <QR_name>slow.q</QR_name>\n"
    "      <JB_ja_structure>\n          <RN_min>1</RN_min>\n"
    "  <messages>\n"
    "              <ULNG_value>3</ULNG_value>\n"
    "          <MES_message_number>6</MES_message_number>\n"
    "          <MES_message>cannot run in queue &quot;fast.q&quot; because it "
    "is not contained in its hard queue list (-q)</MES_message>\n"
    "              <ULNG_value>3</ULNG_value>\n"
    "          <MES_message_number>24</MES_message_number>\n"
    "          <MES_message>cannot run in PE &quot;mpi&quot; because it only "
    "offers 15 slots</MES_message>\n"
    "          <MES_message_number>37</MES_message_number>\n"
    "          <MES_message>queue instance &quot;slow.q@slow1&quot; dropped "
    "because it is full</MES_message>\n"
    "  </messages>\n</detailed_job_info>\n"
    "queuename                      qtype resv/used/tot. load_avg arch\n"
    "fast.q@fast1                   BIP   0/3/8          5.22     lx-amd64\n"
    "\tqf:charge=8.000000\n"
    "      4 0.26021 bats-aaa1  root         r     11/24/2026 21:47:11    3\n";

/* Replaces START by the time. */
static char *listed_at(int64_t start_s)
{
    char *text;
    const char *start = strstr(list, "START");
    assert_true(asprintf(&text, "%.*s%lld%s", (int)(start - list), list,
                         (long long)start_s, start + 5) > 0);
    return text;
}

TEST(jobs_are_listed_with_mark_reason_end_and_rate)
{
    int64_t now_s = (int64_t)time(NULL);
    char *text = listed_at(now_s - 10);
    const char *at = text;
    struct bats_job_view view;
    assert_true(bats_gridengine_jobs.read_list(&at, &view));
    assert_reads("4_1 1.3.1.x-20 fast.q 24", /* Grid Engine's task 2 */
                 "%s %s %s %g", view.id, view.mark, view.partition, view.rate);
    assert_numbers("1 1795556831 90", view.index, view.submit_s,
                   view.end_s - now_s);
    assert_int_equal(view.phase, BATS_JOB_RUNS);
    assert_false(view.is_sent);
    assert_true(bats_gridengine_jobs.read_list(&at, &view));
    assert_int_equal(view.phase, BATS_JOB_WAITS);
    assert_reads("3: cannot run in PE 'mpi' because it only offers 15 slots",
                 "%s: %s", view.id, view.reason);
    assert_true(view.rate < 0);
    assert_true(bats_gridengine_jobs.read_list(&at, &view));
    assert_reads(
        "1_0 : queue instance 'slow.q@slow1' dropped because it is full",
        "%s %s: %s", view.id, view.mark, view.reason);
    assert_false(bats_gridengine_jobs.read_list(&at, &view));
    free(text);
}

TEST(a_job_in_state_t_is_not_confirmed_by_its_host)
{
    char *text = listed_at((int64_t)time(NULL));
    const char *at = text;
    struct bats_job_view view;
    strstr(text, " r ")[1] = 't';
    assert_true(bats_gridengine_jobs.read_list(&at, &view));
    assert_true(view.is_sent);
    free(text);
}

TEST(a_job_that_is_listed_long_after_its_limit_has_lost_its_host)
{
    char *text = listed_at((int64_t)time(NULL) - 300);
    const char *at = text;
    struct bats_job_view view;
    assert_true(bats_gridengine_jobs.read_list(&at, &view));
    assert_int_equal(view.phase, BATS_JOB_ENDED);
    assert_int_equal(view.end_s - view.start_s, 100);
    free(text);
}

/* `qacct -j`, and `qstat -F charge`. */
static const char bills[] =
    "==============================================================\n"
    "qname        slow.q              \n"
    "hostname     slow1               \n"
    "jobname      bats-aaa1           \n"
    "jobnumber    2                   \n"
    "taskid       undefined\n"
    "qsub_time    Tue Nov 24 21:47:11 2026\n"
    "start_time   Tue Nov 24 21:47:12 2026\n"
    "end_time     Tue Nov 24 21:47:17 2026\n"
    "granted_pe   mpi                 \n"
    "slots        4                   \n"
    "failed       100 : assumedly after job\n"
    "exit_status  137                  (Killed)\n"
    "ru_wallclock 0s\n"
    "==============================================================\n"
    "qname        fast.q              \n"
    "jobname      bats-aaa1           \n"
    "jobnumber    5                   \n"
    "taskid       3\n"
    "qsub_time    Tue Nov 24 21:47:11 2026\n"
    "start_time   -/-\n"
    "end_time     -/-\n"
    "slots        1                   \n"
    "failed       25  : rescheduling\n"
    "queuename                      qtype resv/used/tot. load_avg arch\n"
    "slow.q@slow1                   BIP   0/0/8          5.22     lx-amd64\n"
    "\tqf:charge=3.000000\n"
    "fast.q@fast1                   BIP   0/3/8          5.22     lx-amd64\n";

#define BILL "%s %s: %d, %d s at %g"
#define IN_BILL(b) b.id, b.name, b.is_final, (int)b.seconds, b.rate

TEST(a_bill_is_the_time_from_start_to_end_by_slots_and_charge)
{
    const char *at = bills;
    struct bats_job_bill bill;
    assert_true(bats_gridengine_jobs.read_bills(&at, &bill));
    assert_reads("2 bats-aaa1: 1, 5 s at 12", BILL, IN_BILL(bill));
    int64_t submit_s = bill.submit_s;
    assert_true(bats_gridengine_jobs.read_bills(&at, &bill));
    /* It is queued again, and has no charge. */
    assert_reads("5_2 bats-aaa1: 0, 0 s at 1", BILL, IN_BILL(bill));
    assert_int_equal(bill.submit_s, submit_s);
    assert_false(bats_gridengine_jobs.read_bills(&at, &bill));
}

TEST(the_site_says_how_long_bills_take_and_what_slots_consume)
{
    struct bats_job_rules r;
    bats_gridengine_jobs.read_rules("reporting_params accounting=true \\\n"
                                    "   flush_time=00:00:30 joblog=false\n",
                                    &r, &err);
    assert_numbers("1 35 0", r.accounts, r.late_s, r.gpus_by_slot);
    bats_gridengine_jobs.read_rules(
        "flush_time=00:00:30 accounting_flush_time=00:00:00\n", &r, &err);
    assert_int_equal(r.late_s, 5);
    bats_gridengine_jobs.read_rules(
        "reporting_params none\n"
        "gpu                 gpu        INT       <=    YES         YES       "
        " 0        0\n"
        "mem_free            mf         MEMORY    <=    YES         NO        "
        " 0        0\n",
        &r, &err);
    assert_numbers("20 1 0", r.late_s, r.gpus_by_slot, r.memory_by_slot);
}

TEST(each_instance_of_a_queue_is_a_kind_of_node)
{
    struct bats_stock kinds[2];
    const char *text =
        "queuename                      qtype resv/used/tot. load_avg arch\n"
        "---------------------------------------------------------------\n"
        "slow.q@slow1                   BIP   0/2/8          0.18     lx\n"
        "\thl:mem_total=23.5G\n\tgc:gpu=2\n"
        "slow.q@slow2                   BIP   0/0/16         0.18     lx\n"
        "\thl:mem_total=1024.000M\n"
        "slow.q@slow4                   BIP   0/0/16         0.18     lx\n"
        "\thl:mem_total=1024.000M\n"
        "slow.q@slow3                   BIP   0/0/4          0.18     lx\n"
        "\thl:mem_total=2048.000M\n";
    assert_int_equal(bats_gridengine_jobs.read_nodes(text, kinds, 2), 2);
    assert_numbers("8 2 24641536 16 0 1048576", kinds[0].cores, kinds[0].gpus,
                   kinds[0].memory_kib, kinds[1].cores, kinds[1].gpus,
                   kinds[1].memory_kib);
}

TEST(a_name_with_an_apostrophe_is_one_word_of_the_script)
{
    struct bats_job_request r = {.name = "bats-1",
                                 .mark = "m",
                                 .output = "it's; true",
                                 .command = "worker",
                                 .nodes = 1,
                                 .ranks = 1,
                                 .limit_s = 60,
                                 .copies = 2};
    struct bats_argv argv = {0};
    char *script;
    bats_gridengine_jobs.submit(&r, &argv, &script);
    assert_non_null(script);
    assert_non_null(strstr(script, "exec >'it'\\''s; true'.$job 2>&1\n"));
    free(script);
    bats_argv_release(&argv);
}

TEST(options_that_break_a_budget_are_refused)
{
    static const char *const options[] = {
        "-pe", "mem=4G",  "-hold_jid", /* refused: */
        "-h",  "-notify", "mem=4G,s_rt=10", "h_rt=10"};
    for (int i = 0; i < 7; i++)
        assert_int_equal(bats_gridengine_jobs.refuses(options[i]) != NULL,
                         i > 2);
}

TEST(words_of_another_system_change_nothing)
{
    struct bats_allocation a = {0};
    int64_t limit_s = 0;
    assert_ok(bats_gridengine_read_hosts("n1 slots=4\n", &a, &err));
    bats_gridengine_read_charges("error: no host\n", &a);
    bats_gridengine_read_job("", "1", &a, &limit_s);
    bats_gridengine_read_queue("h_rt 5\n", 0, &limit_s);
    assert_numbers("0 0 0", (int64_t)a.n_nodes, a.start_s, limit_s);
    bats_allocation_release(&a);
}

TEST_MAIN(NULL, NULL)
