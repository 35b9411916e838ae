#include "record/options.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/models.h"
#include "util/json.h"

/* OR_0: 0 where it is absent, in records of earlier versions. */
enum kind { TIME, COUNT, REAL, FLAG, OR_0 = 8 };

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
    {"yields", COUNT | OR_0, AT(rules.yields)},
    {"timeout_us", TIME, AT(rules.timeout)},
    {"timeout_median", REAL, AT(rules.timeout_median)},
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
    /* "deadline_us" above is what records have always called the limit. */
    {"goal_deadline_us", TIME | OR_0, AT(goal.deadline)},
    {"goal_minimize", COUNT | OR_0, AT(goal.minimize)},
    {"goal_confidence", REAL | OR_0, AT(goal.confidence)},
    {"asks", FLAG | OR_0, AT(asks)},
    {"in_order", FLAG | OR_0, AT(in_order)},
};
#define FIELDS (sizeof fields / sizeof *fields)

/* A new option of the engine must be recorded: in the list above, or as
 * options.h says. (Only simulators know the true runtimes of tasks.) */
_Static_assert(sizeof(void *) != 8 || sizeof(struct bats_sched_options) == 616,
               "all of the engine's options are recorded");

/* ---- writing ---- */

static json_t *value(const void *at, unsigned kind)
{
    switch (kind & ~(unsigned)OR_0) {
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

/* The marked tasks or machines, as [first, last, first, last, ...]. */
static json_t *ranges(const uint8_t *marks, uint32_t n)
{
    json_t *list = json_array();
    int bad = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (!marks[i])
            continue;
        uint32_t first = i;
        while (i + 1 < n && marks[i + 1])
            i++;
        bad |= json_array_append_new(list, json_integer(first));
        bad |= json_array_append_new(list, json_integer(i));
    }
    if (bad == 0)
        return list;
    json_decref(list);
    return NULL;
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
    if (bad == 0)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *purses(const struct bats_sched_options *o)
{
    json_t *list = json_array();
    int bad = 0;

    for (uint32_t i = 0; i < o->n_purses; i++) {
        const struct bats_purse *p = &o->purses[i];
        bad |= json_array_append_new(
            list,
            json_pack("{s:o, s:o, s:I, s:I, s:I}", "name",
                      bats_json_text(p->name), "budget",
                      p->budget == BATS_UNLIMITED
                          ? json_null()
                          : json_integer((json_int_t)p->budget),
                      "deadline_us", (json_int_t)p->deadline, "begin_us",
                      (json_int_t)p->begin, "charged",
                      (json_int_t)p->charged));
    }
    if (bad == 0)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *observations(const struct bats_observation *seen, size_t n)
{
    json_t *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < n; i++) {
        const struct bats_observation *o = &seen[i];
        bad |= json_array_append_new(
            list, json_pack("[I, I, I]", (json_int_t)o->task,
                            (json_int_t)o->cluster, (json_int_t)o->runtime));
    }
    if (bad == 0)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *numbers(const uint32_t *n, size_t count)
{
    json_t *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < count; i++)
        bad |= json_array_append_new(list, json_integer(n[i]));
    if (bad == 0)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *times(const bats_time *t, size_t count)
{
    json_t *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < count; i++)
        bad |= json_array_append_new(list, json_integer(t[i]));
    if (bad == 0)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *billing(const struct bats_billing *b)
{
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "model",
                     bats_billing_name(b->model), "rate", (json_int_t)b->rate,
                     "before", (json_int_t)b->before, "least_us",
                     (json_int_t)b->least, "leaving_us",
                     (json_int_t)b->leaving, "overrun_us",
                     (json_int_t)b->overrun, "jobs", (json_int_t)b->jobs,
                     "step_us", (json_int_t)b->step, "longest_us",
                     (json_int_t)b->longest);
}

static bool has_unreliable(const struct bats_sched_options *o)
{
    for (size_t i = 0; i < o->n_clusters; i++)
        if (o->clusters[i].unreliable)
            return true;
    return false;
}

/* By cluster: 0 it is reliable, 1 it is not, 2 and is free of charge then. */
static json_t *unreliable(const struct bats_sched_options *o)
{
    uint32_t kinds[BATS_CLUSTERS_MAX];

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
    return times(delays, o->n_clusters);
}

static json_t *instances(const struct bats_instance *known, size_t n)
{
    json_t *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < n; i++)
        bad |= json_array_append_new(
            list, json_pack("[I, I, b]", (json_int_t)known[i].time,
                            (json_int_t)known[i].ended, known[i].noticed));
    if (bad == 0)
        return list;
    json_decref(list);
    return NULL;
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
    if (!bats_models_are_plain(o))
        bad |= json_object_set_new(object, "models", bats_models_write(o));
    for (size_t i = 0; i < FIELDS; i++)
        bad |= json_object_set_new(
            object, fields[i].name,
            value((const char *)o + fields[i].at, fields[i].kind));
    if (o->billing.model != BATS_BILLING_WINDOW)
        bad |= json_object_set_new(object, "billing", billing(&o->billing));
    if (o->once != NULL)
        bad |=
            json_object_set_new(object, "once", ranges(o->once, o->n_tasks));
    if (o->earlier.fresh != NULL)
        bad |= json_object_set_new(object, "fresh",
                                   ranges(o->earlier.fresh, o->n_tasks));
    if (o->category != NULL)
        bad |= json_object_set_new(object, "categories",
                                   categories(o->category, o->n_tasks));
    if (o->purse != NULL) {
        bad |= json_object_set_new(object, "workflow",
                                   categories(o->purse, o->n_tasks));
        bad |= json_object_set_new(object, "workflows", purses(o));
    }
    if (o->graph != NULL)
        bad |= json_object_set_new(object, "graph_nodes",
                                   json_integer(o->graph->n_nodes));
    if (o->expected != NULL)
        bad |= json_object_set_new(object, "expected_us",
                                   times(o->expected, o->n_clusters));
    if (o->sampling.n_observations > 0)
        bad |= json_object_set_new(object, "profile",
                                   observations(o->sampling.observations,
                                                o->sampling.n_observations));
    if (o->n_known[0] > 0)
        bad |= json_object_set_new(
            object, "known",
            json_pack("[o, o]", instances(o->known[0], o->n_known[0]),
                      instances(o->known[1], o->n_known[1])));
    if (o->earlier.n_seen > 0)
        bad |= json_object_set_new(
            object, "seen", observations(o->earlier.seen, o->earlier.n_seen));
    if (o->earlier.tops_up)
        bad |= json_object_set_new(object, "tops_up", json_true());
    if (o->earlier.asked != NULL)
        bad |= json_object_set_new(object, "asked_us",
                                   times(o->earlier.asked, o->n_machines));
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* ---- reading ---- */

static bool read_value(const json_t *json, void *at, unsigned kind)
{
    json_int_t n = json_integer_value(json);

    if (json == NULL)
        return kind & OR_0;
    switch (kind & ~(unsigned)OR_0) {
    case TIME:
        *(bats_time *)at = n;
        return json_is_integer(json);
    case COUNT:
        *(uint32_t *)at = (uint32_t)n;
        return json_is_integer(json) && n >= 0 && n <= UINT32_MAX;
    case REAL:
        *(double *)at = json_real_value(json);
        return json_is_real(json);
    case FLAG:
        break;
    }
    *(bool *)at = json_is_true(json);
    return json_is_boolean(json);
}

static bool read_ranges(const json_t *list, uint8_t *marks, uint32_t n)
{
    for (size_t i = 0; i + 1 < json_array_size(list); i += 2) {
        json_int_t first = json_integer_value(json_array_get(list, i));
        json_int_t last = json_integer_value(json_array_get(list, i + 1));
        if (first < 0 || last < first || last >= n)
            return false;
        for (json_int_t k = first; k <= last; k++)
            marks[k] = 1;
    }
    return true;
}

/* A number of each task, < *n, as in [number, tasks, number, tasks, ...]; *of
 * is for free(). */
static bool read_numbers(const json_t *list, uint32_t n_tasks, uint32_t most,
                         uint16_t **of, uint32_t *n)
{
    uint32_t filled = 0;

    *of = calloc(n_tasks, sizeof **of);
    for (size_t i = 0; *of && i + 1 < json_array_size(list); i += 2) {
        json_int_t number = json_integer_value(json_array_get(list, i));
        json_int_t tasks = json_integer_value(json_array_get(list, i + 1));
        if (number < 0 || number >= most || tasks < 1 ||
            tasks > n_tasks - filled)
            return false;
        if (number >= *n)
            *n = (uint32_t)number + 1;
        while (tasks-- > 0)
            (*of)[filled++] = (uint16_t)number;
    }
    return *of != NULL && filled == n_tasks;
}

static bool read_categories(const json_t *list, struct bats_sched_options *o,
                            struct bats_options_lists *lists)
{
    if (list == NULL)
        return true;
    bool ok = read_numbers(list, o->n_tasks, BATS_CATEGORIES_MAX,
                           &lists->category, &o->n_categories);
    o->category = lists->category;
    return ok;
}

static bool read_purses(const json_t *object, struct bats_sched_options *o,
                        struct bats_options_lists *lists)
{
    const json_t *of = json_object_get(object, "workflow");
    const json_t *list = json_object_get(object, "workflows");
    size_t n = json_array_size(list);

    if (of == NULL)
        return true;
    lists->purses = calloc(n + 1, sizeof *lists->purses);
    if (n > BATS_PURSES_MAX || lists->purses == NULL ||
        !read_numbers(of, o->n_tasks, (uint32_t)n, &lists->purse,
                      &o->n_purses))
        return false;
    for (size_t i = 0; i < n; i++) {
        const json_t *p = json_array_get(list, i);
        const json_t *budget = json_object_get(p, "budget");
        lists->purses[i] = (struct bats_purse){
            .budget = json_is_integer(budget) ? json_integer_value(budget)
                                              : BATS_UNLIMITED,
            .deadline =
                json_integer_value(json_object_get(p, "deadline_us")),
            .begin = json_integer_value(json_object_get(p, "begin_us")),
            .charged = json_integer_value(json_object_get(p, "charged"))};
    }
    o->purse = lists->purse;
    o->purses = lists->purses;
    o->n_purses = (uint32_t)n;
    return true;
}

static bool read_observations(const json_t *list,
                              struct bats_observation *observations)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        json_int_t task = json_integer_value(json_array_get(o, 0));
        json_int_t cluster = json_integer_value(json_array_get(o, 1));
        if (task < 0 || task > UINT32_MAX || cluster < 0 ||
            cluster > UINT32_MAX)
            return false;
        observations[i] = (struct bats_observation){
            .task = (uint32_t)task,
            .cluster = (uint32_t)cluster,
            .runtime = json_integer_value(json_array_get(o, 2))};
    }
    return true;
}

