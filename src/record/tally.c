#include "record/tally.h"

#include <jansson.h>

#include "record/write/pack.h"

static const char table_sql[] =
    "CREATE TABLE IF NOT EXISTS tally ( -- counts, kept with each commit\n"
    "  id INTEGER PRIMARY KEY, -- 1\n"
    "  session INTEGER,\n"
    "  seq INTEGER, -- of the last row counted: if there are later ones, the\n"
    "               -- counts are out of date\n"
    "  time_us INTEGER, -- of the last event or command of the session\n"
    "  pending INTEGER, done INTEGER, failed INTEGER, skipped INTEGER,\n"
    "               -- tasks by their state, or what it was before they ran\n"
    "  running TEXT,    -- how many of these four run: a JSON array\n"
    "  removed INTEGER, -- tasks that are no longer in the bag\n"
    "  preempted INTEGER, -- executions\n"
    "  charged INTEGER, -- millionths\n"
    "  ending INTEGER,  -- 1: told to drain or to stop\n"
    "  choosing INTEGER, -- 1: a schedule is to be chosen first\n"
    "  clusters TEXT)   -- a JSON array of [machines, held, lost, windows,\n"
    "    -- charged, done, failed, wall_us, the same in virtual time]";

int bats_tally_make(struct bats_db *db, struct bats_error *err)
{
    return bats_db_run(db, table_sql, err);
}

/* ---- writing ---- */

#define CLUSTER_NUMBERS 9

#define NUMBER_TEXT 21 /* with its comma */

static char *put_list(char *at, const int64_t *numbers, size_t n)
{
    *at++ = '[';
    for (size_t i = 0; i < n; i++)
        at = bats_pack_number(at, numbers[i]);
    at[-1] = ']'; /* replaces the last comma */
    return at;
}

static size_t put_clusters(char *text, const struct bats_tally *t)
{
    char *at = text;
    *at++ = '[';
    for (size_t i = 0; i < t->n_clusters; i++) {
        const struct bats_tally_cluster *c = &t->clusters[i];
        const int64_t numbers[] = {
            c->machines, c->held,   c->lost,    c->windows,         c->charged,
            c->done,     c->failed, c->wall_us, (int64_t)c->runtime};
        at = put_list(at, numbers, CLUSTER_NUMBERS);
        *at++ = ',';
    }
    at -= t->n_clusters > 0;
    *at++ = ']';
    return (size_t)(at - text);
}

int bats_tally_write(const struct bats_tally *t, struct bats_db *db,
                     sqlite3_stmt **statement, struct bats_error *err)
{
    char running[BATS_TALLY_STATES * NUMBER_TEXT + 2];
    char clusters[BATS_CLUSTERS_MAX * (CLUSTER_NUMBERS * NUMBER_TEXT + 2) + 2];
    int rc = *statement != NULL
                 ? 0
                 : bats_db_prepare(db,
                                   "INSERT OR REPLACE INTO tally VALUES "
                                   "(1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                                   "?, ?)",
                                   statement, err);
    if (rc < 0)
        return rc;
    sqlite3_stmt *s = *statement;
    char *end = put_list(running, t->running, BATS_TALLY_STATES);
    size_t n = put_clusters(clusters, t);
    const int64_t first[] = {t->session, t->seq, t->time};
    const int64_t last[] = {t->removed, t->preempted, t->charged, t->ending,
                            t->choosing};
    int column = 1;
    for (int i = 0; i < 3; i++)
        sqlite3_bind_int64(s, column++, first[i]);
    for (int i = 0; i < BATS_TALLY_STATES; i++)
        sqlite3_bind_int64(s, column++, t->state[i]);
    sqlite3_bind_text(s, column++, running, (int)(end - running),
                      SQLITE_STATIC);
    for (int i = 0; i < 5; i++)
        sqlite3_bind_int64(s, column++, last[i]);
    sqlite3_bind_text(s, column++, clusters, (int)n, SQLITE_STATIC);
    rc = bats_db_step(db, s, err);
    sqlite3_clear_bindings(s);
    return rc;
}

/* ---- reading ---- */

static json_t *list_of(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    return text != NULL ? json_loads(text, 0, NULL) : NULL;
}

static bool take_running(struct bats_tally *t, json_t *list)
{
    bool is_good = json_array_size(list) == BATS_TALLY_STATES;
    for (size_t i = 0; is_good && i < BATS_TALLY_STATES; i++)
        t->running[i] = json_integer_value(json_array_get(list, i));
    json_decref(list);
    return is_good;
}

static bool take_clusters(struct bats_tally *t, json_t *list)
{
    json_t *row;
    size_t i;
    bool is_good = json_array_size(list) <= BATS_CLUSTERS_MAX;
    json_array_foreach(list, i, row)
    {
        struct bats_tally_cluster *c = &t->clusters[i];
        is_good = is_good &&
                  json_unpack(row, "[IIIIIIIIF]", &c->machines, &c->held,
                              &c->lost, &c->windows, &c->charged, &c->done,
                              &c->failed, &c->wall_us, &c->runtime) == 0;
        if (!is_good)
            break;
    }
    t->n_clusters = json_array_size(list);
    is_good = is_good && json_is_array(list);
    json_decref(list);
    return is_good;
}

static bool take_row(struct bats_tally *t, sqlite3_stmt *s)
{
    *t = (struct bats_tally){
        .session = sqlite3_column_int64(s, 0),
        .seq = sqlite3_column_int64(s, 1),
        .time = sqlite3_column_int64(s, 2),
        .removed = sqlite3_column_int64(s, 8),
        .preempted = sqlite3_column_int64(s, 9),
        .charged = sqlite3_column_int64(s, 10),
        .ending = sqlite3_column_int(s, 11) != 0,
        .choosing = sqlite3_column_int(s, 12) != 0,
    };
    for (int i = 0; i < BATS_TALLY_STATES; i++)
        t->state[i] = sqlite3_column_int64(s, 3 + i);
    return take_running(t, list_of(s, 7)) && take_clusters(t, list_of(s, 13));
}

int bats_tally_read(struct bats_tally *t, struct bats_db *db,
                    struct bats_error *err)
{
    sqlite3_stmt *s = NULL;
    int64_t n, last, session;
    int rc = bats_db_integer(db,
                             "SELECT count(*) FROM rec.sqlite_schema WHERE "
                             "type = 'table' AND name = 'tally'",
                             &n, err);
    if (rc < 0 || n == 0)
        return rc;
    rc = bats_db_integer(db, BATS_TALLY_LAST_SEQ("rec."), &last, err);
    if (rc == 0)
        rc = bats_db_integer(db, "SELECT max(id) FROM rec.session", &session,
                             err);
    if (rc == 0)
        rc = bats_db_prepare(
            db,
            "SELECT session, seq, time_us, pending, done, failed, skipped,"
            " running, removed, preempted, charged, ending, choosing, clusters"
            " FROM rec.tally WHERE id = 1",
            &s, err);
    if (rc == 0)
        rc = bats_db_step(db, s, err);
    if (rc > 0)
        rc = take_row(t, s) && t->seq == last && t->session == session;
    sqlite3_finalize(s);
    return rc;
}
