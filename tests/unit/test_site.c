/* site: which ranks form which machines, at what charge, and the clusters file
 * that says so. Slurm is a script here that prints what Slurm 22.05 does. */
#include <sys/stat.h>

#include "helpers/directory.h"
#include "site/site.h"

#define RANKS 9
static struct bats_node nodes[RANKS];

/* Rank 0 to 8, two on each of n1 to n4, the last on n5; each may use the four
 * cores of its node. */
static int reset(void **state)
{
    unsetenv("SLURM_JOB_ID");
    for (int i = 0; i < RANKS; i++) {
        nodes[i] = (struct bats_node){
            .hardware = {.model = "CPU X",
                         .packages = 1,
                         .cores = 4,
                         .threads = 8,
                         .memory_bytes = (uint64_t)16 << 30,
                         .bound = "0-7",
                         .bound_cores = 4},
        };
        sprintf(nodes[i].host, "n%d", i / 2 + 1);
    }
    return 0;
}

/* The site found last. */
static struct bats_site s;

static int forget_site(void **state)
{
    bats_site_release(&s);
    return 0;
}

static void discover(enum bats_site_machine machine)
{
    bats_site_release(&s);
    assert_ok(bats_site_discover(nodes, RANKS, machine, &s, &err));
}

static void expect_file(bats_time window, const char *expected)
{
    char *text;
    assert_int_equal(bats_site_write(&s, window, &text, NULL), 0);
    assert_string_equal(text, expected);
    free(text);
}

TEST_WITH(alike_nodes_are_one_cluster, reset, forget_site)
{
    nodes[8].hardware.bound_cores = 2; /* alone there: as much as the others */
    discover(BATS_SITE_AUTO);
    expect_file(0,
                "[run]\ncurrency = core-h\n\n[cluster all]\nmachine = rank\n"
                "# 1 per core-hour, 2 cores\ncharge = 2/h\n");
    assert_string_equal(s.clusters[0].hosts, "n[1-5]");
}

TEST_WITH(hardware_tells_clusters_apart, reset, forget_site)
{
    for (int i = 4; i < 8; i++) {
        nodes[i].hardware.cores = nodes[i].hardware.bound_cores = 8;
        nodes[i].hardware.memory_bytes = (uint64_t)64 << 30;
    }
    nodes[7].hardware.memory_bytes -= (uint64_t)1 << 30; /* not worth a word */
    strcpy(nodes[8].hardware.model, "CPU Y");
    nodes[8].hardware.bound_cores = 2;
    discover(BATS_SITE_AUTO);
    expect_file(90 * BATS_MINUTE,
                "[run]\ncurrency = core-h\nwindow = 90m\n"
                "\n[cluster 4c-16G]\nnodes = n[1-2]\nmachine = rank\n"
                "# 1 per core-hour, 2 cores\ncharge = 2/h\n"
                "\n[cluster 8c-64G]\nnodes = n[3-4]\nmachine = rank\n"
                "# 1 per core-hour, 4 cores\ncharge = 4/h\n"
                "\n[cluster 4c-16G-2]\nnodes = n5\nmachine = rank\n"
                "# 1 per core-hour, 2 cores\ncharge = 2/h\n");
}

TEST_WITH(a_machine_may_be_a_node, reset, forget_site)
{
    strcpy(nodes[8].host, "n4");
    nodes[6].hardware.bound_cores = nodes[7].hardware.bound_cores =
        nodes[8].hardware.bound_cores = 6;
    discover(BATS_SITE_NODE);
    expect_file(1, "[run]\ncurrency = core-h\nwindow = 1us\n"
                   "\n[cluster 4c-16G]\nnodes = n[1-3]\nmachine = node\n"
                   "# 1 per core-hour, 4 cores\ncharge = 4/h\n"
                   "\n[cluster 4c-16G-2]\nnodes = n4\nmachine = node\n"
                   "# 1 per core-hour, 6 cores\ncharge = 6/h\n");
}

TEST_WITH(a_node_is_what_its_ranks_may_use, reset, forget_site)
{
    strcpy(nodes[1].hardware.bound, "0-1"); /* two cores of its own */
    nodes[1].hardware.bound_cores = 2;
    strcpy(nodes[8].host, "n4"); /* three ranks on four cores */
    discover(BATS_SITE_NODE);
    assert_int_equal(s.n_clusters, 2);
    assert_reads("n1 6, n[2-4] 4", "%s %g, %s %g", s.clusters[0].hosts,
                 s.clusters[0].rate, s.clusters[1].hosts, s.clusters[1].rate);
}

TEST_WITH(unknown_hardware_is_one_core, reset, forget_site)
{
    for (int i = 0; i < RANKS; i++)
        nodes[i].hardware = (struct bats_hardware){0};
    discover(BATS_SITE_AUTO);
    expect_file(0,
                "[run]\ncurrency = core-h\n\n[cluster all]\nmachine = rank\n"
                "# 1 per core-hour, 1 core\ncharge = 1/h\n");
}

TEST_WITH(ranks_with_the_same_cores_share_them, reset, forget_site)
{
    struct bats_share shares[RANKS];
    strcpy(nodes[1].hardware.bound, "0-3");
    strcpy(nodes[5].host, "n1");
    assert_int_equal(bats_site_share(nodes, RANKS, shares, NULL), 0);
    static const struct bats_share expected[RANKS] = {{0, 2}, {0, 1}, {0, 2},
                                                      {1, 2}, {0, 1}, {1, 2},
                                                      {0, 2}, {1, 2}, {0, 1}};
    assert_memory_equal(shares, expected, sizeof expected);
}