static bool read_instances(const json_t *list, struct bats_instance **known,
                           size_t *n)
{
    *n = json_array_size(list);
    *known = calloc(*n + 1, sizeof **known);
    for (size_t i = 0; *known != NULL && i < *n; i++) {
        const json_t *o = json_array_get(list, i);
        json_int_t time = json_integer_value(json_array_get(o, 0));
        json_int_t ended = json_integer_value(json_array_get(o, 1));
        if (time < -1 || time > BATS_LONGEST || ended < 0 ||
            ended > BATS_LONGEST)
            return false;
        (*known)[i] = (struct bats_instance){
            .time = time,
            .ended = ended,
            .noticed = json_is_true(json_array_get(o, 2))};
    }
    return *known != NULL;
}

/* Reads what an earlier session has left. */
static bool read_earlier(const json_t *object, struct bats_sched_options *o,
                         struct bats_options_lists *lists)
{
    const json_t *seen = json_object_get(object, "seen");
    size_t n = json_array_size(seen);

    lists->seen = calloc(n + 1, sizeof *lists->seen);
    if (lists->seen == NULL)
        return false;
    o->earlier.seen = lists->seen;
    o->earlier.n_seen = n;
    o->earlier.tops_up = json_is_true(json_object_get(object, "tops_up"));
    return read_observations(seen, lists->seen);
}

