#include "record/options.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "bats/lease.h"
#include "bats/prior.h"
#include "bats/sched.h"
#include "util/json.h"

enum kind { TIME, COUNT, REAL, FLAG };

/* All numbers among the engine's options. */
static const struct {
    const char *name;
    unsigned kind;
    size_t at;
} fields[] = {
#define AT(member) offsetof(struct bats_sched_options, member)
    {"monitor_interval_us", TIME, AT(monitor_interval)},
    {"preempt_lead_us", TIME, AT(preempt_lead)},
    {"prefetch_us", TIME, AT(prefetch)},
    {"confidence_z", REAL, AT(confidence_z)},
    {"sample_error", REAL, AT(sample_error)},
    {"retries", COUNT, AT(rules.retries)},
    {"retry_delay_us", TIME, AT(rules.retry_delay)},
    {"losses", COUNT, AT(rules.losses)},
    {"yields", COUNT, AT(rules.yields)},
    {"timeout_us", TIME, AT(rules.timeout)},
    {"timeout_median", REAL, AT(rules.timeout_median)},
    {"retry_time", REAL, AT(rules.retry_time)},
    {"halt_failed", COUNT, AT(rules.halt_failed)},
    {"halt_share", REAL, AT(rules.halt_share)},
    {"halt_now", FLAG, AT(rules.halt_now)},
    {"deadline_us", TIME, AT(rules.time_limit)},
    {"sampling", FLAG, AT(sampling.on)},
    {"offers", FLAG, AT(sampling.offers)},
    {"sampling_workers", COUNT, AT(sampling.workers)},
    {"confidence", REAL, AT(sampling.confidence)},
    {"cushion_percent", COUNT, AT(sampling.cushion_percent)},
    {"cushion", FLAG, AT(sampling.cushion)},
    /* Records have always called the time limit "deadline_us". */
    {"goal_deadline_us", TIME, AT(goal.deadline)},
    {"goal_minimize", COUNT, AT(goal.minimize)},
    {"goal_confidence", REAL, AT(goal.confidence)},
    {"in_order", FLAG, AT(in_order)},
    {"open", FLAG, AT(open)},
    {"in_all", COUNT, AT(in_all)},
};
#define FIELDS (sizeof fields / sizeof *fields)

/* A new engine option must be recorded: in the list above, or as options.h
 * says. (Only simulators know true runtimes.) */
_Static_assert(sizeof(void *) != 8 || sizeof(struct bats_sched_options) == 712,
               "all of the engine's options are recorded");

static json_t *value(const void *at, unsigned kind)
{
    switch (kind) {
    case TIME:
        return json_integer(*(const bats_time *)at);
    case COUNT:
        return json_integer(*(const uint32_t *)at);
    case REAL:
        return json_real(*(const double *)at);
    case FLAG:
        break;
    }
    return json_boolean(*(const bool *)at);
}

/* The categories, as [category, tasks, category, tasks, ...]. */
static json_t *categories(const uint16_t *of, uint32_t n)
{
    json_t *list = json_array();
    int bad = 0;

    for (uint32_t i = 0, first; i < n;) {
        for (first = i; i < n && of[i] == of[first];)
            i++;
        bad |= json_array_append_new(list, json_integer(of[first]));
        bad |= json_array_append_new(list, json_integer(i - first));
    }
    return bats_json_whole(list, bad);
}

/* By category: cores, GPUs and KiB of memory. */
static json_t *needs(const struct bats_sched_options *o)
{
    json_t *list = json_array();
    int bad = 0;
    for (uint32_t i = 0; i < o->n_categories; i++)
        bad |= json_array_append_new(
            list, json_pack("[I, I, I]", (json_int_t)o->needs[i].cores,
                            (json_int_t)o->needs[i].gpus,
                            (json_int_t)o->needs[i].memory_kib));
    return bats_json_whole(list, bad);
}

/* The same by machine, of each of its nodes, and the number of these. */
static json_t *stocks(const struct bats_sched_options *o)
{
    json_t *list = json_array();
    int bad = 0;
    for (uint32_t i = 0; i < o->n_machines; i++) {
        const struct bats_stock *stock = &o->stocks[i];
        bad |= json_array_append_new(
            list,
            json_pack("[I, I, I, I]", (json_int_t)stock->cores,
                      (json_int_t)stock->gpus, (json_int_t)stock->memory_kib,
                      (json_int_t)(stock->nodes > 1 ? stock->nodes : 1)));
    }
    return bats_json_whole(list, bad);
}

static json_t *numbers(const int64_t *n, size_t count)
{
    json_t *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < count; i++)
        bad |= json_array_append_new(list, json_integer(n[i]));
    return bats_json_whole(list, bad);
}

static json_t *reals(const double *x, size_t count)
{
    json_t *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < count; i++)
        bad |= json_array_append_new(list, json_real(x[i]));
    return bats_json_whole(list, bad);
}

/* An unknown, infinite level is left out. */
static json_t *prior(const struct bats_prior *p, size_t n)
{
    json_t *object = json_pack("{s:o, s:o, s:f}", "mean_us", reals(p->mean, n),
                               "own", reals(p->own, n), "cv", p->cv);
    return bats_json_whole(
        object, isfinite(p->level) &&
                    json_object_set_new(object, "level", json_real(p->level)));
}

