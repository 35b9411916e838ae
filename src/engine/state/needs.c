/*
 * needs: resources that tasks need of their machine. See state.h.
 *
 * An execution of a task of k cores holds k slots of its machine. The lowest
 * slot has the task and represents the execution; the others have none, and
 * `lead` names that slot. All count as busy. If every task needs just one
 * slot, none of this exists.
 */
#include "engine/state/moves.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const struct bats_need one_core = {.cores = 1};

static uint32_t n_nodes(const struct bats_stock *machine)
{
    return machine->nodes > 1 ? machine->nodes : 1;
}

uint32_t bats_need_room(const struct bats_stock *machine,
                        const struct bats_need *need)
{
    int64_t room = machine->cores / need->cores;
    if (need->gpus > 0 && machine->gpus / need->gpus < room)
        room = machine->gpus / need->gpus;
    if (need->memory_kib > 0 && machine->memory_kib > 0 &&
        machine->memory_kib / need->memory_kib < room)
        room = machine->memory_kib / need->memory_kib;
    return (uint32_t)room * n_nodes(machine);
}

struct bats_stock needs_stock(const struct bats_sched_options *o, uint32_t id)
{
    return o->stocks ? o->stocks[id]
                     : (struct bats_stock){.cores = o->machines[id].slots};
}

double bats_stock_slots(const struct bats_stock *machine)
{
    return (double)machine->cores * n_nodes(machine);
}

void bats_need_mix_add(struct bats_need_mix *mix, double tasks, uint32_t cores,
                       double share)
{
    mix->tasks += tasks;
    mix->cores += tasks * cores;
    mix->gaps += share > cores ? tasks * share : 0;
}

double bats_need_mix_width(const struct bats_need_mix *mix)
{
    return mix->tasks > 0 ? fmax(mix->cores, mix->gaps) / mix->tasks : 1;
}

#define ANY_CLUSTER SIZE_MAX

/* The task's share of an average machine of the cluster; 0: it fits on none. */
static double share(const struct state *s, size_t cluster,
                    const struct bats_need *need)
{
    double slots = 0, room = 0;
    for (uint32_t i = 0; i < s->n_machines; i++) {
        if (cluster != ANY_CLUSTER && s->machines[i].cluster != cluster)
            continue;
        uint32_t n = bats_need_room(&s->needs.spec[i], need);
        slots += n > 0 ? bats_stock_slots(&s->needs.spec[i]) : 0;
        room += n;
    }
    return room > 0 ? slots / room : 0;
}

/* The lowest n set bits. */
static uint64_t lowest(uint64_t bits, uint32_t n)
{
    uint64_t left = bits;
    for (; n > 0; n--)
        left &= left - 1;
    return bits ^ left;
}

static int make_nodes(struct state *s, const struct bats_sched_options *o)
{
    struct needs *n = &s->needs;
    uint32_t all = 0, slot = 0;
    for (uint32_t i = 0; i < o->n_machines; i++) {
        n->spec[i] = needs_stock(o, i);
        n->first[i] = all;
        all += n_nodes(&n->spec[i]);
    }
    n->nodes = state_room(s, all, sizeof *n->nodes);
    if (!n->nodes)
        return BATS_ENOMEM;
    n->first[o->n_machines] = all;
    for (uint32_t i = 0; i < o->n_machines; i++) {
        uint32_t slots = o->machines[i].slots / n_nodes(&n->spec[i]);
        for (uint32_t k = n->first[i]; k < n->first[i + 1]; k++, slot += slots)
            n->nodes[k] = (struct needs_node){
                .machine = i,
                .first_slot = slot,
                .n_slots = slots,
                .free = n->spec[i],
                .free_gpus = lowest(UINT64_MAX, n->spec[i].gpus)};
    }
    return 0;
}

