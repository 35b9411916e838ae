/*
 * Sections 6.1 and 6.2 of ExPERT (Agmon Ben-Yehuda et al., 2012), played: 150
 * tasks, 50 unreliable machines of which 82.7 % answer, T_ur = T_r = 2,066 s,
 * prices of 1 and 34 cents an hour.
 *
 *   build/bench/expert/figures PLAYS
 *
 * The shape of F_s is only drawn in the paper (figure 6). Here it is a beta
 * distribution (a = 2) with that mean over the range of workload 1 in table 3,
 * 1,019 to 3,558 s.
 *
 * Rows of tab-separated values. "static" MR_MAX NAME makespan cost/task
 * dominated: of all static strategies and of the paper's knee, beside the
 * frontier for that M_r_max (figure 9). "front" MR_MAX makespan cost/task: that
 * frontier. "fixed" MR tail cost/task: frontiers for one M_r (figure 10). "use"
 * makespan M_r used longest_queue: of the efficient ones (figure 11).
 */
#include <stdio.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "bats/plays.h"

#define TASKS 150
#define UNRELIABLE 50
#define TIMES 1000
#define T_UR 2066e6
#define LOW 1019e6
#define HIGH 3558e6

static bats_time times[TIMES], reliable[1];
static struct bats_candidate list[BATS_CANDIDATES_MAX];
static uint32_t n_plays;

static struct bats_plays *create(uint32_t n_reliable)
{
    const struct bats_plays_model m = {.n_tasks = TASKS,
                                       .n_unreliable = UNRELIABLE,
                                       .n_reliable = n_reliable,
                                       .unreliable = times,
                                       .n_times = TIMES,
                                       .reliable = reliable,
                                       .n_reliable_times = 1,
                                       .gamma = 0.827,
                                       .price_unreliable = 1 / 3600.0,
                                       .price_reliable = 34 / 3600.0,
                                       .lost_is_free = true,
                                       .redraws = true};
    struct bats_plays *plays;
    struct bats_error err;
    if (bats_plays_create(&m, n_plays, 1, &plays, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    return plays;
}

static void play(const struct bats_plays *plays, struct bats_candidate *c)
{
    struct bats_error err;
    if (bats_candidate_play(plays, n_plays, c, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
}

/* Seconds, and cents per task. */
static double time_of(double us)
{
    return us / 1e6;
}

static double cost_of(double cost)
{
    return cost / 1e6 / TASKS;
}

static void print_static(double mr_max, const struct bats_plays *plays,
                         size_t n)
{
    static const char *const names[] = {
        "AR", "TRR", "TR", "AUR", "CNinf", "CN1T0", "N=3,T=1x,D=2x,Mr=0.02"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct bats_candidate c = {.is_efficient = false};
        bool dominated = false;
        bats_strategy_parse(names[i], &c.strategy, NULL);
        play(plays, &c);
        for (size_t k = 0; k < n; k++)
            dominated |= list[k].mean.makespan <= c.mean.makespan &&
                         list[k].mean.cost < c.mean.cost;
        printf("static\t%.1f\t%s\t%.0f\t%.0f\t%.3f\t%d\n", mr_max, names[i],
               time_of(c.mean.makespan), time_of(c.margin.makespan),
               cost_of(c.mean.cost), dominated);
    }
}

static void figure_9(double mr_max)
{
    uint32_t n_reliable = (uint32_t)(mr_max * UNRELIABLE + 0.5);
    struct bats_plays *plays = create(n_reliable);
    size_t n = bats_candidates_grid(UNRELIABLE, n_reliable, false, list);
    const struct bats_candidate *knee = NULL;
    for (size_t i = 0; i < n; i++)
        play(plays, &list[i]);
    bats_candidates_mark(list, n);
    print_static(mr_max, plays, n);
    for (size_t i = 0; i < n; i++) {
        const struct bats_candidate *c = &list[i];
        if (!c->is_efficient)
            continue;
        printf("front\t%.1f\t%.0f\t%.3f\n", mr_max, time_of(c->mean.makespan),
               cost_of(c->mean.cost));
        if (mr_max == 0.5)
            printf("use\t%.0f\t%.3f\t%.3f\t%.2f\n", time_of(c->mean.makespan),
                   c->strategy.n == BATS_INSTANCES_INFINITE ? 0
                                                            : c->strategy.m_r,
                   c->mean.used_reliable / UNRELIABLE, c->mean.longest_queue);
        if (!knee || c->mean.makespan * c->mean.cost <
                         knee->mean.makespan * knee->mean.cost)
            knee = c;
    }
    char text[BATS_STRATEGY_TEXT];
    printf("best\t%.1f\t%s\t%.0f\t%.0f\t%.3f\n", mr_max,
           bats_strategy_format(text, &knee->strategy),
           time_of(knee->mean.makespan), time_of(knee->margin.makespan),
           cost_of(knee->mean.cost));
    bats_plays_destroy(plays);
}

/* The paper's frontiers have N up to 3: each task ends up somewhere. */
static void figure_10(void)
{
    static const double sizes[] = {0.02, 0.06, 0.1, 0.2, 0.3, 0.4, 0.5};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct bats_plays *plays = create(25);
        size_t n = 0, all = bats_candidates_grid(UNRELIABLE, 1, false, list);
        for (size_t i = 0; i < all; i++)
            if (list[i].strategy.n < 4) {
                list[n] = list[i];
                list[n++].strategy.m_r = sizes[k];
            }
        for (size_t i = 0; i < n; i++)
            play(plays, &list[i]);
        bats_candidates_mark(list, n);
        for (size_t i = 0; i < n; i++)
            if (list[i].is_efficient)
                printf("fixed\t%.2f\t%.0f\t%.3f\n", sizes[k],
                       time_of(list[i].mean.tail), cost_of(list[i].mean.cost));
        bats_plays_destroy(plays);
    }
}

int main(int argc, char **argv)
{
    double share = (T_UR - LOW) / (HIGH - LOW);
    n_plays = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100;
    for (int i = 0; i < TIMES; i++)
        times[i] =
            (bats_time)(LOW + (HIGH - LOW) *
                                  gsl_cdf_beta_Pinv((i + 0.5) / TIMES, 2,
                                                    2 * (1 - share) / share));
    reliable[0] = (bats_time)T_UR;
    figure_9(0.1);
    figure_9(0.3);
    figure_9(0.5);
    figure_10();
    return 0;
}
