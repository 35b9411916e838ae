/* See profiling.h. */
#include "cli/profiling.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bats/bag.h"
#include "bats/estimate.h"
#include "bats/policy.h"
#include "cli/cli.h"
#include "report/progress.h"
#include "report/schedules.h"
#include "report/snapshot.h"
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

static void say_longest(FILE *out, const struct bats_sched_sampled *sampled)
{
    if (sampled->given_up > 0)
        fprintf(out,
                "Task %" PRIu32
                " runs much longer than the others and is not in the "
                "sample (--timeout would end it).\n",
                sampled->longest + 1);
}

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

/* Prints what `e` offers for the `left` tasks after this time and charge, as
 * far as it is not paid yet; equal schedules become one. rc: an error, if there
 * is nothing to offer. */
static void offer(FILE *out, const struct bats_estimator *e, int rc,
                  uint64_t left, bats_time at, bats_money charged)
{
    struct bats_schedule offers[BATS_OFFERS];
    size_t n;
    if (rc == 0)
        rc = bats_estimate_offers(e, offers, &n, &bats_why);
    if (rc < 0) {
        fprintf(out, "There is no schedule to offer: %s.\n", bats_why.text);
        return;
    }
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
    bats_schedules_print(out, e, offers, bats_offers_merge(offers, n),
                         bats_terminal_width(fileno(out)));
}

void bats_profiling_show(FILE *out, const struct bats_settings *set,
                         const struct bats_profile *profile,
                         const struct bats_sched *sched)
{
    struct bats_estimation x;
    struct bats_sched_sampled sampled;
    if (bats_profile_left(profile) == 0)
        return;
    bats_sched_sampled(sched, &sampled);
    say_longest(out, &sampled);
    int rc = bats_estimation_from_profile(&x, profile, NULL, set->confidence,
                                          &bats_why);
    if (rc == 0)
        x.e.plans = bats_estimation_plans(set->policy, profile->billing);
    offer(out, &x.e, rc, rc == 0 ? x.e.n_tasks : 0, profile->elapsed,
          bats_profile_charged(profile));
    if (rc == 0 && set->deadline.text != NULL)
        show_deadline(out, set, profile, &x.e);
}

/* ---- choosing ---- */

struct bats_choosing bats_choosing(enum bats_verb verb,
                                   const struct bats_settings *set)
{
    bool is_expert = strcmp(set->policy, "expert") == 0;
    struct bats_choosing c = {
        .choice = {.offer = BATS_OFFER_FASTEST},
        .plans = bats_policy_plans(bats_policy_find(set->policy)),
        .deadline = set->deadline.text != NULL ? &set->deadline : NULL,
        .time_scale = set->run.time_scale,
        .out = set->quiet ? NULL : stderr};
    if (verb == BATS_VERB_SAMPLE) {
        c.on = c.only = true;
        c.out = NULL;
        return c;
    }
    if (is_expert && set->choose != NULL)
        bats_die(BATS_EINPUT, "--choose: the policy expert knows no "
                              "schedules; --utility chooses a strategy");
    const struct bats_deadline *deadline = &set->deadline;
    bool thrifty = bats_settings_thrifty(set);
    if (set->choose != NULL && deadline->text != NULL)
        bats_die(BATS_EINPUT, "--choose and --deadline exclude each other: "
                              "--deadline chooses the cheapest");
    if (deadline->is_share && is_expert)
        bats_die(
            BATS_EINPUT,
            "--deadline %s: the policy expert knows no schedules: give a time",
            deadline->text);
    if (deadline->is_share && set->profile == NULL)
        bats_die(BATS_EINPUT,
                 "--deadline %s needs --profile: the soonest and "
                 "the cheapest schedule are not known yet",
                 deadline->text);
    bool is_bkp = strcmp(set->policy, "bkp") == 0;
    c.on = set->choose != NULL || set->profile != NULL || (thrifty && is_bkp);
    c.goes_on = c.on && c.plans == BATS_PLANS_WINDOWS;
    if (c.on && strcmp(set->policy, "rr") == 0)
        bats_die(BATS_EINPUT, "--policy rr takes no sample");
    if (c.on && thrifty) {
        c.choice.offer = BATS_OFFER_DEADLINE;
    } else if (set->choose == NULL && set->run.budget != BATS_UNLIMITED) {
        c.choice.offer = BATS_OFFER_BUDGET;
    } else if (set->choose != NULL &&
               bats_choice_parse(c.plans, set->choose, &c.choice, &bats_why) <
                   0) {
        bats_die(BATS_EINPUT, "--choose: %s", bats_why.text);
    }
    return c;
}

static bats_time time_left(const struct bats_choosing *c,
                           struct bats_sched *sched, bats_time now)
{
    struct bats_estimator e;
    struct bats_error err;
    bats_time deadline =
        bats_deadline_from(c->deadline, time(NULL), c->time_scale);
    if (c->deadline->is_share &&
        (bats_sched_estimator(sched, &e, &err) < 0 ||
         bats_deadline_of_share(c->deadline, &e, &deadline, &err) < 0))
        return 1;
    if (c->deadline->duration > 0)
        deadline = deadline > now ? deadline - now : 1;
    return deadline;
}

static void show(const struct bats_choosing *c,
                 const struct bats_platform *platform,
                 struct bats_sched *sched)
{
    struct bats_estimator e;
    struct bats_sched_sampled sampled;
    struct bats_sched_status status;
    bats_sched_sampled(sched, &sampled);
    bats_sched_status(sched, &status);
    say_longest(c->out, &sampled);
    int rc = bats_sched_estimator(sched, &e, &bats_why);
    e.currency = platform->currency;
    offer(c->out, &e, rc, (uint64_t)status.pending + status.running,
          sampled.time, sampled.charged);
}

void bats_choosing_answer(struct bats_choosing *c,
                          const struct bats_platform *platform,
                          struct bats_sched *sched, struct bats_choice *choice)
{
    struct bats_sched_status status;
    if (c->only) {
        *choice = (struct bats_choice){.offer = BATS_OFFER_NONE};
        return;
    }
    if (c->out != NULL)
        show(c, platform, sched);
    *choice = c->choice;
    bats_sched_status(sched, &status);
    if (choice->offer == BATS_OFFER_BUDGET)
        choice->budget =
            c->budget > status.charged ? c->budget - status.charged : 0;
    if (choice->offer == BATS_OFFER_DEADLINE)
        choice->deadline = time_left(c, sched, status.now);
}
