#include "record/read/history.h"
#include "bats/lease.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/part.h"
#include "record/write/record.h"
#include "util/grow.h"

/* The state of the reader. */
struct reader {
    struct bats_run_history *h;
    size_t machines, spans, lost, charges, decisions, holds; /* capacities */
    bats_time *paid; /* by machine: end of its last window; NULL: none yet */
};

/* The begin of each session on the axis, and the machines that several sessions
 * share: those of the same name in a cluster of the same name. */
static const char prepare_sql[] =
    "CREATE TEMP TABLE IF NOT EXISTS axis (session INTEGER PRIMARY KEY, begin,"
    "  scale, length);"
    "CREATE TEMP TABLE IF NOT EXISTS seat (session, machine, place,"
    "  PRIMARY KEY (session, machine)) WITHOUT ROWID;"
    "DELETE FROM temp.axis; DELETE FROM temp.seat;"
    "INSERT INTO temp.axis SELECT id, sum(length) OVER (ORDER BY id) - length,"
    "  scale, length FROM (SELECT id, iif(time_scale > 0, time_scale, 1) AS"
    "   scale, max(0, coalesce(ended_us, 0), coalesce(last_us,"
    "    (SELECT time_us FROM now), 0)) AS length FROM session);"
    "INSERT OR IGNORE INTO temp.seat SELECT m.session, m.id, dense_rank()"
    "  OVER (ORDER BY first) - 1 FROM (SELECT m.session, m.id,"
    "   min(m.session << 32 | m.id) OVER (PARTITION BY c.name, m.name) AS first"
    "  FROM machine m JOIN cluster c ON c.session = m.session"
    "   AND c.id = m.cluster) m;";

/* ---- one row each ---- */

