/* allocation: what a job holds, and what its account has left. See
 * batch_system.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/batch_system.h"

static int compare_nodes(const void *a, const void *b)
{
    const struct bats_allocation_node *x = a, *y = b;
    return strcmp(x->host, y->host);
}

void bats_allocation_sort(struct bats_allocation *a)
{
    if (a->n_nodes > 0)
        qsort(a->nodes, a->n_nodes, sizeof *a->nodes, compare_nodes);
}

struct bats_allocation_node *
bats_allocation_find(const struct bats_allocation *a, const char *host)
{
    struct bats_allocation_node key;
    snprintf(key.host, sizeof key.host, "%.*s", (int)strcspn(host, "."), host);
    return a->n_nodes > 0 ? bsearch(&key, a->nodes, a->n_nodes,
                                    sizeof *a->nodes, compare_nodes)
                          : NULL;
}

void bats_allocation_release(struct bats_allocation *a)
{
    free(a->parts);
    free(a->nodes);
    *a = (struct bats_allocation){0};
}

int bats_allocation_add_part(struct bats_allocation *a,
                             const struct bats_allocation_part *part,
                             struct bats_error *err)
{
    struct bats_allocation_part *parts =
        realloc(a->parts, (a->n_parts + 1) * sizeof *parts);
    if (parts == NULL)
        return bats_no_memory(err);
    a->parts = parts;
    parts[a->n_parts++] = *part;
    return 0;
}

int bats_allocation_add_node(struct bats_allocation *a,
                             const struct bats_allocation_node *node,
                             struct bats_error *err)
{
    struct bats_allocation_node *nodes =
        realloc(a->nodes, (a->n_nodes + 1) * sizeof *nodes);
    if (nodes == NULL)
        return bats_no_memory(err);
    a->nodes = nodes;
    nodes[a->n_nodes++] = *node;
    return 0;
}

bats_money bats_account_left(const struct bats_account *a)
{
    int64_t minutes = a->limit > a->used ? a->limit - a->used : 0;
    if (!a->limited || minutes / 60 >= BATS_UNLIMITED / BATS_UNIT)
        return BATS_UNLIMITED;
    bats_money left = minutes / 60 * BATS_UNIT + minutes % 60 * BATS_UNIT / 60;
    double billed = a->factor > 0 ? (double)left / a->factor : (double)left;
    return billed < (double)BATS_LONGEST ? (bats_money)billed : BATS_UNLIMITED;
}

const char *bats_account_words(char text[BATS_ACCOUNT_WORDS],
                               const struct bats_account *a)
{
    if (a->limited)
        snprintf(text, BATS_ACCOUNT_WORDS,
                 "%s %s: %" PRId64 " of %" PRId64 " billing-minutes are used",
                 a->of_user  ? "the user's share in account"
                 : a->of_qos ? "QOS"
                             : "account",
                 a->account, a->used, a->limit);
    else
        snprintf(text, BATS_ACCOUNT_WORDS,
                 "account %s: no limit of billing-minutes is set", a->account);
    return text;
}
