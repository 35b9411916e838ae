/* nodes: decides whether to give nodes back. See sched.h, struct
 * bats_sched_shrink. */
#include "engine/shrink/shrink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A restart that does not do all tasks must do so many more of those that are
 * left. */
#define CLEARLY 0.05
#define SURELY (1 - 1e-9) /* sums of so many terms are not exact */

struct nodes {
    uint32_t n_nodes; /* 0: nothing is given back */
    uint32_t *node;   /* per machine */
    bool *kept;       /* per node, as of the last review */
    uint32_t keep;
    bats_time restart, reviewed_at;
};

/* The price per microsecond that one of its machines is held. */
static double price(const struct state *s, const struct machine *m)
{
    return (double)s->clusters[m->cluster].spec.charge / (double)s->window;
}

/* The time that its running tasks still need, by the latest statistics. */
static double busy_for(const struct state *s, const struct machine *m)
{
    double longest = 0;
    for (uint32_t k = 0; k < m->n_slots; k++)
        longest = fmax(longest, forecast_rest(s, m->first_slot + k));
    return longest;
}

/* The time until the last of the running tasks ends. */
static double wait_for_all(const struct state *s)
{
    double wait = 0;
    for (uint32_t id = 0; id < s->n_machines; id++)
        wait = fmax(wait, busy_for(s, &s->machines[id]));
    return wait;
}

/* The machine is paid for longer than the run takes, or the plan uses it and
 * it would be acquired next. */
static bool is_wanted(const struct state *s, const struct machine *m,
                      double wait, uint32_t *missing)
{
    bool active = m->state == MACHINE_ACTIVE;
    if (active && !m->marked)
        return true;
    if (active || m->state == MACHINE_LEAVING)
        return (double)(m->paid_end - s->now) > wait;
    return m->state != MACHINE_LOST && !m->quarantined && *missing > 0 &&
           (*missing)--;
}

/* Finds the nodes with a machine that is wanted, and counts their machines by
 * cluster. False: all nodes are kept. */
static bool find_kept(struct nodes *k, const struct state *s,
                      uint32_t *machines)
{
    double wait = wait_for_all(s);
    memset(k->kept, 0, k->n_nodes * sizeof *k->kept);
    if (k->keep < k->n_nodes)
        k->kept[k->keep] = true;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        uint32_t missing =
            c->target > c->n_active ? c->target - c->n_active : 0;
        for (uint32_t j = 0; j < c->n_machines; j++) {
            uint32_t id = s->members[c->first_machine + j];
            if (is_wanted(s, &s->machines[id], wait, &missing))
                k->kept[k->node[id]] = true;
        }
    }
    bool all = true, any = false;
    for (uint32_t id = 0; id < s->n_machines; id++) {
        const struct machine *m = &s->machines[id];
        bool usable = m->state != MACHINE_LOST && !m->quarantined;
        if (!k->kept[k->node[id]])
            all = false;
        else if (usable)
            machines[m->cluster]++;
        any |= k->kept[k->node[id]] && usable;
    }
    return !all && any;
}

/* The formula is in sched.h. */
static bool is_worth_it(const struct nodes *k, const struct state *s)
{
    double wait = wait_for_all(s), saved = 0, lost = 0;
    bats_time end = forecast_end(s);
    if (end == BATS_NEVER)
        return false;
    double rest = (double)(end - s->now) - wait;
    for (uint32_t id = 0; id < s->n_machines; id++) {
        const struct machine *m = &s->machines[id];
        if (m->state == MACHINE_LOST)
            continue;
        if (!k->kept[k->node[id]]) {
            saved += rest * price(s, m);
            continue;
        }
        lost += (double)k->restart * price(s, m);
        if (m->state != MACHINE_ACTIVE || m->marked)
            continue;
        lost += (wait - busy_for(s, m)) * price(s, m);
    }
    return saved > lost;
}

/* The budget pays for the rest of the bag on the machines of the plan, though
 * they are idle meanwhile. */
static bool is_affordable(const struct nodes *k, const struct state *s)
{
    double wait = wait_for_all(s), charge = 0, rate = 0, lost = 0;
    struct forecast f = forecast_make(s);
    if (f.money_left == BATS_UNLIMITED)
        return true;
    for (uint32_t id = 0; id < s->n_machines; id++) {
        const struct machine *m = &s->machines[id];
        const struct cluster *c = &s->clusters[m->cluster];
        if (m->state != MACHINE_ACTIVE || m->marked || c->stats.mean <= 0)
            continue;
        charge += (double)c->spec.charge;
        rate += m->n_slots / c->stats.mean;
        lost += ((double)k->restart + wait - busy_for(s, m)) * m->n_slots /
                c->stats.mean;
    }
    if (rate <= 0)
        return false;
    double windows =
        ceil(((double)f.tasks_left + lost) / (rate * (double)s->window));
    return windows * charge <= (double)f.money_left;
}

/* ---- in an allocation: all is held, works and is billed ---- */

/* The bill of nodes, and the tasks that they do, per microsecond. */
struct power {
    double price, rate;
};

