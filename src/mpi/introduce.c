#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/hostlist.h"
#include "mpi/introduce.h"

static const char *group_variable(const char *name, int group)
{
    char variable[64];
    snprintf(variable, sizeof variable, "%s_HET_GROUP_%d", name, group);
    return getenv(variable);
}

static const char *partition_of(const char *host)
{
    if (getenv("SLURM_HET_SIZE") == NULL)
        return getenv("SLURM_JOB_PARTITION");
    for (int group = 0;; group++) {
        const char *nodes = group_variable("SLURM_JOB_NODELIST", group);
        struct bats_hostlist list;
        if (nodes == NULL || bats_hostlist_expand(nodes, &list, NULL) < 0)
            return NULL;
        bool here = bats_hostlist_find(&list, host) >= 0;
        bats_hostlist_release(&list);
        if (here)
            return group_variable("SLURM_JOB_PARTITION", group);
    }
}

/* Of this boot of this host, and the process namespace in it (a container has
 * its own). */
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
    char *host = introduction->host;
    if (gethostname(host, sizeof introduction->host) != 0)
        strcpy(host, "localhost");
    host[sizeof introduction->host - 1] = '\0';

    /* A name that has no room is not known: half of it could be another's. */
    const char *partition = partition_of(host);
    if (partition == NULL ||
        strlen(partition) >= sizeof introduction->partition)
        partition = "";
    strcpy(introduction->partition, partition);

    introduction->hello = (struct bats_hello){
        .rank = (uint32_t)rank,
        .pid = (uint32_t)getpid(),
        .pid_space = pid_space(),
        .host = introduction->host,
        .partition = introduction->partition,
    };
}
