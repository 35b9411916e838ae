/* platform: the machines that a clusters file and the ranks make. */
#include "helpers/clusters_fixture.h"
#include "input/clusters_file.h"
#include "util/text.h"

#define WORKERS 8
static struct bats_worker_rank workers[WORKERS];
static struct bats_platform p; /* the last one that was built */

/* Two ranks on each of four hosts, of two partitions. */
#define PAIRS "a1/p a1/p a2/p a2/p a3/q a3/q a4/q a4/q"

/* Ranks 1 to 8 are on these hosts, HOST or HOST/PARTITION each. */
static void set_workers(const char *hosts)
{
    for (int i = 0, n; i < WORKERS; i++, hosts += n) {
        char words[64], *slash;
        assert_int_equal(sscanf(hosts, "%63s%n", words, &n), 1);
        if ((slash = strchr(words, '/')) != NULL)
            *slash = '\0';
        workers[i] = (struct bats_worker_rank){.rank = i + 1};
        strcpy(workers[i].host, words);
        strcpy(workers[i].partition, slash ? slash + 1 : "");
    }
}

/* From the file that was loaded. */
static void build(void)
{
    bats_platform_release(&p);
    assert_ok(bats_platform_build(file, workers, WORKERS, &p, &err));
}

/* Every cluster's name, charge, max and speed, with the window and the currency;
 * every worker's machine.slot; and every machine's cluster:slots. */
static const char *told(void)
{
    static char text[1024];
    char word[BATS_UNITS_TEXT];
    text[0] = '\0';
    for (size_t i = 0; i < p.n_clusters; i++)
        bats_append(text, sizeof text, "%s %s %u %g, ", p.clusters[i].name,
                    bats_money_format(word, p.clusters[i].charge),
                    p.clusters[i].max, p.speed[i]);
    bats_append(text, sizeof text, "%s%s\n",
                bats_duration_format(word, p.window), p.currency);
    for (size_t i = 0; i < p.n_workers; i++)
        bats_append(text, sizeof text, "%u.%u ", p.slot_of[i].machine,
                    p.slot_of[i].slot);
    for (uint32_t m = 0; m < p.n_machines; m++)
        bats_append(text, sizeof text, "%s%u:%u", m > 0 ? " " : "\n",
                    p.machines[m].cluster, p.machines[m].slots);
    return text;
}

#define ALONE "0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 \n"

