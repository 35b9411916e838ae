#include "site/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "site/batch_system.h"
#include "site/hardware.h"
#include "site/resources.h"

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
    (void)node;
}

#endif

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
    bats_resources_look(node);
}
