#include "bats/prior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Least error of a measured mean. */
#define LEAST 0.03
/* A level off by more deviations than this is dropped: it is about other
 * tasks. */
#define FAR 3

/* Assumed differences between bags of a kind, and between speeds for different
 * kinds, with the weight of one observation. */
#define BAGS_DIFFER 0.5
#define KINDS_DIFFER 0.15
/* For a cluster never seen: T ~ charge^-0.6, with deviation GUESS of ln. */
#define BY_CHARGE 0.6
#define GUESS 0.5
/* Weight of a bag relative to the next one. */
#define FADES 0.5
#define ROUNDS 60

bool bats_prior_is_there(const struct bats_prior *prior, size_t n_clusters)
{
    for (size_t i = 0; i < n_clusters; i++)
        if (!(prior->mean[i] > 0))
            return false;
    return n_clusters > 0;
}

static double square(double x)
{
    return x * x;
}

static double error_of(double n, double cv)
{
    return fmax(LEAST, cv / sqrt(n + 1));
}

void bats_prior_update(const struct bats_prior *prior, size_t n_clusters,
                       const double *measured, const double *n, double cv,
                       struct bats_belief *b)
{
    double weight = 0, sum = 0;
    double known = isfinite(prior->level) ? square(1 / prior->level) : 0;
    *b = (struct bats_belief){.is_dropped = false};
    for (size_t i = 0; i < n_clusters; i++) {
        if (!(n[i] > 0) || !(prior->mean[i] > 0))
            continue;
        double v = square(prior->own[i]) + square(error_of(n[i], cv));
        weight += 1 / v;
        sum += log(measured[i] / prior->mean[i]) / v;
    }
    if (known > 0 && weight > 0 &&
        fabs(sum / weight) > FAR * sqrt(1 / known + 1 / weight)) {
        b->is_dropped = true;
        known = 0;
    }
    double u = known + weight > 0 ? sum / (known + weight) : 0;
    double error = known + weight > 0 ? 1 / (known + weight) : INFINITY;
    for (size_t i = 0; i < n_clusters; i++) {
        double own = square(prior->own[i]), e = square(error_of(n[i], cv));
        bool is_known = prior->mean[i] > 0 && isfinite(error);
        b->mean[i] = is_known ? prior->mean[i] * exp(u) : 0;
        b->error[i] = is_known ? sqrt(own + error) : INFINITY;
        if (!(n[i] > 0))
            continue;
        double share = is_known ? own / (own + e) : 1;
        double left = is_known ? measured[i] / b->mean[i] : 1;
        b->mean[i] = is_known ? b->mean[i] * pow(left, share) : measured[i];
        b->error[i] =
            sqrt(share * e + (is_known ? square(1 - share) * error : 0));
    }
}

/* ---- relative speeds ---- */

static double weight_of(const struct bats_prior_row *r)
{
    return 1 / (square(error_of(r->tasks, r->cv)) + square(KINDS_DIFFER));
}

static bool same_group(const struct bats_prior_row *a,
                       const struct bats_prior_row *b)
{
    return a->bag == b->bag && a->kind == b->kind;
}

/* End of the group of rows of one kind and bag that begins with row i. */
static size_t end_of(const struct bats_prior_row *rows, size_t n, size_t i)
{
    size_t k = i + 1;
    while (k < n && same_group(&rows[i], &rows[k]))
        k++;
    return k;
}

static double level_of(const struct bats_prior_row *rows, size_t from,
                       size_t to, const double *speed)
{
    double sum = 0, weight = 0;
    for (size_t i = from; i < to; i++) {
        double w = weight_of(&rows[i]);
        sum += w * (log(rows[i].mean) - speed[rows[i].place]);
        weight += w;
    }
    return sum / weight;
}

static void join_islands(const struct bats_prior_row *rows, size_t n,
                         struct bats_prior_past *past)
{
    for (size_t i = 0; i < past->n_places; i++)
        past->island[i] = (uint32_t)i;
    for (size_t i = 1; i < n; i++) {
        uint32_t a = past->island[rows[i - 1].place];
        uint32_t b = past->island[rows[i].place];
        for (size_t k = 0; same_group(&rows[i - 1], &rows[i]) && a != b &&
                           k < past->n_places;
             k++)
            if (past->island[k] == b)
                past->island[k] = a;
    }
}

