/* view_machines: the machines of the last session. */
#include <string.h>

#include "record/read/part.h"
#include "util/grow.h"

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
    "SELECT m.name, m.host, c.name, c.charge, m.state,"
    " m.since_us, paid.n, coalesce(paid.began, -1), paid.amount,"
    " iif(%Q IS NULL, 0, (SELECT count(*) FROM execution WHERE session = s.id"
    "  AND machine = m.id AND attempt NOT NULL)),"
    " busy.number, said.sentence, iif(m.quarantine, shunned.since, -1), m.slots,"
    " idle.sentence, idle.since, coalesce(idle.value, -1)"
    " FROM machine m JOIN s ON m.session = s.id"
    " JOIN cluster c ON c.session = s.id AND c.id = m.cluster"
    " LEFT JOIN paid ON paid.machine = m.id"
    " LEFT JOIN busy ON busy.machine = m.id"
    " LEFT JOIN said ON said.machine = m.id"
    " LEFT JOIN shunned ON shunned.machine = m.id"
    " LEFT JOIN idle ON idle.machine = m.id"
    " WHERE m.name = coalesce(%Q, m.name) ORDER BY m.cluster, m.id";

static enum bats_view_machine_state state_of(const char *word)
{
    static const char *const words[] = {
        [BATS_VIEW_NEVER] = "waiting", [BATS_VIEW_HELD] = "held",
        [BATS_VIEW_PARKED] = "parked", [BATS_VIEW_RELEASED] = "released",
        [BATS_VIEW_LOST] = "lost",
    };
    size_t i = sizeof words / sizeof *words;
    while (--i > 0 && strcmp(words[i], word) != 0)
        continue;
    return (enum bats_view_machine_state)i;
}

static const char *name_of(struct bats_view *v, sqlite3_stmt *s, int column)
{
    const char *text = bats_view_text(s, column);
    return bats_texts_add(&v->names, text, strlen(text));
}

static int take(void *view, sqlite3_stmt *s, struct bats_error *err)
{
    struct bats_view *v = view;
    if (!bats_grow(&v->machines, &v->machines_capacity, v->n_machines + 1,
                   sizeof *v->machines))
        return bats_no_memory(err);
    struct bats_view_machine *m = &v->machines[v->n_machines++];
    *m = (struct bats_view_machine){
        .name = name_of(v, s, 0),
        .host = name_of(v, s, 1),
        .cluster = name_of(v, s, 2),
        .charge = sqlite3_column_int64(s, 3),
        .state = state_of(bats_view_text(s, 4)),
        .since = sqlite3_column_int64(s, 5),
        .windows = sqlite3_column_int64(s, 6),
        .window_began = sqlite3_column_int64(s, 7),
        .charged = sqlite3_column_int64(s, 8),
        .ended = sqlite3_column_int64(s, 9),
        .running = sqlite3_column_int64(s, 10),
        .why = name_of(v, s, 11),
        .shunned = sqlite3_column_int64(s, 12),
        .slots = sqlite3_column_int64(s, 13),
        .idle = name_of(v, s, 14),
        .idle_since = sqlite3_column_int64(s, 15),
        .idle_until = sqlite3_column_int64(s, 16),
    };
    return m->name != NULL && m->host != NULL && m->cluster != NULL &&
                   m->why != NULL && m->idle != NULL
               ? 0
               : bats_no_memory(err);
}

static int list(struct bats_view *v, void *sql, struct bats_error *err)
{
    bats_view_drop_machines(v);
    return bats_part_each(v, sql, take, v, err);
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
