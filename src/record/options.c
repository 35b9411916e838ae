/* options: the options of a scheduling engine, as text. Policy, seed, budget
 * and window are columns of the session; clusters, machines, budgets of
 * workflows and the graph are tables. This text has all other members of struct
 * bats_sched_options, for people and for verbs that read the record, except for
 * measurements and results of earlier runs, and which tasks run only once. */
#include "record/state.h"

#include <math.h>
#include <stddef.h>
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
    /* Records have always called the time limit "deadline_us". */
    {"goal_deadline_us", TIME, AT(goal.deadline)},
    {"goal_minimize", COUNT, AT(goal.minimize)},
    {"goal_confidence", REAL, AT(goal.confidence)},
    {"in_order", FLAG, AT(in_order)},
    {"open", FLAG, AT(open)},
    {"in_all", COUNT, AT(in_all)},
};
#define FIELDS (sizeof fields / sizeof *fields)

/* A new engine option must be recorded: in the list above, or as said
 * above. (Only simulators know true runtimes.) */
_Static_assert(sizeof(void *) != 8 || sizeof(struct bats_sched_options) == 664,
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

/* ---- lists ---- */

/* The items 0 to n - 1 of something. */
typedef json_t *item(const void *of, size_t i);
static json_t *list(const void *of, size_t n, item *make)
{
    json_t *all = json_array();
    int bad = 0;
    for (size_t i = 0; i < n; i++)
        bad |= json_array_append_new(all, make(of, i));
    return bats_json_whole(all, bad);
}

static json_t *whole(const void *of, size_t i)
{
    return json_integer(((const int64_t *)of)[i]);
}

static json_t *real(const void *of, size_t i)
{
    return json_real(((const double *)of)[i]);
}

/* The categories, as [category, tasks, category, tasks, ...]. */
static json_t *categories(const uint16_t *of, uint32_t n)
{
    json_t *all = json_array();
    int bad = 0;
    for (uint32_t i = 0, first; i < n;) {
        for (first = i; i < n && of[i] == of[first];)
            i++;
        bad |= json_array_append_new(all, json_integer(of[first]));
        bad |= json_array_append_new(all, json_integer(i - first));
    }
    return bats_json_whole(all, bad);
}

/* By category: cores, GPUs and KiB of memory. */
static json_t *need(const void *of, size_t i)
{
    const struct bats_need *n = (const struct bats_need *)of + i;
    return json_pack("[I, I, I]", (json_int_t)n->cores, (json_int_t)n->gpus,
                     (json_int_t)n->memory_kib);
}

/* The same by machine, of each of its nodes, and the number of these. */
static json_t *stock(const void *of, size_t i)
{
    const struct bats_stock *s = (const struct bats_stock *)of + i;
    return json_pack("[I, I, I, I]", (json_int_t)s->cores, (json_int_t)s->gpus,
                     (json_int_t)s->memory_kib,
                     (json_int_t)(s->nodes > 1 ? s->nodes : 1));
}

/* By cluster: 0 reliable, 1 unreliable, 2 unreliable with free losses. */
static json_t *unreliable(const void *of, size_t i)
{
    const struct bats_cluster *c = (const struct bats_cluster *)of + i;
    return json_integer(c->unreliable ? 1 + c->lost_is_free : 0);
}

/* By cluster; 0: losses may be silent. */
static json_t *noticed(const void *of, size_t i)
{
    return json_integer(((const struct bats_cluster *)of)[i].noticed);
}

static json_t *step(const void *of, size_t i)
{
    const struct bats_tariff *t = of;
    return json_pack("[I, I]", (json_int_t)t->step[i].from,
                     (json_int_t)t->step[i].charge);
}

/* The prices and lifetimes of a cluster. */
static json_t *model(const void *of, size_t i)
{
    const struct bats_cluster *c = (const struct bats_cluster *)of + i;
    const struct bats_tariff *t = &c->tariff;
    const struct bats_lifetime *l = &c->lifetime;
    json_t *object = json_pack(
        "{s:I, s:o, s:I, s:I, s:I, s:I, s:b, s:I, s:I, s:i, s:f, s:f, s:f}",
        "per_us", (json_int_t)t->per, "steps", list(t, t->n_steps, step),
        "free_us", (json_int_t)t->free, "shortest_us", (json_int_t)t->shortest,
        "longest_us", (json_int_t)t->longest, "charge_longest",
        (json_int_t)t->charge_longest, "reclaimable", c->reclaimable,
        "notice_us", (json_int_t)c->notice, "guaranteed_us",
        (json_int_t)l->guaranteed, "survival", (int)l->survival, "a", l->a,
        "b", l->b, "share", l->share);
    return bats_json_whole(
        object, l->survival == BATS_SURVIVAL_TRACE &&
                    json_object_set_new(object, "ages_us",
                                        list(l->age, l->n_ages, whole)));
}

/* ---- objects ---- */

/* An unknown, infinite level is left out. */
static json_t *prior(const struct bats_prior *p, size_t n)
{
    json_t *object =
        json_pack("{s:o, s:o, s:f}", "mean_us", list(p->mean, n, real), "own",
                  list(p->own, n, real), "cv", p->cv);
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

/* JSON has no infinity. */
static double or_minus(double number)
{
    return isfinite(number) ? number : -1.0;
}

static json_t *strategy(const struct bats_strategy *s)
{
    return json_pack("{s:I, s:f, s:I, s:f, s:I, s:f, s:b, s:b, s:b}", "n",
                     (json_int_t)s->n, "t_tur", or_minus(s->t.of_tur), "t_us",
                     (json_int_t)s->t.fixed, "d_tur", or_minus(s->d.of_tur),
                     "d_us", (json_int_t)s->d.fixed, "m_r", or_minus(s->m_r),
                     "only_reliable", s->only_reliable, "reliable_works",
                     s->reliable_works, "both", s->both);
}

/* ---- all ---- */

json_t *bats_options_write(const struct bats_sched_options *o)
{
    bool has_unreliable = false, has_models = false;
    for (size_t i = 0; i < o->n_clusters; i++) {
        const struct bats_cluster *c = &o->clusters[i];
        has_unreliable |= c->unreliable;
        has_models |= c->reclaimable || c->tariff.n_steps > 0;
    }
    json_t *object = json_object();
    int bad = 0;
#define SET(name, value) bad |= json_object_set_new(object, name, value)
    SET("tail", json_string(bats_tail_name(o->tail)));
    if (o->policy == &bats_policy_expert)
        SET("strategy", strategy(&o->strategy));
    if (o->utility != NULL)
        SET("utility", json_string(o->utility));
    if (has_unreliable) {
        SET("unreliable", list(o->clusters, o->n_clusters, unreliable));
        SET("noticed_us", list(o->clusters, o->n_clusters, noticed));
    }
    if (has_models)
        SET("models", list(o->clusters, o->n_clusters, model));
    for (size_t i = 0; i < FIELDS; i++)
        SET(fields[i].name,
            value((const char *)o + fields[i].at, fields[i].kind));
    if (!bats_lease_terms(o->billing.model).in_windows)
        SET("billing", billing(&o->billing));
    if (o->category != NULL)
        SET("categories", categories(o->category, o->n_tasks));
    if (o->needs != NULL)
        SET("needs", list(o->needs, o->n_categories, need));
    if (o->needs != NULL && o->stocks != NULL)
        SET("stocks", list(o->stocks, o->n_machines, stock));
    if (o->purse != NULL)
        SET("workflow", categories(o->purse, o->n_tasks));
    if (o->graph != NULL)
        SET("graph_nodes", json_integer(o->graph->n_nodes));
    if (o->expected != NULL)
        SET("expected_us", list(o->expected, o->n_clusters, whole));
    if (o->prior != NULL)
        SET("prior", prior(o->prior, o->n_clusters));
#undef SET
    return bats_json_whole(object, bad);
}
