/* platform: the machines that a clusters file and the ranks make. */
#include "helpers/clusters_fixture.h"
#include "input/clusters_file.h"

/* Ranks 1 to 8, two on each of the hosts a1 to a4; a1, a2 of partition p. */
#define WORKERS 8
static struct bats_worker_rank workers[WORKERS];

static void set_worker(size_t i, int rank, const char *host,
                       const char *partition)
{
    workers[i].rank = rank;
    snprintf(workers[i].host, sizeof workers[i].host, "%s", host);
    snprintf(workers[i].partition, sizeof workers[i].partition, "%s",
             partition);
}

static int reset_workers(void **state)
{
    static const char *const hosts[] = {"a1", "a2", "a3", "a4"};
    for (int i = 0; i < WORKERS; i++)
        set_worker((size_t)i, i + 1, hosts[i / 2], i < 4 ? "p" : "q");
    return 0;
}

static struct bats_platform build(const char *text)
{
    struct bats_clusters_file *file = load(text);
    struct bats_platform platform;
    assert_ok(bats_platform_build(file, workers, WORKERS, &platform, &err));
    bats_clusters_file_destroy(file);
    return platform;
}

/* The file can be read, but does not fit the workers. */
static void refuse_to_build(const char *text, const char *expected)
{
    struct bats_clusters_file *file = load(text);
    struct bats_platform platform = {.n_clusters = 77};
    if (bats_platform_build(file, workers, WORKERS, &platform, &err) == 0)
        fail_msg("built, but not: %s", expected);
    expect_error(&err, expected);
    assert_int_equal(platform.n_clusters, 77);
    assert_null(platform.machines);
    bats_clusters_file_destroy(file);
}

/* Every worker's machine.slot, and every machine's cluster:slots. */
static void expect_places(const struct bats_platform *p, const char *places,
                          const char *machines)
{
    char text[256] = "", *end = text;
    assert_int_equal(p->n_workers, WORKERS);
    for (size_t i = 0; i < p->n_workers; i++)
        end += sprintf(end, "%s%u.%u", i ? " " : "", p->slot_of[i].machine,
                       p->slot_of[i].slot);
    assert_string_equal(text, places);
    end = text;
    for (uint32_t m = 0; m < p->n_machines; m++)
        end += sprintf(end, "%s%u:%u", m ? " " : "", p->machines[m].cluster,
                       p->machines[m].slots);
    assert_string_equal(text, machines);
}

/* ---- machines ---- */

TEST_WITH(a_long_list_goes_on_in_indented_lines, reset_workers, NULL)
{
    struct bats_platform p = build("[cluster x]\n"
                                   "ranks = 1,\n"
                                   "  2-3,  # with a comment\n"
                                   "\n"
                                   "# or one between\n"
                                   "  4\n"
                                   "charge = 1\n"
                                   "[cluster y]\n"
                                   "charge = 2\n"
                                   "nodes = a3\n"
                                   "\ta[4-4]\n");
    expect_places(&p, "0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0",
                  "0:1 0:1 0:1 0:1 1:1 1:1 1:1 1:1");
    bats_platform_release(&p);
}

TEST_WITH(a_single_cluster_may_have_every_rank, reset_workers, NULL)
{
    struct bats_platform p = build("[cluster all]\ncharge = 1\n");
    assert_int_equal(p.n_clusters, 1);
    assert_string_equal(p.clusters[0].name, "all");
    assert_true(p.clusters[0].charge == BATS_UNIT);
    assert_int_equal(p.clusters[0].max, WORKERS);
    assert_true(p.speed[0] == 1.0);
    assert_true(p.window == BATS_HOUR);
    assert_string_equal(p.currency, "");
    expect_places(&p, "0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0",
                  "0:1 0:1 0:1 0:1 0:1 0:1 0:1 0:1");
    bats_platform_release(&p);
    assert_null(p.machines);
}

