/*
 * use: machines that are charged for use (bats/billing.h). One is in use while
 * it has a task. Its paid time is what is held for it: the longest runtime of
 * the sample, then always a quarter more; it does not end while the machine is
 * not in use. See leases.h.
 */
#include "engine/state/leases.h"

/* The slots share the money so many times over, if nothing is known. */
#define SHARES 4

static bats_money cost_until(const struct state *s, uint32_t id,
                             bats_time time)
{
    return bats_billing_use(s->clusters[s->machines[id].cluster].price,
                            s->window, time - s->rest[id].since);
}

static bool in_use(const struct state *s, uint32_t id)
{
    return s->rest[id].since != BATS_NEVER;
}

static bats_money held(const struct state *s, uint32_t id)
{
    return in_use(s, id) ? cost_until(s, id, s->machines[id].paid_end) -
                               s->rest[id].booked
                         : 0;
}

static void pay_until(struct state *s, uint32_t id, bats_time end)
{
    struct machine *m = &s->machines[id];
    m->paid_end = end;
    end -= s->preempt_lead;
    bats_heap_set(&s->turns, id, end > s->now ? end : s->now);
}

/* The money that the run has left, and all whose tasks are there. */
static bats_money money_left(const struct state *s, uint32_t id)
{
    bats_money left = bats_ledger_available(&s->ledger);
    bats_money room = purse_room(s, id);
    return room < left ? room : left;
}

/* As long as there is money. */
static void hold_until(struct state *s, uint32_t id, bats_time end)
{
    const struct machine *m = &s->machines[id];
    bats_money before = held(s, id), sum;
    if (end <= m->paid_end)
        return;
    if (bats_units_add(before + s->rest[id].booked, money_left(s, id), &sum) &&
        cost_until(s, id, end) > sum)
        end =
            s->rest[id].since +
            bats_billing_lasts(s->clusters[m->cluster].price, s->window, sum);
    if (end > m->paid_end &&
        bats_ledger_hold(&s->ledger,
                         cost_until(s, id, end) - s->rest[id].booked - before))
        pay_until(s, id, end);
}

/* Part of what is held. */
static void charge(struct state *s, uint32_t id, bats_money amount)
{
    struct cluster *c = &s->clusters[s->machines[id].cluster];
    bats_ledger_charge_held(&s->ledger, amount);
    s->rest[id].booked += amount;
    c->used += amount;
    if (amount > 0)
        state_emit(s, (struct bats_command){.type = BATS_NOTICE_CHARGE,
                                            .machine = id,
                                            .amount = amount});
    purse_share(s, id, amount, held(s, id));
}

/* Charges what it was used until now. */
static void book(struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    bats_time until = s->now < m->paid_end ? s->now : m->paid_end;
    charge(s, id, cost_until(s, id, until) - s->rest[id].booked);
}

static void kill(struct state *s, uint32_t id)
{
    if (in_use(s, id))
        charge(s, id, held(s, id));
}

/* The runtime of a task that begins; a window if the cluster is not known. */
static bats_time expected(const struct state *s, uint32_t id)
{
    double mean = cluster_runtime(&s->clusters[s->machines[id].cluster]);
    if (mean > 0)
        return (bats_time)(mean + 0.5) + s->preempt_lead;
    bats_time time = s->window + s->preempt_lead;
    if (!s->bag.graph)
        return time;
    /* Little money may do for a workflow of short tasks. But what begins must
     * be able to go on for a moment: else it would begin again and again. */
    bats_time lasts = bats_billing_lasts(
        s->clusters[s->machines[id].cluster].price, s->window,
        bats_ledger_available(&s->ledger) / (SHARES * (s->n_open + 1)));
    return lasts > s->preempt_lead + BATS_SECOND && lasts < time ? lasts
                                                                 : time;
}

/* The time that a task may well take: that of the longest of the sample, or
 * until it is given up where it may not answer. */
static bats_time allowed(const struct state *s, uint32_t id,
                         struct bats_position task)
{
    const struct bats_stats *stats =
        &s->clusters[s->machines[id].cluster].stats;
    bats_time time = expected(s, id), longest = 0;
    const struct cluster *c = &s->clusters[s->machines[id].cluster];
    if (c->spec.unreliable && s->has_limits && c->limit < TIME_MAX)
        return c->limit + s->preempt_lead;
    if (bats_is_position(task) && s->is_ranked) {
        double known = categories_longest(s, s->bag.index[task.i],
                                          s->machines[id].cluster);
        return (bats_time)(known + 0.5) + s->preempt_lead;
    }
    if (stats->n_sample > 0)
        longest = stats->sample[stats->n_sample - 1] + s->preempt_lead;
    return longest > time ? longest : time;
}