static json_t *billing(const struct bats_billing *b)
{
    return json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "model",
        bats_billing_name(b->model), "rate", (json_int_t)b->rate, "before",
        (json_int_t)b->before, "least_us", (json_int_t)b->least, "leaving_us",
        (json_int_t)b->leaving, "overrun_us", (json_int_t)b->overrun, "jobs",
        (json_int_t)b->jobs, "step_us", (json_int_t)b->step, "longest_us",
        (json_int_t)b->longest, "lease_us", (json_int_t)b->lease,
        "starting_us", (json_int_t)b->starting);
}

static bool has_unreliable(const struct bats_sched_options *o)
{
    for (size_t i = 0; i < o->n_clusters; i++)
        if (o->clusters[i].unreliable)
            return true;
    return false;
}

/* By cluster: 0 reliable, 1 unreliable, 2 unreliable with free losses. */
static json_t *unreliable(const struct bats_sched_options *o)
{
    int64_t kinds[BATS_CLUSTERS_MAX];

    for (size_t i = 0; i < o->n_clusters; i++)
        kinds[i] = !o->clusters[i].unreliable     ? 0
                   : !o->clusters[i].lost_is_free ? 1
                                                  : 2;
    return numbers(kinds, o->n_clusters);
}

/* By cluster; 0: losses may be silent. */
static json_t *noticed(const struct bats_sched_options *o)
{
    bats_time delays[BATS_CLUSTERS_MAX];

    for (size_t i = 0; i < o->n_clusters; i++)
        delays[i] = o->clusters[i].noticed;
    return numbers(delays, o->n_clusters);
}

/* JSON has no infinity. */
static double or_minus(double number)
{
    return isfinite(number) ? number : -1.0;
}

static json_t *strategy(const struct bats_strategy *s)
{
    return json_pack("{s:I, s:f, s:I, s:f, s:I, s:f, s:b, s:b, s:b, s:I}", "n",
                     (json_int_t)s->n, "t_tur", or_minus(s->t.of_tur), "t_us",
                     (json_int_t)s->t.fixed, "d_tur", or_minus(s->d.of_tur),
                     "d_us", (json_int_t)s->d.fixed, "m_r", or_minus(s->m_r),
                     "only_reliable", s->only_reliable, "reliable_works",
                     s->reliable_works, "both", s->both, "rush",
                     (json_int_t)s->rush);
}

/* ---- prices and lifetimes ---- */

/* No cluster has other terms than a charge. */
static bool are_plain(const struct bats_sched_options *o)
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
    return bats_json_whole(list, bad);
}

static json_t *models(const struct bats_sched_options *o)
{
    json_t *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < o->n_clusters; i++) {
        const struct bats_cluster *c = &o->clusters[i];
        const struct bats_tariff *t = &c->tariff;
        const struct bats_lifetime *l = &c->lifetime;
        json_t *model = json_pack(
            "{s:I, s:o, s:I, s:I, s:I, s:I, s:b, s:I, s:I, s:i, "
            "s:f, s:f, s:f}",
            "per_us", (json_int_t)t->per, "steps", steps(t), "free_us",
            (json_int_t)t->free, "shortest_us", (json_int_t)t->shortest,
            "longest_us", (json_int_t)t->longest, "charge_longest",
            (json_int_t)t->charge_longest, "reclaimable", c->reclaimable,
            "notice_us", (json_int_t)c->notice, "guaranteed_us",
            (json_int_t)l->guaranteed, "survival", (int)l->survival, "a", l->a,
            "b", l->b, "share", l->share);
        if (l->survival == BATS_SURVIVAL_TRACE)
            bad |= json_object_set_new(model, "ages_us",
                                       numbers(l->age, l->n_ages));
        bad |= json_array_append_new(list, model);
    }
    return bats_json_whole(list, bad);
}

/* ---- all ---- */

json_t *bats_options_write(const struct bats_sched_options *o)
{
    json_t *object = json_object();
    int bad = json_object_set_new(object, "tail",
                                  json_string(bats_tail_name(o->tail)));

    if (o->policy == &bats_policy_expert)
        bad |= json_object_set_new(object, "strategy", strategy(&o->strategy));
    if (o->utility != NULL)
        bad |= json_object_set_new(object, "utility", json_string(o->utility));
    if (has_unreliable(o))
        bad |= json_object_set_new(object, "unreliable", unreliable(o)) |
               json_object_set_new(object, "noticed_us", noticed(o));
    if (!are_plain(o))
        bad |= json_object_set_new(object, "models", models(o));
    for (size_t i = 0; i < FIELDS; i++)
        bad |= json_object_set_new(
            object, fields[i].name,
            value((const char *)o + fields[i].at, fields[i].kind));
    if (!bats_lease_terms(o->billing.model).in_windows)
        bad |= json_object_set_new(object, "billing", billing(&o->billing));
    if (o->category != NULL)
        bad |= json_object_set_new(object, "categories",
                                   categories(o->category, o->n_tasks));
    if (o->needs != NULL)
        bad |= json_object_set_new(object, "needs", needs(o));
    if (o->needs != NULL && o->stocks != NULL)
        bad |= json_object_set_new(object, "stocks", stocks(o));
    if (o->purse != NULL)
        bad |= json_object_set_new(object, "workflow",
                                   categories(o->purse, o->n_tasks));
    if (o->graph != NULL)
        bad |= json_object_set_new(object, "graph_nodes",
                                   json_integer(o->graph->n_nodes));
    if (o->expected != NULL)
        bad |= json_object_set_new(object, "expected_us",
                                   numbers(o->expected, o->n_clusters));
    if (o->prior != NULL)
        bad |= json_object_set_new(object, "prior",
                                   prior(o->prior, o->n_clusters));
    return bats_json_whole(object, bad);
}
