#include "site/resources.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/batch_system.h"
#include "site/node.h"

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

uint64_t bats_resources_limit(const char *groups, const char *root)
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

void bats_resources_look(struct bats_node *node)
{
    uint64_t asked = (uint64_t)bats_batch_memory(true) * 1024;
    uint64_t limit =
        bats_resources_limit("/proc/self/cgroup", "/sys/fs/cgroup");
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
