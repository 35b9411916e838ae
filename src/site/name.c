#include "site/name.h"

#include <stdlib.h>

const char *bats_site_name(void)
{
    const char *name = getenv("SLURM_CLUSTER_NAME");
    return name != NULL ? name : "";
}
