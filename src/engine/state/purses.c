/* purses: the workflows that share a run, the money that they hold for
 * machines, and their shares of charges. See state.h. */
#include "engine/state/moves.h"

#include <stdlib.h>

#include "util/grow.h"

void purses_rank(struct state *s)
{
    const struct purses *a = &s->money.purses;
    for (uint32_t i = 0; a->urgency && i < s->bag.n; i++) {
        bats_time deadline = a->list[a->of[i]].is.deadline;
        a->urgency[i] =
            s->known.height[i] - (deadline > 0 ? deadline : BATS_LONGEST);
    }
}

/* Orders tasks by urgency if workflows have deadlines. */
static bool order_by_urgency(struct state *s)
{
    struct purses *a = &s->money.purses;
    a->urgency = state_room(s, s->bag.n, sizeof *a->urgency);
    if (!a->urgency)
        return false;
    purses_rank(s);
    s->bag.priority = a->urgency;
    bats_bag_reorder(&s->bag);
    return true;
}

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
    a->list = state_room(s, a->n, sizeof *a->list);
    a->stakes = state_room(s, o->n_machines, sizeof *a->stakes);
    a->next = state_room(s, o->n_tasks, sizeof *a->next);
    a->is_unpaid = state_room(s, o->n_tasks, 1);
    if (s->answers.failure < 0)
        return BATS_ENOMEM;
    bool any_deadline = false;
    a->are_apart = are_apart(s);
    for (uint32_t i = 0; i < a->n; i++) {
        const struct bats_purse *spec = &o->purses[i];
        bats_money budget =
            spec->budget > spec->charged ? spec->budget : spec->charged;
        a->list[i] = (struct purse){.is = {.name = spec->name,
                                           .deadline = spec->deadline,
                                           .ended = BATS_NEVER},
                                    .begin = spec->begin,
                                    .is_news = true};
        bats_ledger_init(&a->list[i].ledger, budget, spec->charged);
        if (spec->begin > a->last_begin)
            a->last_begin = spec->begin;
        any_deadline |= spec->deadline > 0;
    }
    for (uint32_t i = 0; i < s->bag.n; i++) {
        struct bats_purse_status *p = &a->list[a->of[i]].is;
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
    const struct purses *a = &s->money.purses;
    for (uint32_t i = 0; a->stakes && i < s->n_machines; i++)
        free(a->stakes[i].list);
}

void purse_ended(struct state *s, uint32_t number, enum bats_task_state state)
{
    if (s->money.purses.n == 0)
        return;
    struct bats_purse_status *p = &purse_of(s, number)->is;
    p->done += state == BATS_TASK_DONE;
    p->failed += state == BATS_TASK_FAILED;
    p->skipped += state == BATS_TASK_SKIPPED;
    p->unpaid += s->money.purses.is_unpaid[number];
    if (--p->left == 0)
        p->ended = s->now;
}

/* ---- stakes ---- */

/* The machine's stakes, marked as changed; NULL: no workflow has a budget of
 * its own. */
static struct stakes *change(struct state *s, uint32_t id)
{
    if (s->money.purses.n == 0)
        return NULL;
    books_change(s, id);
    return &s->money.purses.stakes[id];
}

static struct bats_ledger *ledger_of(const struct state *s,
                                     const struct stake *stake)
{
    return &s->money.purses.list[stake->purse].ledger;
}

struct stake *purse_stake(const struct state *s, uint32_t id, uint32_t purse)
{
    const struct stakes *st = &s->money.purses.stakes[id];
    for (uint32_t i = 0; i < st->n; i++)
        if (st->list[i].purse == purse)
            return &st->list[i];
    return NULL;
}

/* The workflow's waiting tasks may be affordable now, or never. */
static void tell(struct state *s, const struct stake *stake)
{
    s->money.purses.list[stake->purse].is_news = s->money.purses.is_news =
        true;
}

static void give_up(struct state *s, struct stake *stake, bats_money amount)
{
    bats_ledger_give_up(ledger_of(s, stake), amount);
    stake->held -= amount;
    tell(s, stake);
}

/* Adjusts the held money to the need, as far as the money allows. */
static void match(struct state *s, uint32_t id, struct stake *stake)
{
    struct bats_ledger *ledger = ledger_of(s, stake);
    bats_money wanted = s->money.purses.stakes[id].need - stake->held;
    bats_money left = bats_ledger_available(ledger);
    if (wanted < 0)
        give_up(s, stake, -wanted);
    if (wanted <= 0)
        return;
    bats_money amount = wanted < left ? wanted : left;
    if (bats_ledger_hold(ledger, amount))
        stake->held += amount;
}

/* Counts the time since the slot's task began, or since the last charge was
 * split. */
static void use_slot(struct state *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    struct stake *stake = purse_stake(s, sl->machine, purse_in(s, slot));
    bats_time since = s->money.purses.stakes[sl->machine].since;
    if (stake)
        stake->used +=
            (double)(s->now - (sl->started > since ? sl->started : since));
}

