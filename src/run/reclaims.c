/* reclaims: machines that are taken away. See reclaims.h. */
#include "run/reclaims.h"

#include <stdlib.h>

#include "input/model.h"
#include "util/heap.h"

struct bats_reclaims {
    struct bats_heap due; /* machines, by their notice, then by their end */
    bats_time *taken_at;  /* by machine */
    bool *told;           /* by machine: it has got its notice */
    uint32_t *lives;      /* by machine: acquisitions so far */
};

static const struct bats_cluster *cluster_of(const struct master *m,
                                             uint32_t machine)
{
    const struct bats_platform *p = &m->survey.platform;
    return &p->clusters[p->machines[machine].cluster];
}

int bats_reclaims_init(struct master *m, struct bats_error *err)
{
    const struct bats_platform *p = &m->survey.platform;
    bool any = false;
    for (size_t i = 0; i < p->n_clusters; i++)
        any |= p->clusters[i].reclaimable &&
               p->clusters[i].lifetime.survival != BATS_SURVIVAL_ALL;
    if (!any)
        return 0;
    struct bats_reclaims *r = m->reclaims = calloc(1, sizeof *r);
    if (r == NULL || !bats_heap_init(&r->due, p->n_machines) ||
        (r->taken_at = calloc(p->n_machines, sizeof *r->taken_at)) == NULL ||
        (r->told = calloc(p->n_machines, sizeof *r->told)) == NULL ||
        (r->lives = calloc(p->n_machines, sizeof *r->lives)) == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    return 0;
}

void bats_reclaims_release(struct master *m)
{
    if (m->reclaims == NULL)
        return;
    bats_heap_release(&m->reclaims->due);
    free(m->reclaims->taken_at);
    free(m->reclaims->told);
    free(m->reclaims->lives);
    free(m->reclaims);
    m->reclaims = NULL;
}

void bats_reclaims_command(struct master *m,
                           const struct bats_command *command)
{
    struct bats_reclaims *r = m->reclaims;
    uint32_t machine = command->machine;
    if (r == NULL)
        return;
    /* A machine that has got its notice goes, whoever holds it then. */
    if (command->type == BATS_COMMAND_RELEASE ||
        (command->type == BATS_COMMAND_PARK && !r->told[machine]))
        bats_heap_remove(&r->due, machine);
    if (command->type != BATS_COMMAND_ACQUIRE)
        return;
    const struct bats_cluster *c = cluster_of(m, machine);
    bats_time age = bats_model_lifetime(c, m->options->seed, machine,
                                        r->lives[machine]++);
    if (age == BATS_NEVER)
        return;
    bats_time now = bats_master_now(m);
    r->taken_at[machine] = now + age;
    r->told[machine] = false;
    bats_heap_set(&r->due, machine,
                  age > c->notice ? now + age - c->notice : now - 1);
}

bats_time bats_reclaims_due(const struct master *m)
{
    uint32_t machine;
    return m->reclaims != NULL ? bats_heap_first(&m->reclaims->due, &machine)
                               : BATS_NEVER;
}

static int tell(struct master *m, uint32_t machine, bats_time left,
                struct bats_error *err)
{
    char time[BATS_UNITS_TEXT];
    struct bats_event event = {.type = BATS_EVENT_NOTICE,
                               .machine = machine,
                               .runtime = left};
    bats_master_notice(m, machine, BATS_MASTER_NONE,
                       "machine %s will be taken away in %s",
                       bats_master_machine_name(m, machine),
                       bats_duration_format(time, left));
    return bats_master_handle(m, &event, err);
}

int bats_reclaims_step(struct master *m, struct bats_error *err)
{
    int rc = 0;
    uint32_t machine = 0;
    bats_time now = bats_master_now(m);
    while (rc == 0 && !m->finished && bats_reclaims_due(m) <= now) {
        struct bats_reclaims *r = m->reclaims;
        bats_time due = bats_heap_first(&r->due, &machine);
        bats_time left = r->taken_at[machine] - now;
        bats_heap_remove(&r->due, machine);
        if (due < r->taken_at[machine]) {
            r->told[machine] = true;
            bats_heap_set(&r->due, machine, r->taken_at[machine]);
            rc = tell(m, machine, left > 0 ? left : 0, err);
        } else {
            bats_master_notice(m, machine, BATS_MASTER_NONE,
                               "machine %s was taken away",
                               bats_master_machine_name(m, machine));
            rc = bats_master_part(m, machine, err);
        }
    }
    return rc;
}

int bats_reclaims_notice(struct master *m, size_t i, struct bats_error *err)
{
    uint32_t machine = m->survey.platform.places[i].machine;
    return m->finished ? 0
                       : tell(m, machine, cluster_of(m, machine)->notice, err);
}
