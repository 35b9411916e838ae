#include "record/read/history.h"
#include "bats/lease.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/part.h"
#include "record/write/record.h"

/* The start of each session on the axis, and the machines shared by several
 * sessions: those with the same name and cluster name, with the first one's
 * slots. */
static const char prepare_sql[] =
    "CREATE TEMP TABLE IF NOT EXISTS axis (session INTEGER PRIMARY KEY, begin,"
    "  scale, length);"
    "CREATE TEMP TABLE IF NOT EXISTS seat (session, machine, first, slots,"
    "  place, PRIMARY KEY (session, machine)) WITHOUT ROWID;"
    "DELETE FROM temp.axis; DELETE FROM temp.seat;"
    "INSERT INTO temp.axis SELECT id, sum(length) OVER (ORDER BY id) - length,"
    "  scale, length FROM (SELECT id, iif(time_scale > 0, time_scale, 1) AS"
    "   scale, max(0, coalesce(ended_us, 0), coalesce(last_us,"
    "    (SELECT time_us FROM now), 0)) AS length FROM session);"
    "INSERT OR IGNORE INTO temp.seat SELECT m.session, m.id,"
    "  min(m.session << 32 | m.id) OVER same,"
    "  first_value(iif(slots BETWEEN 1 AND 4294967294, slots, 1))"
    "   OVER (same ORDER BY m.session, m.id), 0"
    "  FROM machine m JOIN cluster c ON c.session = m.session"
    "   AND c.id = m.cluster WINDOW same AS (PARTITION BY c.name, m.name);"
    "UPDATE temp.seat SET place = p.place FROM (SELECT session, machine,"
    "  dense_rank() OVER (ORDER BY first) - 1 AS place FROM temp.seat) p"
    "  WHERE p.session = seat.session AND p.machine = seat.machine;";

/* ---- what is asked ---- */

struct session {
    bats_time end, window, sampled_at;
    char model[32];
    bool is_sweep;
};

struct machine {
    char name[BATS_MACHINE_NAME], cluster[BATS_CLUSTER_NAME];
    bats_money charge;
    uint32_t slots;
};

static const char session_sql[] =
    "SELECT (SELECT sum(length) FROM axis), window_us, CASE WHEN"
    " json_valid(options) THEN json_extract(options, '$.engine.billing.model')"
    " END, EXISTS (SELECT 1 FROM parameter), coalesce((SELECT time_us + begin"
    "  FROM happened JOIN axis USING (session) WHERE what = 'sampled'"
    "  ORDER BY seq DESC LIMIT 1), -1) FROM session ORDER BY id DESC LIMIT 1";

/* With the charge of the last session. */
static const char machines_sql[] =
    "SELECT m.name, c.name, (SELECT charge FROM cluster WHERE name = c.name"
    "  ORDER BY session DESC LIMIT 1), t.slots FROM seat t"
    " JOIN machine m ON m.session = t.session AND m.id = t.machine"
    " JOIN cluster c ON c.session = m.session AND c.id = m.cluster"
    " GROUP BY t.place ORDER BY t.place";

#define SPANS(lost)                                                           \
    "SELECT CAST(max(e.ended_us - coalesce(e.wall_us, 0) * scale, 0)"         \
    "  AS INTEGER) + begin, e.ended_us + begin,"                              \
    " coalesce(e.given_us, e.ended_us) + begin, e.ended_us + begin, t.place," \
    " e.slot, task.number, min(e.max_rss_kib, 4294967295), e.outcome,"        \
    " coalesce(exit_status, 0) != 0 OR coalesce(signal, 0) != 0,"             \
    " exit_status BETWEEN -3 AND -1, signal != 0 FROM execution e"            \
    " JOIN axis USING (session) JOIN seat t ON t.session = e.session"         \
    "  AND t.machine = e.machine JOIN task ON task.id = e.task"               \
    " WHERE outcome " lost " 6 AND e.slot BETWEEN 0 AND t.slots - 1"          \
    " ORDER BY e.seq"
_Static_assert(BATS_RECORD_LOST == 6, "SPANS says so");

