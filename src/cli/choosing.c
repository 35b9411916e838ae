#include "cli/choosing.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bats/bag.h"
#include "bats/estimate.h"
#include "input/profile.h"
#include "report/schedules.h"
#include "report/snapshot.h"
#include "report/terminal.h"
#include "report/words.h"
#include "util/now.h"

#define ANSWER_US 60000000 /* time limit for an answer to the question */

/* ---- what is wanted ---- */

static bool is_terminal(int fd)
{
    int terminal = bats_terminal_open(fd);
    if (terminal >= 0)
        close(terminal);
    return terminal >= 0;
}

/* A person sees the question and can type the answer. */
static bool can_ask(void)
{
    return is_terminal(STDERR_FILENO) && is_terminal(STDIN_FILENO);
}

int bats_choosing_init(struct bats_choosing *c, enum bats_verb verb,
                       const struct bats_settings *set, struct bats_error *err)
{
    struct bats_error why;
    *c = (struct bats_choosing){.choice = {.offer = BATS_OFFER_FASTEST},
                                .out = set->quiet ? NULL : stderr};
    if (verb == BATS_VERB_SAMPLE) {
        c->on = c->only = true;
        c->out = stdout;
        return 0;
    }
    if (set->choose != NULL && set->deadline > 0)
        return bats_error_set(err, BATS_EINPUT,
                              "--choose and --deadline exclude each other: "
                              "--deadline chooses the cheapest");
    c->on = set->choose != NULL || set->deadline > 0 || set->profile != NULL;
    if (c->on && strcmp(set->policy, "rr") == 0)
        return bats_error_set(err, BATS_EINPUT,
                              "--policy rr takes no sample");
    if (set->deadline > 0) {
        c->choice.offer = BATS_OFFER_DEADLINE;
        c->choice.deadline = set->deadline;
    } else if (set->choose == NULL && set->budget != BATS_UNLIMITED) {
        c->choice.offer = BATS_OFFER_BUDGET;
    } else if (set->choose != NULL && strcmp(set->choose, "ask") == 0) {
        c->ask = can_ask();
    } else if (set->choose != NULL &&
               bats_choice_parse(set->choose, &c->choice, &why) != 0) {
        return bats_error_set(err, BATS_EINPUT, "--choose: %s", why.text);
    }
    c->offers = !c->on && c->out != NULL && set->budget == BATS_UNLIMITED &&
                strcmp(set->policy, "rr") != 0;
    if (c->offers) {
        c->choice.offer = BATS_OFFER_NONE; /* fastest, and no limit */
        c->ask = can_ask();
    }
    return 0;
}

/* ---- the offer ---- */

static void show(const struct bats_choosing *c,
                 const struct bats_platform *platform,
                 struct bats_sched *sched)
{
    struct bats_error err;
    struct bats_estimator e;
    struct bats_schedule offers[BATS_OFFERS];
    struct bats_sched_sampled sampled;
    char tasks[64], money[96], time[BATS_UNITS_TEXT];
    bats_sched_sampled(sched, &sampled);
    if (sampled.given_up > 0)
        fprintf(c->out,
                "Task %" PRIu32
                " runs much longer than the others and is not in the "
                "sample (--timeout would end it).\n",
                sampled.longest + 1);
    int rc = bats_sched_estimator(sched, &e, &err);
    e.currency = platform->currency;
    if (rc == 0)
        rc = bats_estimate_offers(&e, offers, &err);
    if (rc < 0) {
        fprintf(c->out, "There is no schedule to offer: %s.\n", err.text);
        return;
    }
    fprintf(c->out, "%s left after %s, charged %s so far:\n\n",
            bats_words_count(tasks, sizeof tasks, e.n_tasks, "task"),
            bats_words_moment(time, sampled.time),
            bats_words_money(money, sizeof money, sampled.charged,
                             platform->currency));
    bats_schedules_print_clusters(c->out, &e);
    putc('\n', c->out);
    bats_schedules_print(c->out, &e, offers, BATS_OFFERS);
}

static void ask(struct bats_choosing *c)
{
    fputs(c->offers ? "\nThe run goes on as the fastest. Another schedule? "
                      "[no, in 60 seconds] "
                    : "\nWhich schedule? [fastest, in 60 seconds] ",
          stderr);
    c->until_us = bats_now_us(CLOCK_MONOTONIC) + ANSWER_US;
    c->asks = true;
}

