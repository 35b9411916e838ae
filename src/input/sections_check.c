/* sections_check: checks clusters once all keys are read. See sections.h. */
#include "bats/lease.h"
#include "input/sections.h"

static bool is_by_age(const struct bats_tariff *t)
{
    return t->n_steps > 1 || t->longest > 0 || t->free > 0;
}

bool bats_sections_by_age(const struct bats_sections *r)
{
    bool any = false;
    for (size_t i = 0; i < r->n_clusters; i++)
        any |= is_by_age(&r->models[i].cluster.tariff);
    return any;
}

static bool is_range(const struct bats_tariff *t)
{
    return t->n_steps == 2 && t->step[1].from == 0;
}

static int check(struct bats_sections *r, size_t i,
                 enum bats_billing_model billing, bool emulated)
{
    const struct bats_model *m = &r->models[i];
    const struct bats_cluster *c = &m->cluster;
    const struct bats_tariff *t = &c->tariff;
    static const char reclaimed[] = "is for reclaimable = yes";
    const struct {
        const char *key;
        bool is_wrong;
        const char *sentence;
    } mistakes[] = {
        {"charge", is_range(t) && t->longest == 0,
         "a range of prices is for blocks: block = 1h..6h"},
        {"charge", t->longest > 0 && t->n_steps > 1 && !is_range(t),
         "a block has one price, or two for its ends: AMOUNT..AMOUNT"},
        {"block", t->longest > 0 && c->reclaimable,
         "a block is not reclaimed before its end: no reclaimable = yes"},
        {"notice", c->notice > 0 && !c->reclaimable, reclaimed},
        {"guaranteed", c->lifetime.guaranteed > 0 && !c->reclaimable,
         reclaimed},
        {"free", t->free > 0 && !c->reclaimable, reclaimed},
        {"lifetime",
         c->lifetime.survival != BATS_SURVIVAL_ALL && !c->reclaimable,
         reclaimed},
        {t->longest > 0 ? "block"
         : t->free > 0  ? "free"
                        : "charge",
         is_by_age(t) && billing != BATS_BILLING_SECOND,
         "needs billing = second"},
        {"reliable", m->is_reliable && c->unreliable, "'yes' beside losses"},
        {"noticed",
         emulated && c->noticed > 0 &&
             !bats_reliability_loses(&m->reliability),
         "the cluster has no losses"},
        {"charge_lost",
         bats_sections_cluster(r, i, "charge_lost") > 0 && !c->unreliable,
         "the cluster is reliable"},
        {"charge_lost",
         c->lost_is_free && !bats_lease_terms(billing).idle_is_free,
         "only billing = use charges for single executions"},
        {"charge_lost", c->lost_is_free && m->stock.cores != 1,
         "a machine that runs several tasks is charged for all of them "
         "together"}};
    for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++)
        if (mistakes[k].is_wrong)
            return BATS_SECTIONS_FAIL(
                r, bats_sections_cluster(r, i, mistakes[k].key), "%s: %s",
                mistakes[k].key, mistakes[k].sentence);
    return 0;
}

int bats_sections_check(struct bats_sections *r,
                        enum bats_billing_model billing, bool emulated)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < r->n_clusters; i++)
        rc = check(r, i, billing, emulated);
    return rc;
}

int bats_sections_settle(struct bats_sections *r, bats_time window,
                         enum bats_billing_model billing)
{
    char text[BATS_UNITS_TEXT];
    for (size_t i = 0; i < r->n_clusters; i++) {
        struct bats_cluster *c = &r->models[i].cluster;
        struct bats_tariff *t = &c->tariff;
        bool by_hour = r->models[i].by_hour;
        t->per = by_hour ? BATS_HOUR : window;
        if (t->longest > 0 && !is_range(t))
            t->charge_longest = t->step[0].charge;
        if (is_range(t)) {
            t->step[1] = (struct bats_tariff_step){0, 0};
            t->n_steps = 1;
        }
        if (by_hour)
            c->charge = bats_billing_use(t->step[0].charge, BATS_HOUR, window);
        if (billing != BATS_BILLING_SECOND)
            *t = (struct bats_tariff){.per = 0};
        if (c->charge >= BATS_UNLIMITED)
            return BATS_SECTIONS_FAIL(
                r, bats_sections_cluster(r, i, "charge"),
                "charge: the charge of a window of %s is too large",
                bats_duration_format(text, window));
    }
    return 0;
}
