#include <stdlib.h>
#include <string.h>

#include "bats/lease.h"
#include "input/model.h"
#include "sim/scenario/section.h"

#define MACHINES_MAX 10000000

static int set_machines(struct reader *r, const char *value,
                        struct bats_error *why)
{
    return bats_scenario_count(value, MACHINES_MAX, &r->machines[r->cluster],
                               why);
}

static int set_charge(struct reader *r, const char *value,
                      struct bats_error *why)
{
    return bats_model_charge(&r->scenario->platform.clusters[r->cluster],
                             value, &r->by_hour[r->cluster], why);
}

static int set_slots(struct reader *r, const char *value,
                     struct bats_error *why)
{
    return bats_scenario_count(value, 1024, &r->slots[r->cluster], why);
}

static int set_noise(struct reader *r, const char *value,
                     struct bats_error *why)
{
    double *noise = &r->scenario->noise[r->cluster];
    int rc = bats_factor_parse(value, noise, why);
    return rc < 0 || *noise <= 10 ? rc : bats_refuse(why, "more than 10");
}

static int set_yes(const char *value, bool *yes, struct bats_error *why)
{
    *yes = strcmp(value, "yes") == 0;
    return *yes || strcmp(value, "no") == 0
               ? 0
               : bats_refuse(why, "'%.60s' is neither yes nor no", value);
}

static int set_reliable(struct reader *r, const char *value,
                        struct bats_error *why)
{
    bool *is_reliable = &r->is_reliable[r->cluster];
    int rc = set_yes(value, is_reliable, why);
    r->scenario->platform.clusters[r->cluster].unreliable |= !*is_reliable;
    return rc;
}

/* Emulated losses make the cluster unreliable. */
static struct bats_reliability *losses(struct reader *r)
{
    r->scenario->platform.clusters[r->cluster].unreliable = true;
    return &r->scenario->platform.reliability[r->cluster];
}

static int set_reliability(struct reader *r, const char *value,
                           struct bats_error *why)
{
    return bats_reliability_parse(losses(r), value, why);
}

static int set_survival(struct reader *r, const char *value,
                        struct bats_error *why)
{
    return bats_survival_parse(losses(r), value, why);
}

static int set_outages(struct reader *r, const char *value,
                       struct bats_error *why)
{
    return bats_outages_read(losses(r), r->path, value, why);
}

static int set_noticed(struct reader *r, const char *value,
                       struct bats_error *why)
{
    losses(r);
    return bats_noticed_parse(
        &r->scenario->platform.clusters[r->cluster].noticed, value, why);
}

static int set_charge_lost(struct reader *r, const char *value,
                           struct bats_error *why)
{
    bool charged;
    int rc = set_yes(value, &charged, why);
    r->scenario->platform.clusters[r->cluster].lost_is_free = !charged;
    return rc;
}

const struct key bats_scenario_cluster_keys[KEYS_MAX] = {
    OWN("machines", set_machines, false, true),
    OWN("charge", set_charge, false, true),
    NUMBER("speed", FACTOR, platform.speed, 0),
    NUMBER("expected", PERIOD, platform.expected, 0),
    OWN("slots", set_slots, false, false),
    NUMBER("startup", DURATION, startup, 0),
    NUMBER("queue", DURATION, queue, 0),
    OWN("noise", set_noise, false, false),
    NUMBER("loss", PERIOD, loss, 0),
    OWN("reliable", set_reliable, false, false),
    OWN("reliability", set_reliability, false, false),
    OWN("survival", set_survival, false, false),
    OWN("outages", set_outages, false, false),
    OWN("noticed", set_noticed, false, false),
    OWN("charge_lost", set_charge_lost, false, false),
    MODEL("block", BLOCK),
    MODEL("reclaimable", RECLAIMABLE),
    MODEL("notice", NOTICE),
    MODEL("guaranteed", GUARANTEED),
    MODEL("free", FREE),
    MODEL("lifetime", LIFETIME),
};

/* ---- after the last line ---- */

int bats_scenario_clusters_machines(struct reader *r)
{
    struct bats_platform *p = &r->scenario->platform;
    uint64_t n = 0;
    for (size_t i = 0; i < p->n_clusters; i++) {
        p->clusters[i].max = r->machines[i];
        n += r->machines[i];
        if (n > MACHINES_MAX)
            return FAIL(r, r->section_line[CLUSTER + i],
                        "more than %d machines in all clusters", MACHINES_MAX);
    }
    p->machines = calloc(n, sizeof *p->machines);
    if (!p->machines)
        return bats_no_memory(r->err);
    for (uint32_t i = 0; i < p->n_clusters; i++)
        for (uint32_t k = 0; k < r->machines[i]; k++)
            p->machines[p->n_machines++] =
                (struct bats_machine_spec){i, r->slots[i]};
    return 0;
}

/* Reads the keys about lost executions; `line` is that of the section. */
static int check_losses(const struct reader *r, size_t i, unsigned line)
{
    const struct bats_cluster *c = &r->scenario->platform.clusters[i];
    if (r->is_reliable[i] && c->unreliable)
        return FAIL(r, line, "cluster '%s' is reliable, and has losses",
                    c->name);
    if (c->noticed > 0 &&
        !bats_reliability_loses(&r->scenario->platform.reliability[i]))
        return FAIL(r, line, "noticed: cluster '%s' has no losses", c->name);
    if (!c->lost_is_free)
        return 0;
    if (!c->unreliable)
        return FAIL(r, line, "charge_lost: cluster '%s' is reliable", c->name);
    if (!bats_lease_terms(r->scenario->billing).idle_is_free)
        return FAIL(r, line,
                    "charge_lost: an execution alone is charged for only with "
                    "billing = use");
    return r->slots[i] == 1 ? 0
                            : FAIL(r, line,
                                   "charge_lost: a machine with several slots "
                                   "is charged for all of them together");
}

/* Prices and lifetimes, once billing and window are known. */
static int settle_models(struct reader *r)
{
    struct bats_scenario *s = r->scenario;
    struct bats_platform *p = &s->platform;
    for (size_t i = 0; i < p->n_clusters && !r->has_billing; i++)
        if (bats_model_is_by_age(&p->clusters[i]))
            s->billing = BATS_BILLING_SECOND;
    for (size_t i = 0; i < p->n_clusters; i++) {
        enum bats_model_key key;
        struct bats_error why;
        unsigned line = r->section_line[CLUSTER + i];
        if (bats_model_check(&p->clusters[i], s->billing, &key, &why) < 0)
            return FAIL(r, line, "%s: %s",
                        key == BATS_MODEL_KEYS ? "charge"
                                               : bats_model_keys[key],
                        why.text);
        if (!bats_model_settle(&p->clusters[i], r->by_hour[i], p->window,
                               s->billing))
            return FAIL(r, line, "charge: that of a window is too large");
    }
    return 0;
}

int bats_scenario_clusters_settle(struct reader *r)
{
    for (size_t i = 0; i < r->scenario->platform.n_clusters; i++) {
        int rc = check_losses(r, i, r->section_line[CLUSTER + i]);
        if (rc < 0)
            return rc;
    }
    return settle_models(r);
}
