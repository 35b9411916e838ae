#include <stdlib.h>
#include <string.h>

#include "sim/scenario/section.h"

#define MACHINES_MAX 10000000

static int set_machines(struct bats_sections *r, const char *value,
                        struct bats_error *why)
{
    return bats_sections_count(value, MACHINES_MAX,
                               &r->models[r->cluster].cluster.max, why);
}

static int set_noise(struct bats_sections *r, const char *value,
                     struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    double *noise = &s->noise[r->cluster];
    int rc = bats_factor_parse(value, noise, why);
    return rc < 0 || *noise <= 10 ? rc : bats_refuse(why, "more than 10");
}

const struct bats_key bats_scenario_cluster_keys[] = {
    BATS_KEY("machines", set_machines, false, true),
    NUMBER("startup", DURATION, startup, 0),
    NUMBER("queue", DURATION, queue, 0),
    BATS_KEY("noise", set_noise, false, false),
    NUMBER("loss", PERIOD, loss, 0),
    {0},
};

/* ---- after the last line ---- */

static int make_machines(struct bats_sections *r)
{
    struct bats_scenario *s = r->object;
    struct bats_platform *p = &s->platform;
    uint64_t n = 0;
    for (size_t i = 0; i < r->n_clusters; i++) {
        n += r->models[i].cluster.max;
        if (n > MACHINES_MAX)
            return FAIL(r, bats_sections_cluster(r, i, NULL),
                        "more than %d machines in all clusters", MACHINES_MAX);
    }
    p->machines = calloc(n, sizeof *p->machines);
    if (!p->machines)
        return bats_no_memory(r->err);
    for (uint32_t i = 0; i < r->n_clusters; i++)
        for (uint32_t k = 0; k < r->models[i].cluster.max; k++)
            p->machines[p->n_machines++] =
                (struct bats_machine_spec){i, r->models[i].stock.cores};
    return 0;
}

int bats_scenario_clusters_settle(struct bats_sections *r)
{
    struct bats_scenario *s = r->object;
    struct bats_platform *p = &s->platform;
    int rc = make_machines(r);
    if (rc == 0 && !bats_scenario_line(r, RUN, "billing") &&
        bats_sections_by_age(r))
        s->engine.billing.model = BATS_BILLING_SECOND;
    if (rc == 0)
        rc = bats_sections_check(r, s->engine.billing.model, true);
    if (rc == 0)
        rc = bats_sections_settle(r, p->window, s->engine.billing.model);
    for (; rc == 0 && p->n_clusters < r->n_clusters; p->n_clusters++) {
        struct bats_model *m = &r->models[p->n_clusters];
        p->clusters[p->n_clusters] = m->cluster;
        p->speed[p->n_clusters] = m->speed;
        s->stock[p->n_clusters] = m->stock;
        p->expected[p->n_clusters] = m->expected;
        p->reliability[p->n_clusters] = m->reliability;
        m->reliability = (struct bats_reliability){0};
    }
    return rc;
}
