#include "cli/choosing.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bats/estimate.h"
#include "bats/policy.h"
#include "bats/status.h"
#include "cli/profiling.h"
#include "report/schedules.h"
#include "report/table.h"
#include "report/terminal.h"
#include "report/words.h"
#include "util/now.h"

#define ANSWER_US 60000000 /* time limit for an answer to the question */

/* ---- the wish ---- */

static bool is_terminal(int fd)
{
    int terminal = bats_terminal_open(fd);
    if (terminal >= 0)
        close(terminal);
    return terminal >= 0;
}

/* True if a person can see the question and type an answer. */
static bool can_ask(void)
{
    return is_terminal(STDERR_FILENO) && is_terminal(STDIN_FILENO);
}

static int init_strategies(struct bats_choosing *c,
                           const struct bats_settings *set,
                           struct bats_error *err)
{
    if (strcmp(set->choose, "ask") != 0)
        return bats_refuse(err,
                           "--choose: '%s' is for schedules; with --policy "
                           "expert it is 'ask', for the strategy",
                           set->choose);
    if (set->strategy != NULL)
        return bats_refuse(err,
                           "--choose ask and --strategy exclude each other");
    c->strategies = true;
    c->choice.offer = BATS_OFFER_NONE;
    c->ask = can_ask();
    return 0;
}

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
        return init_strategies(c, set, err);
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
    } else if (set->choose != NULL && strcmp(set->choose, "ask") == 0) {
        c->ask = can_ask();
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
        c->ask = can_ask();
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

static void show(struct bats_choosing *c, const struct bats_platform *platform,
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
    for (; c->n_shown < n; c->n_shown++)
        c->shown[c->n_shown] = offers[c->n_shown].offer;
}

/* ---- the strategies of the policy expert ---- */

static void show_strategies(struct bats_choosing *c,
                            const struct bats_platform *platform,
                            const struct bats_sched_offer *offers)
{
    static const char *const head[] = {"",   "strategy", "makespan",
                                       "+-", "charged",  "+-"};
    static struct bats_table table;
    char text[BATS_STRATEGY_TEXT];
    const double unit = (double)BATS_UNIT;
    table = (struct bats_table){.n_rows = 0};
    bats_table_head(&table, head, sizeof head / sizeof *head);
    for (size_t i = 0; i < c->n_shown; i++) {
        const struct bats_sched_offer *o = &offers[i];
        bats_table_set(&table, i + 1, 0, "%zu%s", i + 1,
                       o->is_best ? "*" : "");
        bats_table_set(&table, i + 1, 1, "%s",
                       bats_strategy_format(text, &o->strategy));
        bats_table_set(&table, i + 1, 2, "%s",
                       bats_words_makespan(o->makespan).s);
        bats_table_set(&table, i + 1, 3, "%s",
                       bats_words_makespan(o->makespan_margin).s);
        bats_table_set(&table, i + 1, 4, "%.2f", o->cost / unit);
        bats_table_set(&table, i + 1, 5, "%.2f", o->cost_margin / unit);
    }
    fprintf(c->out, "The tail begins. Of the whole run, %s, is expected:\n\n",
            platform->currency);
    bats_table_print(c->out, &table);
    fputs("\n*: the best by --utility, which is followed now.\n", c->out);
}

/* True if both look the same on the screen. */
static bool looks_same(const struct bats_sched_offer *a,
                       const struct bats_sched_offer *b)
{
    char left[BATS_STRATEGY_TEXT], right[BATS_STRATEGY_TEXT];
    return a->makespan == b->makespan && a->cost == b->cost &&
           a->makespan_margin == b->makespan_margin &&
           a->cost_margin == b->cost_margin && a->is_best == b->is_best &&
           strcmp(bats_strategy_format(left, &a->strategy),
                  bats_strategy_format(right, &b->strategy)) == 0;
}

/* Lists the strategies. Returns true if they differ from those on the
 * screen. */
static bool list_strategies(struct bats_choosing *c,
                            const struct bats_sched *sched)
{
    const struct bats_sched_offer *offers;
    size_t n = bats_sched_strategies(sched, &offers);
    bool is_same = c->is_shown && n == c->n_shown;
    for (size_t i = 0; is_same && i < n; i++)
        is_same = looks_same(&c->listed[i], &offers[i]);
    if (is_same)
        return false;
    memcpy(c->listed, offers, n * sizeof *offers);
    c->n_shown = n;
    return true;
}

/* Prints the default of the question on the line above the answer. */
static void say_time(struct bats_choosing *c, int64_t left)
{
    char numbers[32] = "1";
    if (c->n_shown > 1)
        snprintf(numbers, sizeof numbers, "1 to %zu", c->n_shown);
    fprintf(stderr,
            c->strategies ? "Type %s, and Enter; in %" PRId64
                            " s it stays as it is."
            : c->offers ? "Type %s or a name, and Enter; in %" PRId64
                          " s it stays as it is."
                        : "Type %s or a name, and Enter; in %" PRId64
                          " s: fastest.",
            numbers, left);
    c->told_s = left;
}

static void ask(struct bats_choosing *c)
{
    if (c->offers)
        fputs("\nThe run goes on with all machines.", stderr);
    fputs("\n", stderr);
    say_time(c, ANSWER_US / 1000000);
    fputs("\n> ", stderr);
    c->until_us = bats_now_us(CLOCK_MONOTONIC) + ANSWER_US;
    c->asks = true;
}

/* Updates the countdown without touching typed text: save the cursor, one line
 * up, its start; clear to its end; restore. */
static void count_down(struct bats_choosing *c, int64_t now_us)
{
    int64_t left = (c->until_us - now_us + 999999) / 1000000;
    if (left >= c->told_s)
        return;
    fputs("\0337\033[1A\r", stderr);
    say_time(c, left);
    fputs("\033[K\0338", stderr);
}

/* Parses a name, or its number in the table. */
static int parse_name(const struct bats_choosing *c, const char *line,
                      struct bats_choice *choice, struct bats_error *err)
{
    size_t number = (size_t)(line[0] - '1');
    if (line[0] >= '1' && number < c->n_shown && line[1] == '\0')
        line = bats_offer_name(c->shown[number]);
    return bats_choice_parse(c->plans, line, choice, err);
}

static int parse_number(const struct bats_choosing *c, const char *line,
                        struct bats_choice *choice, struct bats_error *err)
{
    size_t number = (size_t)(line[0] - '1');
    if (line[0] < '1' || number >= c->n_shown || line[1] != '\0')
        return bats_refuse(err, "'%.20s' is not a number from 1 to %zu", line,
                           c->n_shown);
    *choice = (struct bats_choice){.offer = BATS_OFFER_STRATEGY,
                                   .strategy = (uint32_t)number};
    return 0;
}

/* An empty line leaves *choice unchanged; any other line must name a schedule
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
    if (c->strategies)
        return parse_number(c, line, choice, err);
    int rc = parse_name(c, line, &answer, err);
    if (rc == 0 && c->offers && answer.offer == BATS_OFFER_FASTEST)
        return 0; /* the fastest is already running */
    if (rc == 0)
        rc = bats_sched_estimator(sched, &e, err);
    if (rc == 0)
        rc = bats_estimate_choose(&e, &answer, &schedule, err);
    if (rc == 0)
        *choice = answer;
    return rc;
}

