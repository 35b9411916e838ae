/* view_machines: the machines of the last session. */
#include <stdlib.h>

#include "record/read/part.h"

static const char machines_sql[] =
    "WITH s AS (SELECT max(id) AS id FROM session),"
    " paid AS (SELECT machine, count(*) AS n, sum(amount) AS amount,"
    "  max(time_us) AS began FROM charge JOIN s ON session = s.id"
    "  WHERE account = 0 GROUP BY machine),"
    " busy AS (SELECT machine, min(number) AS number FROM running"
    "  JOIN task ON task.id = running.task GROUP BY machine),"
    /* With max(), SQLite takes the other columns from the same row. */
    " said AS (SELECT machine, max(seq), sentence FROM happened JOIN s"
    "  ON session = s.id WHERE what = 'notice' GROUP BY machine),"
    " shunned AS (SELECT machine, max(time_us) AS since FROM happened JOIN s"
    "  ON session = s.id WHERE what = 'quarantine' GROUP BY machine),"
    " idle AS (SELECT machine, sentence, time_us AS since, value FROM happened"
    "  JOIN s ON session = s.id WHERE what = 'idle')"
    "SELECT m.name, m.host, c.name, c.charge, m.slots, CASE m.state"
    "  WHEN 'held' THEN 1 WHEN 'parked' THEN 2 WHEN 'released' THEN 3"
    "  WHEN 'lost' THEN 4 END, m.since_us,"
    " paid.n, coalesce(paid.began, -1), paid.amount,"
    " iif(%Q IS NULL, 0, (SELECT count(*) FROM execution WHERE session = s.id"
    "  AND machine = m.id AND attempt NOT NULL)), busy.number,"
    " iif(m.quarantine, shunned.since, -1), said.sentence,"
    " idle.sentence, idle.since, coalesce(idle.value, -1)"
    " FROM machine m JOIN s ON m.session = s.id"
    " JOIN cluster c ON c.session = s.id AND c.id = m.cluster"
    " LEFT JOIN paid ON paid.machine = m.id"
    " LEFT JOIN busy ON busy.machine = m.id"
    " LEFT JOIN said ON said.machine = m.id"
    " LEFT JOIN shunned ON shunned.machine = m.id"
    " LEFT JOIN idle ON idle.machine = m.id"
    " WHERE m.name = coalesce(%Q, m.name) ORDER BY m.cluster, m.id";
_Static_assert(BATS_VIEW_NEVER == 0 && BATS_VIEW_HELD == 1 &&
                   BATS_VIEW_PARKED == 2 && BATS_VIEW_RELEASED == 3 &&
                   BATS_VIEW_LOST == 4,
               "machines_sql says so");

static int list(struct bats_view *v, void *sql, struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_machine, member)
    static const struct bats_db_column columns[] = {
        C(name),       C(host),       C(cluster), C(charge),       C(slots),
        C(state),      C(since),      C(windows), C(window_began), C(charged),
        C(ended),      C(running),    C(shunned), C(why),          C(idle),
        C(idle_since), C(idle_until), {0}};
#undef C
    bats_view_drop_machines(v);
    return bats_db_list(&v->db, sql, columns, sizeof *v->machines,
                        &v->machines, &v->n_machines, &v->names, err);
}

int bats_view_machines(struct bats_view *v, const char *name,
                       struct bats_error *err)
{
    char *sql = sqlite3_mprintf(machines_sql, name, name);
    int rc =
        sql != NULL ? bats_part_take(v, list, sql, err) : bats_no_memory(err);
    sqlite3_free(sql);
    return rc;
}

int bats_view_next_machine(struct bats_view *v,
                           struct bats_view_machine *machine,
                           struct bats_error *err)
{
    (void)err;
    if (v->next_machine == v->n_machines)
        return 0;
    *machine = v->machines[v->next_machine++];
    return 1;
}

/* ---- what they run ---- */

struct loads {
    struct bats_view_load *list;
    size_t n;
};

static int list_loads(struct bats_view *v, void *context,
                      struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_load, member)
    static const struct bats_db_column columns[] = {
        C(machine), C(name), C(task), {0}};
#undef C
    struct loads *loads = context;
    free(loads->list);
    return bats_db_list(
        &v->db,
        "SELECT m.id, m.name, r.number FROM machine m LEFT JOIN"
        /* With min(), SQLite takes the other columns from the same row. */
        "  (SELECT machine, slot, min(seq), number FROM running"
        "   JOIN task ON task.id = running.task GROUP BY machine, slot) r"
        "  ON r.machine = m.id"
        " WHERE m.session = (SELECT max(id) FROM session)"
        "  AND m.state = 'held' ORDER BY m.id",
        columns, sizeof *loads->list, &loads->list, &loads->n, NULL, err);
}

int bats_view_loads(struct bats_view *v, struct bats_view_load **list,
                    size_t *n, struct bats_error *err)
{
    struct loads loads = {0};
    int rc = bats_part_take(v, list_loads, &loads, err);
    *list = loads.list;
    *n = loads.n;
    return rc;
}

int bats_view_reservation(struct bats_view *v, struct bats_view_reservation *r,
                          struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_reservation, member)
    static const struct bats_db_column columns[] = {
        C(machine), C(task), C(from), {0}};
#undef C
    *r = (struct bats_view_reservation){.task = 0};
    return bats_part_get(
        v,
        "SELECT m.name, t.number, h.value FROM happened h"
        " JOIN machine m ON m.session = h.session AND m.id = h.machine"
        " JOIN task t ON t.id = h.task WHERE h.what = 'reserved'"
        "  AND h.session = (SELECT max(id) FROM session)",
        columns, r, err);
}
