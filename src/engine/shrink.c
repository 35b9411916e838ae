/* shrink: giving nodes back. See sched.h, struct bats_sched_shrink. */
#include "engine/sched_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Per microsecond that one of its machines is held. */
static double price(const struct bats_sched *s, const struct machine *m)
{
    return (double)s->clusters[m->cluster].spec.charge / (double)s->window;
}

/* How long its running tasks still take, by the latest statistics. */
static double busy_for(const struct bats_sched *s, const struct machine *m)
{
    double longest = 0;
    for (uint32_t k = 0; k < m->n_slots; k++)
        longest = fmax(longest, forecast_rest(s, m->first_slot + k));
    return longest;
}

/* Until the last of the running tasks ends. */
static double wait_for_all(const struct bats_sched *s)
{
    double wait = 0;
    for (uint32_t id = 0; id < s->n_machines; id++)
        wait = fmax(wait, busy_for(s, &s->machines[id]));
    return wait;
}

/* It is paid for longer than the run goes on, or the plan works with it and it
 * is the next one to be acquired for what is missing. */
static bool is_wanted(const struct bats_sched *s, const struct machine *m,
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

/* Which nodes have a machine that is wanted; how many machines are on them,
 * by cluster. False: all. */
static bool find_kept(struct bats_sched *s, uint32_t *machines)
{
    struct shrink *k = &s->shrink;
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
static bool is_worth_it(const struct bats_sched *s)
{
    const struct shrink *k = &s->shrink;
    struct bats_sched_status status;
    double wait = wait_for_all(s), saved = 0, lost = 0;
    bats_sched_status(s, &status);
    if (status.estimated_end == BATS_NEVER)
        return false;
    double rest = (double)(status.estimated_end - s->now) - wait;
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

/* The budget pays the rest of the bag on the machines of the plan, though they
 * run nothing meanwhile. */
static bool is_affordable(struct bats_sched *s)
{
    forecast_look(s);
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
        lost += ((double)s->shrink.restart + wait - busy_for(s, m)) *
                m->n_slots / c->stats.mean;
    }
    if (rate <= 0)
        return false;
    double windows =
        ceil(((double)f.tasks_left + lost) / (rate * (double)s->window));
    return windows * charge <= (double)f.money_left;
}

void shrink_review(struct bats_sched *s)
{
    struct bats_decision d = {.time = s->now,
                              .reason = BATS_REASON_SHRINK,
                              .feasible = s->feasible,
                              .tasks_left = s->bag.count[BATS_TASK_PENDING],
                              .tasks_paid = -1,
                              .budget_left =
                                  bats_ledger_available(&s->ledger)};
    if (s->shrink.n_nodes == 0 || s->draining || !s->planned ||
        s->n_absent > 0 || s->sampling.phase != PHASE_NONE ||
        d.tasks_left == 0 || s->shrink.reviewed_at == s->now)
        return;
    s->shrink.reviewed_at = s->now;
    if (!find_kept(s, d.machines) || !is_worth_it(s) || !is_affordable(s))
        return;
    fleet_record(s, &d);
    fleet_stop(s, false, BATS_FINISH_SHRINK);
}

bool bats_sched_keeps(const struct bats_sched *s, uint32_t machine)
{
    return s->finish != BATS_FINISH_SHRINK ||
           s->shrink.kept[s->shrink.node[machine]];
}

bool shrink_init(struct bats_sched *s, const struct bats_sched_shrink *o)
{
    struct shrink *k = &s->shrink;
    if (o->node == NULL)
        return true;
    k->node = malloc(s->n_machines * sizeof *k->node);
    if (k->node == NULL)
        return false;
    memcpy(k->node, o->node, s->n_machines * sizeof *k->node);
    k->keep = o->keep;
    k->restart = o->restart;
    k->reviewed_at = -1;
    k->n_nodes = s->n_machines;
    k->kept = calloc(k->n_nodes, sizeof *k->kept);
    return k->kept != NULL;
}

void shrink_release(struct bats_sched *s)
{
    free(s->shrink.node);
    free(s->shrink.kept);
}