int needs_init(struct state *s, const struct bats_sched_options *o)
{
    struct needs *n = &s->needs;
    uint32_t n_slots = 0;
    if (!o->needs)
        return 0;
    for (uint32_t i = 0; i < o->n_machines; i++)
        n_slots += o->machines[i].slots;
    uint32_t room = o->open ? BATS_CATEGORIES_MAX : o->n_categories;
    n->of = state_room(s, o->n_tasks, sizeof *n->of);
    n->list = state_room(s, room, sizeof *n->list);
    n->more = state_room(s, room, sizeof *n->more);
    n->share = state_room(s, room, sizeof *n->share);
    n->gpus = state_room(s, n_slots, sizeof *n->gpus);
    n->lead = state_room(s, n_slots, sizeof *n->lead);
    n->spec = state_room(s, o->n_machines, sizeof *n->spec);
    n->first = state_room(s, o->n_machines + (size_t)1, sizeof *n->first);
    if (s->answers.failure < 0 || make_nodes(s, o) < 0)
        return BATS_ENOMEM;
    memcpy(n->of, o->category, o->n_tasks * sizeof *n->of);
    memcpy(n->list, o->needs, o->n_categories * sizeof *n->list);
    for (uint32_t i = 0; i < o->n_categories; i++) {
        n->share[i] =
            fmax(share(s, ANY_CLUSTER, &n->list[i]), n->list[i].cores);
        n->more[i] = o->more ? o->more[i] : (uint16_t)i;
    }
    for (uint32_t i = 0; o->earlier.memory_more && i < o->n_tasks; i++)
        for (uint8_t k = o->earlier.memory_more[i]; k > 0; k--)
            n->of[i] = n->more[n->of[i]];
    for (uint32_t i = 0; i < n_slots; i++)
        n->lead[i] = NO_SLOT;
    return bats_bag_divide(&s->bag, n->of, o->n_categories, n->more, NULL);
}

bool needs_may_add(const struct state *s, uint16_t category,
                   const struct bats_need *need)
{
    bool fits = false;
    if (!s->needs.list || category >= BATS_CATEGORIES_MAX)
        return category == 0;
    if (s->needs.list[category].cores > 0)
        return true;
    for (uint32_t i = 0; i < s->n_machines && need->cores > 0; i++)
        fits |= bats_need_room(&s->needs.spec[i], need) > 0;
    return fits;
}

void needs_add(struct state *s, uint32_t task, uint16_t category,
               const struct bats_need *need)
{
    struct needs *n = &s->needs;
    if (!n->list)
        return;
    n->of[task] = category;
    if (n->list[category].cores > 0)
        return;
    n->list[category] = *need;
    n->share[category] = fmax(share(s, ANY_CLUSTER, need), need->cores);
    n->more[category] = category;
    if (category >= s->known.categories.n)
        s->known.categories.n = category + 1;
}

const struct bats_need *need_of(const struct state *s,
                                struct bats_position task)
{
    return s->needs.list ? &s->needs.list[category_of(s, s->bag.index[task.i])]
                         : &one_core;
}

uint32_t node_of(const struct state *s, uint32_t slot)
{
    uint32_t id = s->slots[slot].machine;
    const struct needs_node *first = &s->needs.nodes[s->needs.first[id]];
    return s->needs.first[id] + (slot - first->first_slot) / first->n_slots;
}

bool need_fits_in(const struct state *s, uint32_t node,
                  const struct bats_stock *free, const struct bats_need *need)
{
    uint32_t machine = s->needs.nodes[node].machine;
    return need->cores <= free->cores && need->gpus <= free->gpus &&
           (s->needs.spec[machine].memory_kib == 0 ||
            need->memory_kib <= free->memory_kib);
}

bool need_fits(const struct state *s, uint32_t node,
               const struct bats_need *need)
{
    return need_fits_in(s, node, &s->needs.nodes[node].free, need);
}

void need_count(struct bats_stock *free, const struct bats_need *need,
                int sign)
{
    free->cores += (uint32_t)sign * need->cores;
    free->gpus += (uint32_t)sign * need->gpus;
    free->memory_kib += sign * need->memory_kib;
}

