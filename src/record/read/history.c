#include "record/read/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/view_state.h"
#include "util/grow.h"

#define SESSIONS_MAX 4096

/* The state of the reader. */
struct reader {
    struct bats_view *view;
    struct bats_run_history *h;
    bats_time begin[SESSIONS_MAX]; /* of session id, on the axis */
    double scale[SESSIONS_MAX];    /* virtual per real time */
    uint32_t *machine[SESSIONS_MAX]; /* by its id in the session */
    uint32_t n_machine[SESSIONS_MAX];
    size_t machines, spans, charges, decisions; /* capacities */
    bats_time *paid; /* by machine: end of its last window; NULL: none yet */
    bats_time *held; /* by machine, since when; -1: it is not. NULL: likewise */
    size_t holds;    /* capacity */
    bool no_memory;
};

static bool knows(const struct reader *r, int64_t session)
{
    return session >= 0 && session < SESSIONS_MAX && r->scale[session] > 0;
}

static bats_time at(const struct reader *r, int64_t session, bats_time time)
{
    return r->begin[session] + time;
}

typedef void take_row(struct reader *r, sqlite3_stmt *s);

static int each(struct reader *r, const char *sql, take_row *take,
                struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_db_prepare(&r->view->db, sql, &s, err);

    while (rc == 0 && (rc = bats_db_step(&r->view->db, s, err)) > 0) {
        take(r, s);
        rc = r->no_memory ? bats_error_set(err, BATS_ENOMEM, "out of memory")
                          : 0;
    }
    sqlite3_finalize(s);
    return rc;
}

/* ---- one row each ---- */

static void take_session(struct reader *r, sqlite3_stmt *s)
{
    int64_t id = sqlite3_column_int64(s, 0);
    double scale = sqlite3_column_double(s, 1);

    if (id < 0 || id >= SESSIONS_MAX)
        return;
    r->scale[id] = scale > 0 ? scale : 1;
    r->begin[id] = r->h->end;
    r->h->end += sqlite3_column_int64(s, 2);
    r->h->window = sqlite3_column_int64(s, 3);
    r->h->billing = BATS_BILLING_WINDOW;
    bats_billing_find(bats_view_text(s, 4), &r->h->billing);
}

static uint32_t cluster_of(struct bats_run_history *h, const char *name)
{
    uint32_t i;

    for (i = 0; i < h->n_clusters; i++)
        if (strcmp(h->clusters[i], name) == 0)
            return i;
    if (i == BATS_CLUSTERS_MAX)
        return i - 1;
    snprintf(h->clusters[i], sizeof h->clusters[i], "%s", name);
    h->n_clusters++;
    return i;
}

static uint32_t machine_of(struct reader *r, const char *name,
                           uint32_t cluster, uint32_t slots, uint32_t id)
{
    struct bats_run_history *h = r->h;

    /* In most sessions it has the same number as before. */
    if (id < h->n_machines && h->machines[id].cluster == cluster &&
        strcmp(h->machines[id].name, name) == 0)
        return id;
    for (size_t k = 0; k < h->n_machines; k++)
        if (h->machines[k].cluster == cluster &&
            strcmp(h->machines[k].name, name) == 0)
            return (uint32_t)k;
    struct bats_history_machine m = {strdup(name), cluster,
                                     slots > 0 ? slots : 1};
    if (m.name == NULL || !bats_grow(&h->machines, &r->machines,
                                     h->n_machines + 1, sizeof m)) {
        free(m.name);
        r->no_memory = true;
        return 0;
    }
    h->machines[h->n_machines] = m;
    return (uint32_t)h->n_machines++;
}

static void take_machine(struct reader *r, sqlite3_stmt *s)
{
    int64_t session = sqlite3_column_int64(s, 0);
    int64_t id = sqlite3_column_int64(s, 1);

    if (!knows(r, session) || id != r->n_machine[session])
        return;
    uint32_t n = r->n_machine[session] + 1;
    if ((n & (n - 1)) == 0) { /* doubles */
        uint32_t *more =
            realloc(r->machine[session], 2 * (size_t)n * sizeof *more);
        if (more == NULL) {
            r->no_memory = true;
            return;
        }
        r->machine[session] = more;
    }
    uint32_t cluster = cluster_of(r->h, bats_view_text(s, 3));
    r->h->charge[cluster] = sqlite3_column_int64(s, 5);
    r->machine[session][r->n_machine[session]++] =
        machine_of(r, bats_view_text(s, 2), cluster,
                   (uint32_t)sqlite3_column_int64(s, 4), (uint32_t)id);
}