static int take_session(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct bats_run_history *h = ((struct reader *)context)->h;

    (void)err;
    h->end = sqlite3_column_int64(s, 0);
    h->window = sqlite3_column_int64(s, 1);
    h->terms = bats_lease_terms(bats_billing_named(bats_view_text(s, 2)));
    h->is_sweep = sqlite3_column_int(s, 3) != 0;
    h->sampled_at = sqlite3_column_int64(s, 4);
    return 0;
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

/* In the order of their places; of several sessions, the first one first. */
static int take_machine(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct reader *r = context;
    struct bats_run_history *h = r->h;
    uint32_t cluster = cluster_of(h, bats_view_text(s, 1));
    int64_t slots = sqlite3_column_int64(s, 2);

    h->charge[cluster] = sqlite3_column_int64(s, 3);
    if (sqlite3_column_int64(s, 4) != (int64_t)h->n_machines)
        return 0;
    if (!bats_grow(&h->machines, &r->machines, h->n_machines + 1,
                   sizeof *h->machines))
        return bats_no_memory(err);
    struct bats_history_machine *m = &h->machines[h->n_machines];
    *m = (struct bats_history_machine){
        strdup(bats_view_text(s, 0)), cluster,
        slots > 0 && slots < UINT32_MAX ? (uint32_t)slots : 1};
    h->n_machines += m->name != NULL;
    return m->name != NULL ? 0 : bats_no_memory(err);
}

static int take_span(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct reader *r = context;
    struct bats_run_history *h = r->h;
    struct bats_history_span span = {
        .begin = sqlite3_column_int64(s, 0),
        .end = sqlite3_column_int64(s, 1),
        .given = sqlite3_column_int64(s, 2),
        .ended = sqlite3_column_int64(s, 1),
        .machine = (uint32_t)sqlite3_column_int64(s, 3),
        .slot = (uint32_t)sqlite3_column_int64(s, 4),
        .task = sqlite3_column_int64(s, 5),
        .attempt = (uint32_t)sqlite3_column_int64(s, 6),
        .wall_us = sqlite3_column_int64(s, 7),
        .max_rss_kib = sqlite3_column_int64(s, 8),
        .failed = sqlite3_column_int64(s, 9) != 0 ||
                  sqlite3_column_int64(s, 10) != 0,
        .timed_out = sqlite3_column_int64(s, 9) < 0,
        .was_killed = sqlite3_column_int64(s, 10) != 0,
        .outcome = (uint8_t)sqlite3_column_int(s, 11),
    };
    bool is_lost = span.outcome == BATS_RECORD_LOST;
    struct bats_history_span **list = is_lost ? &h->lost : &h->spans;
    size_t *n = is_lost ? &h->n_lost : &h->n_spans;

    if (span.machine >= h->n_machines ||
        span.slot >= h->machines[span.machine].slots)
        return 0;
    if (!bats_grow(list, is_lost ? &r->lost : &r->spans, *n + 1, sizeof span))
        return bats_no_memory(err);
    (*list)[(*n)++] = span;
    return 0;
}

static int take_charge(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct reader *r = context;
    struct bats_run_history *h = r->h;
    struct bats_history_charge charge = {
        .begin = sqlite3_column_int64(s, 0),
        .machine = sqlite3_column_type(s, 1) == SQLITE_NULL
                       ? UINT32_MAX
                       : (uint32_t)sqlite3_column_int64(s, 1),
        .amount = sqlite3_column_int64(s, 2),
    };

    if (charge.machine < h->n_machines && h->terms.in_windows) {
        if (r->paid == NULL)
            r->paid = calloc(h->n_machines, sizeof *r->paid);
        if (r->paid == NULL)
            return bats_no_memory(err);
        /* A master that is late charges several at once. */
        if (charge.begin < r->paid[charge.machine])
            charge.begin = r->paid[charge.machine];
        r->paid[charge.machine] = charge.begin + h->window;
    }
    if (!bats_grow(&h->charges, &r->charges, h->n_charges + 1, sizeof charge))
        return bats_no_memory(err);
    h->charges[h->n_charges++] = charge;
    return 0;
}

static int take_decision(void *context, sqlite3_stmt *s,
                         struct bats_error *err)
{
    struct reader *r = context;
    struct bats_run_history *h = r->h;
    struct bats_history_decision d = {
        .time = sqlite3_column_int64(s, 0),
        .reason = strdup(bats_view_text(s, 1)),
        .machines = strdup(bats_view_text(s, 2)),
        .tasks_left = sqlite3_column_int64(s, 3),
        .windows = sqlite3_column_int64(s, 4),
        .budget_left = sqlite3_column_type(s, 5) == SQLITE_NULL
                           ? BATS_UNLIMITED
                           : sqlite3_column_int64(s, 5),
        .feasible = sqlite3_column_int(s, 6) != 0,
        .end = sqlite3_column_int64(s, 7),
        .cost = sqlite3_column_int64(s, 8),
    };

    if (d.reason == NULL || d.machines == NULL ||
        !bats_grow(&h->decisions, &r->decisions, h->n_decisions + 1,
                   sizeof d)) {
        free(d.reason);
        free(d.machines);
        return bats_no_memory(err);
    }
    h->decisions[h->n_decisions++] = d;
    return 0;
}

/* ---- what was held when ---- */

static int add_hold(struct reader *r, uint32_t machine, bats_time begin,
                    bats_time end, bats_time paid_end, struct bats_error *err)
{
    struct bats_run_history *h = r->h;

    if (machine >= h->n_machines || begin >= end)
        return 0;
    if (!bats_grow(&h->holds, &r->holds, h->n_holds + 1, sizeof *h->holds))
        return bats_no_memory(err);
    h->holds[h->n_holds++] =
        (struct bats_history_hold){begin, end, paid_end, machine};
    return 0;
}

/* A lease that ends with its time. */
static int take_lease(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct reader *r = context;
    bats_time end = sqlite3_column_int64(s, 2);

    if (!r->h->terms.returns)
        return 0;
    return add_hold(r, (uint32_t)sqlite3_column_int64(s, 0),
                    sqlite3_column_int64(s, 1), end, end, err);
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

static int add_holds(struct reader *r, struct bats_error *err)
{
    struct bats_run_history *h = r->h;
    bats_time end = h->end;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < h->n_charges; i++) {
        const struct bats_history_charge *c = &h->charges[i];
        bats_time until = c->begin + h->window;
        if (h->terms.in_windows)
            rc = add_hold(r, c->machine, c->begin, until < end ? until : end,
                          until, err);
    }
    for (size_t i = 0; rc == 0 && h->terms.idle_is_free && i < h->n_spans;
         i++) {
        const struct bats_history_span *span = &h->spans[i];
        rc =
            add_hold(r, span->machine, span->begin, span->end, span->end, err);
    }
    for (uint32_t i = 0; rc == 0 && i < h->n_machines; i++)
        if (h->terms.lasts)
            rc = add_hold(r, i, 0, end, end, err);
    if (h->terms.idle_is_free)
        join_holds(h);
    return rc;
}

/* The results of several short tasks come at once: each has ended before the
 * next one began in its slot. */
static bool place_spans(struct bats_run_history *h)
{
    size_t n = 0;
    size_t *first = calloc(h->n_machines + 1, sizeof *first);

    for (size_t i = 0; first != NULL && i < h->n_machines; i++) {
        first[i] = n;
        n += h->machines[i].slots;
    }
    bats_time *next = malloc((n + 1) * sizeof *next);
    bool ok = first != NULL && next != NULL;
    for (size_t i = 0; ok && i < n; i++)
        next[i] = h->end;
    for (size_t i = h->n_spans; ok && i-- > 0;) {
        struct bats_history_span *s = &h->spans[i];
        bats_time *begins = &next[first[s->machine] + s->slot];
        bats_time late = s->end - *begins;
        late = late < 0 ? 0 : late < s->begin ? late : s->begin;
        s->begin -= late;
        s->end -= late;
        *begins = s->begin;
    }
    free(first);
    free(next);
    return ok;
}

/* ---- all ---- */

static const struct {
    const char *sql;
    bats_part_row *take;
} steps[] = {
    {"SELECT (SELECT sum(length) FROM axis), window_us, CASE WHEN"
     " json_valid(options) THEN json_extract(options, '$.engine.billing.model')"
     " END, EXISTS (SELECT 1 FROM parameter), coalesce((SELECT time_us + begin"
     "  FROM happened JOIN axis USING (session) WHERE what = 'sampled'"
     "  ORDER BY seq DESC LIMIT 1), -1) FROM session ORDER BY id DESC LIMIT 1",
     take_session},
    {"SELECT m.name, c.name, m.slots, c.charge, t.place FROM machine m"
     " JOIN cluster c ON c.session = m.session AND c.id = m.cluster"
     " JOIN seat t ON t.session = m.session AND t.machine = m.id"
     " ORDER BY m.session, m.id",
     take_machine},
    {"SELECT CAST(max(e.ended_us - coalesce(e.wall_us, 0) * scale, 0)"
     "  AS INTEGER) + begin, e.ended_us + begin,"
     " coalesce(e.given_us, e.ended_us) + begin, t.place, e.slot, task.number,"
     " e.attempt, e.wall_us, e.max_rss_kib, e.exit_status, e.signal, e.outcome"
     " FROM execution e JOIN axis USING (session) JOIN seat t"
     "  ON t.session = e.session AND t.machine = e.machine"
     "  JOIN task ON task.id = e.task WHERE outcome NOT NULL ORDER BY e.seq",
     take_span},
    {"SELECT time_us + begin, t.place, amount FROM charge c"
     " JOIN axis USING (session) LEFT JOIN seat t ON t.session = c.session"
     "  AND t.machine = c.machine WHERE account = 0 ORDER BY seq",
     take_charge},
    {"SELECT time_us + begin, reason || coalesce(' (' || cause || ')', ''),"
     " coalesce((SELECT group_concat(c.name ||"
     " ' ' || j.value, ', ') FROM json_each(d.machines) j JOIN cluster c"
     " ON c.session = d.session AND c.id = j.key WHERE j.value > 0),"
     " 'no machines'), coalesce(tasks_open, tasks_left), windows,"
     " budget_left, feasible, coalesce(end_us + begin, 0), cost FROM (SELECT *,"
     "  lead(replaces) OVER (PARTITION BY session ORDER BY seq) AS is_gone"
     "  FROM decision) d JOIN axis USING (session)"
     " WHERE is_gone IS NOT 1 ORDER BY seq",
     take_decision},
    {"SELECT t.place, l.begun_us + begin, coalesce(l.ended_us, length) + begin"
     " FROM lease l JOIN axis USING (session) JOIN seat t"
     "  ON t.session = l.session AND t.machine = l.machine"
     " WHERE l.begun_us NOT NULL ORDER BY l.id",
     take_lease},
};

static int read_all(struct bats_view *view, void *context,
                    struct bats_error *err)
{
    struct reader r = {.h = context};

    bats_run_history_release(r.h); /* of an earlier try */
    int rc = bats_db_run(&view->db, prepare_sql, err);
    for (size_t i = 0; rc == 0 && i < sizeof steps / sizeof *steps; i++)
        rc = bats_part_each(view, steps[i].sql, steps[i].take, &r, err);
    if (rc == 0)
        rc = place_spans(r.h) ? add_holds(&r, err) : bats_no_memory(err);
    free(r.paid);
    return rc;
}

int bats_run_history_read(struct bats_view *view,
                          struct bats_run_history *history,
                          struct bats_error *err)
{
    *history = (struct bats_run_history){0};
    int rc = bats_part_take(view, read_all, history, err);

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
    free(h->lost);
    free(h->charges);
    free(h->holds);
    free(h->decisions);
    *h = (struct bats_run_history){0};
}
