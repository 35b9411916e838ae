/* batch_system: a batch system that the program has never heard of is one
 * table of functions and a line in a list. The list here is not the one of
 * batch_systems.c; the linker takes this one. */
#include "helpers/test.h"
#include "site/batch_system.h"
#include "site/site.h"

/* ---- a batch system, as in src/doc/add-a-batch-system.md ---- */

static int ask(double threads_per_core, struct bats_allocation *a,
               struct bats_error *err)
{
    static const struct bats_allocation_part part = {
        .partition = "long", .source = "Pool: 3 per CPU and hour"};
    struct bats_allocation_node node = {
        .part = 0, .cpus = 8, .whole = true, .rate = 3 * 8};
    a->end_s = 1795262787;
    if (getenv("POOL_IS_DOWN") != NULL)
        return bats_error_set(err, BATS_ESYS, "nobody answers");
    strcpy(a->user, "anna");
    a->rate = 48;
    int rc = bats_allocation_add_part(a, &part, err);
    for (int i = 2; rc == 0 && i > 0; i--) {
        snprintf(node.host, sizeof node.host, "n%d", i);
        rc = bats_allocation_add_node(a, &node, err);
    }
    return rc;
}

static const struct bats_batch_system pool = {
    .name = "Pool",
    .key = "pool",
    .currency = "pool-h",
    .job = "POOL_JOB",
    .queue = "POOL_QUEUE",
    .rank = "POOL_TASK",
    .ask = ask,
};

/* ---- another, which this process is in no job of ---- */

static const struct bats_batch_system other = {.name = "Other",
                                               .job = "OTHER_JOB"};

const struct bats_batch_system *const bats_batch_systems[] = {&other, &pool,
                                                              NULL};

/* ---- the tests ---- */

static int reset(void **state)
{
    setenv("POOL_JOB", "77.head", 1);
    setenv("POOL_QUEUE", "long", 1);
    unsetenv("POOL_TASK");
    unsetenv("POOL_IS_DOWN");
    return 0;
}

static struct bats_site discover(void)
{
    struct bats_node nodes[3] = {{.host = "n1.site.org"},
                                 {.host = "n1.site.org"},
                                 {.host = "n2.site.org"}};
    struct bats_site site;
    for (int i = 0; i < 3; i++) {
        const char *queue = bats_batch_partition(nodes[i].host);
        snprintf(nodes[i].partition, sizeof nodes[i].partition, "%s",
                 queue != NULL ? queue : "");
    }
    assert_ok(bats_site_discover(nodes, 3, BATS_SITE_AUTO, &site, &err));
    return site;
}

TEST_WITH(a_new_batch_system_names_clusters_and_charges, reset, NULL)
{
    char *text;
    struct bats_site s = discover();
    assert_ptr_equal(s.allocation.system, &pool);
    assert_string_equal(s.allocation.job, "77.head");
    assert_int_equal(s.allocation.end_s, 1795262787);
    assert_int_equal(bats_site_write(&s, 0, &text, NULL), 0);
    assert_string_equal(text, "[run]\ncurrency = pool-h\n"
                              "\n[cluster long]\npartition = long\n"
                              "machine = node\n"
                              "# Pool: 3 per CPU and hour, 8 CPUs\n"
                              "charge = 24/h\n");
    free(text);
    bats_site_release(&s);
}

TEST_WITH(nodes_are_found_in_any_order, reset, NULL)
{
    struct bats_allocation a;
    assert_int_equal(bats_batch_ask(1, &a, NULL), 0);
    assert_string_equal(bats_allocation_find(&a, "n1")->host, "n1");
    assert_string_equal(bats_allocation_find(&a, "n2.site.org")->host, "n2");
    assert_null(bats_allocation_find(&a, "n3"));
    bats_allocation_release(&a);
}

TEST_WITH(a_system_that_does_not_answer_may_know_the_end, reset, NULL)
{
    struct bats_allocation a;
    setenv("POOL_IS_DOWN", "1", 1);
    assert_int_equal(bats_batch_ask(1, &a, &err), BATS_ESYS);
    assert_string_equal(a.job, "77.head");
    assert_int_equal(a.end_s, 1795262787);
    assert_int_equal(a.n_parts, 0);
    bats_allocation_release(&a);
    struct bats_site s = discover();
    assert_string_equal(s.trouble.text, "nobody answers");
    bats_site_release(&s);
}

TEST_WITH(outside_its_jobs_a_system_is_not_asked, reset, NULL)
{
    struct bats_allocation a;
    unsetenv("POOL_JOB");
    assert_null(bats_batch_system_here());
    assert_int_equal(bats_batch_ask(1, &a, NULL), 0);
    assert_null(a.system);
    assert_int_equal(a.n_nodes, 0);
    assert_null(bats_allocation_find(&a, "n1"));
}

TEST_WITH(any_system_may_have_launched_the_process, reset, NULL)
{
    assert_false(bats_batch_launched());
    setenv("POOL_TASK", "3", 1);
    assert_true(bats_batch_launched());
}

TEST_MAIN(NULL, NULL)