TEST_WITH(machines_are_numbered_by_cluster_then_rank, reset_workers, NULL)
{
    struct bats_platform p = build("[run]\nwindow=15m\ncurrency=EUR\n"
                                   "[cluster fast]\n"
                                   "ranks = 7, 2-3\n"
                                   "charge = 12\n"
                                   "speed = 0.25\n"
                                   "[cluster slow]\n"
                                   "ranks = 4-6,8,1\n"
                                   "charge = 3\n"
                                   "max = 2\n");
    assert_int_equal(p.n_clusters, 2);
    assert_string_equal(p.clusters[0].name, "fast");
    assert_true(p.clusters[0].charge == 12 * BATS_UNIT);
    assert_int_equal(p.clusters[0].max, 3);
    assert_true(p.speed[0] == 0.25);
    assert_string_equal(p.clusters[1].name, "slow");
    assert_int_equal(p.clusters[1].max, 2);
    assert_true(p.speed[1] == 1.0);
    assert_true(p.window == 15 * BATS_MINUTE);
    assert_string_equal(p.currency, "EUR");
    expect_places(&p, "3.0 0.0 1.0 4.0 5.0 6.0 2.0 7.0",
                  "0:1 0:1 0:1 1:1 1:1 1:1 1:1 1:1");
    bats_platform_release(&p);
}

TEST_WITH(the_order_of_the_workers_does_not_matter, reset_workers, NULL)
{
    for (size_t i = 0; i < WORKERS; i++)
        set_worker(i, (int)(WORKERS - i), i < 4 ? "b" : "a", "");
    struct bats_platform p =
        build("[cluster x]\ncharge = 1\nmachine = node\n");
    expect_places(&p, "1.3 1.2 1.1 1.0 0.3 0.2 0.1 0.0", "0:4 0:4");
    bats_platform_release(&p);
}

TEST_WITH(nodes_are_machines_with_a_slot_per_rank, reset_workers, NULL)
{
    /* Ranks dealt out in turn, and one more on a2. */
    static const char *const hosts[] = {"a1", "a2", "b1", "a1",
                                        "a2", "b1", "a2", "b2"};
    for (size_t i = 0; i < WORKERS; i++)
        set_worker(i, (int)i + 1, hosts[i], "");
    struct bats_platform p = build("[cluster b]\n"
                                   "nodes = b[1-2]\n"
                                   "charge = 1\n"
                                   "[cluster a]\n"
                                   "nodes = a[1-2]\n"
                                   "charge = 1\n"
                                   "machine = node\n"
                                   "max = 1\n");
    expect_places(&p, "3.0 4.0 0.0 3.1 4.1 1.0 4.2 2.0",
                  "0:1 0:1 0:1 1:2 1:3");
    assert_int_equal(p.clusters[0].max, 3);
    assert_int_equal(p.clusters[1].max, 1);
    bats_platform_release(&p);
}

/* A machine belongs to one cluster, even where a node does not. */
TEST_WITH(a_node_may_be_shared_by_rank, reset_workers, NULL)
{
    struct bats_platform p =
        build("[cluster x]\nranks = 1-3\ncharge = 1\nmachine = node\n"
              "[cluster y]\nranks = 4-8\ncharge = 1\nmachine = node\n");
    expect_places(&p, "0.0 0.1 1.0 2.0 3.0 3.1 4.0 4.1",
                  "0:2 0:1 1:1 1:2 1:2");
    bats_platform_release(&p);
}

TEST_WITH(partitions_are_matched_by_name, reset_workers, NULL)
{
    struct bats_platform p =
        build("[cluster x]\npartition = q\ncharge = 1\nmachine = node\n"
              "[cluster y]\npartition = p\ncharge = 1\nmax = 4\n");
    expect_places(&p, "2.0 3.0 4.0 5.0 0.0 0.1 1.0 1.1",
                  "0:2 0:2 1:1 1:1 1:1 1:1");
    bats_platform_release(&p);
}

