/*
 * node: where a rank runs, and on what hardware. site fills it in, HELLO
 * (proto) carries it.
 *
 * Layer: util. Plain data.
 */
#ifndef BATS_UTIL_NODE_H
#define BATS_UTIL_NODE_H

#include <stdint.h>

#define BATS_NODE_HOST 256
#define BATS_NODE_PARTITION 64
#define BATS_NODE_GPUS 1024
#define BATS_NODE_UNKNOWN UINT32_MAX
#define BATS_HARDWARE_MODEL 96
#define BATS_HARDWARE_BOUND 256

/* Members are 0 and "" if unknown. */
struct bats_hardware {
    char model[BATS_HARDWARE_MODEL]; /* processor model, cut to fit */
    uint32_t packages;
    uint32_t cores;
    uint32_t threads; /* hardware threads, of all cores */
    uint64_t memory_bytes;
    /* The hardware threads that this process may run on, as in "0-3,8", by the
     * numbers of the operating system; "" if unknown or too long. */
    char bound[BATS_HARDWARE_BOUND];
    uint32_t bound_cores; /* cores with at least one thread here */
};

struct bats_node {
    uint32_t pid;
    uint64_t pid_space; /* equal where `pid` has the same meaning: the same
                         * boot of the same host, in the same process namespace
                         * (a container has its own); 0: nowhere */
    char host[BATS_NODE_HOST];
    char partition[BATS_NODE_PARTITION]; /* "" if unknown */
    uint32_t id;         /* number of the node, or BATS_NODE_UNKNOWN */
    uint32_t local_rank; /* index among the ranks of the node, or
                          * BATS_NODE_UNKNOWN */
    struct bats_hardware hardware;
    uint64_t usable_bytes;     /* memory that the job may use; 0: unknown */
    char gpus[BATS_NODE_GPUS]; /* names of GPUs, as in "0,1"; "": none */
};

#endif