/* One round: levels from speeds, speeds from levels. With `squares`, sums each
 * place's squared deviations instead. */
static void pass(const struct bats_prior_row *rows, size_t n,
                 const struct bats_prior_past *past, double *sum,
                 double *weight, bool squares)
{
    memset(sum, 0, past->n_places * sizeof *sum);
    memset(weight, 0, past->n_places * sizeof *weight);
    for (size_t i = 0, end; i < n; i = end) {
        end = end_of(rows, n, i);
        double level = level_of(rows, i, end, past->speed);
        for (size_t k = i; k < end && end - i > 1; k++) {
            uint32_t place = rows[k].place;
            double off = log(rows[k].mean) - level;
            double w = squares ? 1 : weight_of(&rows[k]);
            sum[place] += squares
                              ? square(off - past->speed[place]) -
                                    square(error_of(rows[k].tasks, rows[k].cv))
                              : w * off;
            weight[place] += w;
        }
    }
}

int bats_prior_learn(const struct bats_prior_row *rows, size_t n,
                     size_t n_places, struct bats_prior_past *past,
                     struct bats_error *err)
{
    double *sum = malloc((n_places + 1) * sizeof *sum);
    double *weight = malloc((n_places + 1) * sizeof *weight);
    *past = (struct bats_prior_past){
        .speed = calloc(n_places + 1, sizeof *past->speed),
        .error = malloc((n_places + 1) * sizeof *past->error),
        .island = malloc((n_places + 1) * sizeof *past->island),
        .n_places = n_places};
    bool has_room =
        sum && weight && past->speed && past->error && past->island;
    if (has_room)
        join_islands(rows, n, past);
    for (int round = 0; has_room && round < ROUNDS; round++) {
        pass(rows, n, past, sum, weight, false);
        for (size_t i = 0; i < n_places; i++)
            past->speed[i] = weight[i] > 0 ? sum[i] / weight[i] : 0;
    }
    if (has_room)
        pass(rows, n, past, sum, weight, true);
    for (size_t i = 0; has_room && i < n_places; i++)
        past->error[i] = weight[i] > 0
                             ? sqrt((square(KINDS_DIFFER) + fmax(sum[i], 0)) /
                                    (1 + weight[i])) *
                                   sqrt(1 + 1 / weight[i])
                             : INFINITY;
    free(sum);
    free(weight);
    if (has_room)
        return 0;
    bats_prior_past_release(past);
    return bats_no_memory(err);
}

void bats_prior_past_release(struct bats_prior_past *past)
{
    free(past->speed);
    free(past->error);
    free(past->island);
    *past = (struct bats_prior_past){0};
}

/* ---- the level of a kind ---- */

/* The level, updated bag by bag. */
struct level {
    double mean;    /* weighted mean of ln */
    double weight;  /* sum of weights */
    double squares; /* squared errors of earlier guesses */
    double pairs;
    double cv, tasks;
    uint32_t bags;
    uint32_t island; /* island of the speeds it refers to */
};

/* Adds a bag; its rows of the kind are from .. to - 1. */
static void add_bag(struct level *l, const struct bats_prior_past *past,
                    const struct bats_prior_row *rows, size_t from, size_t to)
{
    uint32_t island = past->island[rows[from].place];
    double now = level_of(rows, from, to, past->speed);
    if (l->bags > 0 && island != l->island)
        *l = (struct level){.bags = 0}; /* the two islands are unrelated */
    if (l->bags > 0) {
        l->squares += square(now - l->mean);
        l->pairs++;
    }
    l->weight = 1 + FADES * l->weight;
    l->mean += (now - l->mean) / l->weight;
    for (size_t i = from; i < to; i++) {
        l->cv += rows[i].tasks * rows[i].cv;
        l->tasks += rows[i].tasks;
    }
    l->island = island;
    l->bags++;
}

