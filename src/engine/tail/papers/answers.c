#include "bats/answers.h"

#include <math.h>
#include <stdlib.h>

#include "util/larger.h"

#define ENOUGH 20 /* answers of the first epoch, for F_s */

static int by_sent(const void *left, const void *right)
{
    const struct bats_instance *a = left, *b = right;
    return a->sent < b->sent ? -1 : a->sent > b->sent;
}

static size_t count_answers(const struct bats_instance *list, size_t n)
{
    size_t answered = 0;
    for (size_t i = 0; i < n; i++)
        answered += list[i].time >= 0;
    return answered;
}

static bool take_times(const struct bats_instance *list, size_t n,
                       struct bats_answers *a)
{
    double sum = 0;
    a->times = malloc((n + 1) * sizeof *a->times);
    if (!a->times)
        return false;
    for (size_t i = 0; i < n; i++)
        if (list[i].time >= 0) {
            a->times[a->n_times++] = list[i].time > 0 ? list[i].time : 1;
            sum += (double)list[i].time;
        }
    qsort(a->times, a->n_times, sizeof *a->times, bats_ascending);
    a->mean = a->n_times > 0 ? sum / (double)a->n_times : 0;
    return a->n_times > 0;
}

/* An instance, with the time it took or has been running. */
struct life {
    bats_time time;
    bool answers;
};

/* Instances, sorted, with the weight of their outcomes (Kaplan and Meier). */
struct lives {
    struct life *list;
    double *weight;
    size_t n;
    double gamma; /* the share of outcomes, the sum of the weights */
};

static int by_life(const void *left, const void *right)
{
    const struct life *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return b->answers - a->answers; /* answers first */
}

/* Weights each answer by the censored instances that it represents; otherwise
 * running ones would make times look short. (Kaplan and Meier, 1958) */
static void weigh(struct lives *l)
{
    double survive = 1;
    for (size_t i = 0; i < l->n; i++) {
        l->weight[i] = l->list[i].answers ? survive / (double)(l->n - i) : 0;
        survive -= l->weight[i];
    }
    l->gamma = 1 - survive;
}

/* False: out of memory. */
static bool make_lives(struct lives *l, size_t n)
{
    *l = (struct lives){.list = malloc((n + 1) * sizeof *l->list),
                        .weight = calloc(n + 1, sizeof *l->weight),
                        .n = n};
    return l->list && l->weight;
}

static double correct(const struct lives *l, bats_time *times, size_t n_times)
{
    double past = 0, sum = 0;
    size_t at = 0;
    for (size_t i = 0; i < l->n && at < n_times; i++) {
        past += l->weight[i];
        while (at < n_times && l->weight[i] > 0 &&
               ((double)at + 0.5) / (double)n_times <= past / l->gamma + 1e-9)
            times[at++] = l->list[i].time > 0 ? l->list[i].time : 1;
    }
    for (size_t i = 0; i < n_times; i++)
        sum += (double)times[i];
    return sum / (double)n_times;
}

/* The outcome that is asked for: an answer, while what was given up may still
 * answer; an answer before that; or the loss of an execution by its machine. */
enum outcome { LATE_ANSWER, ANSWER, LOSS };

static struct life life_of(const struct bats_instance *x, bats_time now,
                           bats_time noticed, enum outcome outcome)
{
    bats_time time = x->time >= 0                             ? x->time
                     : outcome != LATE_ANSWER && x->ended > 0 ? x->ended
                                                              : now - x->sent;
    if (x->time < 0 && outcome != LATE_ANSWER &&
        (x->noticed || outcome == LOSS)) /* later outcomes are unknown */
        time = time > noticed ? time - noticed : 0;
    return (struct life){time, outcome == LOSS ? x->noticed : x->time >= 0};
}

/* Quantiles of the times until the outcome in *times, n_times. Returns the
 * share with an outcome; tasks whose losses are noticed all have one: the
 * longest seen is assumed to end then (Efron, 1967). < 0: out of memory. */
