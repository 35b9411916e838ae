#include "site/batch_system.h"

#include <stddef.h>
#include <stdio.h>

const struct bats_batch_system *bats_batch_system_here(void)
{
    size_t i = 0;
    while (bats_batch_systems[i] != NULL &&
           bats_batch_systems[i]->job() == NULL)
        i++;
    return bats_batch_systems[i];
}

int bats_batch_ask(double threads_per_core, struct bats_allocation *a,
                   struct bats_error *err)
{
    *a = (struct bats_allocation){.system = bats_batch_system_here()};
    if (a->system == NULL)
        return 0;
    snprintf(a->job, sizeof a->job, "%s", a->system->job());
    struct bats_allocation told = *a;
    int rc = a->system->ask(threads_per_core, &told, err);
    a->end_s = told.end_s;
    if (rc < 0) {
        bats_allocation_release(&told);
        return rc;
    }
    *a = told;
    bats_allocation_sort(a);
    return 0;
}

const char *bats_batch_partition(const char *host)
{
    const char *partition = NULL;
    for (size_t i = 0; partition == NULL && bats_batch_systems[i]; i++)
        partition = bats_batch_systems[i]->partition(host);
    return partition;
}

int64_t bats_batch_memory(void)
{
    int64_t kib = 0;
    for (size_t i = 0; kib == 0 && bats_batch_systems[i]; i++)
        if (bats_batch_systems[i]->memory != NULL)
            kib = bats_batch_systems[i]->memory();
    return kib;
}

const char *bats_batch_site(void)
{
    const char *site = NULL;
    for (size_t i = 0; site == NULL && bats_batch_systems[i]; i++)
        if (bats_batch_systems[i]->site != NULL)
            site = bats_batch_systems[i]->site();
    return site != NULL ? site : "";
}

int64_t bats_batch_node_memory(void)
{
    int64_t kib = 0;
    for (size_t i = 0; kib == 0 && bats_batch_systems[i]; i++)
        if (bats_batch_systems[i]->node_memory != NULL)
            kib = bats_batch_systems[i]->node_memory();
    return kib;
}

bool bats_batch_launched(void)
{
    bool launched = false;
    for (size_t i = 0; !launched && bats_batch_systems[i]; i++)
        launched = bats_batch_systems[i]->launched();
    return launched;
}