static const struct {
    const char *what, *hosts, *file, *machines;
} built[] = {
    {"a long list goes on in indented lines", PAIRS,
     "[cluster x]\nranks = 1,\n  2-3,  # with a comment\n\n# or one between\n"
     "  4\ncharge = 1\n[cluster y]\ncharge = 2\nnodes = a3\n\ta[4-4]\n",
     "x 1 4 1, y 2 4 1, 1h\n" ALONE "0:1 0:1 0:1 0:1 1:1 1:1 1:1 1:1"},
    {"a single cluster may have every rank", PAIRS,
     "[cluster all]\ncharge = 1\n",
     "all 1 8 1, 1h\n" ALONE "0:1 0:1 0:1 0:1 0:1 0:1 0:1 0:1"},
    {"machines are numbered by cluster, then rank", PAIRS,
     "[run]\nwindow=15m\ncurrency=EUR\n"
     "[cluster fast]\nranks = 7, 2-3\ncharge = 12\nspeed = 0.25\n"
     "[cluster slow]\nranks = 4-6,8,1\ncharge = 3\nmax = 2\n",
     "fast 12 3 0.25, slow 3 2 1, 15mEUR\n"
     "3.0 0.0 1.0 4.0 5.0 6.0 2.0 7.0 \n0:1 0:1 0:1 1:1 1:1 1:1 1:1 1:1"},
    /* Ranks dealt out in turn, and one more on a2. */
    {"nodes are machines with a slot per rank", "a1 a2 b1 a1 a2 b1 a2 b2",
     "[cluster b]\nnodes = b[1-2]\ncharge = 1\n"
     "[cluster a]\nnodes = a[1-2]\ncharge = 1\nmachine = node\nmax = 1\n",
     "b 1 3 1, a 1 1 1, 1h\n3.0 4.0 0.0 3.1 4.1 1.0 4.2 2.0 \n"
     "0:1 0:1 0:1 1:2 1:3"},
    /* A machine belongs to one cluster, even where a node does not. */
    {"a node may be shared by rank", PAIRS,
     "[cluster x]\nranks = 1-3\ncharge = 1\nmachine = node\n"
     "[cluster y]\nranks = 4-8\ncharge = 1\nmachine = node\n",
     "x 1 2 1, y 1 3 1, 1h\n0.0 0.1 1.0 2.0 3.0 3.1 4.0 4.1 \n"
     "0:2 0:1 1:1 1:2 1:2"},
    {"partitions are matched by name", PAIRS,
     "[cluster x]\npartition = q\ncharge = 1\nmachine = node\n"
     "[cluster y]\npartition = p\ncharge = 1\nmax = 4\n",
     "x 1 2 1, y 1 4 1, 1h\n2.0 3.0 4.0 5.0 0.0 0.1 1.0 1.1 \n"
     "0:2 0:2 1:1 1:1 1:1 1:1"},
    {"partitions that are not there are left out", PAIRS,
     "[cluster r]\ncharge = 1\npartition = r\n"
     "[cluster q]\ncharge = 2\npartition = q\n"
     "[cluster p]\ncharge = 3\npartition = p\nspeed = 0.5\n",
     "q 2 4 1, p 3 4 0.5, 1h\n4.0 5.0 6.0 7.0 0.0 1.0 2.0 3.0 \n"
     "0:1 0:1 0:1 0:1 1:1 1:1 1:1 1:1"},
    {"short names match hosts with a domain",
     "a1.site.org a1.site.org a1.site.org a1.site.org "
     "a2.site.org a2.site.org a2.site.org a2.site.org",
     "[cluster x]\nnodes = a2\ncharge = 1\nmachine = node\n"
     "[cluster y]\nnodes = a1.site.org\ncharge = 1\n",
     "x 1 1 1, y 1 4 1, 1h\n1.0 2.0 3.0 4.0 0.0 0.1 0.2 0.3 \n"
     "0:4 1:1 1:1 1:1 1:1"},
    {"max is at most what is there", PAIRS,
     "[cluster x]\ncharge = 1\nranks = 1-6\nmax = 7\n"
     "[cluster y]\nmax = 1\ncharge = 1\nranks = 7-8\n",
     "x 1 6 1, y 1 1 1, 1h\n" ALONE "0:1 0:1 0:1 0:1 0:1 0:1 1:1 1:1"},
    {"also of nodes", PAIRS,
     "[cluster x]\ncharge = 1\nmachine = node\nmax = 5\n",
     "x 1 4 1, 1h\n0.0 0.1 1.0 1.1 2.0 2.1 3.0 3.1 \n0:2 0:2 0:2 0:2"}};

TEST(ranks_form_machines_as_the_file_says)
{
    for (size_t i = 0; i < sizeof built / sizeof *built; i++) {
        load(built[i].file);
        print_message("# %s\n", built[i].what);
        set_workers(built[i].hosts);
        build();
        assert_string_equal(told(), built[i].machines);
        bats_platform_release(&p);
        assert_null(p.machines);
    }
}

TEST(the_window_of_the_command_line_wins)
{
    load_with("[run]\nwindow = 15m\n[cluster x]\ncharge = 1\n", BATS_MINUTE);
    set_workers(PAIRS);
    assert_true(file->window == BATS_MINUTE);
    build();
    assert_true(p.window == BATS_MINUTE);
}

TEST(the_order_of_the_workers_does_not_matter)
{
    load("[cluster x]\ncharge = 1\nmachine = node\n");
    set_workers("b b b b a a a a");
    for (int i = 0; i < WORKERS; i++)
        workers[i].rank = WORKERS - i;
    build();
    assert_string_equal(told(), "x 1 2 1, 1h\n1.3 1.2 1.1 1.0 0.3 0.2 0.1 "
                                "0.0 \n0:4 0:4");
}