static const char charges_sql[] =
    "SELECT time_us + begin, coalesce(t.place, 4294967295), amount"
    " FROM charge c JOIN axis USING (session) LEFT JOIN seat t"
    "  ON t.session = c.session AND t.machine = c.machine"
    " WHERE account = 0 ORDER BY seq";

static const char decisions_sql[] =
    "SELECT time_us + begin, reason || coalesce(' (' || cause || ')', ''),"
    " coalesce((SELECT group_concat(c.name ||"
    " ' ' || j.value, ', ') FROM json_each(d.machines) j JOIN cluster c"
    " ON c.session = d.session AND c.id = j.key WHERE j.value > 0),"
    " 'no machines'), coalesce(tasks_open, tasks_left), windows,"
    " coalesce(budget_left, " BATS_PART_UNLIMITED "), feasible,"
    " coalesce(end_us + begin, 0), cost FROM (SELECT *,"
    "  lead(replaces) OVER (PARTITION BY session ORDER BY seq) AS is_gone"
    "  FROM decision) d JOIN axis USING (session)"
    " WHERE is_gone IS NOT 1 ORDER BY seq";

/* Leases that end with their time. */
static const char leases_sql[] =
    "SELECT l.begun_us + begin, coalesce(l.ended_us, length) + begin,"
    " coalesce(l.ended_us, length) + begin, t.place"
    " FROM lease l JOIN axis USING (session) JOIN seat t"
    "  ON t.session = l.session AND t.machine = l.machine"
    " WHERE l.begun_us < coalesce(l.ended_us, length) ORDER BY l.id";

#define S(member) BATS_COLUMN(struct session, member)
#define M(member) BATS_COLUMN(struct machine, member)
#define X(member) BATS_COLUMN(struct bats_history_span, member)
#define G(member) BATS_COLUMN(struct bats_history_charge, member)
#define D(member) BATS_COLUMN(struct bats_history_decision, member)
#define H(member) BATS_COLUMN(struct bats_history_hold, member)
static const struct bats_db_column
    session_columns[] = {S(end),      S(window),     S(model),
                         S(is_sweep), S(sampled_at), {0}},
    machine_columns[] = {M(name), M(cluster), M(charge), M(slots), {0}},
    span_columns[] = {X(begin),   X(end),    X(given),     X(ended),
                      X(machine), X(slot),   X(task),      X(max_rss_kib),
                      X(outcome), X(failed), X(timed_out), X(was_killed),
                      {0}},
    charge_columns[] = {G(begin), G(machine), G(amount), {0}},
    decision_columns[] = {D(time),     D(reason),
                          D(machines), D(tasks_left),
                          D(windows),  D(budget_left),
                          D(feasible), D(end),
                          D(cost),     {0}},
    hold_columns[] = {H(begin), H(end), H(paid_end), H(machine), {0}};

/* ---- machines and charges ---- */

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

static int read_machines(struct bats_view *v, struct bats_run_history *h,
                         struct bats_error *err)
{
    struct machine *list;
    size_t n;
    int rc = bats_db_list(&v->db, machines_sql, machine_columns, sizeof *list,
                          &list, &n, NULL, err);
    h->machines = calloc(n + 1, sizeof *h->machines);
    if (rc == 0 && h->machines == NULL)
        rc = bats_no_memory(err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        uint32_t cluster = cluster_of(h, list[i].cluster);
        const char *name =
            bats_texts_add(&h->texts, list[i].name, strlen(list[i].name));
        h->charge[cluster] = list[i].charge;
        h->machines[h->n_machines++] =
            (struct bats_history_machine){name, cluster, list[i].slots};
        if (name == NULL)
            rc = bats_no_memory(err);
    }
    free(list);
    return rc;
}

/* A late master charges several windows at once. */
static int place_charges(struct bats_run_history *h, struct bats_error *err)
{
    bats_time *paid = calloc(h->n_machines + 1, sizeof *paid);
    if (paid == NULL)
        return bats_no_memory(err);
    for (size_t i = 0; i < h->n_charges && h->terms.in_windows; i++) {
        struct bats_history_charge *c = &h->charges[i];
        if (c->machine >= h->n_machines)
            continue;
        if (c->begin < paid[c->machine])
            c->begin = paid[c->machine];
        paid[c->machine] = c->begin + h->window;
    }
    free(paid);
    return 0;
}

