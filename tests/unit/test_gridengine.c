/* gridengine: what the commands of Grid Engine 8.1.9 printed for a job of 20
 * slots in two queues. */
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

TEST(hosts_of_a_job_are_nodes_and_its_queues_are_parts)
{
    struct bats_allocation a = {0};
    struct bats_error err;
    assert_int_equal(bats_gridengine_read_hosts(hosts, &a, &err), 0);
    bats_allocation_sort(&a);
    assert_int_equal(a.n_nodes, 3);
    assert_int_equal(a.n_parts, 2);
    assert_string_equal(a.parts[0].partition, "fast.q");
    assert_string_equal(a.nodes[1].host, "fast2");
    assert_int_equal(a.nodes[1].cpus, 8);
    assert_int_equal(a.nodes[1].part, 0);
    assert_int_equal(a.nodes[2].part, 1);

    bats_gridengine_read_charges(charges, &a);
    assert_true(a.nodes[0].whole);
    assert_float_equal(a.nodes[0].rate, 64, 0);
    assert_string_equal(a.parts[0].source, "Grid Engine: charge=8 of fast.q");
    /* Half of the slots; and the charge of another queue there is not its. */
    assert_false(a.nodes[2].whole);
    assert_float_equal(a.nodes[2].rate, 4, 0);
    assert_non_null(
        strstr(a.parts[1].source, "1 per slot, for slow.q has no"));
    assert_float_equal(a.rate, 132, 0);
    bats_allocation_release(&a);
}

TEST(the_shortest_limit_of_job_and_queues_counts)
{
    struct bats_allocation a = {0};
    int64_t limit_s = 0;
    bats_gridengine_read_job(xml, "12", &a, &limit_s);
    assert_int_equal(limit_s, 300);
    assert_int_equal(a.start_s, 1795546700);
    assert_string_equal(a.user, "anna");
    assert_string_equal(a.account, "phys");
    bats_gridengine_read_queue("qname  slow.q\nh_rt   1:0:0\ns_rt  INFINITY\n",
                               &limit_s);
    assert_int_equal(limit_s, 300);
    bats_gridengine_read_queue("qname  slow.q\ns_rt   0:4:30\nh_rt  600\n",
                               &limit_s);
    assert_int_equal(limit_s, 270);
    limit_s = 0;
    bats_gridengine_read_queue("qname  slow.q\nh_rt   2:0:30\n", &limit_s);
    assert_int_equal(limit_s, 7230);
}

TEST(words_of_another_system_change_nothing)
{
    struct bats_allocation a = {0};
    struct bats_error err;
    int64_t limit_s = 0;
    assert_int_equal(bats_gridengine_read_hosts("n1 slots=4\n", &a, &err), 0);
    bats_gridengine_read_charges("error: no host\n", &a);
    bats_gridengine_read_job("", "1", &a, &limit_s);
    bats_gridengine_read_queue("h_rt 5\n", &limit_s);
    assert_int_equal(a.n_nodes, 0);
    assert_int_equal(a.start_s, 0);
    assert_int_equal(limit_s, 0);
    bats_allocation_release(&a);
}

TEST_MAIN(NULL, NULL)
