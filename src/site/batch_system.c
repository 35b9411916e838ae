#include "site/batch_system.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *value(const char *variable)
{
    return variable != NULL ? getenv(variable) : NULL;
}

const char *bats_batch_job(const struct bats_batch_system *system)
{
    bool is_its = system->only_with == NULL || value(system->only_with);
    return is_its ? value(system->job) : NULL;
}

const struct bats_batch_system *bats_batch_system_here(void)
{
    size_t i = 0;
    while (bats_batch_systems[i] != NULL &&
           bats_batch_job(bats_batch_systems[i]) == NULL)
        i++;
    return bats_batch_systems[i];
}

int bats_batch_ask(double threads_per_core, struct bats_allocation *a,
                   struct bats_error *err)
{
    *a = (struct bats_allocation){.system = bats_batch_system_here()};
    if (a->system == NULL)
        return 0;
    snprintf(a->job, sizeof a->job, "%s", bats_batch_job(a->system));
    struct bats_allocation told = *a;
    int rc = a->system->ask(threads_per_core, &told, err);
    a->end_s = told.end_s;
    if (rc < 0) {
        bats_allocation_release(&told);
        return rc;
    }
    *a = told;
    bats_allocation_sort(a);
    return 0;
}

/* A system's job may be unknown here, and its partition known. */
const char *bats_batch_partition(const char *host)
{
    const char *partition = NULL;
    for (size_t i = 0; partition == NULL && bats_batch_systems[i]; i++) {
        const struct bats_batch_system *s = bats_batch_systems[i];
        if (s->partition != NULL)
            partition = s->partition(host);
        else if (bats_batch_job(s) != NULL)
            partition = value(s->queue);
    }
    return partition;
}

int64_t bats_batch_memory(bool of_node)
{
    int64_t kib = 0;
    for (size_t i = 0; kib == 0 && bats_batch_systems[i]; i++)
        if (bats_batch_systems[i]->memory != NULL)
            kib = bats_batch_systems[i]->memory(of_node);
    return kib;
}

const char *bats_batch_site(void)
{
    const struct bats_batch_system *here = bats_batch_system_here();
    const char *site = here != NULL ? value(here->site) : NULL;
    return site != NULL ? site : "";
}

bool bats_batch_launched(void)
{
    size_t i = 0;
    while (bats_batch_systems[i] && !value(bats_batch_systems[i]->rank))
        i++;
    return bats_batch_systems[i] != NULL;
}

/* ---- allocations and accounts ---- */

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