/* The file can be read, but does not fit the workers. */
TEST(files_that_do_not_fit_are_refused)
{
    static const struct {
        const char *hosts, *file, *expected;
    } wrong[] = {
        {PAIRS, "[cluster x]\ncharge = 1\nranks = 1-9\n",
         ":3: there is no rank 9; the last one is 8"},
        {PAIRS, "[cluster x]\ncharge = 1\nranks = 1-999999999\n",
         ":3: there is no rank 9; the last one is 8"},
        {PAIRS, "[cluster x]\ncharge = 1\nranks = 0-8\n",
         ":3: rank 0 is the master and runs no tasks in this run"},
        {PAIRS,
         "[cluster x]\ncharge = 1\nranks = 1-4\n"
         "[cluster y]\ncharge = 1\nranks = 4-8\n",
         ":6: rank 4 on a2 is also in cluster 'x' (line 3)"},
        {PAIRS, "[cluster x]\ncharge = 1\nranks = 1-4,3\n",
         ":3: rank 3 is named twice"},
        {PAIRS,
         "[cluster x]\nnodes = a[1-3]\ncharge = 1\n"
         "[cluster y]\ncharge = 1\n\nnodes = a[3-4]\n",
         ":7: rank 5 on a3 is also in cluster 'x' (line 2)"},
        {PAIRS,
         "[cluster x]\nnodes = a[1-3]\ncharge = 1\n"
         "[cluster y]\ncharge = 1\npartition = q\n",
         ":6: rank 5 on a3 is also in cluster 'x' (line 2)"},
        {PAIRS, "[cluster x]\ncharge = 1\nnodes = a[1-5]\n",
         ":3: no rank that can run tasks is on node 'a5'"},
        {PAIRS, "[cluster x]\ncharge = 1\nnodes = a[1-4],a1.org\n",
         ":3: no rank that can run tasks is on node 'a1.org'"},
        /* A rank in none of the clusters shows a partition that is
         * misspelt. */
        {PAIRS,
         "[cluster x]\ncharge = 1\npartition = r\n"
         "[cluster y]\ncharge = 1\npartition = p\n",
         ":4: rank 5 on a3, partition q is in none of the clusters; the "
         "last one is here"},
        {PAIRS,
         "[cluster x]\ncharge = 1\nranks = 1,3-4\n"
         "[cluster y]\ncharge = 1\nnodes = a[3-4]\n",
         ":4: rank 2 on a1, partition p is in none of the clusters; the "
         "last one is here"},
        {"a a a a a a a a", "[cluster x]\ncharge = 1\npartition = r\n",
         ":3: no rank that can run tasks is in partition 'r': outside a batch "
         "job no partition is known"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        load(wrong[i].file);
        struct bats_platform none = {.n_clusters = 77};
        set_workers(wrong[i].hosts);
        if (bats_platform_build(file, workers, WORKERS, &none, &err) == 0)
            fail_msg("built, but not: %s", wrong[i].expected);
        assert_behind(clusters_path, wrong[i].expected);
        assert_int_equal(none.n_clusters, 77);
        assert_null(none.machines);
    }
}

TEST(a_run_without_workers_is_refused)
{
    load("[cluster all]\ncharge = 1\n");
    assert_refused(bats_platform_build(file, NULL, 0, &p, &err), BATS_EINPUT,
                   "there is no rank to run tasks: rank 0 is the master, so "
                   "start at least two");
}

TEST(rank_0_is_charged_like_a_machine_unless_its_node_is_one)
{
    static const char ranks[] = "[cluster x]\ncharge = 2\n",
                      node[] = "[cluster x]\ncharge = 2\nmachine = node\n",
                      parts[] = "[cluster x]\npartition = p\ncharge = 3\n"
                                "[cluster y]\npartition = q\ncharge = 5\n"
                                "machine = node\n",
                      nodes[] = "[cluster x]\nnodes = a[0-2]\ncharge = 7\n"
                                "machine = node\n"
                                "[cluster y]\nnodes = a[3-4]\ncharge = 9\n",
                      few[] = "[cluster x]\nranks = 1-6\ncharge = 1\n"
                              "[cluster y]\nranks = 7-8\ncharge = 4\n";
    static const struct {
        const char *host, *partition, *file;
        bats_money charge;
    } rows[] = {
        {"a1", "p", ranks, 2}, {"a1", "p", node, 0},  {"a0", "p", node, 2},
        {"a1", "p", parts, 3}, {"a4", "q", parts, 0}, {"a9", "q", parts, 5},
        {"a0", "", nodes, 7},  {"a2", "", nodes, 0},  {"a3", "", nodes, 9},
        {"b1", "", nodes, 0},  {"a4", "", few, 4}};
    set_workers(PAIRS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bats_worker_rank idle = {.rank = 0};
        load(rows[i].file);
        strcpy(idle.host, rows[i].host);
        strcpy(idle.partition, rows[i].partition);
        assert_int_equal(
            bats_platform_idle_charge(file, workers, WORKERS, &idle),
            rows[i].charge * BATS_UNIT);
    }
}

TEST_MAIN(enter_directory, leave_directory)
