/*
 * open_kinds: the categories of an open bag: a class of tasks with a need each.
 *
 * Layer: run. Used by open.c. They are numbered as they come, and the engine is
 * told of each with its first task (BATS_EVENT_ADDED).
 */
#ifndef BATS_OPEN_KINDS_H
#define BATS_OPEN_KINDS_H

#include "bats/need.h"
#include "input/workflow/names.h"

/* All zero: there are none. */
struct bats_open_kinds {
    struct bats_names names; /* as in "sort, 4 cores", by number; */
    struct bats_need *needs; /* and what each needs */
    size_t room;
};

/* The number of the kind, a new one if it is not there. BATS_EINPUT: there are
 * BATS_CATEGORIES_MAX others. `class` may be NULL. */
int bats_open_kinds_find(struct bats_open_kinds *kinds, const char *class,
                         const struct bats_need *need, uint16_t *number,
                         struct bats_error *err);
void bats_open_kinds_release(struct bats_open_kinds *kinds);

#endif
