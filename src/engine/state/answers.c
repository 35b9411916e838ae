/* answers: commands, decisions, leases and stakes for the driver; and memory.
 * See state.h. */
#include "engine/state/moves.h"

#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

struct room {
    _Alignas(CACHE_LINE) struct room *next;
};

void *state_room(struct state *s, size_t n, size_t size)
{
    size_t bytes = (n * size / CACHE_LINE + 1) * CACHE_LINE;
    struct room *room = aligned_alloc(CACHE_LINE, sizeof *room + bytes);
    if (!room) {
        s->answers.failure = BATS_ENOMEM;
        return NULL;
    }
    memset(room, 0, sizeof *room + bytes);
    room->next = s->rooms;
    s->rooms = room;
    return room + 1;
}

void rooms_release(struct state *s)
{
    while (s->rooms) {
        struct room *room = s->rooms;
        s->rooms = room->next;
        free(room);
    }
}

static bool has_room(struct answers *a)
{
    if (a->n < a->capacity ||
        bats_grow(&a->queue, &a->capacity, a->n + 1, sizeof *a->queue))
        return true;
    a->failure = BATS_ENOMEM;
    return false;
}

struct bats_command *state_emit(struct state *s, enum bats_command_type type,
                                uint32_t machine)
{
    struct answers *a = &s->answers;
    struct bats_command *c = has_room(a) ? &a->queue[a->n++] : &a->lost;
    *c = (struct bats_command){.type = type, .machine = machine};
    return c;
}

