#include "bats/factors.h"

#include <math.h>
#include <string.h>

#define SIDE BATS_FACTOR_SIDE
#define FOLDS BATS_FACTOR_FOLDS

/* A model's error must be at most this fraction of the mean's. */
#define BETTER 0.75
/* A fit needs FEW tasks, and FEW_EACH more per number. */
#define FEW 8
#define FEW_EACH 2
/* A number depends on the others if this fraction of its squares or less
 * remains without them. */
#define DEGENERATE 1e-9
/* Predictions are at least this fraction of the mean. */
#define LEAST 0.01

void bats_factors_note(struct bats_factors *f, uint32_t task, const double *x,
                       double time)
{
    double v[2][SIDE] = {{1}, {1}};
    uint32_t fold = (task * UINT32_C(2654435761)) >> 30;
    for (uint32_t i = 0; i < f->n; i++) {
        v[0][1 + i] = x[i];
        v[1][1 + i] = x[i] > 0 ? log(x[i]) : NAN;
    }
    v[0][1 + f->n] = time;
    v[1][1 + f->n] = log(time);
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < f->n + 2; i++)
            for (uint32_t j = 0; j < f->n + 2; j++)
                f->sums[k][fold][i][j] += v[k][i] * v[k][j];
}

/* Rescales the sums, as if every time were divided by `scale`. */
static void rescale(double m[SIDE][SIDE], uint32_t y, bool has_logs,
                    double scale)
{
    double by = has_logs ? log(scale) : 1 / scale, square = m[y][y];
    for (uint32_t i = 0; i < y; i++)
        m[i][y] = m[y][i] = has_logs ? m[i][y] - by * m[i][0] : m[i][y] * by;
    /* The sum of the times is already shifted. */
    m[y][y] = has_logs ? square - 2 * by * m[0][y] - by * by * m[0][0]
                       : square * by * by;
}

void bats_factors_add(struct bats_factors *f, const struct bats_factors *more,
                      double weight, double scale)
{
    double m[SIDE][SIDE];
    for (int k = 0; k < 2; k++)
        for (int fold = 0; fold < FOLDS; fold++) {
            memcpy(m, more->sums[k][fold], sizeof m);
            rescale(m, f->n + 1, k == 1, scale);
            for (uint32_t i = 0; i < f->n + 2; i++)
                for (uint32_t j = 0; j < f->n + 2; j++)
                    f->sums[k][fold][i][j] += weight * m[i][j];
        }
}

/* Least squares of column y by the first n columns (Gauss-Jordan). */
static void solve(double m[SIDE][SIDE], uint32_t n, uint32_t y, double *b)
{
    double whole[SIDE];
    bool is_in[SIDE];
    for (uint32_t k = 0; k < n; k++)
        whole[k] = m[k][k];
    for (uint32_t k = 0; k < n; k++) {
        is_in[k] = m[k][k] > DEGENERATE * whole[k];
        for (uint32_t i = 0; i < n && is_in[k]; i++) {
            double times = m[i][k] / m[k][k];
            for (uint32_t j = 0; j <= y && i != k; j++)
                m[i][j] -= times * m[k][j];
        }
    }
    for (uint32_t k = 0; k < n; k++)
        b[k] = is_in[k] ? m[k][y] / m[k][k] : 0;
}

/* Sum of squared errors. */
static double squares(double m[SIDE][SIDE], uint32_t y, const double *b)
{
    double sum = m[y][y];
    for (uint32_t i = 0; i < y; i++) {
        sum -= 2 * b[i] * m[i][y];
        for (uint32_t j = 0; j < y; j++)
            sum += b[i] * b[j] * m[i][j];
    }
    return fmax(sum, 0);
}

static void total(double (*folds)[SIDE][SIDE], int but, double m[SIDE][SIDE])
{
    memset(m, 0, SIDE * sizeof *m);
    for (int fold = 0; fold < FOLDS; fold++)
        for (int i = 0; fold != but && i < SIDE; i++)
            for (int j = 0; j < SIDE; j++)
                m[i][j] += folds[fold][i][j];
}

/* Cross-validated error with the first `columns` columns. */
static double validate(double (*folds)[SIDE][SIDE], uint32_t columns,
                       uint32_t y)
{
    double sum = 0, m[SIDE][SIDE];
    for (int fold = 0; fold < FOLDS; fold++) {
        double b[SIDE] = {0};
        total(folds, fold, m);
        if (!(m[0][0] > 0))
            return INFINITY;
        solve(m, columns, y, b);
        sum += squares(folds[fold], y, b);
    }
    return sum;
}

struct bats_factor_model bats_factors_fit(const struct bats_factors *f)
{
    struct bats_factor_model best = {.n = f->n};
    struct bats_factors copy = *f;
    uint32_t y = f->n + 1;
    double least = BETTER * BETTER, m[SIDE][SIDE], mean = 0;
    for (int k = 0; k < 2 && f->n > 0; k++) {
        total(copy.sums[k], -1, m);
        double n = m[0][0], sum = m[0][y];
        mean = k == 0 ? sum / n : mean;
        if (!(n >= FEW + FEW_EACH * f->n) || !isfinite(m[1][1]))
            continue;
        double alone = validate(copy.sums[k], 1, y);
        double error = validate(copy.sums[k], y, y);
        if (!(alone > 0) || !(error <= least * alone))
            continue;
        least = error / alone;
        best.is_there = true;
        best.has_logs = k == 1;
        best.error = sqrt(error / n) / (k == 1 ? 1 : mean);
        solve(m, y, y, best.b);
    }
    best.least = LEAST * mean;
    return best;
}

double bats_factors_at(const struct bats_factor_model *m, const double *x)
{
    double t = m->b[0];
    for (uint32_t i = 0; i < m->n; i++)
        t += m->b[1 + i] * (m->has_logs ? log(fmax(x[i], 1e-300)) : x[i]);
    /* The mean of a lognormal exceeds its median. */
    return fmax(m->has_logs ? exp(t + m->error * m->error / 2) : t, m->least);
}

double bats_factors_level(const struct bats_factor_model *m,
                          const struct bats_factors *f)
{
    struct bats_factors copy = *f;
    double all[SIDE][SIDE], said = 0;
    total(copy.sums[m->has_logs], -1, all);
    double n = all[0][0], took = all[0][f->n + 1] / n;
    for (uint32_t i = 0; i <= m->n; i++)
        said += m->b[i] * all[0][i] / n;
    double level =
        m->has_logs ? exp(took - said) : took / fmax(said, m->least);
    return n > 0 && isfinite(level) ? level : 0;
}
