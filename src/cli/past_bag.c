/* past_bag: the kinds of a bag's tasks, and its points. See past.h. */
#include "cli/past.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/sweep/sweep.h"
#include "util/encode.h"
#include "util/text.h"

/* Most commands and points of a bag that are checked. */
#define KINDS_SEEN 10000
#define POINTS_SEEN 1000

/* ---- kinds ---- */

static bool has_class(const struct bats_bag_kinds *k, uint32_t i)
{
    return k->of_category != NULL &&
           k->of_category[k->bag->category[i]] != BATS_NO_KIND;
}

int bats_bag_kinds_init(struct bats_bag_kinds *k,
                        const struct bats_bagfile *bag, struct bats_error *err)
{
    uint32_t n = bag->n_categories, every = bag->n_tasks / KINDS_SEEN + 1;
    struct bats_text command = {0};
    int rc = 0;
    *k = (struct bats_bag_kinds){.bag = bag};
    if (bag->category != NULL) {
        k->of_category = malloc((n + (size_t)1) * sizeof *k->of_category);
        for (uint32_t i = 0; k->of_category != NULL && i < n; i++)
            k->of_category[i] =
                strcmp(bag->category_names[i], BATS_NO_CLASS) != 0
                    ? bats_task_kinds_named(&k->kinds, bag->category_names[i])
                    : BATS_NO_KIND;
        rc = k->of_category != NULL ? 0 : bats_no_memory(err);
    }
    for (uint32_t i = 0; rc == 0 && i < bag->n_tasks; i += every)
        if (!has_class(k, i) &&
            (bats_bagfile_command(bag, i, &command) < 0 ||
             bats_task_kinds_see(&k->kinds, command.bytes) < 0))
            rc = bats_no_memory(err);
    bats_text_release(&command);
    return rc;
}

void bats_bag_kinds_release(struct bats_bag_kinds *k)
{
    bats_task_kinds_release(&k->kinds);
    free(k->of_category);
    *k = (struct bats_bag_kinds){.bag = NULL};
}

uint32_t bats_bag_kinds_of(struct bats_bag_kinds *k, uint32_t i,
                           const char *command)
{
    return has_class(k, i) ? k->of_category[k->bag->category[i]]
                           : bats_task_kinds_number(&k->kinds, command);
}

/* Counts the tasks of each kind among the commands checked. */
int bats_bag_kinds_count(struct bats_bag_kinds *k)
{
    uint32_t every = k->bag->n_tasks / KINDS_SEEN + 1;
    struct bats_text command = {0};
    int rc = 0;
    for (size_t i = 0; i < k->kinds.n; i++)
        k->kinds.kind[i].tasks = 0;
    for (uint32_t i = 0; rc == 0 && i < k->bag->n_tasks; i += every)
        if (bats_bagfile_command(k->bag, i, &command) < 0)
            rc = BATS_ENOMEM;
        else if (has_class(k, i))
            k->kinds.kind[bats_bag_kinds_of(k, i, command.bytes)].tasks++;
        else if (bats_bag_kinds_of(k, i, command.bytes) == BATS_NO_KIND)
            rc = BATS_ENOMEM;
    bats_text_release(&command);
    return rc;
}

/* ---- points ---- */

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
    uint32_t every = bag->n_tasks / POINTS_SEEN + 1;
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
