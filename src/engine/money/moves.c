/* moves: functions shared by several kinds of leases. See kinds.h. */
#include "engine/money/kinds.h"

void money_set_free(const struct state *s, struct cluster *c)
{
    (void)s;
    c->spec.charge = 0;
}

bats_money money_of_window(const struct state *s, uint32_t id)
{
    return s->clusters[s->machines[id].cluster].spec.charge;
}

void money_cut(struct state *s, uint32_t id, bats_time taken_at)
{
    struct machine *m = &s->machines[id];
    m->paid_end = taken_at < m->paid_end ? taken_at : m->paid_end;
}

void money_charge(struct state *s, uint32_t id, bats_money amount)
{
    bats_ledger_charge_held(&s->money.ledger, amount);
    s->rest[id].booked += amount;
    s->clusters[s->machines[id].cluster].used += amount;
    if (amount > 0)
        state_tell_charge(s, id, amount, 0);
    purse_share(s, id, amount, s->money.lease->held(s, id));
}
