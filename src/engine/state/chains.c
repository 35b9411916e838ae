/* chains: lower bounds on the remaining time from chains of dependent tasks.
 * See state.h. */
#include "engine/state/moves.h"

#include <math.h>
#include <stdlib.h>

/* Time per unit of height: the longest chain runs on the fastest held
 * machines. Until tasks are ranked, a height counts tasks. 0: unknown. */
static double time_of_height(const struct state *s)
{
    double least = INFINITY;
    for (size_t c = 0; c < s->n_clusters; c++) {
        double time = s->known.is_ranked ? s->known.categories.factor[c]
                                         : s->clusters[c].stats.mean;
        if (s->clusters[c].n_active > 0 && time > 0)
            least = fmin(least, time);
    }
    return isfinite(least) ? least : s->known.is_ranked;
}

/* The height of a task of mean length. */
static double unit_of(const struct state *s)
{
    return s->known.is_ranked ? s->known.categories.mean : 1;
}

/* The longest chains of all tasks and, unless it is NULL, of each workflow. */
struct chains {
    const struct state *s;
    double height_time;
    bats_time longest, *of_purse;
};

/* Considers the chain from this task, whose time is longer by `more` (or
 * shorter, if negative). */
static void look_at(struct chains *k, uint32_t task, double more)
{
    double end = (double)k->s->known.height[task] * k->height_time + more;
    bats_time time = (bats_time)fmin(fmax(end, 0), (double)BATS_LONGEST);
    if (time > k->longest)
        k->longest = time;
    if (k->of_purse && time > k->of_purse[k->s->money.purses.of[task]])
        k->of_purse[k->s->money.purses.of[task]] = time;
}

/* A heap's top has the longest chain of the ready tasks, unless deadlines set
 * the order. */
static void look_at_ready(struct chains *k)
{
    const struct state *s = k->s;
    bool all = s->money.purses.urgency || k->of_purse;
    for (uint32_t g = 0; g < s->bag.n_groups; g++) {
        const struct bats_bag_group *of = &s->bag.groups[g];
        for (uint32_t i = 0; i < of->n_ready && (all || i == 0); i++)
            look_at(k, s->bag.index[of->order[i].i], 0);
    }
    for (uint32_t i = 0; i < s->retries.n; i++)
        look_at(k, s->retries.item[i].id,
                (double)(s->retries.item[i].time - s->now));
}

/* The running task ends in its slot; those behind it have not begun. */
static void look_at_slot(struct chains *k, uint32_t slot)
{
    const struct state *s = k->s;
    const struct slot *sl = &s->slots[slot];
    uint32_t task = s->bag.index[sl->head.i];
    size_t cluster = slot_cluster(s, slot);
    double weight = categories_weight(s, task) * unit_of(s);
    double time = s->known.is_ranked ? categories_runtime(s, task, cluster)
                                     : s->clusters[cluster].stats.mean;
    look_at(k, task,
            fmax(time - slot_elapsed(s, slot), 0) - weight * k->height_time);
    for (struct bats_position t = slot_next(s, slot, sl->head);
         bats_is_position(t); t = slot_next(s, slot, t))
        look_at(k, s->bag.index[t.i], 0);
}

bats_time state_longest_chain(const struct state *s, bats_time *of_purse)
{
    struct chains k = {
        .s = s, .of_purse = s->money.purses.are_apart ? of_purse : NULL};
    if (s->bag.graph)
        k.height_time = time_of_height(s);
    if (k.height_time <= 0)
        return 0;
    look_at_ready(&k);
    for (uint32_t i = 0; i < s->n_held; i++) {
        const struct machine *m = &s->machines[s->held[i]];
        for (uint32_t n = m->first_slot; n < m->first_slot + m->n_slots; n++)
            if (s->slots[n].n_tasks > 0)
                look_at_slot(&k, n);
    }
    return k.longest;
}

double state_chain_means(const struct state *s)
{
    double mean = s->bag.graph ? unit_of(s) * time_of_height(s) : 0;
    return mean > 0 ? (double)state_longest_chain(s, NULL) / mean : 0;
}

/* Without memory: no levels. */
void levels_left(const struct state *s, struct bats_levels *levels)
{
    uint32_t n = s->bag.graph ? s->bag.n : 0;
    uint8_t *left = malloc((size_t)n + 1);
    *levels = (struct bats_levels){.n = 0};
    for (uint32_t i = 0; left && i < n; i++)
        left[i] = bats_bag_is_left(&s->bag, s->bag.position[i]);
    if (left && n > 0)
        bats_graph_levels(s->bag.graph, left, levels, NULL);
    free(left);
}
