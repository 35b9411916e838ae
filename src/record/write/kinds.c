#include "record/write/kinds.h"

#include <stdlib.h>

#include "record/write/record.h"

#define PLACES ((size_t)2 * BATS_KINDS_MAX)

/* Place of `key`, or a free one; NULL if out of memory. */
static struct bats_kind *find(struct bats_kinds *kinds, uint64_t key)
{
    if (kinds->table == NULL)
        kinds->table = calloc(PLACES, sizeof *kinds->table);
    if (kinds->table == NULL)
        return NULL;
    size_t at = (size_t)(key % PLACES);
    while (kinds->table[at].seq != 0 && kinds->table[at].key != key)
        at = (at + 1) % PLACES;
    return &kinds->table[at];
}

bool bats_kinds_keep(struct bats_kinds *kinds, uint64_t key, int64_t seq,
                     size_t n, int64_t *same)
{
    struct bats_kind *k = find(kinds, key);
    bool is_new = k != NULL && k->seq == 0 && kinds->n < BATS_KINDS_MAX;

    *same = 0;
    if (is_new) {
        *k = (struct bats_kind){key, seq};
        kinds->n++;
    }
    if (is_new || kinds->bytes + (int64_t)n <= BATS_RECORD_LAST_BYTES) {
        kinds->bytes += (int64_t)n;
        return true;
    }
    if (k != NULL)
        *same = k->seq;
    return false;
}

void bats_kinds_release(struct bats_kinds *kinds)
{
    free(kinds->table);
    *kinds = (struct bats_kinds){0};
}