/* The machines are read later, too. */
static bool read_asked(const json_t *object, struct bats_sched_options *o,
                       struct bats_options_lists *lists)
{
    const json_t *list = json_object_get(object, "asked_us");
    size_t n = json_array_size(list);

    if (list == NULL)
        return true;
    if (n == 0 || n > 1 << 20)
        return false;
    lists->n_asked = (uint32_t)n;
    o->earlier.asked = lists->asked = calloc(n, sizeof *lists->asked);
    for (size_t i = 0; lists->asked != NULL && i < n; i++)
        lists->asked[i] = json_integer_value(json_array_get(list, i));
    return lists->asked != NULL;
}

/* The clusters are read later. */
static bool read_expected(const json_t *list, struct bats_sched_options *o,
                          struct bats_options_lists *lists)
{
    size_t n = json_array_size(list);

    if (n > BATS_CLUSTERS_MAX)
        return false;
    for (size_t i = 0; i < n; i++)
        lists->expected[i] = json_integer_value(json_array_get(list, i));
    o->expected = list != NULL ? lists->expected : NULL;
    return true;
}

/* A run without this object is billed by the window. */
static bool read_billing(const json_t *object, struct bats_billing *b)
{
    const char *name = json_string_value(json_object_get(object, "model"));

    *b = (struct bats_billing){
        .rate = json_integer_value(json_object_get(object, "rate")),
        .before = json_integer_value(json_object_get(object, "before")),
        .least = json_integer_value(json_object_get(object, "least_us")),
        .leaving = json_integer_value(json_object_get(object, "leaving_us")),
        .overrun = json_integer_value(json_object_get(object, "overrun_us")),
        .jobs = (uint32_t)json_integer_value(json_object_get(object, "jobs")),
        .step = json_integer_value(json_object_get(object, "step_us")),
        .longest = json_integer_value(json_object_get(object, "longest_us"))};
    return object == NULL ||
           (name != NULL && bats_billing_find(name, &b->model));
}

