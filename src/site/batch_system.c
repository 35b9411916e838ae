#include "site/batch_system.h"

#include <stddef.h>

const struct bats_batch_system *bats_batch_system_here(void)
{
    size_t i = 0;
    while (bats_batch_systems[i] != NULL &&
           bats_batch_systems[i]->job() == NULL)
        i++;
    return bats_batch_systems[i];
}

const char *bats_batch_partition(const char *host)
{
    const char *partition = NULL;
    for (size_t i = 0; partition == NULL && bats_batch_systems[i]; i++)
        partition = bats_batch_systems[i]->partition(host);
    return partition;
}

bool bats_batch_launched(void)
{
    bool launched = false;
    for (size_t i = 0; !launched && bats_batch_systems[i]; i++)
        launched = bats_batch_systems[i]->launched();
    return launched;
}