/* The machine of a row; UINT32_MAX: none that is known. */
static uint32_t machine_in(const struct reader *r, int64_t session, int64_t id)
{
    return id >= 0 && id < r->n_machine[session] ? r->machine[session][id]
                                                 : UINT32_MAX;
}

static void take_span(struct reader *r, sqlite3_stmt *s)
{
    struct bats_run_history *h = r->h;
    int64_t session = sqlite3_column_int64(s, 0);

    if (!knows(r, session))
        return;
    struct bats_history_span span = {
        .end = at(r, session, sqlite3_column_int64(s, 1)),
        .machine = machine_in(r, session, sqlite3_column_int64(s, 2)),
        .task = sqlite3_column_int64(s, 3),
        .attempt = (uint32_t)sqlite3_column_int64(s, 4),
        .wall_us = sqlite3_column_int64(s, 5),
        .max_rss_kib = sqlite3_column_int64(s, 6),
        .failed = sqlite3_column_int(s, 7) != 0,
        .outcome = (uint8_t)sqlite3_column_int(s, 8),
    };
    span.begin =
        span.end - (bats_time)((double)span.wall_us * r->scale[session]);
    if (span.begin < r->begin[session])
        span.begin = r->begin[session];
    if (span.machine == UINT32_MAX)
        return;
    if (!bats_grow(&h->spans, &r->spans, h->n_spans + 1, sizeof span)) {
        r->no_memory = true;
        return;
    }
    h->spans[h->n_spans++] = span;
}

static void take_charge(struct reader *r, sqlite3_stmt *s)
{
    struct bats_run_history *h = r->h;
    int64_t session = sqlite3_column_int64(s, 0);

    if (!knows(r, session))
        return;
    struct bats_history_charge charge = {
        .begin = at(r, session, sqlite3_column_int64(s, 1)),
        .machine = sqlite3_column_type(s, 2) == SQLITE_NULL
                       ? UINT32_MAX
                       : machine_in(r, session, sqlite3_column_int64(s, 2)),
        .amount = sqlite3_column_int64(s, 3),
    };
    if (charge.machine != UINT32_MAX && h->billing == BATS_BILLING_WINDOW) {
        if (r->paid == NULL)
            r->paid = calloc(h->n_machines, sizeof *r->paid);
        if (r->paid == NULL) {
            r->no_memory = true;
            return;
        }
        /* A master that is late charges several at once. */
        if (charge.begin < r->paid[charge.machine])
            charge.begin = r->paid[charge.machine];
        r->paid[charge.machine] = charge.begin + h->window;
    }
    if (!bats_grow(&h->charges, &r->charges, h->n_charges + 1,
                   sizeof charge)) {
        r->no_memory = true;
        return;
    }
    h->charges[h->n_charges++] = charge;
}

static void take_decision(struct reader *r, sqlite3_stmt *s)
{
    struct bats_run_history *h = r->h;
    int64_t session = sqlite3_column_int64(s, 0);

    if (!knows(r, session))
        return;
    struct bats_history_decision d = {
        .time = at(r, session, sqlite3_column_int64(s, 1)),
        .reason = strdup(bats_view_text(s, 2)),
        .machines = strdup(bats_view_text(s, 3)),
        .tasks_left = sqlite3_column_int64(s, 4),
        .windows = sqlite3_column_int64(s, 5),
        .budget_left = sqlite3_column_type(s, 6) == SQLITE_NULL
                           ? BATS_UNLIMITED
                           : sqlite3_column_int64(s, 6),
        .feasible = sqlite3_column_int(s, 7) != 0,
        .end = sqlite3_column_type(s, 8) == SQLITE_NULL
                   ? 0
                   : at(r, session, sqlite3_column_int64(s, 8)),
        .cost = sqlite3_column_int64(s, 9),
    };
    if (d.reason == NULL || d.machines == NULL ||
        !bats_grow(&h->decisions, &r->decisions, h->n_decisions + 1,
                   sizeof d)) {
        free(d.reason);
        free(d.machines);
        r->no_memory = true;
        return;
    }
    h->decisions[h->n_decisions++] = d;
}

static void take_sampled(struct reader *r, sqlite3_stmt *s)
{
    int64_t session = sqlite3_column_int64(s, 0);

    if (knows(r, session))
        r->h->sampled_at = at(r, session, sqlite3_column_int64(s, 1));
}

static void take_parameters(struct reader *r, sqlite3_stmt *s)
{
    r->h->is_sweep = sqlite3_column_int64(s, 0) > 0;
}

/* ---- what was held when ---- */

static bool add_hold(struct reader *r, uint32_t machine, bats_time begin,
                     bats_time end, bats_time paid_end)
{
    struct bats_run_history *h = r->h;

    if (!bats_grow(&h->holds, &r->holds, h->n_holds + 1, sizeof *h->holds)) {
        r->no_memory = true;
        return false;
    }
    if (begin < end)
        h->holds[h->n_holds++] =
            (struct bats_history_hold){begin, end, paid_end, machine};
    return true;
}

