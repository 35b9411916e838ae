/* engine_options: what the engine is told before it begins. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/sched.h"
#include "run/batch.h"
#include "run/engine_options.h"

#define YIELDS 5 /* in a row, without progress: see sched.h */

static bool only_builtins(const struct bats_bagfile *bag)
{
    struct bats_text command = {0};
    uint32_t i = 0, n = bag->n_tasks;
    while (i < n && bats_bagfile_command(bag, i, &command) >= 0 &&
           command.bytes[0] == '@')
        i++;
    bats_text_release(&command);
    return n > 0 && i == n;
}

/* Takes the runtimes of a profile, for the clusters of the same name. */
static int take_profile(struct bats_engine_options *e,
                        const struct bats_profile *profile,
                        const struct bats_platform *p, struct bats_error *err)
{
    size_t n = 0;
    if (profile == NULL)
        return 0;
    e->seen = calloc(profile->n_observations + 1, sizeof *e->seen);
    if (e->seen == NULL)
        return bats_no_memory(err);
    for (size_t i = 0; i < profile->n_observations; i++) {
        struct bats_observation seen = profile->observations[i];
        const char *name = profile->clusters[seen.cluster].cluster.name;
        for (uint32_t c = 0; c < p->n_clusters; c++)
            if (strcmp(p->clusters[c].name, name) == 0) {
                seen.cluster = c;
                e->seen[n++] = seen;
                break;
            }
    }
    if (n == 0)
        return bats_error_set(err, BATS_EINPUT,
                              "the profile knows none of the clusters of this "
                              "run: %s of the run, %s of the profile",
                              p->clusters[0].name,
                              profile->n_clusters > 0
                                  ? profile->clusters[0].cluster.name
                                  : "none");
    e->options.sampling.observations = e->seen;
    e->options.sampling.n_observations = n;
    return 0;
}

/* ---- what tasks need ---- */

static uint32_t cores_of(const struct bats_run_options *o, uint32_t task)
{
    uint32_t cores = bats_bagfile_cores(o->bag, task);
    return cores > 0 ? cores : o->cores > 0 ? o->cores : 1;
}

/* The machine with most slots. */
static uint32_t widest(const struct bats_platform *p)
{
    uint32_t best = 0;
    for (uint32_t i = 0; i < p->n_machines; i++)
        if (p->machines[i].slots > p->machines[best].slots)
            best = i;
    return best;
}

/* The first cluster with no machine of so many slots; NULL: all have one. */
static const char *too_narrow(const struct bats_platform *p, uint32_t cores)
{
    bool has[BATS_CLUSTERS_MAX] = {false};
    for (uint32_t i = 0; i < p->n_machines; i++)
        has[p->machines[i].cluster] |= p->machines[i].slots >= cores;
    for (size_t i = 0; i < p->n_clusters; i++)
        if (!has[i])
            return p->clusters[i].name;
    return NULL;
}

/* Each cluster must do where only some machines are held, as the policy bats
 * plans: a plan does not say which tasks are for which. */
static int check_clusters(const struct bats_run_options *o,
                          const struct bats_survey *survey,
                          const struct bats_engine_options *e,
                          struct bats_error *err)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < e->options.n_categories; i++)
        if (e->needs[i].cores > most)
            most = e->needs[i].cores;
    const char *cluster = too_narrow(&survey->platform, most);
    if (cluster == NULL || survey->policy == &bats_policy_rr ||
        e->options.budget == BATS_UNLIMITED)
        return 0;
    return bats_refuse(err,
                       "%s: a task needs %" PRIu32
                       " cores, and no machine of cluster %s has so many: "
                       "within a budget only --policy rr uses such clusters",
                       o->bag->name, most, cluster);
}

