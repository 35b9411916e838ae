#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/introduce.h"

_Static_assert(BATS_NODE_HOST == BATS_PROTO_HOST &&
                   BATS_NODE_PARTITION == BATS_PROTO_PARTITION &&
                   BATS_HARDWARE_MODEL == BATS_PROTO_MODEL &&
                   BATS_HARDWARE_BOUND == BATS_PROTO_BOUND &&
                   BATS_NODE_UNKNOWN == UINT32_MAX,
               "what is known of a node can be sent");

/* Identifies this boot of this host, and the process namespace (a container
 * has its own). */
static uint64_t pid_space(void)
{
    char boot[40] = "";
    struct stat namespace;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file == NULL)
        return 0;
    bool known = fgets(boot, sizeof boot, file) != NULL &&
                 stat("/proc/self/ns/pid", &namespace) == 0;
    fclose(file);
    return known ? strtoull(boot, NULL, 16) << 32 ^ namespace.st_ino : 0;
}

void bats_introduce(struct bats_introduction *introduction, int rank)
{
    struct bats_node *node = &introduction->node;
    bats_node_look(node);
    introduction->hello = (struct bats_hello){
        .rank = (uint32_t)rank,
        .pid = (uint32_t)getpid(),
        .pid_space = pid_space(),
        .host = node->host,
        .partition = node->partition,
        .node = node->id,
        .local_rank = node->local_rank,
        .model = node->hardware.model,
        .packages = node->hardware.packages,
        .cores = node->hardware.cores,
        .threads = node->hardware.threads,
        .memory_bytes = node->hardware.memory_bytes,
        .bound = node->hardware.bound,
        .bound_cores = node->hardware.bound_cores,
        .kept_run = "",
    };
}

struct bats_node bats_introduced_node(const struct bats_hello *hello)
{
    struct bats_node node = {
        .id = hello->node,
        .local_rank = hello->local_rank,
        .hardware = {.packages = hello->packages,
                     .cores = hello->cores,
                     .threads = hello->threads,
                     .memory_bytes = hello->memory_bytes,
                     .bound_cores = hello->bound_cores},
    };
    snprintf(node.host, sizeof node.host, "%s", hello->host);
    snprintf(node.partition, sizeof node.partition, "%s", hello->partition);
    struct bats_hardware *h = &node.hardware;
    snprintf(h->model, sizeof h->model, "%s", hello->model);
    snprintf(h->bound, sizeof h->bound, "%s", hello->bound);
    return node;
}
