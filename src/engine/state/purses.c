/* purses: the workflows that share a run, and what they may spend. See
 * purses.h. */
#include "engine/state/moves.h"

#include <stdlib.h>

void purses_rank(struct state *s)
{
    const struct purses *a = &s->money.purses;
    for (uint32_t i = 0; a->urgency && i < s->bag.n; i++) {
        bats_time deadline = a->list[a->of[i]].deadline;
        a->urgency[i] =
            s->known.height[i] - (deadline > 0 ? deadline : BATS_LONGEST);
    }
}

/* Orders tasks by urgency if workflows have deadlines. */
static bool order_by_urgency(struct state *s)
{
    struct purses *a = &s->money.purses;
    a->urgency = malloc(s->bag.n * sizeof *a->urgency);
    if (!a->urgency)
        return false;
    purses_rank(s);
    s->bag.priority = a->urgency;
    bats_bag_reorder(&s->bag);
    return true;
}

/* Puts aside ready tasks of workflows that begin later. */
static void wait_for_begin(struct state *s)
{
    const struct purses *a = &s->money.purses;
    uint32_t n = 0, *others = a->next; /* not in use yet */
    while (bats_bag_ready(&s->bag) > 0) {
        struct bats_position task = bats_bag_draw(&s->bag, 0);
        uint32_t number = s->bag.index[task.i];
        bats_time begin = a->list[a->of[number]].begin;
        bats_bag_put_aside(&s->bag, task);
        if (begin > 0)
            bats_heap_set(&s->retries, number, begin);
        else
            others[n++] = number;
    }
    while (n > 0)
        bats_bag_put_back(&s->bag, s->bag.position[others[--n]]);
}

/* Whether no dependency crosses workflows; a joint belongs to its parents'
 * workflow. Also false if memory runs out. */
static bool are_apart(const struct state *s)
{
    const struct bats_graph *g = s->bag.graph;
    const uint32_t none = UINT32_MAX;
    uint32_t *of = g ? malloc((g->n_nodes + (size_t)1) * sizeof *of) : NULL;
    bool apart = of != NULL;
    for (uint32_t i = 0; of && i < g->n_nodes; i++)
        of[i] = i < g->n_tasks ? s->money.purses.of[i] : none;
    for (uint32_t i = 0; apart && i < g->n_nodes; i++) {
        uint32_t node = s->known.sorted[i];
        for (uint64_t k = g->first[node]; k < g->first[node + 1]; k++) {
            uint32_t *child = &of[g->child[k]];
            *child = *child == none ? of[node] : *child;
            apart &= *child == of[node];
        }
    }
    free(of);
    return apart;
}

int purses_init(struct state *s, const struct bats_sched_options *o)
{
    struct purses *a = &s->money.purses;
    a->n = o->n_purses;
    a->of = o->purse;
    a->is_news = true;
    if (a->n == 0)
        return 0;
    a->list = calloc(a->n, sizeof *a->list);
    a->stakes = calloc(o->n_machines, sizeof *a->stakes);
    a->next = malloc(o->n_tasks * sizeof *a->next);
    a->is_unpaid = calloc(o->n_tasks, 1);
    if (!a->list || !a->stakes || !a->next || !a->is_unpaid)
        return BATS_ENOMEM;
    bool any_deadline = false;
    a->are_apart = are_apart(s);
    for (uint32_t i = 0; i < a->n; i++) {
        const struct bats_purse *spec = &o->purses[i];
        bats_money budget =
            spec->budget > spec->charged ? spec->budget : spec->charged;
        a->list[i] = (struct purse){.name = spec->name,
                                    .deadline = spec->deadline,
                                    .begin = spec->begin,
                                    .is_news = true,
                                    .ended = BATS_NEVER};
        bats_ledger_init(&a->list[i].ledger, budget, spec->charged);
        if (spec->begin > a->last_begin)
            a->last_begin = spec->begin;
        any_deadline |= spec->deadline > 0;
    }
    for (uint32_t i = 0; i < s->bag.n; i++) {
        struct purse *p = &a->list[a->of[i]];
        uint8_t state = s->bag.state[s->bag.position[i].i];
        p->done += state == BATS_TASK_DONE;
        p->failed += state == BATS_TASK_FAILED;
        p->left += state != BATS_TASK_DONE && state != BATS_TASK_FAILED &&
                   state != BATS_TASK_LEFT_OUT;
    }
    if (any_deadline && !order_by_urgency(s))
        return BATS_ENOMEM;
    if (a->last_begin > 0)
        wait_for_begin(s);
    return 0;
}

void purses_release(struct state *s)
{
    struct purses *a = &s->money.purses;
    for (uint32_t i = 0; a->stakes && i < s->n_machines; i++)
        free(a->stakes[i].list);
    free(a->list);
    free(a->stakes);
    free(a->next);
    free(a->urgency);
    free(a->is_unpaid);
}

void purse_ended(struct state *s, uint32_t number, enum bats_task_state state)
{
    if (s->money.purses.n == 0)
        return;
    struct purse *p = &s->money.purses.list[s->money.purses.of[number]];
    p->done += state == BATS_TASK_DONE;
    p->failed += state == BATS_TASK_FAILED;
    p->skipped += state == BATS_TASK_SKIPPED;
    p->unpaid += s->money.purses.is_unpaid[number];
    if (--p->left == 0)
        p->ended = s->now;
}