/* What begins and what ends the time for which a machine is billed. A job is
 * billed from when it joins, though it is acquired before, until it has gone. */
static bool bounds_hold(enum bats_billing_model model, const char *type,
                        bool *begins)
{
    const char *const *ends =
        model == BATS_BILLING_JOB
            ? (const char *const[]){"joined", "lost", "billed", ""}
            : (const char *const[]){"acquire", "lost", "park", "release"};

    *begins = strcmp(type, ends[0]) == 0;
    return *begins || strcmp(type, ends[1]) == 0 ||
           strcmp(type, ends[2]) == 0 || strcmp(type, ends[3]) == 0;
}

/* In a new session no machine is held yet. */
static void take_hold(struct reader *r, sqlite3_stmt *s)
{
    int64_t session = sqlite3_column_int64(s, 0);
    uint32_t machine =
        machine_in(r, session, sqlite3_column_int64(s, 2));
    enum bats_billing_model model = r->h->billing;
    bool begins;

    if ((model != BATS_BILLING_JOB && model != BATS_BILLING_SECOND) ||
        !knows(r, session) || machine == UINT32_MAX ||
        !bounds_hold(model, bats_view_text(s, 3), &begins))
        return;
    if (r->held == NULL) {
        r->held = malloc(r->h->n_machines * sizeof *r->held);
        if (r->held == NULL) {
            r->no_memory = true;
            return;
        }
        memset(r->held, -1, r->h->n_machines * sizeof *r->held);
    }
    bats_time now = at(r, session, sqlite3_column_int64(s, 1));
    bats_time since = r->held[machine];
    if (since >= 0 && since < r->begin[session] && begins)
        add_hold(r, machine, since, r->begin[session], r->begin[session]);
    else if (since >= 0 && !begins)
        add_hold(r, machine, since, now, now);
    if (!begins)
        r->held[machine] = -1;
    else if (since < r->begin[session])
        r->held[machine] = now;
}

static int by_place(const void *a, const void *b)
{
    const struct bats_history_hold *x = a, *y = b;
    return x->machine != y->machine
               ? (x->machine > y->machine) - (x->machine < y->machine)
               : (x->begin > y->begin) - (x->begin < y->begin);
}

/* Machines that are billed while a task runs there. */
static void join_holds(struct bats_run_history *h)
{
    size_t kept = 0;

    qsort(h->holds, h->n_holds, sizeof *h->holds, by_place);
    for (size_t i = 0; i < h->n_holds; i++) {
        struct bats_history_hold *x = &h->holds[i];
        struct bats_history_hold *last = kept > 0 ? &h->holds[kept - 1] : x;
        if (kept == 0 || last->machine != x->machine || last->end < x->begin)
            h->holds[kept++] = *x;
        else if (last->end < x->end)
            last->end = last->paid_end = x->end;
    }
    h->n_holds = kept;
}

static bool add_holds(struct reader *r)
{
    struct bats_run_history *h = r->h;
    bats_time end = h->end;

    for (size_t i = 0; i < h->n_charges; i++) {
        const struct bats_history_charge *c = &h->charges[i];
        bats_time until = c->begin + h->window;
        if (h->billing == BATS_BILLING_WINDOW && c->machine != UINT32_MAX)
            add_hold(r, c->machine, c->begin, until < end ? until : end,
                     until);
    }
    for (size_t i = 0; h->billing == BATS_BILLING_USE && i < h->n_spans; i++)
        add_hold(r, h->spans[i].machine, h->spans[i].begin, h->spans[i].end,
                 h->spans[i].end);
    for (uint32_t i = 0; i < h->n_machines; i++)
        if (h->billing == BATS_BILLING_ALLOCATION)
            add_hold(r, i, 0, end, end);
        else if (r->held != NULL && r->held[i] >= 0)
            add_hold(r, i, r->held[i], end, end);
    if (h->billing == BATS_BILLING_USE)
        join_holds(h);
    return !r->no_memory;
}

/* The slot that is free first, backwards from the end. */
static uint32_t free_slot(const bats_time *until, uint32_t n, bats_time begin)
{
    uint32_t best = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (until[i] <= begin)
            return i;
        if (until[i] < until[best])
            best = i;
    }
    return best;
}

/* The results of several short tasks come at once, and the record has the time
 * when they came, but not the slots. Here each gets a slot, where it had ended
 * before the next one there began. */