TEST_WITH(too_many_kinds_are_refused, reset, forget_site)
{
    static struct bats_node many[BATS_CLUSTERS_MAX + 2];
    struct bats_site site;
    for (uint32_t i = 0; i < BATS_CLUSTERS_MAX + 2; i++) {
        many[i].hardware.cores = i;
        sprintf(many[i].host, "n%u", i);
    }
    assert_refused(bats_site_discover(many, BATS_CLUSTERS_MAX + 2,
                                      BATS_SITE_AUTO, &site, &err),
                   BATS_EINPUT,
                   "there are more than 32 kinds of machines: "
                   "write a clusters file (--clusters)");
    assert_ok(bats_site_discover(many, BATS_CLUSTERS_MAX + 1, BATS_SITE_AUTO,
                                 &site, &err));
    bats_site_release(&site);
}

/* ---- with Slurm ---- */

/* Makes a program called scontrol, the shell script `script`, that is found
 * first. */
static void pretend(const char *script)
{
    static char search[4096];
    if (search[0] == '\0') {
        snprintf(search, sizeof search, "%s:%s", directory, getenv("PATH"));
        setenv("PATH", search, 1);
    }
    FILE *file = fopen("scontrol", "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s", script);
    fclose(file);
    chmod("scontrol", 0700);
    setenv("SLURM_JOB_ID", "7", 1);
}

#define JOB(cpus, oversubscribe)                                              \
    "case $* in\n"                                                            \
    "*'show job 7')\n"                                                        \
    "  test \"$SLURM_TIME_FORMAT\" = %s || exit 1\n"                          \
    "  echo 'JobId=7 JobState=RUNNING EndTime=99 Partition=fast "             \
    "TRES=billing=0  Nodes=n[1-3] CPU_IDs=" cpus " Mem=0 GRES= "              \
    "OverSubscribe=" oversubscribe " '\n"                                     \
    "  echo 'JobId=8 JobState=RUNNING EndTime=98 Partition=slow "             \
    "TRES=billing=0  Nodes=n[4-5] CPU_IDs=0-5 Mem=0 GRES= OverSubscribe=OK "  \
    "';;\n"                                                                   \
    "*'show partition fast') echo 'PartitionName=fast "                       \
    "TRESBillingWeights=CPU=2.0';;\n"                                         \
    "*'show partition slow') echo 'PartitionName=slow ';;\n"                  \
    "*'show node n[1-5]') for i in 1 2 3 4 5; do\n"                           \
    "  echo \"NodeName=n$i CPUTot=8 \"; done;;\n"                             \
    "*) exit 1;;\n"                                                           \
    "esac\n"

static void set_partitions(void)
{
    for (int i = 0; i < RANKS; i++)
        strcpy(nodes[i].partition, i < 6 ? "fast" : "slow");
}

TEST_WITH(slurm_names_the_clusters_and_their_charges, reset, forget_site)
{
    set_partitions();
    pretend(JOB("0-7", "OK"));
    discover(BATS_SITE_AUTO);
    if (s.trouble.code != 0)
        fail_msg("%s", s.trouble.text);
    /* Eight CPUs of weight 2; six threads are three cores, of one or two
     * ranks. */
    expect_file(
        0, "[run]\ncurrency = billing-h\n\n[cluster fast]\npartition = fast\n"
           "machine = node\n# Slurm: TRESBillingWeights=CPU=2.0, 8 CPUs\n"
           "charge = 16/h\n"
           "\n[cluster slow]\nnodes = n4\nmachine = rank\n"
           "# 1 per core-hour (Slurm has no TRESBillingWeights for this "
           "partition), 6 CPUs, shared by 2 ranks\ncharge = 1.5/h\n"
           "\n[cluster slow-2]\nnodes = n5\nmachine = rank\n"
           "# 1 per core-hour (Slurm has no TRESBillingWeights for this "
           "partition), 6 CPUs\ncharge = 3/h\n");
    assert_int_equal(s.allocation.end_s, 98);

    discover(BATS_SITE_RANK);
    assert_reads("0 8", "%d %g", s.clusters[0].by_node, s.clusters[0].rate);
}

TEST_WITH(parts_of_nodes_are_held_by_rank_unless_exclusive, reset, forget_site)
{
    set_partitions();
    pretend(JOB("0-6", "OK"));
    discover(BATS_SITE_AUTO);
    assert_reads("0 7", "%d %g", s.clusters[0].by_node, s.clusters[0].rate);
    pretend(JOB("0-6", "NO"));
    discover(BATS_SITE_AUTO);
    assert_reads("1 14", "%d %g", s.clusters[0].by_node, s.clusters[0].rate);
}

TEST_WITH(a_slurm_that_does_not_answer_is_done_without, reset, forget_site)
{
    set_partitions();
    pretend("echo 'cannot reach anybody' >&2; echo more >&2; exit 1");
    discover(BATS_SITE_AUTO);
    assert_int_equal(s.trouble.code, BATS_ESYS);
    assert_string_equal(s.trouble.text,
                        "scontrol failed: cannot reach anybody");
    assert_string_equal(s.allocation.job, "7");
    assert_int_equal(s.n_clusters, 3); /* 2 x fast, and n5 has one rank */
    assert_string_equal(s.clusters[0].source, "1 per core-hour, 2 cores");
    pretend("echo nothing of use");
    discover(BATS_SITE_AUTO);
    assert_string_equal(s.trouble.text, "scontrol shows no nodes of job 7");
}

TEST_MAIN(enter_directory, leave_directory)
