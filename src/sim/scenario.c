#include "sim/scenario.h"

#include <stdlib.h>

#include "input/bagfile.h"
#include "sim/scenario/section.h"

#define MACHINES_MAX 10000000

/* ---- clusters ---- */

static int set_machines(struct bats_sections *r, const char *value,
                        struct bats_error *why)
{
    return bats_count_within(value, 1, MACHINES_MAX,
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

static const struct bats_key cluster_keys[] = {
    BATS_KEY("machines", set_machines, false, true),
    NUMBER("startup", DURATION, startup, 0),
    NUMBER("queue", DURATION, queue, 0),
    BATS_KEY("noise", set_noise, false, false),
    NUMBER("loss", PERIOD, loss, 0),
    {0},
};

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

/* Once billing and window are known. */
static int settle_clusters(struct bats_sections *r)
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

/* ---- all of it ---- */

static int read_all(struct bats_sections *r)
{
    int rc = bats_sections_read(r, NULL, BAG);
    if (rc == 0)
        rc = bats_scenario_bag_settle(r);
    if (rc == 0)
        rc = bats_scenario_run_goal(r);
    if (rc == 0)
        rc = settle_clusters(r);
    if (rc == 0)
        rc = bats_scenario_needs_settle(r);
    return rc == 0 ? bats_scenario_run_settle(r) : rc;
}

int bats_scenario_load(const char *path, struct bats_scenario **scenario,
                       struct bats_error *err)
{
    static const struct bats_section kinds[KINDS] = {
        [RUN] = {"run", bats_scenario_run_keys},
        [BAG] = {"bag", bats_scenario_bag_keys},
        [CLUSTER] = {"cluster", cluster_keys}};
    struct bats_scenario *s = calloc(1, sizeof *s);
    struct bats_sections *r = calloc(1, sizeof *r);
    int rc = s && r ? 0 : bats_no_memory(err);
    if (rc == 0) {
        s->platform.window = BATS_HOUR;
        s->repeats = 1;
        s->engine.tail = BATS_TAIL_DEFAULT;
        *r = (struct bats_sections){.path = path,
                                    .object = s,
                                    .kinds = kinds,
                                    .n_kinds = KINDS,
                                    .err = err};
        rc = read_all(r);
    }
    free(r);
    if (rc == 0)
        *scenario = s;
    else
        bats_scenario_destroy(s);
    return rc;
}

void bats_scenario_destroy(struct bats_scenario *scenario)
{
    if (!scenario)
        return;
    bats_platform_release(&scenario->platform);
    free(scenario->seeds);
    free(scenario->measured);
    free(scenario->planned);
    free(scenario->category);
    free(scenario->own);
    free(scenario->needs);
    free(scenario->stocks);
    bats_bagfile_destroy(scenario->bag);
    bats_graph_release(&scenario->graph);
    free(scenario);
}
