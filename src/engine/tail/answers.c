#include "bats/answers.h"

#include <math.h>
#include <stdlib.h>

#define ENOUGH 20 /* answers of the first epoch, for F_s */

static int by_sent(const void *left, const void *right)
{
    const struct bats_instance *a = left, *b = right;
    return a->sent < b->sent ? -1 : a->sent > b->sent;
}

static int by_time(const void *left, const void *right)
{
    const bats_time *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
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
    qsort(a->times, a->n_times, sizeof *a->times, by_time);
    a->mean = a->n_times > 0 ? sum / (double)a->n_times : 0;
    return a->n_times > 0;
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

/* The mean gamma of the sets of the first epoch, and the smallest. */
static double known(const struct bats_instance *list, size_t n,
                    double *smallest)
{
    *smallest = 1;
    for (size_t i = 0; i + BATS_ANSWERS_SET <= n; i += BATS_ANSWERS_SET)
        *smallest = fmin(*smallest,
                         (double)count_answers(&list[i], BATS_ANSWERS_SET) /
                             BATS_ANSWERS_SET);
    double mean = n > 0 ? (double)count_answers(list, n) / (double)n : 0;
    *smallest = fmin(*smallest, n > 0 ? mean : 0);
    return mean;
}

/* The mean of the second epoch. Sets of which no answer is due say nothing. */
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
    if (!take_times(list, of, a)) {
        free(a->times);
        a->times = NULL;
        return false;
    }
    a->n_known = first;
    a->n_partial = n - first;
    a->gamma_known = known(list, first, &smallest);
    a->gamma_partial = partial(list + first, n - first, now, smallest, a);
    a->gamma = a->gamma_known <= 0     ? a->gamma_partial
               : a->gamma_partial <= 0 ? a->gamma_known
                                       : (a->gamma_known + a->gamma_partial) / 2;
    if (a->gamma <= 0)
        a->gamma = (double)count_answers(list, n) / (double)n;
    return true;
}
