/* answers: commands and decisions. See state.h. */
#include "engine/state/moves.h"

#include <stdlib.h>

#include "util/grow.h"

void state_emit(struct state *s, struct bats_command command)
{
    if (s->answers.n == s->answers.capacity) { /* 0 or a power of two */
        size_t capacity = s->answers.capacity ? 2 * s->answers.capacity : 64;
        struct bats_command *queue = malloc(capacity * sizeof *queue);
        if (!queue) {
            s->answers.failure = BATS_ENOMEM;
            return;
        }
        for (size_t i = 0; i < s->answers.n; i++)
            queue[i] =
                s->answers
                    .queue[(s->answers.first + i) & (s->answers.capacity - 1)];
        free(s->answers.queue);
        s->answers.queue = queue;
        s->answers.first = 0;
        s->answers.capacity = capacity;
    }
    if (command.type == BATS_NOTICE_CHARGE &&
        command.machine != BATS_NO_MACHINE)
        books_charge(s, command.machine, command.amount);
    size_t end = s->answers.first + s->answers.n++;
    s->answers.queue[end & (s->answers.capacity - 1)] = command;
}

bool state_next(struct state *s, struct bats_command *command)
{
    if (s->answers.n == 0)
        return false;
    *command = s->answers.queue[s->answers.first];
    s->answers.first = (s->answers.first + 1) & (s->answers.capacity - 1);
    if (--s->answers.n == 0)
        s->answers.first = 0; /* the entries used last are in the cache */
    return true;
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
    compare(s, d);
}