/* ---- what was held when ---- */

static int by_place(const void *a, const void *b)
{
    const struct bats_history_hold *x = a, *y = b;
    return x->machine != y->machine
               ? (x->machine > y->machine) - (x->machine < y->machine)
               : (x->begin > y->begin) - (x->begin < y->begin);
}

/* For machines billed while a task runs there. */
static void join_holds(struct bats_run_history *h)
{
    size_t kept = 0;

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

static void add_hold(struct bats_run_history *h, uint32_t machine,
                     bats_time begin, bats_time end, bats_time paid_end)
{
    if (machine < h->n_machines && begin < end)
        h->holds[h->n_holds++] =
            (struct bats_history_hold){begin, end, paid_end, machine};
}

/* For records without leases. */
static int make_holds(struct bats_run_history *h, struct bats_error *err)
{
    h->holds = malloc((h->n_charges + h->n_spans + h->n_machines + 1) *
                      sizeof *h->holds);
    if (h->holds == NULL)
        return bats_no_memory(err);
    for (size_t i = 0; h->terms.in_windows && i < h->n_charges; i++) {
        const struct bats_history_charge *c = &h->charges[i];
        bats_time until = c->begin + h->window;
        add_hold(h, c->machine, c->begin, until < h->end ? until : h->end,
                 until);
    }
    for (size_t i = 0; h->terms.idle_is_free && i < h->n_spans; i++)
        add_hold(h, h->spans[i].machine, h->spans[i].begin, h->spans[i].end,
                 h->spans[i].end);
    for (uint32_t i = 0; h->terms.lasts && i < h->n_machines; i++)
        add_hold(h, i, 0, h->end, h->end);
    return 0;
}

/* Results of several short tasks may arrive together: each ended before the
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

static int read_all(struct bats_view *v, void *context, struct bats_error *err)
{
    struct bats_run_history *h = context;
    struct session session = {.sampled_at = -1};

    bats_run_history_release(h); /* from an earlier attempt */
    int rc = bats_db_run(&v->db, prepare_sql, err);
    if (rc == 0)
        rc = bats_db_get(&v->db, session_sql, session_columns, &session, err,
                         NULL, 0);
    h->end = session.end;
    h->window = session.window;
    h->sampled_at = session.sampled_at;
    h->is_sweep = session.is_sweep;
    h->terms = bats_lease_terms(bats_billing_named(session.model));
    if (rc == 0)
        rc = read_machines(v, h, err);
    if (rc == 0)
        rc = bats_db_list(&v->db, SPANS("!="), span_columns, sizeof *h->spans,
                          &h->spans, &h->n_spans, NULL, err);
    if (rc == 0)
        rc = bats_db_list(&v->db, SPANS("="), span_columns, sizeof *h->lost,
                          &h->lost, &h->n_lost, NULL, err);
    if (rc == 0)
        rc = bats_db_list(&v->db, charges_sql, charge_columns,
                          sizeof *h->charges, &h->charges, &h->n_charges, NULL,
                          err);
    if (rc == 0)
        rc = bats_db_list(&v->db, decisions_sql, decision_columns,
                          sizeof *h->decisions, &h->decisions, &h->n_decisions,
                          &h->texts, err);
    if (rc == 0 && h->terms.returns)
        rc = bats_db_list(&v->db, leases_sql, hold_columns, sizeof *h->holds,
                          &h->holds, &h->n_holds, NULL, err);
    if (rc == 0)
        rc = place_charges(h, err);
    if (rc == 0 && !place_spans(h))
        rc = bats_no_memory(err);
    if (rc == 0 && !h->terms.returns)
        rc = make_holds(h, err);
    if (h->n_holds > 0)
        qsort(h->holds, h->n_holds, sizeof *h->holds, by_place);
    if (h->terms.idle_is_free)
        join_holds(h);
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
    bats_texts_release(&h->texts);
    free(h->machines);
    free(h->spans);
    free(h->lost);
    free(h->charges);
    free(h->holds);
    free(h->decisions);
    *h = (struct bats_run_history){0};
}
