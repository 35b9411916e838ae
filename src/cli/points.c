#include "cli/points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/sweep/sweep.h"
#include "util/encode.h"

/* Points that are looked at. */
#define LOOKS 1000

static bool number_at(const struct bats_sweep *sweep, uint32_t i,
                      size_t column, double *x)
{
    size_t n;
    char *end;
    const char *const *values = bats_sweep_values(sweep, i, &n);
    if (values == NULL || column >= n)
        return false;
    *x = strtod(values[column], &end);
    return end != values[column] && *end == '\0' && isfinite(*x);
}

static bool is_factor(const struct bats_bagfile *bag, size_t column)
{
    double first, x;
    bool differs = false;
    uint32_t every = bag->n_tasks / LOOKS + 1;
    if (!number_at(bag->sweep, 0, column, &first))
        return false;
    for (uint32_t i = 0; i < bag->n_tasks; i += every) {
        if (!number_at(bag->sweep, i, column, &x))
            return false;
        differs |= x != first;
    }
    return differs;
}

void bats_bag_points_init(struct bats_bag_points *p,
                          const struct bats_bagfile *bag)
{
    *p = (struct bats_bag_points){.bag = bag};
    if (bag->sweep == NULL)
        return;
    for (size_t k = 0; k < bag->sweep->width && p->n < BATS_FACTORS; k++) {
        const char *name = bats_points_name(&bag->sweep->points, k);
        char clean[BATS_PAST_NAMES / BATS_FACTORS - 1];
        size_t used = strlen(p->names);
        if (!is_factor(bag, k))
            continue;
        snprintf(clean, sizeof clean, "p%zu", k + 1);
        if (name != NULL)
            bats_encode(BATS_ENCODE_UNICODE, clean, sizeof clean, name);
        snprintf(p->names + used, sizeof p->names - used, "%s%s",
                 used > 0 ? "," : "", clean);
        p->column[p->n++] = k;
    }
}

bool bats_bag_points_at(const struct bats_bag_points *p, uint32_t i, double *x)
{
    for (uint32_t k = 0; k < p->n; k++)
        if (!number_at(p->bag->sweep, i, p->column[k], &x[k]))
            return false;
    return p->n > 0;
}