/* For each node. False: a cluster that has machines is not known yet. */
static bool find_power(const struct nodes *k, const struct state *s,
                       struct power *of)
{
    for (uint32_t id = 0; id < s->n_machines; id++) {
        const struct machine *m = &s->machines[id];
        const struct cluster *c = &s->clusters[m->cluster];
        of[k->node[id]].price += (double)c->price / (double)s->window;
        if (m->state == MACHINE_LOST || m->quarantined)
            continue;
        if (c->stats.mean <= 0)
            return false;
        of[k->node[id]].rate += m->n_slots / c->stats.mean;
    }
    return true;
}

/* The node kept that charges most for what it does, which is not that of the
 * master; k->n_nodes: there is none. */
static uint32_t dearest(const struct nodes *k, const struct power *of)
{
    uint32_t worst = k->n_nodes;
    for (uint32_t i = 0; i < k->n_nodes; i++)
        if (k->kept[i] && i != k->keep && of[i].price > 0 &&
            (worst == k->n_nodes ||
             of[i].price * of[worst].rate >= of[worst].price * of[i].rate))
            worst = i;
    return worst;
}

/* The tasks of `n` that so much money pays. */
static double done(const struct power *p, double money, double n)
{
    return p->price > 0 ? fmin(n, money / p->price * p->rate) : n;
}

/*
 * Keeps as many nodes as the money lets do the bag, without those that charge
 * most for a task; or those that do most of it, if that is clearly more. A
 * restart costs all nodes the time until what runs has ended, and its own.
 */
static bool drop_dearest(struct nodes *k, const struct state *s,
                         struct power *of)
{
    struct power all = {(double)s->ledger.billing.rate / (double)BATS_HOUR, 0};
    double pending = bats_bag_pending(&s->bag);
    double running = bats_bag_left(&s->bag) - pending;
    double money = (double)bats_ledger_available(&s->ledger) -
                   all.price * (double)s->ledger.billing.leaving;
    double lost = all.price * (wait_for_all(s) + (double)k->restart);
    uint32_t next, dropped = 0, best = 0;
    for (uint32_t i = 0; i < k->n_nodes; i++) {
        k->kept[i] = true;
        all.rate += of[i].rate;
    }
    double most = done(&all, money, pending + running) - running;
    if (most >= pending)
        return false;
    most = fmin(most + CLEARLY * pending, pending * SURELY);
    for (struct power p = all;
         most < pending && (next = dearest(k, of)) < k->n_nodes;) {
        k->kept[next] = false;
        dropped++;
        p.price -= of[next].price;
        p.rate -= of[next].rate;
        double n = done(&p, money - lost, pending);
        if (n > most) {
            most = n / SURELY;
            best = dropped;
        }
    }
    memset(k->kept, true, k->n_nodes * sizeof *k->kept);
    for (uint32_t i = 0; i < best; i++)
        k->kept[dearest(k, of)] = false;
    return best > 0;
}

static bool shrinks_allocation(struct nodes *k, const struct state *s,
                               uint32_t *machines)
{
    struct power *of = calloc(k->n_nodes, sizeof *of);
    bool drops = of && s->ledger.budget != BATS_UNLIMITED &&
                 find_power(k, s, of) && drop_dearest(k, s, of);
    for (uint32_t id = 0; drops && id < s->n_machines; id++) {
        const struct machine *m = &s->machines[id];
        machines[m->cluster] += k->kept[k->node[id]] &&
                                m->state != MACHINE_LOST && !m->quarantined;
    }
    free(of);
    return drops;
}

static bool gives_back(void *self, const struct state *s, uint32_t *machines)
{
    struct nodes *k = self;
    if (k->n_nodes == 0 || !(s->planned || s->is_allocation) ||
        s->n_absent > 0 || s->phase != PHASE_NONE ||
        bats_bag_pending(&s->bag) == 0 || k->reviewed_at == s->now)
        return false;
    k->reviewed_at = s->now;
    if (s->is_allocation)
        return shrinks_allocation(k, s, machines);
    return find_kept(k, s, machines) && is_worth_it(k, s) &&
           is_affordable(k, s);
}

static bool may(const void *self)
{
    const struct nodes *k = self;
    return k->n_nodes > 0;
}

static bool keeps(const void *self, uint32_t machine)
{
    const struct nodes *k = self;
    return k->kept[k->node[machine]];
}

static int init(void *self, const struct state *s,
                const struct bats_sched_options *o, struct bats_error *err)
{
    struct nodes *k = self;
    if (o->shrink.node == NULL || s->is_use || s->is_second)
        return 0;
    k->keep = o->shrink.keep;
    k->restart = o->shrink.restart;
    k->reviewed_at = -1;
    k->n_nodes = s->n_machines;
    k->node = malloc(s->n_machines * sizeof *k->node);
    k->kept = calloc(k->n_nodes, sizeof *k->kept);
    if (!k->node || !k->kept)
        return bats_error_set(err, BATS_ENOMEM, "no memory for %u nodes",
                              k->n_nodes);
    memcpy(k->node, o->shrink.node, s->n_machines * sizeof *k->node);
    return 0;
}

static void release(void *self)
{
    struct nodes *k = self;
    free(k->node);
    free(k->kept);
}

const struct shrink shrink_nodes = {
    .advisor = {"nodes", sizeof(struct nodes), init, release},
    .may = may,
    .gives_back = gives_back,
    .keeps = keeps};
