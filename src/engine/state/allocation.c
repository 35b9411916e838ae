/*
 * allocation: the job that the run itself is in, which is billed by the time
 * (bats/billing.h). See state.h.
 */
#include "engine/state/state.h"

void state_pass(struct state *s, bats_time now)
{
    s->now = now;
    bats_ledger_pass(&s->ledger, now);
}

void state_bill(struct state *s)
{
    bats_money amount =
        s->terms.lasts || s->terms.later ? bats_ledger_book(&s->ledger) : 0;
    if (amount != 0)
        state_emit(s, (struct bats_command){.type = BATS_NOTICE_CHARGE,
                                            .machine = BATS_NO_MACHINE,
                                            .amount = amount});
}

void state_set_latest(struct state *s)
{
    bats_time end = bats_ledger_lasts(&s->ledger);
    s->late =
        end < s->time_limit ? BATS_FINISH_BUDGET : BATS_FINISH_TIME_LIMIT;
    s->latest = end < s->time_limit ? end : s->time_limit;
}
