#include <stdlib.h>
#include <string.h>

#include "bats/rules.h"
#include "input/bag/state.h"
#include "input/sweep/sweep.h"

int bats_bag_class(struct bats_bagfile *bag, const char *name,
                   uint16_t *number, struct bats_error *err)
{
    bool is_new;
    if (*name == '\0')
        return bats_refuse(err, "the class has no name");
    if (strlen(name) >= BATS_CLASS)
        return bats_refuse(err, "'%.40s...' is too long", name);
    if (bag->classes.n == 0 &&
        bats_names_add(&bag->classes, BATS_NO_CLASS, &is_new) == BATS_NO_NAME)
        return bats_no_memory(err);
    uint32_t n = bats_names_add(&bag->classes, name, &is_new);
    if (n == BATS_NO_NAME)
        return bats_no_memory(err);
    if (n >= BATS_CATEGORIES_MAX)
        return bats_refuse(err, "more than %d classes",
                           BATS_CATEGORIES_MAX - 1);
    *number = (uint16_t)n;
    return 0;
}

/* Fills class[] by task, for a bag of lines. */
static void spread(const struct bats_bagfile *bag, uint16_t *class)
{
    for (size_t g = 0; g < bag->n_groups; g++) {
        uint32_t end =
            g + 1 < bag->n_groups ? bag->groups[g + 1].first : bag->n_tasks;
        for (uint32_t i = bag->groups[g].first; i < end; i++)
            class[i] = bag->groups[g].traits.class;
    }
}

/* Fills class[] by task, for a sweep with this column. */
static int look_up(struct bats_bagfile *bag, size_t column, uint16_t *class,
                   struct bats_error *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < bag->n_tasks; i++) {
        size_t n;
        const char *const *values = bats_sweep_values(bag->sweep, i, &n);
        class[i] = 0;
        if (values == NULL)
            return bats_no_memory(err);
        if (column < n && *values[column] != '\0')
            rc = bats_bag_class(bag, values[column], &class[i], err);
    }
    return rc;
}

int bats_bag_list_classes(struct bats_bagfile *bag, struct bats_error *err)
{
    size_t column =
        bag->sweep != NULL ? bats_sweep_column(bag->sweep, "class") : SIZE_MAX;
    int rc = 0;
    if (column == SIZE_MAX && bag->classes.n == 0)
        return 0;
    uint16_t *of = bag->own_category =
        malloc((bag->n_tasks + (size_t)1) * sizeof *of);
    if (of == NULL)
        return bats_no_memory(err);
    if (column == SIZE_MAX)
        spread(bag, of);
    else
        rc = look_up(bag, column, of, err);
    /* A parameter with too many or too long values is not a class. */
    if (rc < 0 || bag->classes.n == 0)
        return rc == BATS_EINPUT ? 0 : rc;
    bag->own_names = malloc(bag->classes.n * sizeof *bag->own_names);
    if (bag->own_names == NULL)
        return bats_no_memory(err);
    for (uint32_t i = 0; i < bag->classes.n; i++)
        bag->own_names[i] = bats_names_text(&bag->classes, i);
    bag->category = of;
    bag->category_names = bag->own_names;
    bag->n_categories = (uint32_t)bag->classes.n;
    return 0;
}