TEST_WITH(short_names_match_hosts_with_domain, reset_workers, NULL)
{
    for (size_t i = 0; i < WORKERS; i++)
        set_worker(i, (int)i + 1, i < 4 ? "a1.site.org" : "a2.site.org", "");
    struct bats_platform p =
        build("[cluster x]\nnodes = a2\ncharge = 1\nmachine = node\n"
              "[cluster y]\nnodes = a1.site.org\ncharge = 1\n");
    expect_places(&p, "1.0 2.0 3.0 4.0 0.0 0.1 0.2 0.3",
                  "0:4 1:1 1:1 1:1 1:1");
    bats_platform_release(&p);
}

TEST_WITH(the_window_of_the_command_line_wins, reset_workers, NULL)
{
    struct bats_platform p;
    struct bats_clusters_file *file = load_with(
        "[run]\nwindow = 15m\n[cluster x]\ncharge = 1\n", BATS_MINUTE);
    assert_true(file->window == BATS_MINUTE);
    assert_int_equal(bats_platform_build(file, workers, WORKERS, &p, NULL), 0);
    assert_true(p.window == BATS_MINUTE);
    bats_platform_release(&p);
    bats_clusters_file_destroy(file);
}

/* ---- files that do not fit ---- */

TEST_WITH(ranks_that_are_not_there_are_refused, reset_workers, NULL)
{
    refuse_to_build("[cluster x]\ncharge = 1\nranks = 1-9\n",
                    ":3: there is no rank 9; the last one is 8");
    refuse_to_build("[cluster x]\ncharge = 1\nranks = 1-999999999\n",
                    ":3: there is no rank 9; the last one is 8");
    refuse_to_build("[cluster x]\ncharge = 1\nranks = 0-8\n",
                    ":3: rank 0 is the master and runs no tasks in this run");
}

TEST_WITH(overlaps_are_refused, reset_workers, NULL)
{
    refuse_to_build("[cluster x]\ncharge = 1\nranks = 1-4\n"
                    "[cluster y]\ncharge = 1\nranks = 4-8\n",
                    ":6: rank 4 on a2 is also in cluster 'x' (line 3)");
    refuse_to_build("[cluster x]\ncharge = 1\nranks = 1-4,3\n",
                    ":3: rank 3 is named twice");
    refuse_to_build("[cluster x]\nnodes = a[1-3]\ncharge = 1\n"
                    "[cluster y]\ncharge = 1\n\nnodes = a[3-4]\n",
                    ":7: rank 5 on a3 is also in cluster 'x' (line 2)");
    refuse_to_build("[cluster x]\nnodes = a[1-3]\ncharge = 1\n"
                    "[cluster y]\ncharge = 1\npartition = q\n",
                    ":6: rank 5 on a3 is also in cluster 'x' (line 2)");
}

TEST_WITH(nodes_that_are_not_there_are_refused, reset_workers, NULL)
{
    refuse_to_build("[cluster x]\ncharge = 1\nnodes = a[1-5]\n",
                    ":3: no rank that can run tasks is on node 'a5'");
    refuse_to_build("[cluster x]\ncharge = 1\nnodes = a[1-4],a1.org\n",
                    ":3: no rank that can run tasks is on node 'a1.org'");
}

/* A rank in none of the clusters shows a partition that is misspelt. */
TEST_WITH(partitions_that_are_not_there_are_left_out, reset_workers, NULL)
{
    struct bats_platform p = build("[cluster r]\ncharge = 1\npartition = r\n"
                                   "[cluster q]\ncharge = 2\npartition = q\n"
                                   "[cluster p]\ncharge = 3\npartition = p\n"
                                   "speed = 0.5\n");
    assert_int_equal(p.n_clusters, 2);
    assert_string_equal(p.clusters[0].name, "q");
    assert_string_equal(p.clusters[1].name, "p");
    assert_true(p.speed[0] == 1 && p.speed[1] == 0.5);
    assert_int_equal(p.n_machines, 8);
    for (uint32_t m = 0; m < 8; m++)
        assert_int_equal(p.machines[m].cluster, m < 4 ? 0 : 1);
    bats_platform_release(&p);
    refuse_to_build(
        "[cluster x]\ncharge = 1\npartition = r\n"
        "[cluster y]\ncharge = 1\npartition = p\n",
        ":4: rank 5 on a3, partition q is in none of the clusters; the "
        "last one is here");
}

