/* levels: how many tasks are left between one barrier and the next. See
 * state.h.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/state/moves.h"

int levels_init(struct state *s)
{
    uint32_t nodes = s->bag.graph ? s->bag.graph->n_nodes : 0;
    struct levels *l = &s->known.levels;
    if (nodes == 0)
        return 0;
    l->of = malloc(nodes * sizeof *l->of);
    if (!l->of)
        return BATS_ENOMEM;
    for (uint32_t i = 0; i < nodes; i++) {
        l->of[i] = (uint32_t)s->known.height[i];
        l->n = l->of[i] >= l->n ? l->of[i] + 1 : l->n;
    }
    l->left = calloc(l->n, sizeof *l->left);
    l->sorted = malloc(l->n * sizeof *l->sorted);
    if (!l->left || !l->sorted)
        return BATS_ENOMEM;
    for (uint32_t i = 0; i < s->bag.n; i++)
        l->left[l->of[i]] +=
            !bats_bag_has_result(&s->bag, s->bag.position[i]) &&
            s->bag.state[s->bag.position[i].i] != BATS_TASK_LEFT_OUT;
    return 0;
}

void levels_release(struct state *s)
{
    free(s->known.levels.of);
    free(s->known.levels.left);
    free(s->known.levels.sorted);
}

void levels_drop(struct state *s, uint32_t task)
{
    if (s->known.levels.n > 0)
        s->known.levels.left[s->known.levels.of[task]]--;
}

void levels_left(const struct state *s, struct bats_levels *levels)
{
    const struct levels *l = &s->known.levels;
    *levels = (struct bats_levels){.n = 0};
    if (l->n == 0)
        return;
    memcpy(l->sorted, l->left, l->n * sizeof *l->sorted);
    bats_levels_of(levels, l->sorted, l->n);
}
