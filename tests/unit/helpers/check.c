#include "check.h"

/* It checks by assert() in any build. */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>

#include "engine/engine.h"

/* ---- the bag ---- */

static void check_group(const struct bats_bag *bag, uint32_t g)
{
    const struct bats_bag_group *of = &bag->groups[g];
    for (uint32_t i = 0; i < of->n_ready; i++) {
        uint32_t task = bag->index[of->order[i].i];
        assert(bag->state[of->order[i].i] == BATS_TASK_PENDING);
        assert((bag->group ? bag->group[task] : 0) == g);
        assert(!bag->graph || !bag->priority || i == 0 ||
               bag->priority[bag->index[of->order[(i - 1) / 2].i]] >=
                   bag->priority[task]);
    }
}

static void check_bag(const struct bats_bag *bag)
{
    uint32_t count[BATS_TASK_STATES] = {0}, ready = 0;
    for (uint32_t i = 0; i < bag->n; i++) {
        assert(bag->state[i] < BATS_TASK_STATES);
        assert(bag->index[i] < bag->n && bag->position[bag->index[i]].i == i);
        count[bag->state[i]]++;
    }
    for (int state = 0; state < BATS_TASK_STATES; state++)
        assert(count[state] == bag->count[state]);
    for (uint32_t g = 0; g < bag->n_groups; g++) {
        check_group(bag, g);
        ready += bag->groups[g].n_ready;
    }
    assert(ready == bats_bag_ready(bag));
}

/* ---- money ---- */

static void check_ledger(const struct bats_ledger *ledger)
{
    assert(ledger->charged >= 0 && ledger->held >= 0);
    assert(ledger->others_bill ||
           ledger->charged <= ledger->budget - ledger->held);
}

static void check_purses(const struct state *s)
{
    const struct purses *a = &s->money.purses;
    for (uint32_t i = 0; i < a->n; i++) {
        bats_money held = 0;
        for (uint32_t id = 0; id < s->n_machines; id++) {
            const struct stake *stake = purse_stake(s, id, i);
            held += stake ? stake->held : 0;
            assert(!stake || stake->held <= s->money.purses.stakes[id].need);
        }
        check_ledger(&a->list[i].ledger);
        assert(held == a->list[i].ledger.held);
        assert(a->list[i].n_waiting == 0 || held > 0 || a->list[i].is_news);
    }
}

/* ---- the state ---- */

static bool on_machine(const struct state *s, struct bats_position task)
{
    return s->bag.state[task.i] == BATS_TASK_ASSIGNED ||
           s->bag.state[task.i] == BATS_TASK_CANCELLING;
}

static void check_slot(const struct state *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    bool active = s->machines[sl->machine].state == MACHINE_ACTIVE;
    uint32_t n = 0;
    for (struct bats_position t = sl->head; bats_is_position(t);
         t = slot_next(s, slot, t)) {
        bool cancelled = execution_cancelled(s, slot, t);
        assert(sl->is_replica || s->tasks[t.i].slot == slot);
        assert(cancelled ||
               (s->bag.state[t.i] == BATS_TASK_ASSIGNED && active) ||
               (s->tasks[t.i].point && active));
        n++;
    }
    assert(n == sl->n_tasks && (!sl->is_replica || n == 1));
    assert((n > 0) == (s->busy[slot / 64] >> slot % 64 & 1));
    assert(!sl->is_idle || (slot_is_free(s, slot) && active));
    assert(slot_lead(s, slot) == slot || n == 0);
    assert(!sl->timed_out || execution_cancelled(s, slot, sl->head));
}

/* The task's executions are in the slots it names, and it is CANCELLING if all
 * of them were told to stop. */
static uint32_t check_task(const struct state *s, struct bats_position task)
{
    const struct task *t = &s->tasks[task.i];
    uint32_t replicas = 0;
    bool alive = t->slot != NO_SLOT && !t->cancelled;
    assert(!on_machine(s, task) || t->slot != NO_SLOT);
    assert(t->slot == NO_SLOT || on_machine(s, task) ||
           (bats_bag_has_result(&s->bag, task) && (t->cancelled || t->point)));
    assert(t->replicas == NO_SLOT || t->slot != NO_SLOT);
    for (uint32_t at = t->replicas; at != NO_SLOT;
         at = s->slots[at].next_replica) {
        assert(s->slots[at].is_replica &&
               bats_same_position(s->slots[at].head, task));
        alive |= !s->slots[at].replica_cancelled;
        replicas++;
    }
    assert(replicas == 0 || bats_same_position(s->slots[t->slot].head, task));
    assert(!on_machine(s, task) ||
           alive == (s->bag.state[task.i] == BATS_TASK_ASSIGNED));
    assert(!bats_bag_has_result(&s->bag, task) || !alive || t->point);
    return replicas;
}