TEST_WITH(without_slurm_there_are_no_partitions, reset_workers, NULL)
{
    for (size_t i = 0; i < WORKERS; i++)
        set_worker(i, (int)i + 1, "a", "");
    refuse_to_build("[cluster x]\ncharge = 1\npartition = r\n",
                    ":3: no rank that can run tasks is in partition 'r': "
                    "outside a batch job no partition is known");
}

TEST_WITH(max_is_at_most_what_is_there, reset_workers, NULL)
{
    struct bats_platform p = build("[cluster x]\ncharge = 1\nranks = 1-6\n"
                                   "max = 7\n"
                                   "[cluster y]\nmax = 1\ncharge = 1\n"
                                   "ranks = 7-8\n");
    assert_int_equal(p.clusters[0].max, 6);
    assert_int_equal(p.clusters[1].max, 1);
    bats_platform_release(&p);
    p = build("[cluster x]\ncharge = 1\nmachine = node\nmax = 5\n");
    assert_int_equal(p.clusters[0].max, 4);
    bats_platform_release(&p);
}

TEST_WITH(ranks_in_no_cluster_are_refused, reset_workers, NULL)
{
    refuse_to_build(
        "[cluster x]\ncharge = 1\nranks = 1,3-4\n"
        "[cluster y]\ncharge = 1\nnodes = a[3-4]\n",
        ":4: rank 2 on a1, partition p is in none of the clusters; the "
        "last one is here");
}

TEST_WITH(a_run_without_workers_is_refused, reset_workers, NULL)
{
    struct bats_platform p;
    struct bats_clusters_file *file = load("[cluster all]\ncharge = 1\n");
    assert_int_equal(bats_platform_build(file, NULL, 0, &p, &err),
                     BATS_EINPUT);
    bats_clusters_file_destroy(file);
    assert_string_equal(err.text, "there is no rank to run tasks: rank 0 is "
                                  "the master, so start at least two");
}

/* The charge that rank 0, on this node, adds, in the clusters of `text`. */
static void expect_idle(const char *host, const char *partition,
                        const char *text, bats_money charge)
{
    struct bats_worker_rank idle = {.rank = 0};
    struct bats_clusters_file *file = load(text);
    strcpy(idle.host, host);
    strcpy(idle.partition, partition);
    assert_int_equal(bats_platform_idle_charge(file, workers, WORKERS, &idle),
                     charge * BATS_UNIT);
    bats_clusters_file_destroy(file);
}

TEST_WITH(rank_0_is_charged_like_a_machine_unless_its_node_is_one,
          reset_workers, NULL)
{
    expect_idle("a1", "p", "[cluster x]\ncharge = 2\n", 2);
    expect_idle("a1", "p", "[cluster x]\ncharge = 2\nmachine = node\n", 0);
    expect_idle("a0", "p", "[cluster x]\ncharge = 2\nmachine = node\n", 2);
    static const char parts[] = "[cluster x]\npartition = p\ncharge = 3\n"
                                "[cluster y]\npartition = q\ncharge = 5\n"
                                "machine = node\n";
    expect_idle("a1", "p", parts, 3);
    expect_idle("a4", "q", parts, 0);
    expect_idle("a9", "q", parts, 5);
    static const char nodes[] = "[cluster x]\nnodes = a[0-2]\ncharge = 7\n"
                                "machine = node\n"
                                "[cluster y]\nnodes = a[3-4]\ncharge = 9\n";
    expect_idle("a0", "", nodes, 7);
    expect_idle("a2", "", nodes, 0);
    expect_idle("a3", "", nodes, 9);
    expect_idle("b1", "", nodes, 0);
    expect_idle("a4", "",
                "[cluster x]\nranks = 1-6\ncharge = 1\n"
                "[cluster y]\nranks = 7-8\ncharge = 4\n",
                4);
}

TEST_MAIN(enter_directory, leave_directory)
