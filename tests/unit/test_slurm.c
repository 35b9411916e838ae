/* slurm: what scontrol prints, and what that costs. The texts are Slurm
 * 22.05's, shortened where nobody reads; the sums are done by hand. */
#include <math.h>

#include "helpers/test.h"
#include "site/slurm.h"

/* A heterogeneous job: two nodes of its own, three CPUs of a third. The name
 * of the job is the user's to choose. */
static const char het_job[] =
    "JobId=1 HetJobId=1 HetJobOffset=0 JobName=x Partition=no TRES=no "
    "HetJobIdSet=1-2 UserId=anna(1000) GroupId=anna(1000) Account=phys "
    "JobState=RUNNING Requeue=1 Restarts=2 TimeLimit=00:10:00 "
    "SubmitTime=1795262480 EndTime=1795263087 Partition=fast "
    "NodeList=fast[1-2] NumNodes=2 TRES=cpu=128,node=2,billing=1024 "
    "JOB_GRES=(null)   Nodes=fast[1-2] CPU_IDs=0-63 Mem=0 GRES= "
    "MinCPUsNode=1 OverSubscribe=NO Contiguous=0 Command=/j.sh Power= \n"
    "JobId=2 HetJobId=1 HetJobOffset=1 JobName=x UserId=anna(1000) "
    "JobState=RUNNING TimeLimit=00:05:00 EndTime=1795262787 Partition=slow "
    "NodeList=slow1 TRES=cpu=3,node=1,billing=9 JOB_GRES=(null)   "
    "Nodes=slow1 CPU_IDs=0,2-3 Mem=0 GRES= OverSubscribe=OK Power= \n";

/* The job read last. */
static struct bats_allocation s;

static void read_job(const char *text)
{
    bats_allocation_release(&s);
    assert_ok(bats_slurm_read_job(text, &s, &err));
}

static const struct bats_allocation_node *node(const char *host)
{
    return bats_allocation_find(&s, host);
}

static int forget_job(void **state)
{
    bats_allocation_release(&s);
    return 0;
}

TEST(every_part_of_a_job_is_read)
{
    read_job(het_job);
    assert_int_equal(s.n_nodes, 3);
    assert_reads("anna phys", "%s %s", s.user, s.account);
    assert_numbers("2 2 1795262480 1033", (int64_t)s.n_parts, s.life,
                   s.queued_s, (int64_t)s.rate);
    assert_reads("fast 1 1024, slow 0 9", "%s %d %g, %s %d %g",
                 s.parts[0].partition, s.parts[0].exclusive,
                 s.parts[0].billing, s.parts[1].partition,
                 s.parts[1].exclusive, s.parts[1].billing);
    assert_numbers("64 0 3 1", node("fast1")->cpus, node("fast2")->part,
                   node("slow1")->cpus, node("slow1.site.org")->part);
    assert_null(node("slow2"));
}

TEST(the_first_end_counts)
{
    read_job(het_job);
    assert_int_equal(s.end_s, 1795262787);
    read_job("JobId=3 JobState=RUNNING EndTime=Unknown Partition=p "
             "Nodes=n1 CPU_IDs=0 Mem=0 GRES= \n");
    assert_int_equal(s.end_s, 0);
    assert_true(s.parts[0].billing < 0);
}

TEST(other_texts_are_refused)
{
    static const char *const texts[] = {
        "", "\n\n", "No jobs in the system\n",
        "JobId=1 JobState=PENDING Partition=p NodeList=(null) \n",
        "JobId=1 JobState=RUNNING Partition=p Nodes=n[1- CPU_IDs=0 \n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct bats_allocation slurm = {0};
        assert_int_equal(bats_slurm_read_job(texts[i], &slurm, NULL),
                         BATS_EINPUT);
        bats_allocation_release(&slurm);
    }
}

TEST(whole_nodes_are_told_from_parts)
{
    read_job(
        "JobId=4 JobState=RUNNING Partition=p Nodes=n[1-2] CPU_IDs=0-7 Mem=0 "
        "GRES=   Nodes=n3 CPU_IDs=0-2 Mem=0 GRES= OverSubscribe=OK \n");
    bats_slurm_read_nodes("NodeName=n1 Arch=x CPUEfctv=8 CPUTot=8 CPULoad=1 \n"
                          "NodeName=n2 Arch=x CPUTot=16 \n"
                          "NodeName=n3 CPUTot=8 \n"
                          "NodeName=n4 CPUTot=1 \n",
                          &s, NULL);
    assert_numbers("1 0 0", node("n1")->whole, node("n2")->whole,
                   node("n3")->whole);
    read_job(het_job); /* exclusive */
    bats_slurm_read_nodes("NodeName=fast1 CPUTot=128 \n", &s, NULL);
    assert_true(node("fast1")->whole);
}

