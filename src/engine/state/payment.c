/* payment: what workflows can pay for, and tasks that wait for money. See
 * state.h. */
#include "engine/state/moves.h"

#include <stdlib.h>

#include "util/larger.h"

/* Money that the workflow can hold for the machine beyond its need. */
static bats_money room_of(const struct state *s, uint32_t id,
                          const struct stake *stake)
{
    bats_money left =
        bats_ledger_available(&s->money.purses.list[stake->purse].ledger);
    if (left == BATS_UNLIMITED)
        return left;
    left += stake->held - s->money.purses.stakes[id].need;
    return left > 0 ? left : 0;
}

bats_money purse_room(const struct state *s, uint32_t id)
{
    bats_money least = BATS_UNLIMITED;
    for (uint32_t i = 0;
         s->money.purses.n > 0 && i < s->money.purses.stakes[id].n; i++) {
        const struct stake *stake = &s->money.purses.stakes[id].list[i];
        bats_money room = room_of(s, id, stake);
        if (room < least && purse_goes_on(s, id, stake->purse))
            least = room;
    }
    return least;
}

/* The stake cannot hold what the machine needs; with use charged, nothing
 * more. */
static bool is_short(const struct state *s, uint32_t id,
                     const struct stake *stake)
{
    if (!s->money.terms.idle_is_free)
        return stake->held < s->money.purses.stakes[id].need;
    return s->clusters[s->machines[id].cluster].price > 0 &&
           room_of(s, id, stake) == 0;
}

bool purses_stop_short(struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    bool any = s->money.purses.n == 0;
    for (uint32_t k = 0;
         s->money.purses.n > 0 && k < s->money.purses.stakes[id].n; k++) {
        const struct stake *stake = &s->money.purses.stakes[id].list[k];
        bool goes_on = purse_goes_on(s, id, stake->purse);
        bool stops = goes_on && is_short(s, id, stake);
        any |= goes_on && !stops;
        for (uint32_t i = 0; stops && i < m->n_slots; i++)
            if (purse_in(s, m->first_slot + i) == stake->purse)
                execution_cancel(s, m->first_slot + i,
                                 s->slots[m->first_slot + i].head, false);
    }
    return any;
}

/* Least amount to hold before the task begins there; id: a machine, or any of
 * the cluster. */
static bats_money price(const struct state *s, uint32_t number, size_t cluster,
                        uint32_t id)
{
    const struct cluster *c = &s->clusters[cluster];
    if (!s->money.terms.idle_is_free)
        return id == NO_MACHINE ? s->money.lease->first(s, cluster)
                                : s->money.purses.stakes[id].need;
    double mean = task_runtime(s, number, cluster);
    bats_money most = bats_billing_use(c->price, s->run.window,
                                       (mean >= 1 ? (bats_time)mean : 1) +
                                           s->run.preempt_lead);
    bats_money held = id == NO_MACHINE ? 0 : s->money.purses.stakes[id].need;
    return most > held ? most : held;
}

bool purse_admits(const struct state *s, uint32_t id,
                  struct bats_position task)
{
    if (s->money.purses.n == 0)
        return true;
    uint32_t number = s->bag.index[task.i];
    const struct purse *p = purse_of(s, number);
    const struct stake *stake = purse_stake(s, id, s->money.purses.of[number]);
    bats_money held = stake ? stake->held : 0;
    return s->now >= p->begin &&
           price(s, number, s->machines[id].cluster, id) - held <=
               bats_ledger_available(&p->ledger);
}

bool purses_begin_later(const struct state *s)
{
    uint32_t task;
    return s->now <= s->money.purses.last_begin &&
           bats_heap_first(&s->retries, &task) != BATS_NEVER;
}

double purses_pay(const struct state *s, size_t cluster)
{
    const struct cluster *c = &s->clusters[cluster];
    double sum = 0, slots = (double)c->n_slots / c->n_machines;
    for (uint32_t i = 0; i < s->money.purses.n; i++) {
        const struct purse *p = &s->money.purses.list[i];
        int64_t n = bats_ledger_affordable(&p->ledger,
                                           s->money.lease->first(s, cluster));
        sum += smaller(slots * (double)n, p->is.left);
    }
    return sum;
}

/* The workflow's money suffices for the task on a further machine of some
 * cluster. */
static bool may_pay(const struct state *s, struct bats_position task)
{
    uint32_t number = s->bag.index[task.i];
    bats_money left = bats_ledger_available(&purse_of(s, number)->ledger);
    for (size_t i = 0; i < s->n_clusters; i++)
        if (cluster_is_there(&s->clusters[i]) &&
            price(s, number, i, NO_MACHINE) <= left)
            return true;
    return false;
}

/* ---- tasks that wait for money ---- */

