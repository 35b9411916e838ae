#include "site/batch_system.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/text.h"

static const char *value(const char *variable)
{
    return variable != NULL ? getenv(variable) : NULL;
}

const char *bats_batch_job(const struct bats_batch_system *system)
{
    bool is_its = system->only_with == NULL || value(system->only_with);
    return is_its ? value(system->job) : NULL;
}

const struct bats_batch_system *bats_batch_system_here(void)
{
    size_t i = 0;
    while (bats_batch_systems[i] != NULL &&
           bats_batch_job(bats_batch_systems[i]) == NULL)
        i++;
    return bats_batch_systems[i];
}

int bats_batch_ask(double threads_per_core, struct bats_allocation *a,
                   struct bats_error *err)
{
    *a = (struct bats_allocation){.system = bats_batch_system_here()};
    if (a->system == NULL)
        return 0;
    snprintf(a->job, sizeof a->job, "%s", bats_batch_job(a->system));
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

/* A system's job may be unknown here, and its partition known. */
const char *bats_batch_partition(const char *host)
{
    const char *partition = NULL;
    for (size_t i = 0; partition == NULL && bats_batch_systems[i]; i++) {
        const struct bats_batch_system *s = bats_batch_systems[i];
        if (s->partition != NULL)
            partition = s->partition(host);
        else if (bats_batch_job(s) != NULL)
            partition = value(s->queue);
    }
    return partition;
}

int64_t bats_batch_memory(bool of_node)
{
    int64_t kib = 0;
    for (size_t i = 0; kib == 0 && bats_batch_systems[i]; i++)
        if (bats_batch_systems[i]->memory != NULL)
            kib = bats_batch_systems[i]->memory(of_node);
    return kib;
}

const char *bats_batch_site(void)
{
    const struct bats_batch_system *here = bats_batch_system_here();
    const char *site = here != NULL ? value(here->site) : NULL;
    return site != NULL ? site : "";
}

bool bats_batch_launched(void)
{
    size_t i = 0;
    while (bats_batch_systems[i] && !value(bats_batch_systems[i]->rank))
        i++;
    return bats_batch_systems[i] != NULL;
}

bool bats_mpirun_is_parent(void)
{
    char path[40], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)getppid());
    FILE *file = fopen(path, "re");
    if (file != NULL && fgets(name, sizeof name, file) != NULL)
        name[strcspn(name, "\n")] = '\0';
    if (file != NULL)
        fclose(file);
    return bats_text_lists(" mpirun mpiexec orterun prterun ", name);
}