static double infinite(double number)
{
    return number < 0 ? INFINITY : number;
}

static bool read_strategy(const json_t *object, struct bats_strategy *s)
{
    json_int_t n, t, d, rush;
    int only, works, both;

    if (object == NULL)
        return true;
    if (json_unpack((json_t *)object,
                    "{s:I, s:f, s:I, s:f, s:I, s:f, s:b, s:b, s:b, s:I}", "n",
                    &n, "t_tur", &s->t.of_tur, "t_us", &t, "d_tur",
                    &s->d.of_tur, "d_us", &d, "m_r", &s->m_r, "only_reliable",
                    &only, "reliable_works", &works, "both", &both, "rush",
                    &rush) != 0 ||
        n < 0 || n > UINT32_MAX || t < 0 || t > BATS_LONGEST || d < 0 ||
        d > BATS_LONGEST)
        return false;
    s->n = (uint32_t)n;
    s->t.fixed = t;
    s->d.fixed = d;
    s->t.of_tur = infinite(s->t.of_tur);
    s->d.of_tur = infinite(s->d.of_tur);
    s->m_r = infinite(s->m_r);
    s->only_reliable = only;
    s->reliable_works = works;
    s->both = both;
    s->rush = rush;
    return true;
}

bool bats_options_read(const json_t *object, struct bats_sched_options *o,
                       struct bats_options_lists *lists)
{
    const char *tail = json_string_value(json_object_get(object, "tail"));
    const json_t *once = json_object_get(object, "once");
    const json_t *profile = json_object_get(object, "profile");
    size_t n = json_array_size(profile);

    for (size_t i = 0; i < FIELDS; i++)
        if (!read_value(json_object_get(object, fields[i].name),
                        (char *)o + fields[i].at, fields[i].kind))
            return false;
    if (tail == NULL || !bats_tail_find(tail, &o->tail) ||
        o->tail == BATS_TAIL_PERFECT)
        return false;
    if (once != NULL) {
        o->once = lists->once = calloc(o->n_tasks, 1);
        if (o->once == NULL || !read_ranges(once, lists->once, o->n_tasks))
            return false;
    }
    const json_t *kinds = json_object_get(object, "unreliable");
    for (size_t i = 0; i < json_array_size(kinds); i++) {
        json_int_t kind = json_integer_value(json_array_get(kinds, i));
        if (i == BATS_CLUSTERS_MAX || kind < 0 || kind > 2)
            return false;
        lists->unreliable[i] = (uint8_t)kind;
    }
    const json_t *delays = json_object_get(object, "noticed_us");
    for (size_t i = 0; i < json_array_size(delays); i++) {
        json_int_t delay = json_integer_value(json_array_get(delays, i));
        if (i == BATS_CLUSTERS_MAX || delay < 0 || delay > BATS_LONGEST)
            return false;
        lists->noticed[i] = delay;
    }
    if (!bats_models_read(json_object_get(object, "models"), lists->models))
        return false;
    const json_t *known = json_object_get(object, "known");
    for (size_t i = 0; known != NULL && i < 2; i++) {
        if (!read_instances(json_array_get(known, i), &lists->known[i],
                            &o->n_known[i]))
            return false;
        o->known[i] = lists->known[i];
    }
    const json_t *fresh = json_object_get(object, "fresh");
    if (fresh != NULL) {
        o->earlier.fresh = lists->fresh = calloc(o->n_tasks, 1);
        if (lists->fresh == NULL ||
            !read_ranges(fresh, lists->fresh, o->n_tasks))
            return false;
    }
    if (!read_categories(json_object_get(object, "categories"), o, lists) ||
        !read_purses(object, o, lists))
        return false;
    json_int_t nodes =
        json_integer_value(json_object_get(object, "graph_nodes"));
    if (nodes != 0 && (nodes < o->n_tasks || nodes >= UINT32_MAX))
        return false;
    lists->graph_nodes = (uint32_t)nodes;
    const char *utility =
        json_string_value(json_object_get(object, "utility"));
    if (utility != NULL) {
        snprintf(lists->utility, sizeof lists->utility, "%s", utility);
        o->utility = lists->utility;
    }
    if (!read_strategy(json_object_get(object, "strategy"), &o->strategy) ||
        !read_billing(json_object_get(object, "billing"), &o->billing) ||
        !read_expected(json_object_get(object, "expected_us"), o, lists) ||
        !read_earlier(object, o, lists) || !read_asked(object, o, lists))
        return false;
    if (n == 0)
        return true;
    lists->profile = calloc(n, sizeof *lists->profile);
    o->sampling.observations = lists->profile;
    o->sampling.n_observations = n;
    return lists->profile != NULL &&
           read_observations(profile, lists->profile);
}