/* The width (bats_need_mix) of the tasks left, on machines of the cluster. */
static double width_in(const struct state *s, size_t cluster)
{
    const struct categories *k = &s->known.categories;
    struct bats_need_mix mix = {0};
    for (uint32_t i = 0; s->needs.list && i < k->n; i++) {
        if (k->left[i] == 0)
            continue;
        double weight = k->weight[i] > 0 ? k->weight[i]
                        : k->mean > 0    ? k->mean
                                         : 1;
        const struct bats_need *need = &s->needs.list[i];
        double all = cluster == ANY_CLUSTER ? s->needs.share[i]
                                            : share(s, cluster, need);
        if (all > 0)
            bats_need_mix_add(&mix, k->left[i] * weight, need->cores, all);
    }
    return bats_need_mix_width(&mix);
}

double needs_width(const struct state *s)
{
    return width_in(s, ANY_CLUSTER);
}

double needs_width_in(const struct state *s, size_t cluster)
{
    return width_in(s, cluster);
}

/* ---- slots ---- */

static bool all_free(const struct state *s, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++)
        if (!slot_is_free(s, i))
            return false;
    return true;
}

/* First of n free neighbouring slots that include `slot`, or NO_SLOT. */
static uint32_t find_row(const struct state *s, uint32_t slot, uint32_t n)
{
    const struct needs_node *m = &s->needs.nodes[node_of(s, slot)];
    uint32_t end = m->first_slot + m->n_slots;
    uint32_t first = slot - m->first_slot < n ? m->first_slot : slot - n + 1;
    for (; first <= slot && first + n <= end; first++)
        if (all_free(s, first, n))
            return first;
    return NO_SLOT;
}

static void hold(struct state *s, uint32_t slot, uint32_t lead)
{
    s->needs.lead[slot] = lead;
    if (slot == lead)
        return;
    s->machines[s->slots[slot].machine].n_busy++;
    s->n_busy++;
    s->n_free--;
    s->slots[slot].idle = BATS_IDLE_NOT;
    slot_remove_idle(s, slot);
}

uint32_t needs_take(struct state *s, uint32_t slot, struct bats_position task)
{
    const struct bats_need *need = need_of(s, task);
    struct needs_node *node = &s->needs.nodes[node_of(s, slot)];
    uint32_t n = need->cores, at = find_row(s, slot, n);
    assert(need_fits(s, node_of(s, slot), need) && slot_is_free(s, slot));
    need_count(&node->free, need, -1);
    if (at == NO_SLOT)
        for (at = node->first_slot; !slot_is_free(s, at);)
            at++;
    const uint32_t lead = at;
    for (uint32_t others = n - 1; others > 0; at++)
        if (at != slot && slot_is_free(s, at)) {
            hold(s, at, lead);
            others--;
        }
    hold(s, slot, lead);
    s->needs.gpus[lead] = lowest(node->free_gpus, need->gpus);
    node->free_gpus ^= s->needs.gpus[lead];
    return lead;
}

void needs_give_back(struct state *s, uint32_t lead, struct bats_position task)
{
    struct needs_node *node = &s->needs.nodes[node_of(s, lead)];
    struct machine *m = &s->machines[node->machine];
    need_count(&node->free, need_of(s, task), 1);
    node->free_gpus ^= s->needs.gpus[lead];
    s->needs.gpus[lead] = 0;
    s->needs.lead[lead] = NO_SLOT;
    for (uint32_t i = lead + 1; i < node->first_slot + node->n_slots; i++) {
        if (s->needs.lead[i] != lead)
            continue;
        s->needs.lead[i] = NO_SLOT;
        m->n_busy--;
        s->n_busy--;
        if (m->state != MACHINE_ACTIVE)
            continue;
        s->n_free++;
        slot_add_idle(s, i);
    }
}

bool needs_grow(struct state *s, struct bats_position task)
{
    uint32_t number = s->bag.index[task.i];
    uint32_t from = category_of(s, number);
    if (!s->needs.list || s->needs.more[from] == from)
        return false;
    assert(s->bag.state[task.i] != BATS_TASK_PENDING);
    s->needs.of[number] = s->needs.more[from];
    s->known.categories.left[from]--;
    s->known.categories.left[s->needs.more[from]]++;
    return true;
}
