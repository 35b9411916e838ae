#include "site/node.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "site/batch_system.h"
#include "site/hardware.h"

#ifdef BATS_HAVE_PMIX
#include <pmix.h>

static uint32_t ask(const pmix_proc_t *self, const char *key)
{
    pmix_value_t *value = NULL;
    uint32_t answer = BATS_NODE_UNKNOWN;
    if (PMIx_Get(self, key, NULL, 0, &value) != PMIX_SUCCESS)
        return answer;
    if (value->type == PMIX_UINT32)
        answer = value->data.uint32;
    else if (value->type == PMIX_UINT16)
        answer = value->data.uint16;
    PMIX_VALUE_RELEASE(value);
    return answer;
}

/* PMIx counts how often it was opened. A PMIx library inside the MPI library
 * is a different one: opening ours as well might confuse the launcher. */
static void ask_pmix(struct bats_node *node)
{
    pmix_proc_t self;
    if (!PMIx_Initialized() || PMIx_Init(&self, NULL, 0) != PMIX_SUCCESS)
        return;
    node->id = ask(&self, PMIX_NODEID);
    node->local_rank = ask(&self, PMIX_LOCAL_RANK);
    PMIx_Finalize(NULL, 0);
}

#else

static void ask_pmix(struct bats_node *node)
{
}

#endif

/* ---- what its job may use ---- */

/* Reads a limit. UINT64_MAX: no such file, or no limit in it. */
static uint64_t read_limit(const char *directory, const char *file)
{
    char path[PATH_MAX];
    uint64_t bytes = UINT64_MAX;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, file) >=
        sizeof path)
        return bytes;
    FILE *in = fopen(path, "re");
    if (in != NULL && fscanf(in, "%" SCNu64, &bytes) != 1)
        bytes = UINT64_MAX;
    if (in != NULL)
        fclose(in);
    return bytes;
}

/* The smallest limit of `group` and its ancestors. */
static uint64_t climb(const char *root, const char *group, const char *file)
{
    char path[PATH_MAX];
    uint64_t least = UINT64_MAX;
    size_t top = strlen(root);
    if ((size_t)snprintf(path, sizeof path, "%s%s", root, group) >=
        sizeof path)
        return least;
    for (char *end = strchr(path, '\0'); end; end = strrchr(path + top, '/')) {
        *end = '\0';
        uint64_t limit = read_limit(path, file);
        least = limit < least ? limit : least;
    }
    return least;
}

uint64_t bats_node_limit(const char *groups, const char *root)
{
    char line[PATH_MAX], tree[PATH_MAX];
    uint64_t least = UINT64_MAX;
    FILE *in = fopen(groups, "re");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *names = strchr(line, ':');
        char *group = names != NULL ? strchr(names + 1, ':') : NULL;
        if (group == NULL)
            continue;
        *group++ = '\0';
        bool is_second = names[1] == '\0';
        if (!is_second && strcmp(names + 1, "memory") != 0)
            continue;
        snprintf(tree, sizeof tree, "%s%s", root, is_second ? "" : "/memory");
        uint64_t limit =
            climb(tree, strcmp(group, "/") == 0 ? "" : group,
                  is_second ? "memory.max" : "memory.limit_in_bytes");
        least = limit < least ? limit : least;
    }
    if (in != NULL)
        fclose(in);
    return least;
}

void bats_node_look_at_resources(struct bats_node *node)
{
    uint64_t asked = (uint64_t)bats_batch_memory(true) * 1024;
    uint64_t limit = bats_node_limit("/proc/self/cgroup", "/sys/fs/cgroup");
    const char *gpus = getenv("CUDA_VISIBLE_DEVICES");
    node->usable_bytes = node->hardware.memory_bytes;
    if (asked > 0 && (node->usable_bytes == 0 || asked < node->usable_bytes))
        node->usable_bytes = asked;
    if (limit < node->usable_bytes)
        node->usable_bytes = limit;
    if (gpus == NULL)
        gpus = getenv("ROCR_VISIBLE_DEVICES");
    if (gpus != NULL && strcmp(gpus, "NoDevFiles") != 0 &&
        strlen(gpus) < sizeof node->gpus)
        strcpy(node->gpus, gpus);
}

/* ---- all of it ---- */

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

void bats_node_look(struct bats_node *node)
{
    *node = (struct bats_node){.pid = (uint32_t)getpid(),
                               .pid_space = pid_space(),
                               .id = BATS_NODE_UNKNOWN,
                               .local_rank = BATS_NODE_UNKNOWN};
    if (gethostname(node->host, sizeof node->host - 1) != 0)
        strcpy(node->host, "localhost");
    /* A truncated name counts as unknown: it could be that of another
     * partition. */
    const char *partition = bats_batch_partition(node->host);
    if (partition != NULL && strlen(partition) < sizeof node->partition)
        strcpy(node->partition, partition);
    ask_pmix(node);
    bats_hardware_look(&node->hardware);
    bats_node_look_at_resources(node);
}