/* The charge of a node with 4 CPUs, 8 GB of memory and 2 + 1 GPUs. */
static double rate(const char *weights, const char *billing)
{
    char job[512], partition[512];
    snprintf(job, sizeof job,
             "JobId=5 JobState=RUNNING Partition=p TRES=cpu=4,mem=8G,%s "
             "Nodes=n1 CPU_IDs=0-3 Mem=8192 "
             "GRES=gpu:a100:2(IDX:0-1),gpu:h100:1(IDX:2) OverSubscribe=OK \n",
             billing);
    snprintf(partition, sizeof partition, "PartitionName=p State=UP %s%s \n",
             weights[0] != '\0' ? "TRESBillingWeights=" : "", weights);
    read_job(job);
    bats_slurm_read_partition("PartitionName=q TRESBillingWeights=CPU=9\n", &s,
                              NULL);
    bats_slurm_read_partition(partition, &s, NULL);
    bats_slurm_bill(2, &s);
    return s.nodes[0].rate;
}

TEST(a_node_costs_what_it_holds_times_the_weights)
{
    assert_true(rate("CPU=1.5", "node=1") == 6);
    assert_true(rate("cpu=0.25", "node=1") == 1);
    assert_true(rate("Mem=0.5G", "node=1") == 4);
    assert_true(rate("Mem=0.5g", "node=1") == 4);
    assert_true(rate("Mem=0.25", "node=1") == 2048);
    assert_true(rate("Mem=1024T", "node=1") == 8);
    assert_true(rate("Node=7", "node=1") == 7);
    assert_true(rate("GRES/gpu=10", "node=1") == 30);
    assert_true(rate("GRES/gpu:a100=10", "node=1") == 20);
    assert_true(rate("CPU=1.0,Mem=0.25G,GRES/gpu=2.0", "node=1") == 12);
    assert_true(rate("license/x=5,CPU=1", "node=1") == 4);
    /* Without weights, 1 for each core of two hardware threads. */
    assert_true(rate("", "billing=4") == 2);
}

TEST(slurm_is_right_about_its_bill)
{
    assert_true(rate("CPU=0.3", "billing=1") > 1.19); /* cut off by Slurm */
    assert_true(rate("CPU=1.0,Mem=1.0G", "billing=8") == 8); /* the largest */
    read_job(het_job);
    bats_slurm_read_partition("PartitionName=fast X=y "
                              "TRESBillingWeights=CPU=4.0\n",
                              &s, NULL);
    bats_slurm_read_partition("PartitionName=slow TRESBillingWeights=CPU=3\n",
                              &s, NULL);
    bats_slurm_bill(1, &s);
    assert_true(node("fast1")->rate == 512);
    assert_true(node("slow1")->rate == 9);
}

/* ---- the account ---- */

#define ASSOCIATION(account, user, partition, parent, mins)                   \
    "ClusterName=c Account=" account " UserName=" user                        \
    " Partition=" partition " ID=7 SharesRaw/Norm/Level/Factor=1/0.5/2/0.00 " \
    "UsageRaw/Norm/Efctv=132.00/0.00/0.00 ParentAccount=" parent              \
    " Lft-Rgt=4-5 DefAssoc=Yes GrpJobs=N(1) GrpSubmitJobs=N(1) "              \
    "GrpWall=N(2.20) GrpTRES=cpu=N(4),mem=N(0),billing=5(4) "                 \
    "GrpTRESMins=" mins " GrpTRESRunMins=cpu=N(40),billing=3(2) MaxJobs= "    \
    "MaxSubmitJobs= MaxWallPJ= MaxTRESPJ= MaxTRESPN= MaxTRESMinsPJ=\n"

#define HEADING "Current Association Manager state\n\n"

static const char phys[] = HEADING "Association Records\n\n" ASSOCIATION(
    "phys", "", "", "science(2)",
    "cpu=100(99),mem=N(0),billing=1000(220),gres/gpu=7(7)")
    ASSOCIATION("phys", "bert(1001)", "", "(null)(5)", "billing=30(29)")
        ASSOCIATION("phys", "anna(1000)", "slow", "(null)(5)",
                    "billing=20(19)")
            ASSOCIATION("phys", "anna(1000)", "", "(null)(5)",
                        "cpu=N(9),billing=N(200)");
static const char science[] = HEADING "Association Records\n\n" ASSOCIATION(
    "science", "anna(1000)", "", "(null)(5)", "billing=9(8)")
    ASSOCIATION("science", "", "", "root(1)", "cpu=N(0),billing=5000(4900)");
static const char root[] = HEADING "Association Records\n\n" ASSOCIATION(
    "root", "", "", "", "cpu=N(0),billing=N(9999)");

