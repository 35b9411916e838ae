/* answers: commands and decisions. See state.h. */
#include "engine/state/moves.h"

#include "util/grow.h"

void state_emit(struct state *s, struct bats_command command)
{
    struct answers *a = &s->answers;
    if (a->n == a->capacity &&
        !bats_grow(&a->queue, &a->capacity, a->n + 1, sizeof *a->queue))
        a->failure = BATS_ENOMEM;
    else
        a->queue[a->n++] = command;
}

void state_tell(struct state *s, enum bats_command_type type, uint32_t machine)
{
    state_emit(s, (struct bats_command){.type = type, .machine = machine});
}

void state_tell_charge(struct state *s, uint32_t machine, bats_money amount,
                       bats_money cushion)
{
    books_charge(s, machine, amount);
    state_emit(s, (struct bats_command){.type = BATS_NOTICE_CHARGE,
                                        .machine = machine,
                                        .amount = amount,
                                        .cushion = cushion});
}

bool state_next(struct state *s, struct bats_command *command)
{
    struct answers *a = &s->answers;
    if (a->first < a->n) {
        *command = a->queue[a->first++];
        return true;
    }
    a->first = a->n = 0;
    return false;
}

double cluster_runtime(const struct cluster *c)
{
    return c->stats.n_done > 0 ? c->stats.mean_done : (double)c->expected;
}

bool cluster_is_guess(const struct cluster *c)
{
    return (c->stats.mean > 0 || c->expected > 0) && c->done == 0 &&
           !c->is_seen;
}

struct bats_decision state_decision(const struct state *s,
                                    enum bats_reason reason)
{
    return (struct bats_decision){.time = s->now,
                                  .reason = reason,
                                  .feasible = s->run.feasible,
                                  .tasks_left = bats_bag_pending(&s->bag),
                                  .tasks_paid = -1,
                                  .budget_left =
                                      bats_ledger_available(&s->money.ledger)};
}

static bool is_plan(const struct bats_decision *d)
{
    return d->reason == BATS_REASON_PLANNED ||
           d->reason == BATS_REASON_VIOLATION;
}

/* A plan that acquires no machine takes effect when one is parked. */
static void compare(const struct state *s, struct bats_decision *d)
{
    const struct bats_decision *last = d - 1;
    d->replaces = s->answers.n_decisions > 1 && is_plan(d) && is_plan(last) &&
                  !last->acts;
    for (size_t i = 0; i < s->n_clusters; i++) {
        d->acts |= d->machines[i] > s->clusters[i].n_held;
        d->replaces =
            d->replaces && last->machines[i] == s->clusters[i].n_held;
    }
}

void state_record(struct state *s, const struct bats_decision *decision)
{
    if (!bats_grow(&s->answers.decisions, &s->answers.decisions_capacity,
                   s->answers.n_decisions + 1, sizeof *s->answers.decisions)) {
        s->answers.failure = BATS_ENOMEM;
        return;
    }
    struct bats_decision *d = &s->answers.decisions[s->answers.n_decisions++];
    *d = *decision;
    for (size_t i = 0; i < s->n_clusters; i++)
        d->is_guess |= d->machines[i] > 0 && cluster_is_guess(&s->clusters[i]);
    d->tasks_open = bats_bag_left(&s->bag);
    d->is_open = s->run.is_open;
    compare(s, d);
}
