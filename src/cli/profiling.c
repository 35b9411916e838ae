/* See profiling.h. */
#include "cli/profiling.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bats/bag.h"
#include "bats/estimate.h"
#include "cli/deadline.h"
#include "cli/estimation.h"
#include "input/clusters_file.h"
#include "report/schedules.h"
#include "report/snapshot.h"
#include "report/terminal.h"
#include "report/words.h"

/* ---- the profile ---- */

/* Adds to the profile the graph of the tasks left, as far as runtimes are
 * known. */
static int set_graph(struct bats_profile *profile,
                     const struct bats_graph *graph,
                     const struct bats_sched *sched, uint8_t *state,
                     struct bats_error *err)
{
    double *weight = malloc(graph->n_tasks * sizeof *weight);
    if (weight == NULL)
        return bats_no_memory(err);
    for (uint32_t i = 0; i < graph->n_tasks; i++) {
        state[i] = state[i] == BATS_TASK_PENDING;
        weight[i] = bats_sched_weight(sched, i);
    }
    int rc = bats_profile_set_graph(profile, graph, state, weight, err);
    free(weight);
    return rc;
}

static int fill(struct bats_profile *profile, const struct bats_bagfile *bag,
                const struct bats_platform *platform,
                const struct bats_sched *sched, struct bats_error *err)
{
    struct bats_sched_status status;
    struct bats_sched_sampled sampled;
    uint32_t n = bag->n_tasks;
    bats_sched_status(sched, &status);
    bats_sched_sampled(sched, &sampled);
    profile->window = platform->window;
    profile->billing = platform->billing;
    profile->elapsed = status.now;
    profile->n_clusters = platform->n_clusters;
    snprintf(profile->currency, sizeof profile->currency, "%s",
             platform->currency);
    for (size_t i = 0; i < platform->n_clusters; i++) {
        struct bats_cluster_status k;
        struct bats_profile_cluster *c = &profile->clusters[i];
        uint32_t machines = bats_snapshot_machines(platform, i);
        bats_sched_cluster_status(sched, i, &k);
        c->cluster = platform->clusters[i];
        if (c->cluster.max > machines)
            c->cluster.max = machines;
        c->slots = machines > 0
                       ? (double)bats_snapshot_slots(platform, i) / machines
                       : 1;
        c->room = bats_sched_room(sched, i);
        c->expected = platform->expected[i];
        c->windows = k.windows;
        c->charged = k.charged;
    }
    uint8_t *state = calloc(n, sizeof *state);
    profile->observations =
        calloc(sampled.n_observations + 1, sizeof *profile->observations);
    if (state == NULL || profile->observations == NULL) {
        free(state);
        return bats_no_memory(err);
    }
    if (sampled.n_observations > 0)
        memcpy(profile->observations, sampled.observations,
               sampled.n_observations * sizeof *profile->observations);
    profile->n_observations = sampled.n_observations;
    for (uint32_t i = 0; i < n; i++)
        state[i] = bats_sched_has_failed(sched, i)   ? BATS_TASK_FAILED
                   : bats_sched_has_result(sched, i) ? BATS_TASK_DONE
                                                     : BATS_TASK_PENDING;
    int rc = bats_profile_set_bag(profile, bag, err);
    if (rc == 0)
        rc = bats_profile_set_states(profile, state, err);
    if (rc == 0 && bag->graph != NULL)
        rc = set_graph(profile, bag->graph, sched, state, err);
    free(state);
    return rc;
}

int bats_profiling_save(const struct bats_bagfile *bag,
                        const struct bats_platform *platform,
                        const struct bats_sched *sched, const char *path,
                        struct bats_profile *profile, char **kept,
                        struct bats_error *err)
{
    *profile = (struct bats_profile){0};
    *kept = path != NULL ? strdup(path) : NULL;
    if (path == NULL && asprintf(kept, "%s.profile", bag->name) < 0)
        *kept = NULL;
    int rc = *kept == NULL ? bats_no_memory(err)
                           : fill(profile, bag, platform, sched, err);
    return rc == 0 ? bats_profile_save(profile, *kept, err) : rc;
}

/* ---- the schedules ---- */

void bats_profiling_say_longest(FILE *out,
                                const struct bats_sched_sampled *sampled)
{
    if (sampled->given_up > 0)
        fprintf(out,
                "Task %" PRIu32
                " runs much longer than the others and is not in the "
                "sample (--timeout would end it).\n",
                sampled->longest + 1);
}

/* Shows whether the deadline can be kept, and for how much. */
static void show_deadline(FILE *out, const struct bats_settings *set,
                          const struct bats_profile *profile,
                          const struct bats_estimator *e)
{
    struct bats_error err;
    const struct bats_deadline *d = &set->deadline;
    struct bats_schedule schedule;
    struct bats_choice choice = {
        .offer = BATS_OFFER_DEADLINE,
        .deadline = bats_deadline_from(d, time(NULL), set->run.time_scale)};
    int rc = 0;
    if (d->is_share)
        rc = bats_deadline_of_share(d, e, &choice.deadline, &err);
    if (d->duration > 0)
        choice.deadline -= profile->elapsed;
    if (choice.deadline < 1)
        choice.deadline = 1;
    if (rc == 0)
        rc = bats_estimate_choose(e, &choice, &schedule, &err);
    if (rc == 0)
        fprintf(out, "\nThe deadline can be kept for %s, ending in %s.\n",
                bats_words_money(schedule.plan.cost, e->currency).s,
                bats_words_makespan(schedule.makespan.estimate).s);
    else
        fprintf(out, "\nThe deadline cannot be kept: %s.\n", err.text);
}

void bats_profiling_offer(FILE *out, const struct bats_estimator *e,
                          struct bats_schedule *offers, size_t *n,
                          uint64_t left, bats_time at, bats_money charged)
{
    fprintf(out, "%s left after %s, charged %s",
            bats_words_count(left, "task").s, bats_words_moment(at).s,
            bats_words_money(charged, e->currency).s);
    if (e->n_tasks < left)
        fprintf(out, ". What is paid does about %" PRIu64 "; for the others",
                left - e->n_tasks);
    fputs(":\n\n", out);
    bats_schedules_print_clusters(out, e);
    bats_schedules_print_path(out, e, NULL, 0);
    putc('\n', out);
    *n = bats_offers_merge(offers, *n);
    bats_schedules_print(out, e, offers, *n, bats_terminal_width(fileno(out)));
}

void bats_profiling_show(FILE *out, const struct bats_settings *set,
                         const struct bats_profile *profile,
                         const struct bats_sched *sched)
{
    struct bats_estimation x;
    struct bats_error err;
    struct bats_schedule offers[BATS_OFFERS];
    struct bats_sched_sampled sampled;
    size_t n;
    if (bats_profile_left(profile) == 0)
        return;
    bats_sched_sampled(sched, &sampled);
    bats_profiling_say_longest(out, &sampled);
    int rc =
        bats_estimation_from_profile(&x, profile, NULL, set->confidence, &err);
    if (rc == 0) {
        x.e.plans = bats_estimation_plans(set->policy, profile->billing);
        rc = bats_estimate_offers(&x.e, offers, &n, &err);
    }
    if (rc < 0) {
        fprintf(out, "There is no schedule to offer: %s.\n", err.text);
        return;
    }
    bats_profiling_offer(out, &x.e, offers, &n, x.e.n_tasks, profile->elapsed,
                         bats_profile_charged(profile));
    if (set->deadline.text != NULL)
        show_deadline(out, set, profile, &x.e);
}