void purse_leaves_slot(struct state *s, uint32_t slot)
{
    if (s->money.purses.n > 0)
        use_slot(s, slot);
}

/* The workflow has a task on the machine; lasting: one that was not told to
 * stop. */
static bool has_task(const struct state *s, uint32_t id, uint32_t purse,
                     bool lasting)
{
    const struct machine *m = &s->machines[id];
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++)
        if (purse_in(s, i) == purse &&
            !(lasting && execution_cancelled(s, i, s->slots[i].head)))
            return true;
    return false;
}

bool purse_goes_on(const struct state *s, uint32_t id, uint32_t purse)
{
    return has_task(s, id, purse, true);
}

static void drop(struct state *s, uint32_t id, uint32_t i)
{
    struct stakes *st = &s->money.purses.stakes[id];
    give_up(s, &st->list[i], st->list[i].held);
    books_drop(s, id, &st->list[i]);
    st->list[i] = st->list[--st->n];
}

/* Drops the stakes of workflows without a task there; matches the others. */
static void keep(struct state *s, uint32_t id)
{
    struct stakes *st = &s->money.purses.stakes[id];
    for (uint32_t i = st->n; i-- > 0;)
        if (!has_task(s, id, st->list[i].purse, false))
            drop(s, id, i);
        else
            match(s, id, &st->list[i]);
}

/* ---- charges ---- */

static bats_money charge(struct state *s, uint32_t id, struct stake *stake,
                         bats_money amount)
{
    if (amount > stake->held)
        amount = stake->held;
    bats_ledger_charge_held(ledger_of(s, stake), amount);
    stake->held -= amount;
    tell(s, stake);
    if (amount > 0) {
        struct bats_command *c = state_emit(s, BATS_NOTICE_SHARE, id);
        c->purse = stake->purse;
        c->amount = amount;
    }
    return amount;
}

/* Splits the machine's charge. An amount that no stake held is left over. */
static void share(struct state *s, uint32_t id, bats_money amount)
{
    struct stakes *st = &s->money.purses.stakes[id];
    const struct machine *m = &s->machines[id];
    double total = 0;
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++)
        if (s->slots[i].n_tasks > 0)
            use_slot(s, i);
    st->since = s->now;
    for (uint32_t i = 0; i < st->n; i++)
        total += st->list[i].used;
    bats_money left = amount;
    for (uint32_t i = 0; total > 0 && i < st->n; i++) {
        double part = (double)amount * (st->list[i].used / total);
        bats_money most = part < (double)left ? (bats_money)part : left;
        left -= charge(s, id, &st->list[i], most);
    }
    for (uint32_t i = 0; i < st->n; i++) { /* the rounding remainder */
        if (st->list[i].used > 0)
            left -= charge(s, id, &st->list[i], left);
        st->list[i].used = 0;
    }
}

void purse_share(struct state *s, uint32_t id, bats_money amount,
                 bats_money need)
{
    struct stakes *st = change(s, id);
    if (!st)
        return;
    share(s, id, amount);
    st->need = need;
    keep(s, id);
}

void purse_close(struct state *s, uint32_t id)
{
    struct stakes *st = change(s, id);
    if (!st)
        return;
    share(s, id, st->window);
    st->window = st->need = 0;
    while (st->n > 0)
        drop(s, id, st->n - 1);
}

void purse_kill(struct state *s, uint32_t id)
{
    struct stakes *st = change(s, id);
    if (!st)
        return;
    for (; st->n > 0; drop(s, id, st->n - 1))
        charge(s, id, &st->list[st->n - 1], st->list[st->n - 1].held);
}

void purse_window(struct state *s, uint32_t id, bats_money charge)
{
    if (s->money.purses.n == 0)
        return;
    purse_share(s, id, s->money.purses.stakes[id].window, charge);
    s->money.purses.stakes[id].window = charge;
}

/* ---- tasks that begin ---- */

void purse_join(struct state *s, uint32_t id, struct bats_position task)
{
    struct stakes *st = change(s, id);
    if (!st)
        return;
    uint16_t purse = s->money.purses.of[s->bag.index[task.i]];
    struct stake *stake = purse_stake(s, id, purse);
    if (!stake) {
        if (!bats_grow(&st->list, &st->room, st->n + 1, sizeof *st->list)) {
            s->answers.failure = BATS_ENOMEM;
            return;
        }
        stake = &st->list[st->n++];
        *stake = (struct stake){.purse = purse};
    }
    match(s, id, stake);
}

void purse_match(struct state *s, uint32_t id, bats_money need)
{
    struct stakes *st = change(s, id);
    if (!st)
        return;
    st->need = need;
    for (uint32_t i = 0; i < st->n; i++)
        match(s, id, &st->list[i]);
}
