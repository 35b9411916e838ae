/* hardware: which cores are whose, on a machine that hwloc makes up: two
 * packages with a NUMA node of 16 GiB and four cores each, two hardware
 * threads per core; core c has the threads 2c and 2c + 1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "site/hardware.h"

static int make_machine(void **state)
{
    (void)state;
#ifndef BATS_HAVE_HWLOC
    skip();
#endif
    setenv("HWLOC_SYNTHETIC",
           "package:2 [numa(memory=17179869184)] core:4 pu:2", 1);
    return 0;
}

static void the_whole_node_is_counted(void **state)
{
    (void)state;
    struct bats_hardware h;
    bats_hardware_look(&h);
    assert_int_equal(h.packages, 2);
    assert_int_equal(h.cores, 8);
    assert_int_equal(h.threads, 16);
    assert_true(h.memory_bytes == (uint64_t)32 << 30);
    assert_string_equal(h.model, "");
}

static void expect(const char *bound, enum bats_bind bind, uint32_t index,
                   uint32_t count, const char *chosen, uint32_t cores)
{
    char text[64];
    struct bats_share share = {index, count};
    uint32_t n = bats_hardware_choose(bound, bind, share, text, sizeof text);
    assert_string_equal(text, chosen);
    assert_int_equal(n, cores);
}

static void a_rank_alone_has_all_its_cores(void **state)
{
    (void)state;
    expect("0-15", BATS_BIND_CORE, 0, 1, "0-15", 8);
    expect("0-3", BATS_BIND_CORE, 0, 1, "0-3", 2);
    expect("5", BATS_BIND_CORE, 0, 1, "5", 1);
}

static void ranks_share_neighbouring_cores_evenly(void **state)
{
    (void)state;
    expect("0-15", BATS_BIND_CORE, 0, 2, "0-7", 4);
    expect("0-15", BATS_BIND_CORE, 1, 2, "8-15", 4);
    expect("0-15", BATS_BIND_CORE, 1, 3, "4-7", 2);
    expect("0-15", BATS_BIND_CORE, 2, 3, "8-11", 2); /* two cores are left */
    expect("0-15", BATS_BIND_CORE, 7, 8, "14-15", 1);
    expect("1,3,8-9", BATS_BIND_CORE, 1, 3, "3", 1);
    expect("1,3,8-9", BATS_BIND_CORE, 2, 3, "8-9", 1);
}

static void too_many_ranks_are_not_tied(void **state)
{
    (void)state;
    expect("0-15", BATS_BIND_CORE, 8, 9, "", 1);
    expect("0-1", BATS_BIND_NUMA, 0, 2, "", 1);
}

static void numa_is_all_that_is_near(void **state)
{
    (void)state;
    expect("0-15", BATS_BIND_NUMA, 0, 4, "0-7", 2);
    expect("0-15", BATS_BIND_NUMA, 3, 4, "8-15", 2);
    expect("2-9", BATS_BIND_NUMA, 0, 2, "2-7", 2);
    expect("2-9", BATS_BIND_NUMA, 1, 2, "2-9", 2); /* on both */
}

static void none_ties_nothing(void **state)
{
    (void)state;
    expect("0-15", BATS_BIND_NONE, 0, 2, "", 0);
    struct bats_share share = {0, 1};
    assert_int_equal(bats_hardware_bind(BATS_BIND_NONE, share), 0);
}

#define HARDWARE_TEST(name) cmocka_unit_test_setup(name, make_machine)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARDWARE_TEST(the_whole_node_is_counted),
        HARDWARE_TEST(a_rank_alone_has_all_its_cores),
        HARDWARE_TEST(ranks_share_neighbouring_cores_evenly),
        HARDWARE_TEST(too_many_ranks_are_not_tied),
        HARDWARE_TEST(numa_is_all_that_is_near),
        HARDWARE_TEST(none_ties_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
