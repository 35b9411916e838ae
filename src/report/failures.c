#include <stdlib.h>
#include <string.h>

#include "report/report.h"

int bats_failures_add(struct bats_failures *failures,
                      const struct bats_failure *failure,
                      struct bats_error *err)
{
    if (failures->n == BATS_FAILURES_KEPT)
        return 0;
    if (failures->list == NULL)
        failures->list = calloc(BATS_FAILURES_KEPT, sizeof *failures->list);
    if (failures->list == NULL)
        return bats_no_memory(err);

    struct bats_failure copy = *failure;
    copy.host = strdup(failure->host);
    copy.command = strdup(failure->command);
    if (copy.host == NULL || copy.command == NULL) {
        free(copy.host);
        free(copy.command);
        return bats_no_memory(err);
    }
    failures->list[failures->n++] = copy;
    return 0;
}

void bats_failures_release(struct bats_failures *failures)
{
    for (size_t i = 0; i < failures->n; i++) {
        free(failures->list[i].host);
        free(failures->list[i].command);
    }
    free(failures->list);
    *failures = (struct bats_failures){0};
}
