/* hardware: which cores are whose, on a machine that hwloc makes up: two
 * packages with a NUMA node of 16 GiB and four cores each, two hardware
 * threads per core; core c has the threads 2c and 2c + 1. */
#include "helpers/directory.h"
#include "site/hardware.h"
#include "site/node.h"

#include <sys/stat.h>
#include <unistd.h>

static int make_machine(void **state)
{
#ifndef BATS_HAVE_HWLOC
    skip();
#endif
    setenv("HWLOC_SYNTHETIC",
           "package:2 [numa(memory=17179869184)] core:4 pu:2", 1);
    return 0;
}

TEST_WITH(the_least_limit_of_all_control_groups_above_counts, enter_directory,
          leave_directory)
{
    assert_int_equal(mkdir("job", 0700) | mkdir("job/step", 0700) |
                         mkdir("memory", 0700) | mkdir("memory/old", 0700),
                     0);
    write_text("groups", "12:cpu,cpuacct:/x\n0::/job/step\n");
    assert_true(bats_node_limit("groups", directory) == UINT64_MAX);
    write_text("job/step/memory.max", "max\n");
    write_text("job/memory.max", "4096\n");
    assert_true(bats_node_limit("groups", directory) == 4096);
    write_text("job/step/memory.max", "2048\n");
    write_text("memory.max", "1024\n");
    assert_true(bats_node_limit("groups", directory) == 1024);
    write_text("groups", "3:memory:/old\n");
    write_text("memory/old/memory.limit_in_bytes", "512\n");
    assert_true(bats_node_limit("groups", directory) == 512);
    assert_true(bats_node_limit("none", directory) == UINT64_MAX);
}

TEST(a_job_may_use_what_it_asked_for_and_the_gpus_of_its_step)
{
    struct bats_node node = {.hardware.memory_bytes = (uint64_t)8 << 40};
    setenv("SLURM_MEM_PER_CPU", "3", 1);
    setenv("SLURM_CPUS_ON_NODE", "4", 1);
    setenv("ROCR_VISIBLE_DEVICES", "2,3", 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    bats_node_look_at_resources(&node);
    assert_true(node.usable_bytes == 12 << 20);
    assert_string_equal(node.gpus, "2,3");
    setenv("SLURM_MEM_PER_NODE", "5", 1);
    setenv("CUDA_VISIBLE_DEVICES", "GPU-1", 1);
    bats_node_look_at_resources(&node);
    assert_true(node.usable_bytes == 5 << 20);
    assert_string_equal(node.gpus, "GPU-1");
}

TEST_WITH(the_whole_node_is_counted, make_machine, NULL)
{
    struct bats_hardware h;
    bats_hardware_look(&h);
    assert_int_equal(h.packages, 2);
    assert_int_equal(h.cores, 8);
    assert_int_equal(h.threads, 16);
    assert_true(h.memory_bytes == (uint64_t)32 << 30);
    assert_string_equal(h.model, "");
}

TEST_WITH(ranks_share_cores_as_the_rows_say, make_machine, NULL)
{
    static const struct {
        const char *bound;
        enum bats_bind bind;
        struct bats_share share; /* index, count */
        const char *chosen;
        uint32_t cores;
    } rows[] = {/* A rank alone has all its cores. */
                {"0-15", BATS_BIND_CORE, {0, 1}, "0-15", 8},
                {"0-3", BATS_BIND_CORE, {0, 1}, "0-3", 2},
                {"5", BATS_BIND_CORE, {0, 1}, "5", 1},
                /* Ranks share neighbouring ones evenly; two may be left. */
                {"0-15", BATS_BIND_CORE, {0, 2}, "0-7", 4},
                {"0-15", BATS_BIND_CORE, {1, 2}, "8-15", 4},
                {"0-15", BATS_BIND_CORE, {1, 3}, "4-7", 2},
                {"0-15", BATS_BIND_CORE, {2, 3}, "8-11", 2},
                {"0-15", BATS_BIND_CORE, {7, 8}, "14-15", 1},
                {"1,3,8-9", BATS_BIND_CORE, {1, 3}, "3", 1},
                {"1,3,8-9", BATS_BIND_CORE, {2, 3}, "8-9", 1},
                /* Too many are not tied. */
                {"0-15", BATS_BIND_CORE, {8, 9}, "", 1},
                {"0-1", BATS_BIND_NUMA, {0, 2}, "", 1},
                /* A NUMA node is all that is near, which may be on both. */
                {"0-15", BATS_BIND_NUMA, {0, 4}, "0-7", 2},
                {"0-15", BATS_BIND_NUMA, {3, 4}, "8-15", 2},
                {"2-9", BATS_BIND_NUMA, {0, 2}, "2-7", 2},
                {"2-9", BATS_BIND_NUMA, {1, 2}, "2-9", 2},
                {"0-15", BATS_BIND_NONE, {0, 2}, "", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[64];
        assert_int_equal(bats_hardware_choose(rows[i].bound, rows[i].bind,
                                              rows[i].share, text,
                                              sizeof text),
                         rows[i].cores);
        assert_string_equal(text, rows[i].chosen);
    }
    assert_int_equal(
        bats_hardware_bind(BATS_BIND_NONE, (struct bats_share){0, 1}), 0);
}

TEST_MAIN(NULL, NULL)