bool bats_sched_next(struct bats_sched *e, struct bats_command *command)
{
    struct answers *a = &e->state.answers;
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

/* ---- leases and stakes: only changes are told ---- */

/* The lease of a machine, or of the run's own job. */
struct entry {
    struct bats_lease now, told; /* id = 0: none so far */
    bool is_changed;
};

struct books {
    struct entry *entries; /* by machine; the last one is the run's */
    uint32_t *changed;     /* n_changed of them */
    uint32_t n_changed, n_begun;
    struct bats_lease *leases; /* to report, from told_leases on */
    struct bats_stake *stakes;
    size_t n_leases, told_leases, leases_room;
    size_t n_stakes, told_stakes, stakes_room;
};

/* The entry of the machine or the run; NULL: no books are kept. */
static struct entry *entry_of(struct state *s, uint32_t id)
{
    struct books *b = s->money.books;
    return b ? &b->entries[id == BATS_NO_MACHINE ? s->n_machines : id] : NULL;
}

/* The same, marked as changed. */
static struct entry *change(struct state *s, uint32_t id)
{
    struct entry *e = entry_of(s, id);
    struct books *b = s->money.books;
    if (e && !e->is_changed)
        b->changed[b->n_changed++] = (uint32_t)(e - b->entries);
    if (e)
        e->is_changed = true;
    return e;
}

int books_init(struct state *s, const struct bats_sched_options *o)
{
    if (!o->tells_leases)
        return 0;
    struct books *b = s->money.books = state_room(s, 1, sizeof *b);
    size_t n = (size_t)s->n_machines + 1;
    if (b) {
        b->entries = state_room(s, n, sizeof *b->entries);
        b->changed = state_room(s, n, sizeof *b->changed);
    }
    if (s->answers.failure < 0)
        return BATS_ENOMEM;
    if (bats_billing_is_timed(&s->money.ledger.billing))
        books_open(s, BATS_NO_MACHINE);
    return 0;
}

void books_release(struct state *s)
{
    const struct books *b = s->money.books;
    if (!b)
        return;
    free(b->leases);
    free(b->stakes);
}

static void tell_lease(struct state *s, const struct bats_lease *lease)
{
    struct books *b = s->money.books;
    if (bats_grow(&b->leases, &b->leases_room, b->n_leases + 1,
                  sizeof *b->leases))
        b->leases[b->n_leases++] = *lease;
    else
        s->answers.failure = BATS_ENOMEM;
}

static void tell_stake(struct state *s, uint32_t id, uint16_t purse,
                       bats_money held)
{
    struct books *b = s->money.books;
    if (bats_grow(&b->stakes, &b->stakes_room, b->n_stakes + 1,
                  sizeof *b->stakes))
        b->stakes[b->n_stakes++] =
            (struct bats_stake){b->entries[id].now.id, purse, held};
    else
        s->answers.failure = BATS_ENOMEM;
}

void books_drop(struct state *s, uint32_t id, const struct stake *stake)
{
    if (stake->told > 0)
        tell_stake(s, id, stake->purse, 0);
}

static enum bats_lease_state state_of(const struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    if (s->run.finish == BATS_FINISH_NOT_YET && m->state == MACHINE_ASKED)
        return BATS_LEASE_ASKED;
    if (s->run.finish == BATS_FINISH_NOT_YET && machine_is_held(m))
        return BATS_LEASE_BEGUN;
    return s->rest[id].asked ? BATS_LEASE_ENDING : BATS_LEASE_ENDED;
}

static void compare_stakes(struct state *s, uint32_t id)
{
    struct stakes *st = &s->money.purses.stakes[id];
    for (uint32_t i = 0; i < st->n; i++) {
        struct stake *stake = &st->list[i];
        if (stake->held != stake->told)
            tell_stake(s, id, stake->purse, stake->held);
        stake->told = stake->held;
    }
}

static void compare_lease(struct state *s, uint32_t id)
{
    struct entry *e = &s->money.books->entries[id];
    struct bats_lease *l = &e->now;
    if (l->id == 0)
        return;
    if (id == s->n_machines) {
        l->state =
            l->ended == BATS_NEVER ? BATS_LEASE_BEGUN : BATS_LEASE_ENDED;
    } else {
        bats_time until = s->machines[id].paid_end;
        l->state = state_of(s, id);
        l->length = s->rest[id].length;
        l->until =
            l->begun == BATS_NEVER || until == TIME_MAX ? BATS_NEVER : until;
        l->held = s->money.lease->held(s, id);
        l->if_killed = s->money.lease->kill ? l->held : 0;
    }
    /* The padding may differ: then the lease is reported twice, which is
     * harmless. */
    if (memcmp(l, &e->told, sizeof *l) != 0)
        tell_lease(s, l);
    e->told = *l;
    if (id < s->n_machines && s->money.purses.n > 0)
        compare_stakes(s, id);
}

bool bats_sched_next_lease(struct bats_sched *e, struct bats_lease *lease)
{
    struct state *s = &e->state;
    struct books *b = s->money.books;
    if (!b)
        return false;
    for (uint32_t i = 0; i < b->n_changed; i++)
        compare_lease(s, b->changed[i]);
    for (uint32_t i = 0; i < b->n_changed; i++)
        b->entries[b->changed[i]].is_changed = false;
    b->n_changed = 0;
    if (b->told_leases == b->n_leases) {
        b->told_leases = b->n_leases = 0;
        return false;
    }
    *lease = b->leases[b->told_leases++];
    return true;
}

bool bats_sched_next_stake(struct bats_sched *e, struct bats_stake *stake)
{
    struct books *b = e->state.money.books;
    if (!b)
        return false;
    if (b->told_stakes == b->n_stakes) {
        b->told_stakes = b->n_stakes = 0;
        return false;
    }
    *stake = b->stakes[b->told_stakes++];
    return true;
}

/* ---- what happens ---- */

void books_change(struct state *s, uint32_t id)
{
    change(s, id);
}

void books_open(struct state *s, uint32_t id)
{
    struct entry *e = entry_of(s, id);
    if (!e)
        return;
    if (e->is_changed)
        compare_lease(s, (uint32_t)(e - s->money.books->entries));
    bool waits = id != BATS_NO_MACHINE && s->money.terms.waits;
    e->now = (struct bats_lease){
        .id = ++s->money.books->n_begun,
        .machine = id,
        .kind = id == BATS_NO_MACHINE ? "allocation" : s->money.lease->name,
        .state = BATS_LEASE_BEGUN,
        .asked = s->now,
        .begun = waits ? BATS_NEVER : s->now,
        .ended = BATS_NEVER,
        .until = BATS_NEVER};
    change(s, id);
}

void books_forget(struct state *s, uint32_t id)
{
    struct entry *e = entry_of(s, id);
    if (!e)
        return;
    e->now.id = 0;
    s->money.books->n_begun--;
}

void books_begin(struct state *s, uint32_t id)
{
    struct entry *e = change(s, id);
    if (e)
        e->now.begun = s->now;
}

void books_end(struct state *s, uint32_t id)
{
    struct entry *e = change(s, id);
    if (e && e->now.ended == BATS_NEVER)
        e->now.ended = s->now;
}

void state_tell_charge(struct state *s, uint32_t id, bats_money amount)
{
    struct entry *e = change(s, id);
    if (e)
        e->now.charged += amount;
    state_emit(s, BATS_NOTICE_CHARGE, id)->amount = amount;
}

const char *bats_lease_state_name(enum bats_lease_state state)
{
    static const char *const names[] = {[BATS_LEASE_ASKED] = "asked",
                                        [BATS_LEASE_BEGUN] = "begun",
                                        [BATS_LEASE_ENDING] = "ending",
                                        [BATS_LEASE_ENDED] = "ended"};
    return names[state];
}