static int check_cores(const struct bats_run_options *o,
                       const struct bats_platform *p, uint32_t task,
                       struct bats_error *err)
{
    char name[BATS_MACHINE_NAME], where[32] = "";
    uint32_t cores = cores_of(o, task), most = widest(p);
    uint32_t line = bats_bagfile_line(o->bag, task);
    if (cores <= p->machines[most].slots)
        return 0;
    bats_machine_name(name, p->clusters, p->machines, most);
    if (line > 0)
        snprintf(where, sizeof where, ", line %" PRIu32 ",", line);
    return bats_refuse(
        err,
        "%s: task %" PRIu64 "%s needs %" PRIu32
        " cores; the largest machine, %s, has %" PRIu32 " rank%s%s",
        o->bag->name, (uint64_t)task + 1, where, cores, name,
        p->machines[most].slots, p->machines[most].slots == 1 ? "" : "s",
        p->machines[most].slots == 1 && o->clusters != NULL
            ? " (machine = node in the clusters file makes one of all ranks "
              "of a node)"
            : "");
}

/* The category of tasks of category `of` with so many cores: that of the bag,
 * for the first of them that were seen; others follow. */
static uint32_t find_category(struct bats_engine_options *e, uint16_t *kind,
                              uint32_t *n, uint32_t of, uint32_t cores)
{
    for (uint32_t k = of; k < *n; k++)
        if (kind[k] == of &&
            (e->needs[k].cores == cores || e->needs[k].cores == 0)) {
            e->needs[k].cores = cores;
            return k;
        }
    if (*n == BATS_CATEGORIES_MAX)
        return *n;
    kind[*n] = (uint16_t)of;
    e->needs[*n].cores = cores;
    return (*n)++;
}

/* Those of one class of the bag that differ in cores have a name each. */
static int name_categories(const struct bats_bagfile *bag,
                           struct bats_engine_options *e, const uint16_t *kind,
                           struct bats_error *err)
{
    struct bats_class_names *names = &e->names;
    uint32_t n = bag->category != NULL ? e->options.n_categories : 0;
    names->list = calloc(n + (size_t)1, sizeof *names->list);
    for (uint32_t k = 0; names->list != NULL && k < n; k++, names->n++) {
        const char *name = bag->category_names[kind[k]];
        uint32_t cores = e->needs[k].cores;
        if ((k < bag->n_categories
                 ? asprintf(&names->list[k], "%s", name)
                 : asprintf(&names->list[k], "%s, %" PRIu32 " core%s", name,
                            cores, cores == 1 ? "" : "s")) < 0)
            return bats_no_memory(err);
    }
    return names->list != NULL ? 0 : bats_no_memory(err);
}

static int sort_by_need(const struct bats_run_options *o,
                        const struct bats_platform *p,
                        struct bats_engine_options *e, uint16_t *kind,
                        struct bats_error *err)
{
    uint32_t n = o->bag->category != NULL ? o->bag->n_categories : 1;
    int rc = 0;
    for (uint32_t k = 0; k < n; k++)
        kind[k] = (uint16_t)k;
    for (uint32_t i = 0; rc == 0 && i < o->bag->n_tasks; i++) {
        uint32_t of = o->bag->category != NULL ? o->bag->category[i] : 0;
        uint32_t k = find_category(e, kind, &n, of, cores_of(o, i));
        if (k == BATS_CATEGORIES_MAX)
            return bats_refuse(err, "%s: more than %d classes of tasks",
                               o->bag->name, BATS_CATEGORIES_MAX);
        e->category[i] = (uint16_t)k;
        rc = check_cores(o, p, i, err);
    }
    for (uint32_t k = 0; k < n; k++)
        if (e->needs[k].cores == 0) /* a category without tasks */
            e->needs[k].cores = 1;
    e->options.n_categories = n;
    return rc == 0 ? name_categories(o->bag, e, kind, err) : rc;
}

