/*
 * own: the cores of the job that the run itself is in. They are paid already,
 * so they are a machine of a cluster without a charge, the last one of all. Its
 * worker is a step of that job, a child of this process, and not in the queue.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/alloc/state.h"
#include "run/needs.h"

#define OWN "own"
#define LOOK_US 100000 /* between two looks at a worker that has not joined */

/* The job as it is may not hold what tasks need, or what `expert` asks for. */
uint32_t bats_alloc_own_slots(const struct bats_alloc *a)
{
    if (a->own[0] == '\0' || a->system->jobs->step == NULL ||
        a->platform.n_clusters == BATS_CLUSTERS_MAX ||
        bats_needs_any(a->options) || strcmp(a->set->policy, "expert") == 0)
        return 0;
    return a->system->jobs->step("", NULL);
}

void bats_alloc_add_own(struct bats_alloc *a)
{
    struct bats_platform *p = &a->platform;
    size_t i = p->n_clusters++;
    strcpy(p->clusters[i].name, OWN);
    strcpy(a->partitions[i], OWN);
    p->clusters[i].max = 1;
    p->speed[i] = 1;
    a->own_machine = p->n_machines++;
    a->billing.jobs++;
    p->machines[a->own_machine] = (struct bats_machine_spec){
        .cluster = (uint32_t)i, .slots = bats_alloc_own_slots(a)};
}

void bats_alloc_own_words(struct bats_alloc *a, struct bats_argv *argv)
{
    char command[BATS_ALLOC_COMMAND + 2 * BATS_JOB_ID];
    snprintf(a->own_id, sizeof a->own_id, "%.30s.%s.%lu", a->own, a->tag,
             (unsigned long)a->own_steps++);
    snprintf(command, sizeof command, "exec %s --job %s", a->command,
             a->own_id);
    a->system->jobs->step(command, argv);
}

void bats_alloc_start_own(struct bats_alloc *a)
{
    struct bats_argv argv = {0};
    bats_alloc_own_words(a, &argv);
    bats_query_release(&a->own_worker);
    a->own_runs = true;
    a->own_ends =
        bats_query_start(&a->own_worker, &argv, NULL, &a->own_why) < 0;
    a->own_worker.end_us = INT64_MAX; /* it ends with the job */
    a->lanes[a->own_machine].end_s = a->own_end_s;
}

/* Nobody pays for its last seconds. */
void bats_alloc_end_own(struct bats_alloc *a)
{
    if (a->own_worker.runs)
        kill(a->own_worker.pid, SIGTERM);
    a->own_ends = true;
}

bool bats_alloc_own_ended(struct bats_alloc *a)
{
    char *said = NULL;
    int64_t next_us = a->now_us + LOOK_US;
    if (!a->own_runs)
        return false;
    if (!a->own_ends)
        a->own_ends =
            bats_query_poll(&a->own_worker, 0, &said, &a->own_why) != 0;
    free(said);
    if (!a->lanes[a->own_machine].joined && next_us < a->due_us)
        a->due_us = next_us;
    a->own_runs = !a->own_ends;
    return a->own_ends;
}