static struct level find_level(const struct bats_prior_past *past,
                               const struct bats_prior_row *rows, size_t n,
                               uint32_t kind)
{
    struct level l = {.bags = 0};
    for (size_t i = 0; i < n; i++) {
        size_t end = i;
        while (end < n && rows[end].kind == kind &&
               rows[end].bag == rows[i].bag)
            end++;
        if (end > i) {
            add_bag(&l, past, rows, i, end);
            i = end - 1;
        }
    }
    return l;
}

static bool is_on(const struct bats_prior_past *past, uint32_t place,
                  uint32_t island)
{
    return place != UINT32_MAX && past->island[place] == island;
}

/* The island of most clusters, if the kind gives none. */
static uint32_t best_island(const struct bats_prior_past *past,
                            const uint32_t *place, size_t n)
{
    uint32_t best = UINT32_MAX;
    size_t most = 1;
    for (size_t i = 0; i < n; i++) {
        size_t count = 0;
        for (size_t k = 0; k < n && place[i] != UINT32_MAX; k++)
            count += is_on(past, place[k], past->island[place[i]]);
        if (count > most) {
            most = count;
            best = past->island[place[i]];
        }
    }
    return best;
}

bool bats_prior_of(const struct bats_prior_past *past,
                   const struct bats_prior_row *rows, size_t n, uint32_t kind,
                   const uint32_t *place, const double *charge,
                   size_t n_clusters, struct bats_prior *prior, uint32_t *bags)
{
    struct level l = find_level(past, rows, n, kind);
    uint32_t island =
        l.bags > 0 ? l.island : best_island(past, place, n_clusters);
    double base = 0, price = 0, known = 0;
    *prior = (struct bats_prior){.level = INFINITY};
    *bags = l.bags;
    for (size_t i = 0; i < n_clusters; i++)
        if (is_on(past, place[i], island)) {
            base += past->speed[place[i]];
            price += log(fmax(charge[i], 1));
            known++;
        }
    if (l.bags == 0 && known < 2)
        return false;
    base /= fmax(known, 1);
    price /= fmax(known, 1);
    for (size_t i = 0; i < n_clusters; i++) {
        bool is_seen = is_on(past, place[i], island);
        double guess =
            known > 0 ? base - BY_CHARGE * (log(fmax(charge[i], 1)) - price)
                      : 0;
        prior->mean[i] =
            exp(l.mean + (is_seen ? past->speed[place[i]] : guess));
        prior->own[i] = is_seen && isfinite(past->error[place[i]])
                            ? past->error[place[i]]
                        : is_seen ? KINDS_DIFFER
                                  : GUESS;
    }
    if (l.bags > 0) {
        prior->level = sqrt((square(BAGS_DIFFER) + l.squares) / (1 + l.pairs));
        prior->cv = l.cv / l.tasks;
    }
    return true;
}

void bats_prior_mix(const struct bats_prior *kinds, const double *weight,
                    size_t n_kinds, size_t n_clusters,
                    struct bats_prior *prior)
{
    double all = 0, known = 0, squares = 0, total = 0;
    *prior = (struct bats_prior){.level = INFINITY};
    for (size_t k = 0; k < n_kinds; k++) {
        total += weight[k];
        if (kinds[k].mean[0] > 0 && isfinite(kinds[k].level)) {
            known += weight[k];
            squares += weight[k] * square(kinds[k].level);
        }
    }
    for (size_t k = 0; k < n_kinds; k++) {
        bool counts =
            kinds[k].mean[0] > 0 && (known == 0 || isfinite(kinds[k].level));
        for (size_t i = 0; i < n_clusters && counts; i++) {
            prior->mean[i] += weight[k] * kinds[k].mean[i];
            prior->own[i] += weight[k] * kinds[k].own[i];
        }
        prior->cv += counts ? weight[k] * kinds[k].cv : 0;
        all += counts ? weight[k] : 0;
    }
    for (size_t i = 0; i < n_clusters && all > 0; i++) {
        prior->mean[i] /= all;
        prior->own[i] /= all;
    }
    prior->cv = all > 0 ? prior->cv / all : 0;
    /* An unknown cluster may have any speed. */
    if (known > 0)
        prior->level = sqrt(squares / known) + (total - known) / total;
}