/* Only where some task needs several cores. */
static int take_needs(const struct bats_run_options *o,
                      const struct bats_survey *survey,
                      struct bats_engine_options *e, struct bats_error *err)
{
    if (o->cores <= 1 && !bats_bagfile_is_wide(o->bag))
        return 0;
    if (o->joining != NULL)
        return bats_refuse(err,
                           "worker jobs run tasks of one core only, so "
                           "far: %s has tasks that need more",
                           o->bag->name);
    e->needs = calloc(BATS_CATEGORIES_MAX, sizeof *e->needs);
    e->category = calloc(o->bag->n_tasks, sizeof *e->category);
    uint16_t *kind = calloc(BATS_CATEGORIES_MAX, sizeof *kind);
    int rc = e->needs != NULL && e->category != NULL && kind != NULL
                 ? sort_by_need(o, &survey->platform, e, kind, err)
                 : bats_no_memory(err);
    if (rc == 0)
        rc = check_clusters(o, survey, e, err);
    free(kind);
    e->options.needs = e->needs;
    e->options.category = e->category;
    /* A plain run asks for no choice; who wants one is told. */
    e->options.sampling.on &= !o->sampling.offers;
    return rc;
}

void bats_class_names_release(struct bats_class_names *names)
{
    for (uint32_t k = 0; k < names->n; k++)
        free(names->list[k]);
    free(names->list);
    *names = (struct bats_class_names){.n = 0};
}

void bats_engine_options_release(struct bats_engine_options *e)
{
    bats_class_names_release(&e->names);
    free(e->seen);
    free(e->needs);
    free(e->category);
}

static bats_time virtual_time(const struct bats_run_options *o,
                              int64_t real_us)
{
    return (bats_time)llround((double)real_us * o->time_scale);
}

int bats_engine_options(const struct bats_run_options *o,
                        const struct bats_survey *survey,
                        struct bats_engine_options *e, struct bats_error *err)
{
    const struct bats_platform *p = &survey->platform;
    /* A process may take the whole grace time to stop; a timer takes none. */
    bats_time lead = virtual_time(o, o->grace_ms * 1000);
    if (lead > p->window / 12)
        lead = p->window / 12;
    if (only_builtins(o->bag))
        lead = 0;
    e->seen = NULL;
    e->needs = NULL;
    e->category = NULL;
    e->names = (struct bats_class_names){.n = 0};
    e->options = (struct bats_sched_options){
        .policy = survey->policy,
        .n_tasks = o->bag->n_tasks,
        .clusters = p->clusters,
        .n_clusters = p->n_clusters,
        .expected = p->expected,
        .machines = p->machines,
        .n_machines = p->n_machines,
        .window = p->window,
        .budget = bats_survey_budget(survey),
        .billing = survey->billing,
        .monitor_interval = o->monitor_interval,
        .preempt_lead = lead,
        .prefetch = o->delay_us > 0 ? 0 : virtual_time(o, BATS_BATCH_AHEAD_US),
        .seed = o->seed,
        .order = o->order,
        .in_order = !bats_draws_at_random(o, p),
        .goal = o->goal,
        .rules = o->rules,
        .earlier = o->earlier,
        .tells_leases = o->record != NULL || o->begin != NULL,
        .sampling = o->sampling,
        .tail = o->tail,
        .strategy = o->strategy,
        .utility = o->utility,
        .asks = o->asks,
        .once = o->once,
        .graph = o->bag->graph,
        .category = o->bag->category,
        .n_categories = o->bag->n_categories,
        .purses = o->bag->sharing.list,
        .purse = o->bag->sharing.of,
        .n_purses = o->bag->sharing.n,
    };
    struct bats_sched_options *options = &e->options;
    options->rules.yields = YIELDS;
    /* A sample is to find out by itself. */
    if (o->believe != NULL && survey->policy == &bats_policy_bats &&
        !o->sampling.on && o->believe(o->believe_context, survey, &e->prior))
        options->prior = &e->prior;
    options->goal.deadline = survey->deadline;
    options->rules.time_limit = survey->time_limit;
    for (int k = 0; o->pools != NULL && k < 2; k++) {
        options->n_known[k] = bats_pools_instances(o->pools, k, e->known[k]);
        options->known[k] = e->known[k];
    }
    int rc = take_needs(o, survey, e, err);
    return rc == 0 ? take_profile(e, o->profile, p, err) : rc;
}