static bool place_spans(struct bats_run_history *h)
{
    size_t n = 0;
    size_t *first = calloc(h->n_machines + 1, sizeof *first);

    for (size_t i = 0; first != NULL && i < h->n_machines; i++) {
        first[i] = n;
        n += h->machines[i].slots;
    }
    bats_time *until = calloc(n + 1, sizeof *until); /* before the end */
    bool ok = first != NULL && until != NULL;
    for (size_t i = h->n_spans; ok && i-- > 0;) {
        struct bats_history_span *s = &h->spans[i];
        bats_time *slots = &until[first[s->machine]];
        bats_time after = h->end - s->end;
        s->slot = free_slot(slots, h->machines[s->machine].slots, after);
        bats_time late = slots[s->slot] - after;
        late = late < 0 ? 0 : late < s->begin ? late : s->begin;
        s->begin -= late;
        s->end -= late;
        slots[s->slot] = h->end - s->begin;
    }
    free(first);
    free(until);
    return ok;
}

/* ---- all ---- */

static const struct {
    const char *sql;
    take_row *take;
} steps[] = {
    {"SELECT id, time_scale, max(coalesce(ended_us, 0), coalesce((SELECT"
     " max(time_us) FROM attempt WHERE session = session.id), 0),"
     " coalesce((SELECT max(time_us) FROM ledger WHERE session = session.id),"
     " 0)), window_us, CASE WHEN json_valid(options) THEN"
     " json_extract(options, '$.engine.billing.model') END FROM session ORDER BY id",
     take_session},
    {"SELECT m.session, m.id, m.name, c.name, m.slots, c.charge FROM machine m"
     " JOIN cluster c ON c.session = m.session AND c.id = m.cluster"
     " ORDER BY m.session, m.id",
     take_machine},
    {"SELECT a.session, a.time_us, a.machine, b.number, a.attempt, a.wall_us,"
     " a.max_rss_kib, a.exit_status != 0 OR a.signal != 0, a.outcome"
     " FROM attempt a JOIN bag b ON b.task = a.task ORDER BY a.seq",
     take_span},
    {"SELECT session, time_us, machine, amount FROM ledger ORDER BY seq",
     take_charge},
    {"SELECT session, time_us, reason || coalesce(' (' || cause || ')', ''),"
     " coalesce((SELECT group_concat(c.name ||"
     " ' ' || j.value, ', ') FROM json_each(d.machines) j JOIN cluster c"
     " ON c.session = d.session AND c.id = j.key WHERE j.value > 0),"
     " 'no machines'), coalesce(tasks_open, tasks_left), windows,"
     " budget_left, feasible, end_us, cost FROM (SELECT *, lead(replaces)"
     " OVER (PARTITION BY session ORDER BY seq) AS is_gone FROM decision) d"
     " WHERE is_gone IS NOT 1 ORDER BY seq",
     take_decision},
    {"SELECT session, time_us, machine, type, seq FROM command"
     " WHERE type IN ('acquire', 'park', 'release') UNION ALL"
     " SELECT session, time_us, machine, type, seq FROM event"
     " WHERE type IN ('joined', 'lost', 'billed') ORDER BY seq",
     take_hold},
    {"SELECT session, time_us FROM command WHERE type = 'sampled'"
     " ORDER BY seq DESC LIMIT 1",
     take_sampled},
    {"SELECT count(*) FROM parameter", take_parameters},
};

int bats_run_history_read(struct bats_view *view,
                          struct bats_run_history *history,
                          struct bats_error *err)
{
    struct reader *r = calloc(1, sizeof *r);
    int rc = bats_view_unpack(view, err);

    *history = (struct bats_run_history){.sampled_at = -1};
    if (rc == 0 && r == NULL)
        rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
    if (rc == 0) {
        r->view = view;
        r->h = history;
    }
    for (size_t i = 0; rc == 0 && i < sizeof steps / sizeof *steps; i++)
        rc = each(r, steps[i].sql, steps[i].take, err);
    if (rc == 0 && (!place_spans(history) || !add_holds(r)))
        rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
    for (size_t i = 0; r != NULL && i < SESSIONS_MAX; i++)
        free(r->machine[i]);
    if (r != NULL) {
        free(r->paid);
        free(r->held);
    }
    free(r);
    if (rc < 0)
        bats_run_history_release(history);
    return rc;
}

void bats_run_history_release(struct bats_run_history *h)
{
    for (size_t i = 0; i < h->n_machines; i++)
        free(h->machines[i].name);
    for (size_t i = 0; i < h->n_decisions; i++) {
        free(h->decisions[i].reason);
        free(h->decisions[i].machines);
    }
    free(h->machines);
    free(h->spans);
    free(h->charges);
    free(h->holds);
    free(h->decisions);
    *h = (struct bats_run_history){0};
}