static struct bats_allocation_part fast = {.partition = "fast"};
static const struct bats_allocation anna = {
    .account = "phys", .user = "anna", .parts = &fast, .n_parts = 1};

/* Above it is `parent`; so much is left then. */
static void account_is(const char *text, const char *name,
                       struct bats_account *account, const char *parent,
                       bats_money left)
{
    char above[BATS_ACCOUNT_NAME];
    assert_ok(
        bats_slurm_account_read(text, &anna, name, account, above, &err));
    assert_string_equal(above, parent);
    assert_int_equal(bats_account_left(account), left);
}

static void words_are(const struct bats_account *account, const char *words)
{
    char text[BATS_ACCOUNT_WORDS];
    assert_string_equal(bats_account_words(text, account), words);
}

TEST(the_least_that_an_account_has_left_counts)
{
    struct bats_account a = {0};
    account_is(phys, "phys", &a, "science", 13000000); /* 780 minutes */
    words_are(&a, "account phys: 220 of 1000 billing-minutes are used");
    account_is(science, "science", &a, "root", 1666666);
    account_is(root, "root", &a, "", 1666666);
    words_are(&a, "account science: 4900 of 5000 billing-minutes are used");
    account_is(phys, "phys", &a, "science", 1666666);
    fast = (struct bats_allocation_part){.partition = "slow"};
    account_is(phys, "phys", &a, "science", 16666);
    words_are(&a, "the user's share in account phys: 19 of 20 "
                  "billing-minutes are used");
    fast = (struct bats_allocation_part){.partition = "fast"};
}

TEST(an_account_may_have_nothing_left_or_no_limit)
{
#define USER ASSOCIATION("phys", "anna(1000)", "", "(null)(5)", "")
    struct bats_account a = {0};
    account_is(ASSOCIATION("phys", "", "", "root(1)", "billing=10(11)") USER,
               "phys", &a, "root", 0);
    a = (struct bats_account){.account = "phys"};
    account_is(ASSOCIATION("phys", "", "", "root(1)", "cpu=10(1)") USER,
               "phys", &a, "root", BATS_UNLIMITED);
    words_are(&a, "account phys: no limit of billing-minutes is set");
}

/* The output of Slurm 22.05 without accounting, or with hidden data
 * (PrivateData). */
TEST(an_account_that_is_not_shown_is_refused)
{
    static const char none[] =
        HEADING "No associations currently cached in Slurm.\n\n";
    static const struct {
        const char *text, *name, *says;
    } cases[] = {
        {none, "phys", "keeps no accounts"},
        {none, "science", "does not show what account science"},
        {HEADING ASSOCIATION("phys", "anna(1000)", "", "(null)(5)",
                             "billing=30(29)"),
         "phys", "does not show what account phys"},
        {HEADING ASSOCIATION("phys", "", "", "root(1)", "billing=30(29)"),
         "phys", "no association of user anna"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bats_account a = {.limit = 5};
        char above[BATS_ACCOUNT_NAME] = "as it was";
        assert_says(bats_slurm_account_read(cases[i].text, &anna,
                                            cases[i].name, &a, above, &err),
                    BATS_EINPUT, cases[i].says);
        assert_string_equal(above, "as it was");
        assert_false(a.limited);
    }
}

/* 10 s and 3600 s of 12 per hour, and a step without a bill. */
TEST(all_lives_of_a_job_are_billed)
{
    double billed = bats_slurm_read_billed("10|billing=12,cpu=4\n7|\n"
                                           "3600|cpu=4,billing=12\n");
    assert_true(fabs(billed - (12 + 12 / 360.0)) < 1e-9);
    assert_true(bats_slurm_read_billed("") < 0);
    assert_true(bats_slurm_read_billed("no accounting\n") < 0);
}

TEST(memory_is_what_the_job_asked_for_each_process)
{
    assert_int_equal(bats_batch_memory(false), 0);
    setenv("SLURM_MEM_PER_CPU", "2048", 1);
    assert_int_equal(bats_batch_memory(false), 2048 << 10);
    setenv("SLURM_CPUS_PER_TASK", "4", 1);
    assert_int_equal(bats_batch_memory(false), 8 << 20);
    unsetenv("SLURM_MEM_PER_CPU");
    setenv("SLURM_MEM_PER_NODE", "64000", 1);
    assert_int_equal(bats_batch_memory(false), 0);
    setenv("SLURM_TASKS_PER_NODE", "4(x2),3", 1);
    assert_int_equal(bats_batch_memory(false), 16000 << 10);
    setenv("SLURM_STEP_TASKS_PER_NODE", "2(x2)", 1);
    assert_int_equal(bats_batch_memory(false), 32000 << 10);
    setenv("SLURM_MEM_PER_NODE", "all", 1);
    assert_int_equal(bats_batch_memory(false), 0);
}

TEST_MAIN(NULL, forget_job)
