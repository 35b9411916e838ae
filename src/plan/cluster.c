/* cluster: names of machines and of goals. See bats/cluster.h, bats/goal.h. */
#include "bats/cluster.h"
#include "bats/goal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *bats_machine_name(char text[BATS_MACHINE_NAME],
                              const struct bats_cluster *clusters,
                              const struct bats_machine_spec *machines,
                              uint32_t machine)
{
    uint32_t cluster = machines[machine].cluster, number = 1;
    for (uint32_t i = 0; i < machine; i++)
        number += machines[i].cluster == cluster;
    snprintf(text, BATS_MACHINE_NAME, "%s-%" PRIu32, clusters[cluster].name,
             number);
    return text;
}

bool bats_minimize_find(const char *name, enum bats_minimize *minimize)
{
    bool is_cost = strcmp(name, "cost") == 0;
    if (!is_cost && strcmp(name, "time") != 0)
        return false;
    *minimize = is_cost ? BATS_MINIMIZE_COST : BATS_MINIMIZE_TIME;
    return true;
}
