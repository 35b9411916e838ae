#include "report/recorded.h"

#include <stdlib.h>

enum bats_billing_model bats_recorded_billing(const json_t *options)
{
    const json_t *engine = json_object_get(options, "engine");
    const char *name = json_string_value(
        json_object_get(json_object_get(engine, "billing"), "model"));
    enum bats_billing_model model = BATS_BILLING_WINDOW;

    if (name != NULL)
        bats_billing_find(name, &model);
    return model;
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

/* The ledger has one sum for the whole of an allocation. */
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
    char *text = NULL;
    int rc = bats_view_status(view, status, err);

    *options = NULL;
    if (rc == 0)
        rc = bats_view_options(view, &text, err);
    if (rc < 0)
        return rc;
    *options = json_loads(text, 0, NULL);
    free(text);
    add_expected(status, *options);
    if (bats_recorded_billing(*options) == BATS_BILLING_ALLOCATION)
        share_out(status);
    return 0;
}
