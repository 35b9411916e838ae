#include "bats/cluster.h"

#include <inttypes.h>
#include <stdio.h>

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