/* An empty line leaves *choice as it is; any other line has to name a schedule
 * that exists. */
static int parse_answer(const struct bats_choosing *c,
                        struct bats_sched *sched, const char *line,
                        struct bats_choice *choice, struct bats_error *err)
{
    struct bats_estimator e;
    struct bats_schedule schedule;
    struct bats_choice answer;
    if (line[0] == '\0')
        return 0;
    int rc = bats_choice_parse(line, &answer, err);
    if (rc == 0 && c->offers && answer.offer == BATS_OFFER_FASTEST)
        return 0; /* the fastest is running already */
    if (rc == 0)
        rc = bats_sched_estimator(sched, &e, err);
    if (rc == 0)
        rc = bats_estimate_choose(&e, &answer, &schedule, err);
    if (rc == 0)
        *choice = answer;
    return rc;
}

/* Reads the lines of standard input, as far as there are any, up to one that
 * is an answer. True: it is in the choice. */
static bool read_answer(struct bats_choosing *c, struct bats_sched *sched,
                        struct bats_choice *choice)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    struct bats_error err;
    char line[64];
    if (bats_now_us(CLOCK_MONOTONIC) >= c->until_us) {
        fprintf(stderr, "\nNo answer: continuing as the fastest.\n");
        return true;
    }
    if (poll(&in, 1, 0) <= 0)
        return false;
    ssize_t n = read(STDIN_FILENO, line, sizeof line - 1);
    if (n <= 0) /* nobody can answer */
        return true;
    line[n] = '\0';
    for (char *rest = line; rest != NULL && *rest != '\0';) {
        if (parse_answer(c, sched, strsep(&rest, "\n"), choice, &err) == 0)
            return true;
        fprintf(stderr, "%s. Which schedule? ", err.text);
    }
    return false;
}

bool bats_choosing_answer(struct bats_choosing *c,
                          const struct bats_platform *platform,
                          struct bats_sched *sched, struct bats_choice *choice)
{
    struct bats_sched_status status;
    if (c->out != NULL && !c->is_shown)
        show(c, platform, sched);
    if (c->ask && !c->is_shown)
        ask(c);
    else if (c->offers && !c->is_shown)
        fputs("\nThe run goes on as the fastest. --choose takes another one, "
              "--budget or\n--deadline sets a limit.\n",
              c->out);
    c->is_shown = true;
    *choice = c->choice;
    if (c->only)
        choice->offer = BATS_OFFER_NONE;
    if (c->ask && !read_answer(c, sched, choice))
        return false;
    c->asks = false;
    bats_sched_status(sched, &status);
    if (choice->offer == BATS_OFFER_BUDGET)
        choice->budget =
            c->budget > status.charged ? c->budget - status.charged : 0;
    if (choice->offer == BATS_OFFER_DEADLINE)
        choice->deadline = c->choice.deadline > status.now
                               ? c->choice.deadline - status.now
                               : 1;
    return true;
}

/* ---- the profile ---- */

static int fill(struct bats_profile *profile, const struct bats_bagfile *bag,
                const struct bats_platform *platform,
                const struct bats_sched *sched, struct bats_error *err)
{
    struct bats_sched_status status;
    struct bats_sched_sampled sampled;
    uint32_t n = bats_bagfile_count(bag);
    bats_sched_status(sched, &status);
    bats_sched_sampled(sched, &sampled);
    profile->window = platform->window;
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
        c->windows = k.windows;
        c->charged = k.charged;
    }
    uint8_t *state = calloc(n, sizeof *state);
    profile->observations =
        calloc(sampled.n_observations + 1, sizeof *profile->observations);
    if (state == NULL || profile->observations == NULL) {
        free(state);
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
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
    free(state);
    return rc;
}

int bats_choosing_save(const struct bats_bagfile *bag,
                       const struct bats_platform *platform,
                       const struct bats_sched *sched, const char *path,
                       char **kept, struct bats_error *err)
{
    struct bats_profile profile = {0};
    *kept = path != NULL ? strdup(path) : NULL;
    if (path == NULL &&
        asprintf(kept, "%s.profile", bats_bagfile_name(bag)) < 0)
        *kept = NULL;
    int rc = *kept == NULL ? bats_error_set(err, BATS_ENOMEM, "out of memory")
                           : fill(&profile, bag, platform, sched, err);
    if (rc == 0)
        rc = bats_profile_save(&profile, *kept, err);
    bats_profile_release(&profile);
    return rc;
}
