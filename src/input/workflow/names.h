/*
 * names: numbers names in the order of their first appearance. Layer: input.
 * Used by the readers of workflows, for tasks, files, categories and
 * variables. A hash table with open addressing; nothing depends on its order.
 */
#ifndef BATS_WORKFLOW_NAMES_H
#define BATS_WORKFLOW_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/text.h"

#define BATS_NO_NAME UINT32_MAX

struct bats_names {
    struct bats_text text; /* the names, each with its NUL */
    size_t *offset;        /* by number: offset of the name in the text */
    size_t n, offset_room;
    uint32_t *table; /* numbers, or BATS_NO_NAME */
    size_t n_table;  /* 0 or a power of two */
};

/* The number of the name, which is added if new (*is_new). BATS_NO_NAME: no
 * memory. */
uint32_t bats_names_add(struct bats_names *names, const char *name,
                        bool *is_new);

/* The number of the name; BATS_NO_NAME: unknown. */
uint32_t bats_names_find(const struct bats_names *names, const char *name);

static inline const char *bats_names_text(const struct bats_names *names,
                                          uint32_t number)
{
    return names->text.bytes + names->offset[number];
}

void bats_names_release(struct bats_names *names);

#endif
