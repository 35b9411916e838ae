#include "report/recorded.h"
#include "bats/lease.h"

#include "report/table.h"
#include "util/json.h"

struct bats_lease_terms bats_recorded_terms(const json_t *options)
{
    const json_t *engine = json_object_get(options, "engine");
    const json_t *billing = json_object_get(engine, "billing");
    return bats_lease_terms(bats_billing_named(
        json_string_value(json_object_get(billing, "model"))));
}

static void add_expected(struct bats_view_status *st, const json_t *options)
{
    const json_t *list =
        json_object_get(json_object_get(options, "engine"), "expected_us");
    for (size_t i = 0; i < st->n_clusters; i++)
        if (st->clusters[i].mean_runtime == 0)
            st->clusters[i].mean_runtime =
                json_integer_value(json_array_get(list, i));
}

/* Splits the bill among clusters: the ledger has one sum for an allocation. */
static void share_out(struct bats_view_status *st)
{
    bats_money left = st->charged;
    double weight = 0;
    for (size_t i = 0; i < st->n_clusters; i++) {
        left -= st->clusters[i].charged;
        weight +=
            (double)st->clusters[i].charge * (double)st->clusters[i].machines;
    }
    for (size_t i = 0; i < st->n_clusters && weight > 0; i++) {
        struct bats_view_cluster *c = &st->clusters[i];
        double own = (double)c->charge * (double)c->machines;
        bats_money part = (bats_money)((double)left * (own / weight));
        c->charged += part;
        left -= part;
        weight -= own;
    }
}

int bats_recorded_status(struct bats_view *view,
                         struct bats_view_status *status, json_t **options,
                         struct bats_error *err)
{
    int rc = bats_view_status(view, status, err);
    *options = NULL;
    if (rc == 0)
        rc = bats_view_options(view, 0, options, err);
    if (rc < 0)
        return rc;
    add_expected(status, *options);
    status->grams_per_kwh = json_number_value(
        json_object_get(json_object_get(*options, "run"), "grams_per_kwh"));
    if (bats_recorded_terms(*options).lasts)
        share_out(status);
    return 0;
}

static json_t *cluster_json(const struct bats_view_cluster *c, double grams)
{
    json_t *cluster = json_pack(
        "{s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:f, s:f, s:b}", "name",
        bats_json_text(c->name), "charge", bats_json_money(c->charge),
        "machines", (json_int_t)c->machines, "held", (json_int_t)c->held,
        "lost", (json_int_t)c->lost, "windows", (json_int_t)c->windows,
        "charged", bats_json_money(c->charged), "done", (json_int_t)c->done,
        "failed", (json_int_t)c->failed, "mean_real_s",
        (double)c->mean_wall_us / 1e6, "mean_runtime_s",
        (double)c->mean_runtime / 1e6, "is_guess",
        c->mean_runtime > 0 && c->done == 0);
    bats_table_add_energy(cluster, c->energy_j, grams);
    return cluster;
}

json_t *bats_recorded_clusters(const struct bats_view_status *st)
{
    json_t *list = json_array();
    for (size_t i = 0; i < st->n_clusters; i++)
        json_array_append_new(
            list, cluster_json(&st->clusters[i], st->grams_per_kwh));
    return list;
}
