#include "cli/choosing.h"

#include <stdlib.h>
#include <string.h>

#include "bats/estimate.h"
#include "bats/policy.h"
#include "bats/status.h"
#include "cli/profiling.h"
#include "report/schedules.h"

/* ---- the wish ---- */

int bats_choosing_init(struct bats_choosing *c, enum bats_verb verb,
                       const struct bats_settings *set, struct bats_error *err)
{
    struct bats_error why;
    bool is_expert = strcmp(set->policy, "expert") == 0;
    *c = (struct bats_choosing){
        .choice = {.offer = BATS_OFFER_FASTEST},
        .plans = bats_policy_plans(bats_policy_find(set->policy)),
        .deadline = set->deadline.text != NULL ? &set->deadline : NULL,
        .time_scale = set->run.time_scale,
        .out = set->quiet ? NULL : stderr};
    if (verb == BATS_VERB_SAMPLE) {
        c->on = c->only = true;
        c->out = NULL;
        return 0;
    }
    if (is_expert && set->choose != NULL)
        return bats_refuse(err, "--choose: the policy expert knows no "
                                "schedules; --utility chooses a strategy");
    const struct bats_deadline *deadline = &set->deadline;
    bool thrifty = bats_settings_thrifty(set);
    if (set->choose != NULL && deadline->text != NULL)
        return bats_refuse(err, "--choose and --deadline exclude each other: "
                                "--deadline chooses the cheapest");
    if (deadline->is_share && is_expert)
        return bats_refuse(
            err,
            "--deadline %s: the policy expert knows no schedules: give a time",
            deadline->text);
    if (deadline->is_share && set->profile == NULL)
        return bats_refuse(err,
                           "--deadline %s needs --profile: the soonest and "
                           "the cheapest schedule are not known yet",
                           deadline->text);
    bool is_bkp = strcmp(set->policy, "bkp") == 0;
    c->on =
        set->choose != NULL || bats_settings_go_on(set) || (thrifty && is_bkp);
    c->goes_on = c->on && c->plans == BATS_PLANS_WINDOWS;
    if (c->on && strcmp(set->policy, "rr") == 0)
        return bats_refuse(err, "--policy rr takes no sample");
    if (c->on && thrifty) {
        c->choice.offer = BATS_OFFER_DEADLINE;
    } else if (set->choose == NULL && set->run.budget != BATS_UNLIMITED) {
        c->choice.offer = BATS_OFFER_BUDGET;
    } else if (set->choose != NULL &&
               bats_choice_parse(c->plans, set->choose, &c->choice, &why) !=
                   0) {
        return bats_refuse(err, "--choose: %s", why.text);
    }
    c->offers = !c->on && c->out != NULL && deadline->text == NULL &&
                set->run.budget == BATS_UNLIMITED &&
                strcmp(set->policy, "rr") != 0;
    if (c->offers) {
        c->choice.offer = BATS_OFFER_NONE; /* fastest, without a limit */
    }
    return 0;
}

/* ---- the offer ---- */

/* Time from now to the deadline. */
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
    struct bats_error err;
    struct bats_estimator e;
    struct bats_schedule offers[BATS_OFFERS];
    size_t n = 0;
    struct bats_sched_sampled sampled;
    struct bats_sched_status status;
    bats_sched_sampled(sched, &sampled);
    bats_sched_status(sched, &status);
    bats_profiling_say_longest(c->out, &sampled);
    int rc = bats_sched_estimator(sched, &e, &err);
    e.currency = platform->currency;
    if (rc == 0)
        rc = bats_estimate_offers(&e, offers, &n, &err);
    if (rc < 0) {
        fprintf(c->out, "There is no schedule to offer: %s.\n", err.text);
        return;
    }
    bats_profiling_offer(c->out, &e, offers, &n,
                         (uint64_t)status.pending + status.running,
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
    if (c->offers)
        fputs("\nThe run goes on with all machines. --choose takes another "
              "schedule, --budget\nor --deadline sets a limit.\n",
              c->out);
    *choice = c->choice;
    bats_sched_status(sched, &status);
    if (choice->offer == BATS_OFFER_BUDGET)
        choice->budget =
            c->budget > status.charged ? c->budget - status.charged : 0;
    if (choice->offer == BATS_OFFER_DEADLINE)
        choice->deadline = time_left(c, sched, status.now);
}