static void check_machine(const struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    uint32_t busy = 0;
    for (uint32_t i = 0; i < m->n_slots; i++) {
        check_slot(s, m->first_slot + i);
        busy += !slot_is_free(s, m->first_slot + i);
    }
    assert(busy == m->n_busy);
    assert(machine_is_held(m) == bats_heap_has(&s->turns, id));
    assert(!machine_is_held(m) ||
           (m->held_at < s->n_held && s->held[m->held_at] == id));
    /* A machine is only ever held inside windows that are paid. */
    assert(!machine_is_held(m) || s->run.finish != BATS_FINISH_NOT_YET ||
           s->now <= m->paid_end);
    assert(!m->renewing || m->state == MACHINE_ACTIVE);
    assert(m->state != MACHINE_PARKED || busy == 0);
    assert(m->state != MACHINE_DRAINING || busy > 0);
    assert(m->state != MACHINE_LOST || busy == 0);
    assert(m->state != MACHINE_ASKED || (busy == 0 && s->rest[id].asked));
    assert(m->state != MACHINE_ENDING || (busy == 0 && s->rest[id].asked));
    assert(s->money.terms.waits || !s->rest[id].asked);
    assert(!s->rest[id].asked || m->state != MACHINE_PARKED);
    assert(!s->money.terms.waits || s->rest[id].asked || !machine_is_held(m));
}

/* charged = earlier sessions + windows, ages and use + bills of the run's own
 * job and of jobs without a machine. */
static void check_money(const struct state *s)
{
    const struct money *m = &s->money;
    bats_money charged = m->earlier_charged, held = 0;
    for (uint32_t i = 0; i < s->n_machines; i++) {
        bats_money charge = s->clusters[s->machines[i].cluster].spec.charge;
        charged += m->terms.later ? 0 : s->rest[i].windows * charge;
        held += m->lease->held(s, i);
    }
    for (size_t i = 0; i < s->n_clusters; i++)
        charged += s->clusters[i].used;
    if (m->lease->is_own)
        charged += m->billed_others + m->ledger.billing.before +
                   bats_billing_held(&m->ledger.billing, s->now);
    assert(charged == m->ledger.charged && held == m->ledger.held);
}

static void check_machines(const struct state *s)
{
    uint32_t absent = 0, lost = 0, holding = 0, open = 0, idle = 0, jobs = 0,
             waiting = 0, noticed = 0;
    for (uint32_t i = 0; i < s->n_machines; i++) {
        const struct machine *m = &s->machines[i];
        check_machine(s, i);
        noticed += machine_is_held(m) && s->rest[i].taken_at != BATS_NEVER;
        jobs += s->rest[i].asked;
        waiting += m->state == MACHINE_ASKED ? m->n_slots : 0;
        assert(!s->money.terms.idle_is_free ||
               (s->rest[i].since != BATS_NEVER) ==
                   (machine_is_held(m) && m->n_busy > 0));
        absent += m->state == MACHINE_ABSENT;
        lost += m->state == MACHINE_LOST;
        holding += machine_is_held(m);
        open += m->state == MACHINE_ACTIVE ? m->n_slots : 0;
        idle += m->state == MACHINE_ACTIVE ? m->n_slots - m->n_busy : 0;
    }
    assert(absent == s->n_absent && lost == s->n_lost);
    assert(noticed == s->n_noticed);
    assert(jobs == s->money.n_jobs && waiting == s->money.n_asked_slots);
    assert(holding == s->n_held && open == s->n_open && idle == s->n_free);
}

static void check_tasks(const struct state *s)
{
    uint32_t in_slots = 0, executions = 0, replicas = 0;
    for (uint32_t i = 0; i < s->n_slots; i++)
        in_slots += s->slots[i].n_tasks;
    for (uint32_t t = 0; t < s->bag.n; t++) {
        uint32_t n = check_task(s, (struct bats_position){t});
        replicas += n;
        executions += n + (s->tasks[t].slot != NO_SLOT);
    }
    assert(in_slots == executions && replicas == s->n_replicas);
}

static void check_cluster(const struct state *s, const struct cluster *c)
{
    uint32_t active = 0, held = 0, joined = 0;
    for (uint32_t k = 0; k < c->n_machines; k++) {
        const struct machine *m =
            &s->machines[s->members[c->first_machine + k]];
        active += m->state == MACHINE_ACTIVE && !m->marked;
        held += machine_is_held(m);
        assert(bats_heap_has(&c->parked, k) ==
               (m->state == MACHINE_PARKED && !m->quarantined));
        joined += m->state != MACHINE_ABSENT && m->state != MACHINE_LOST &&
                  !m->quarantined;
    }
    assert(active == c->n_active && held == c->n_held);
    assert(joined == c->n_joined);
    assert((s->money.terms.waits ? active + c->n_asked : held) <= c->spec.max);
}

void check_sched(const struct bats_sched *e)
{
    const struct state *s = &e->state;
    check_ledger(&s->money.ledger);
    check_bag(&s->bag);
    check_purses(s);
    check_machines(s);
    check_tasks(s);
    for (size_t i = 0; i < s->n_clusters; i++)
        check_cluster(s, &s->clusters[i]);
    check_money(s);
}
