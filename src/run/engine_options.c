/* engine_options: makes the options of the engine. */
#include <stdlib.h>
#include <string.h>

#include "bats/sched.h"
#include "run/clock.h"
#include "run/engine_options.h"
#include "run/needs.h"

#define YIELDS 5 /* yields in a row without progress: see sched.h */

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
        return bats_refuse(err,
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
    free(e->more);
    free(e->category);
}

int bats_engine_options(const struct bats_run_options *o,
                        const struct bats_survey *survey,
                        struct bats_engine_options *e, struct bats_error *err)
{
    const struct bats_platform *p = &survey->platform;
    /* A process may use the whole grace time to stop; a timer needs none. */
    bats_time lead = bats_virtual_time(o, o->grace_ms * 1000);
    if (lead > p->window / 12)
        lead = p->window / 12;
    if (only_builtins(o->bag))
        lead = 0;
    e->seen = NULL;
    e->needs = NULL;
    e->more = NULL;
    e->category = NULL;
    e->names = (struct bats_class_names){.n = 0};
    struct bats_sched_options *s = &e->options;
    *s = o->engine;
    s->policy = survey->policy;
    s->n_tasks = o->bag->n_tasks;
    s->clusters = p->clusters;
    s->n_clusters = p->n_clusters;
    s->expected = p->expected;
    s->machines = p->machines;
    s->n_machines = p->n_machines;
    s->window = p->window;
    s->budget = bats_survey_budget(survey);
    s->billing = survey->billing;
    s->preempt_lead = lead;
    s->prefetch =
        o->delay_us > 0 ? 0 : bats_virtual_time(o, BATS_BATCH_AHEAD_US);
    s->in_order = !bats_draws_at_random(o, p);
    s->goal.deadline = survey->deadline;
    s->rules.time_limit = survey->time_limit;
    s->rules.yields = YIELDS;
    s->tells_leases = o->record != NULL || o->begin != NULL;
    s->graph = o->bag->graph;
    s->category = o->bag->category;
    s->n_categories = o->bag->n_categories;
    s->purses = o->bag->sharing.list;
    s->purse = o->bag->sharing.of;
    s->n_purses = o->bag->sharing.n;
    /* A sample is meant to find the runtimes itself. */
    if (o->believe != NULL && survey->policy == &bats_policy_bats &&
        !s->sampling.on && o->believe(o->believe_context, survey, &e->prior))
        s->prior = &e->prior;
    int rc = bats_needs_take(o, survey, e, err);
    return rc == 0 ? take_profile(e, o->profile, p, err) : rc;
}