/* The time that the task takes on average. */
static bats_time typical(const struct state *s, uint32_t id,
                         struct bats_position task)
{
    if (!bats_is_position(task) || !s->is_ranked)
        return expected(s, id);
    double mean = categories_runtime(s, s->bag.index[task.i],
                                     s->machines[id].cluster);
    return (bats_time)(mean + 0.5) + s->preempt_lead;
}

/* With the last of the money it may as well be tried. */
bool use_affordable(const struct state *s, uint32_t id,
                    struct bats_position task)
{
    if (!s->terms.idle_is_free)
        return true;
    const struct machine *m = &s->machines[id];
    bats_time time =
        s->n_busy > 0 ? allowed(s, id, task) : typical(s, id, task);
    bats_time rest = in_use(s, id) ? m->paid_end - s->now : 0;
    bats_time lasts =
        bats_billing_lasts(s->clusters[m->cluster].price, s->window,
                           bats_ledger_available(&s->ledger));
    if (rest + lasts <= s->preempt_lead) /* not for a moment */
        return false;
    time -= rest;
    return time <= 0 ||
           bats_billing_use(s->clusters[m->cluster].price, s->window, time) <=
               bats_ledger_available(&s->ledger);
}

/* There is money, if only not less than none. */
static bool begin(struct state *s, uint32_t id)
{
    if (!bats_ledger_charge(&s->ledger, 0))
        return false;
    s->machines[id].paid_end = TIME_MAX;
    return true;
}

static void work(struct state *s, uint32_t id, struct bats_position task)
{
    struct machine *m = &s->machines[id];
    if (m->state != MACHINE_ACTIVE)
        return;
    if (in_use(s, id)) {
        book(s, id);
    } else {
        s->rest[id].since = m->paid_end = s->now;
        s->rest[id].booked = 0;
        if (s->rest[id].began_at == BATS_NEVER)
            s->rest[id].began_at = s->now;
    }
    bats_time time = allowed(s, id, task);
    hold_until(s, id, s->now + (time > 0 ? time : 1));
    purse_match(s, id, held(s, id));
}

static bool extend(struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    bats_time before = m->paid_end;
    double mean = cluster_runtime(&s->clusters[m->cluster]);
    double age = (double)(s->now - s->rest[id].since);
    if (!s->clusters[m->cluster].spec.lost_is_free)
        book(s, id);
    hold_until(s, id, before + (bats_time)((mean > age ? mean : age) / 4) + 1);
    purse_match(s, id, held(s, id));
    return m->paid_end > before;
}

/* A booked charge stays: so nothing is booked before the end, where it may be
 * free. */
static void forgive(struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    if (!s->clusters[m->cluster].spec.lost_is_free || !in_use(s, id))
        return;
    bats_ledger_give_up(&s->ledger, held(s, id));
    s->rest[id].since = s->machines[id].paid_end = s->now;
    s->rest[id].booked = 0;
    purse_match(s, id, held(s, id));
}

static void idle(struct state *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    if (!in_use(s, id))
        return;
    book(s, id);
    bats_ledger_give_up(&s->ledger, held(s, id));
    s->clusters[m->cluster].paid_slot_time +=
        (double)(s->now - s->rest[id].since) * m->n_slots;
    s->rest[id].since = BATS_NEVER;
    purse_close(s, id);
    if (m->state == MACHINE_ACTIVE)
        pay_until(s, id, TIME_MAX);
    else if (m->state == MACHINE_LEAVING)
        pay_until(s, id, s->now);
}

static bats_money price_of_first(const struct state *s, size_t cluster)
{
    (void)s, (void)cluster;
    return 0;
}

static bats_money price_of_next(const struct state *s, uint32_t id)
{
    (void)s, (void)id;
    return 0;
}

const struct lease_kind lease_use = {.first = price_of_first,
                                     .next = price_of_next,
                                     .held = held,
                                     .begin = begin,
                                     .extend = extend,
                                     .work = work,
                                     .idle = idle,
                                     .forgive = forgive,
                                     .kill = kill};
