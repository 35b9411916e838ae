#include "bats/goal.h"

#include <string.h>

static const char *const names[] = {
    [BATS_MINIMIZE_TIME] = "time", [BATS_MINIMIZE_COST] = "cost"};

bool bats_minimize_find(const char *name, enum bats_minimize *minimize)
{
    for (int i = 0; i <= BATS_MINIMIZE_COST; i++) {
        if (strcmp(names[i], name) != 0)
            continue;
        *minimize = (enum bats_minimize)i;
        return true;
    }
    return false;
}
