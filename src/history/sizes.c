#include "history/sizes.h"

#include <math.h>

#define PER_OCTAVE 8

int64_t bats_size_class(int64_t kib)
{
    double step = ceil(log2((double)kib) * PER_OCTAVE - 1e-9);
    return (int64_t)ceil(exp2(step / PER_OCTAVE) - 1e-6);
}

static double share(const struct bats_past_size *s, double kib)
{
    return fmin(1, fmax((double)s->cores / (double)s->slots,
                        kib / (double)s->node_kib));
}

double bats_size_cost(const struct bats_past_size *list, size_t n,
                      uint32_t kind, int64_t asked_kib, double factor,
                      double *again)
{
    double cost = 0, tasks = 0, repeated = 0;
    for (size_t i = 0; i < n; i++) {
        const struct bats_past_size *s = &list[i];
        double kib = (double)asked_kib;
        if (s->kind != kind || s->slots == 0 || s->node_kib == 0)
            continue;
        cost += s->seconds * share(s, kib);
        for (; kib < (double)s->used_kib; kib *= factor)
            cost += s->seconds * share(s, kib * factor);
        tasks += (double)s->tasks;
        repeated += asked_kib < s->used_kib ? (double)s->tasks : 0;
    }
    *again = tasks > 0 ? repeated / tasks : 0;
    return tasks > 0 ? cost / tasks : -1;
}
