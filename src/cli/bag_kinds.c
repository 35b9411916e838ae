#include "cli/past.h"

#include <stdlib.h>
#include <string.h>

#include "util/text.h"

/* Commands of a bag that are looked at for what they have in common. */
#define LOOKS 10000

static bool has_class(const struct bats_bag_kinds *k, uint32_t i)
{
    return k->of_category != NULL &&
           k->of_category[k->bag->category[i]] != BATS_NO_KIND;
}

int bats_bag_kinds_init(struct bats_bag_kinds *k,
                        const struct bats_bagfile *bag, struct bats_error *err)
{
    uint32_t n = bag->n_categories, every = bag->n_tasks / LOOKS + 1;
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

/* Counts the tasks of each kind, by the commands that were looked at. */
int bats_bag_kinds_count(struct bats_bag_kinds *k)
{
    uint32_t every = k->bag->n_tasks / LOOKS + 1;
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