/* Reads the available lines of standard input, up to an answer. True: *choice
 * has the answer. */
static bool read_answer(struct bats_choosing *c, struct bats_sched *sched,
                        struct bats_choice *choice)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    struct bats_error err;
    char line[64];
    int64_t now_us = bats_now_us(CLOCK_MONOTONIC);
    if (now_us >= c->until_us) {
        fprintf(stderr, "\nNo answer: %s.\n",
                c->offers || c->strategies ? "it stays as it is"
                                           : "the fastest");
        return true;
    }
    count_down(c, now_us);
    if (poll(&in, 1, 0) <= 0)
        return false;
    ssize_t n = read(STDIN_FILENO, line, sizeof line - 1);
    if (n <= 0) /* end of file: nobody can answer */
        return true;
    line[n] = '\0';
    for (char *rest = line; rest != NULL && *rest != '\0';) {
        if (parse_answer(c, sched, strsep(&rest, "\n"), choice, &err) == 0)
            return true;
        fprintf(stderr, "%s.\n", err.text);
        say_time(c, c->told_s);
        fputs("\n> ", stderr);
    }
    return false;
}

/* Asks again whenever the strategies change. */
static bool answer_strategy(struct bats_choosing *c,
                            const struct bats_platform *platform,
                            struct bats_sched *sched,
                            struct bats_choice *choice)
{
    bool is_new = list_strategies(c, sched);
    *choice = c->choice;
    if (is_new && c->out != NULL)
        show_strategies(c, platform, c->listed);
    c->is_shown = true;
    if (!c->ask || c->n_shown < 2)
        return true;
    if (is_new)
        ask(c);
    if (!read_answer(c, sched, choice))
        return false;
    c->asks = false;
    return true;
}

bool bats_choosing_answer(struct bats_choosing *c,
                          const struct bats_platform *platform,
                          struct bats_sched *sched, struct bats_choice *choice)
{
    struct bats_sched_status status;
    if (c->strategies)
        return answer_strategy(c, platform, sched, choice);
    if (c->only) {
        *choice = (struct bats_choice){.offer = BATS_OFFER_NONE};
        return true;
    }
    if (c->out != NULL && !c->is_shown)
        show(c, platform, sched);
    if (!c->is_shown && c->n_shown < 2)
        c->ask = false;
    if (c->ask && !c->is_shown)
        ask(c);
    else if (c->offers && !c->is_shown)
        fputs("\nThe run goes on with all machines. --choose takes another "
              "schedule, --budget\nor --deadline sets a limit.\n",
              c->out);
    c->is_shown = true;
    *choice = c->choice;
    if (c->ask && !read_answer(c, sched, choice))
        return false;
    c->asks = false;
    bats_sched_status(sched, &status);
    if (choice->offer == BATS_OFFER_BUDGET)
        choice->budget =
            c->budget > status.charged ? c->budget - status.charged : 0;
    if (choice->offer == BATS_OFFER_DEADLINE)
        choice->deadline = time_left(c, sched, status.now);
    return true;
}