static double find_lives(const struct bats_instance *list, size_t n,
                         bats_time now, bats_time noticed,
                         enum outcome outcome, bats_time **times,
                         size_t *n_times, double *mean)
{
    struct lives l;
    bool ok = make_lives(&l, n);
    *n_times = 0;
    for (size_t i = 0; ok && i < n; i++) {
        l.list[i] = life_of(&list[i], now, noticed, outcome);
        *n_times += l.list[i].answers;
    }
    *times = malloc((*n_times + 1) * sizeof **times);
    if (ok && *n_times > 0 && *times) {
        qsort(l.list, n, sizeof *l.list, by_life);
        if (outcome != LOSS && noticed > 0)
            l.list[n - 1].answers = true;
        weigh(&l);
        *mean = correct(&l, *times, *n_times);
    }
    free(l.list);
    free(l.weight);
    return ok && *times ? l.gamma : -1;
}

/* F_s(t). */
static double share(const struct bats_answers *a, bats_time t)
{
    size_t low = 0, high = a->n_times;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (a->times[middle] <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return (double)low / (double)a->n_times;
}

/* Mean and smallest gamma of the sets of the first epoch. */
static double known(const struct bats_instance *list, size_t n,
                    double *smallest)
{
    *smallest = 1;
    for (size_t i = 0; i + BATS_ANSWERS_SET <= n; i += BATS_ANSWERS_SET)
        *smallest =
            fmin(*smallest, (double)count_answers(&list[i], BATS_ANSWERS_SET) /
                                BATS_ANSWERS_SET);
    double mean = n > 0 ? (double)count_answers(list, n) / (double)n : 0;
    *smallest = fmin(*smallest, n > 0 ? mean : 0);
    return mean;
}

/* Mean gamma of the second epoch. Sets without a due answer do not count. */
static double partial(const struct bats_instance *list, size_t n,
                      bats_time now, double smallest,
                      const struct bats_answers *a)
{
    double sum = 0, weight = 0;
    for (size_t i = 0; i < n; i += BATS_ANSWERS_SET) {
        size_t size = n - i < BATS_ANSWERS_SET ? n - i : BATS_ANSWERS_SET;
        double due = 0;
        for (size_t k = i; k < i + size; k++)
            due += share(a, now - list[k].sent);
        if (due < 1)
            continue;
        double gamma = (double)count_answers(&list[i], size) / due;
        sum += due * fmax(fmin(gamma, 1), smallest);
        weight += due;
    }
    return weight > 0 ? sum / weight : 0;
}

/* Discards the times; returns false. */
static bool forget(struct bats_answers *a)
{
    free(a->times);
    free(a->lost);
    a->times = a->lost = NULL;
    return false;
}

bool bats_answers_find(struct bats_instance *list, size_t n, bats_time now,
                       bats_time d, struct bats_answers *a)
{
    double smallest;
    size_t first = 0;
    *a = (struct bats_answers){0};
    qsort(list, n, sizeof *list, by_sent);
    while (first < n && (now == BATS_NEVER || list[first].sent < now - d))
        first++;
    size_t of = count_answers(list, first) >= ENOUGH ? first : n;
    if (of < n || now == BATS_NEVER
            ? !take_times(list, of, a)
            : find_lives(list, n, now, 0, LATE_ANSWER, &a->times, &a->n_times,
                         &a->mean) <= 0)
        return forget(a);
    a->gamma_known = known(list, first, &smallest);
    a->gamma_partial = partial(list + first, n - first, now, smallest, a);
    a->gamma = a->gamma_known <= 0 ? a->gamma_partial
               : a->gamma_partial <= 0
                   ? a->gamma_known
                   : (a->gamma_known + a->gamma_partial) / 2;
    if (a->gamma <= 0)
        a->gamma = (double)count_answers(list, n) / (double)n;
    return true;
}

/* ---- where losses are noticed ---- */

bool bats_answers_noticed(const struct bats_instance *list, size_t n,
                          bats_time now, bats_time noticed,
                          struct bats_answers *a)
{
    double mean;
    *a = (struct bats_answers){0};
    bool ok = find_lives(list, n, now, noticed, ANSWER, &a->times, &a->n_times,
                         &a->mean) > 0;
    a->loses =
        find_lives(list, n, now, noticed, LOSS, &a->lost, &a->n_lost, &mean);
    a->gamma = a->gamma_known =
        (double)a->n_times / fmax((double)(a->n_times + a->n_lost), 1);
    return (ok && a->loses >= 0) || forget(a);
}
