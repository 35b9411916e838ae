#include "input/workflow/names.h"

#include <stdlib.h>
#include <string.h>

#include "util/grow.h"
#include "util/hash.h"

/* The place of the name in the table, or where to add it. */
static size_t place(const struct bats_names *names, const char *name)
{
    uint64_t hash = bats_hash_text(BATS_HASH, name);
    size_t at = (size_t)(hash ^ hash >> 29) & (names->n_table - 1);
    while (names->table[at] != BATS_NO_NAME &&
           strcmp(bats_names_text(names, names->table[at]), name) != 0)
        at = (at + 1) & (names->n_table - 1);
    return at;
}

/* Keeps the table at most half full. */
static bool enlarge(struct bats_names *names)
{
    size_t n = names->n_table > 0 ? 2 * names->n_table : 64;
    uint32_t *table = malloc(n * sizeof *table);
    if (!table)
        return false;
    memset(table, 0xff, n * sizeof *table);
    free(names->table);
    names->table = table;
    names->n_table = n;
    for (uint32_t i = 0; i < names->n; i++)
        table[place(names, bats_names_text(names, i))] = i;
    return true;
}

uint32_t bats_names_find(const struct bats_names *names, const char *name)
{
    return names->n_table == 0 ? BATS_NO_NAME
                               : names->table[place(names, name)];
}

uint32_t bats_names_add(struct bats_names *names, const char *name,
                        bool *is_new)
{
    uint32_t number = bats_names_find(names, name);
    *is_new = number == BATS_NO_NAME;
    if (!*is_new)
        return number;
    if (names->n >= UINT32_MAX / 4 ||
        (2 * (names->n + 1) > names->n_table && !enlarge(names)) ||
        !bats_grow(&names->offset, &names->offset_room, names->n + 1,
                   sizeof *names->offset))
        return BATS_NO_NAME;
    names->offset[names->n] = names->text.n;
    bats_text_put(&names->text, name, strlen(name) + 1);
    if (names->text.failed)
        return BATS_NO_NAME;
    number = (uint32_t)names->n++;
    names->table[place(names, name)] = number;
    return number;
}

void bats_names_release(struct bats_names *names)
{
    bats_text_release(&names->text);
    free(names->offset);
    free(names->table);
    *names = (struct bats_names){0};
}
