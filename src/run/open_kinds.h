/*
 * open_kinds: the categories of an open bag: one for each class of tasks and
 * need.
 *
 * Layer: run. Used by open.c. They are numbered in order of appearance, and
 * the engine is told of each with its first task (BATS_EVENT_ADDED).
 */
#ifndef BATS_OPEN_KINDS_H
#define BATS_OPEN_KINDS_H

#include "bats/need.h"
#include "input/workflow/names.h"

/* All zero: empty. */
struct bats_open_kinds {
    struct bats_names names; /* such as "sort, 4 cores", by number; */
    struct bats_need *needs; /* and its needs */
    char **classes;          /* and its class; NULL: none */
    size_t room, classes_room;
};

/* The number of the kind, added if new. `class` may be NULL; it is ignored when
 * there are BATS_CATEGORIES_MAX kinds. BATS_EINPUT: there are as many without a
 * class, too. */
int bats_open_kinds_find(struct bats_open_kinds *kinds, const char *class,
                         const struct bats_need *need, uint16_t *number,
                         struct bats_error *err);
void bats_open_kinds_release(struct bats_open_kinds *kinds);

#endif