/* Skips the task, as its workflow will have no money left. */
static void skip(struct state *s, struct bats_position task)
{
    s->money.purses.is_unpaid[s->bag.index[task.i]] = 1;
    s->money.purses.n_unpaid++;
    bats_bag_skip(&s->bag, task);
    tasks_tell_skipped(s);
}

static struct bats_position take_waiting(struct state *s, struct purse *p)
{
    struct bats_position task = s->bag.position[p->first];
    p->first = s->money.purses.next[p->first];
    p->n_waiting--;
    s->money.purses.n_waiting--;
    return task;
}

struct bats_position purse_waiting(struct state *s, uint32_t id)
{
    const struct stakes *st = &s->money.purses.stakes[id];
    for (uint32_t i = 0; i < st->n; i++) {
        struct purse *p = &s->money.purses.list[st->list[i].purse];
        if (p->n_waiting > 0 &&
            purse_admits(s, id, s->bag.position[p->first])) {
            struct bats_position task = take_waiting(s, p);
            bats_bag_put_back(&s->bag, task);
            return task;
        }
    }
    return BATS_NO_POSITION;
}

/* The workflow holds nothing, and its money does not pay for any task. */
static bool is_broke(const struct state *s, const struct purse *p)
{
    bats_money left = bats_ledger_available(&p->ledger);
    bool any = false;
    for (size_t i = 0; p->ledger.held == 0 && i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        bats_money least = s->money.terms.idle_is_free
                               ? bats_billing_use(c->price, s->run.window, 1)
                               : s->money.lease->first(s, i);
        if (cluster_is_there(c) && least <= left)
            return false;
        any |= cluster_is_there(c);
    }
    return any;
}

static bool is_in_bag(const struct state *s, struct bats_position task)
{
    uint8_t state = s->bag.state[task.i];
    return state == BATS_TASK_PENDING || state == BATS_TASK_BLOCKED;
}

static void close_purse(struct state *s, uint32_t id)
{
    struct purse *p = &s->money.purses.list[id];
    uint32_t n = 0, *others = malloc(s->bag.n * sizeof *others);
    if (!others) {
        s->answers.failure = BATS_ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < s->bag.n; i++) /* including BLOCKED ones */
        if (s->money.purses.of[i] == id && is_in_bag(s, s->bag.position[i]))
            s->money.purses.is_unpaid[i] = 1;
    while (p->n_waiting > 0)
        skip(s, take_waiting(s, p));
    while (bats_bag_ready(&s->bag) > 0) {
        struct bats_position task = bats_bag_draw(&s->bag, 0);
        uint32_t number = s->bag.index[task.i];
        bats_bag_put_aside(&s->bag, task);
        if (s->money.purses.of[number] == id)
            skip(s, task);
        else
            others[n++] = number;
    }
    while (n > 0)
        bats_bag_put_back(&s->bag, s->bag.position[others[--n]]);
    for (uint32_t i = 0; i < s->bag.n; i++)
        if (s->money.purses.of[i] == id &&
            s->bag.state[s->bag.position[i].i] == BATS_TASK_BLOCKED)
            skip(s, s->bag.position[i]);
    free(others);
}

bool purse_refuses(struct state *s, struct bats_position task)
{
    uint32_t number = s->bag.index[task.i];
    struct purse *p = purse_of(s, number);
    bool is_early = s->now < p->begin;
    if (!is_early && may_pay(s, task))
        return false;
    if (!is_early && is_broke(s, p)) {
        close_purse(s, s->money.purses.of[number]);
        return true;
    }
    bats_bag_take(&s->bag, task);
    bats_bag_put_aside(&s->bag, task);
    if (is_early) {
        bats_heap_set(&s->retries, number, p->begin);
        return true;
    }
    if (p->ledger.held == 0) {
        skip(s, task);
        return true;
    }
    s->money.purses.next[number] = BATS_NO_TASK;
    if (p->n_waiting++ == 0)
        p->first = number;
    else
        s->money.purses.next[p->last] = number;
    p->last = number;
    s->money.purses.n_waiting++;
    return true;
}

void purses_review(struct state *s)
{
    if (!s->money.purses.is_news)
        return;
    s->money.purses.is_news = false;
    bool any = false;
    for (uint32_t i = 0; i < s->money.purses.n; i++) {
        struct purse *p = &s->money.purses.list[i];
        if (!p->is_news)
            continue;
        p->is_news = false;
        if (is_broke(s, p))
            close_purse(s, i);
        /* Tasks that are still not affordable will come back. */
        while (p->n_waiting > 0) {
            bats_bag_put_back(&s->bag, take_waiting(s, p));
            any = true;
        }
    }
    if (any)
        slots_rescan(s);
}
