/* models: prices and lifetimes. See models.h. */
#include "record/models.h"

bool bats_models_are_plain(const struct bats_sched_options *o)
{
    for (size_t i = 0; i < o->n_clusters; i++)
        if (o->clusters[i].reclaimable || o->clusters[i].tariff.n_steps > 0)
            return false;
    return true;
}

static json_t *steps(const struct bats_tariff *t)
{
    json_t *list = json_array();
    int bad = 0;

    for (uint32_t i = 0; i < t->n_steps; i++)
        bad |= json_array_append_new(
            list, json_pack("[I, I]", (json_int_t)t->step[i].from,
                            (json_int_t)t->step[i].charge));
    if (bad == 0)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *ages(const struct bats_lifetime *l)
{
    json_t *list = json_array();
    int bad = 0;

    for (uint32_t i = 0; i < l->n_ages; i++)
        bad |= json_array_append_new(list, json_integer(l->age[i]));
    if (bad == 0)
        return list;
    json_decref(list);
    return NULL;
}

json_t *bats_models_write(const struct bats_sched_options *o)
{
    json_t *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < o->n_clusters; i++) {
        const struct bats_cluster *c = &o->clusters[i];
        const struct bats_tariff *t = &c->tariff;
        const struct bats_lifetime *l = &c->lifetime;
        json_t *model =
            json_pack("{s:I, s:o, s:I, s:I, s:I, s:I, s:b, s:I, s:I, s:i, "
                      "s:f, s:f, s:f}",
                      "per_us", (json_int_t)t->per, "steps", steps(t),
                      "free_us", (json_int_t)t->free, "shortest_us",
                      (json_int_t)t->shortest, "longest_us",
                      (json_int_t)t->longest, "charge_longest",
                      (json_int_t)t->charge_longest, "reclaimable",
                      c->reclaimable, "notice_us", (json_int_t)c->notice,
                      "guaranteed_us", (json_int_t)l->guaranteed, "survival",
                      (int)l->survival, "a", l->a, "b", l->b, "share",
                      l->share);
        if (l->survival == BATS_SURVIVAL_TRACE)
            bad |= json_object_set_new(model, "ages_us", ages(l));
        bad |= json_array_append_new(list, model);
    }
    if (bad == 0)
        return list;
    json_decref(list);
    return NULL;
}

static bool read_steps(const json_t *list, struct bats_tariff *t)
{
    size_t n = json_array_size(list);

    if (n > BATS_TARIFF_STEPS)
        return false;
    for (size_t i = 0; i < n; i++) {
        json_int_t from, charge;
        if (json_unpack(json_array_get(list, i), "[I, I]", &from, &charge) !=
                0 ||
            charge < 0 || from < (i > 0 ? t->step[i - 1].from + 1 : 0))
            return false;
        t->step[i] = (struct bats_tariff_step){from, charge};
    }
    t->n_steps = (uint32_t)n;
    return true;
}

static bool read_ages(const json_t *list, struct bats_lifetime *l)
{
    size_t n = json_array_size(list);

    if (n > BATS_LIFETIME_AGES ||
        (n == 0) != (l->survival != BATS_SURVIVAL_TRACE))
        return false;
    for (size_t i = 0; i < n; i++) {
        l->age[i] = json_integer_value(json_array_get(list, i));
        if (l->age[i] < (i > 0 ? l->age[i - 1] : 0))
            return false;
    }
    l->n_ages = (uint32_t)n;
    return true;
}

static bool read_model(json_t *object, struct bats_cluster *c)
{
    struct bats_tariff *t = &c->tariff;
    struct bats_lifetime *l = &c->lifetime;
    json_int_t per, free, shortest, longest, charge, notice, guaranteed;
    int reclaimable, survival;
    json_t *list;

    if (json_unpack(object,
                    "{s:I, s:o, s:I, s:I, s:I, s:I, s:b, s:I, s:I, s:i, s:F, "
                    "s:F, s:F}",
                    "per_us", &per, "steps", &list, "free_us", &free,
                    "shortest_us", &shortest, "longest_us", &longest,
                    "charge_longest", &charge, "reclaimable", &reclaimable,
                    "notice_us", &notice, "guaranteed_us", &guaranteed,
                    "survival", &survival, "a", &l->a, "b", &l->b, "share",
                    &l->share) != 0 ||
        !read_steps(list, t) || per < (t->n_steps > 0) || free < 0 ||
        shortest < (longest > 0) || longest < 0 || charge < 0 || notice < 0 ||
        guaranteed < 0 || survival < BATS_SURVIVAL_ALL ||
        survival > BATS_SURVIVAL_TRACE)
        return false;
    t->per = per;
    t->free = free;
    t->shortest = shortest;
    t->longest = longest;
    t->charge_longest = charge;
    c->reclaimable = reclaimable;
    c->notice = notice;
    l->guaranteed = guaranteed;
    l->survival = (enum bats_survival)survival;
    return read_ages(json_object_get(object, "ages_us"), l);
}

bool bats_models_read(const json_t *list,
                      struct bats_cluster clusters[BATS_CLUSTERS_MAX])
{
    size_t n = json_array_size(list);

    for (size_t i = 0; i < n && i < BATS_CLUSTERS_MAX; i++)
        if (!read_model(json_array_get(list, i), &clusters[i]))
            return false;
    return n <= BATS_CLUSTERS_MAX;
}
