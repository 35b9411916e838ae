#include "record/read/select.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/read/part.h"

struct stretch {
    struct bats_view *v;
    int64_t groups;
    bool is_end; /* the last groups, not the next ones */
    const char *name;
    int64_t *machine, sessions; /* by session: its number there, or -1 */
};

static int hear(void *context, const struct bats_scan_row *row,
                struct bats_error *err)
{
    struct stretch *s = context;
    bool is_attempt = row->kind == BATS_SCAN_ATTEMPT;
    int64_t task = row->number[is_attempt ? BATS_SCAN_A_TASK : BATS_SCAN_TASK];
    int64_t machine =
        row->number[is_attempt ? BATS_SCAN_A_MACHINE : BATS_SCAN_MACHINE];
    if (s->name != NULL &&
        (row->session < 0 || row->session >= s->sessions ||
         machine == BATS_SCAN_NULL || machine != s->machine[row->session]))
        return 0;
    int rc = bats_part_row(s->v, row, err);
    return rc == 0 && task != BATS_SCAN_NULL ? bats_part_task(s->v, task, err)
                                             : rc;
}

/* Finds the machine in each session. */
static int find_machine(struct stretch *w, struct bats_error *err)
{
    struct bats_db *db = &w->v->db;
    sqlite3_stmt *s;
    int rc = bats_db_integer(db, "SELECT max(id) + 1 FROM main.session",
                             &w->sessions, err);
    if (rc == 0 && w->sessions > 0 && w->sessions < INT32_MAX)
        w->machine = malloc((size_t)w->sessions * sizeof *w->machine);
    if (rc == 0 && w->machine == NULL)
        rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
    if (rc == 0)
        rc = bats_db_prepare(
            db, "SELECT session, id FROM main.machine WHERE name = ?", &s,
            err);
    if (rc < 0)
        return rc;
    for (int64_t i = 0; i < w->sessions; i++)
        w->machine[i] = -1;
    sqlite3_bind_text(s, 1, w->name, -1, SQLITE_STATIC);
    while ((rc = bats_db_step(db, s, err)) > 0) {
        int64_t session = sqlite3_column_int64(s, 0);
        if (session >= 0 && session < w->sessions)
            w->machine[session] = sqlite3_column_int64(s, 1);
    }
    sqlite3_finalize(s);
    return rc;
}

/* The groups that were taken before go. Notices name tasks, too. */
static int make_room(struct stretch *s, struct bats_error *err)
{
    char sql[128];
    int rc = bats_db_run(&s->v->db,
                         "DELETE FROM main.event; DELETE FROM main.command;"
                         "DELETE FROM main.attempt; DELETE FROM main.task;"
                         "DELETE FROM main.point; DELETE FROM main.stderr;"
                         "INSERT INTO main.task SELECT * FROM rec.task WHERE"
                         " id IN (SELECT task FROM main.notice);",
                         err);
    snprintf(sql, sizeof sql,
             "SELECT seq FROM rec.history ORDER BY seq DESC LIMIT 1 OFFSET "
             "%" PRId64,
             s->groups);
    return rc == 0 && s->is_end
               ? bats_db_integer(&s->v->db, sql, &s->v->log_from, err)
               : rc;
}

/* A row of a small table between two groups has its turn with the second. */
static int take(struct bats_view *v, void *context, struct bats_error *err)
{
    struct stretch *s = context;
    int64_t last, more;
    int rc = v->is_live && v->has_base ? bats_part_base(v, NULL, err) : 0;
    if (rc == 0)
        rc = make_room(s, err);
    if (rc == 0 && s->name != NULL && s->machine == NULL)
        rc = find_machine(s, err);
    if (rc == 0)
        rc = bats_scan(&v->db, v->log_from, s->is_end ? 0 : s->groups, &last,
                       hear, s, err);
    if (rc == 0)
        rc = bats_db_integer(&v->db, "SELECT max(seq) FROM rec.history", &more,
                             err);
    v->log_is_whole = rc == 0 && last >= more;
    v->log_to = v->log_is_whole ? INT64_MAX : last;
    return rc;
}

static int take_stretch(struct stretch *s, struct bats_error *err)
{
    s->v->has_totals = false;
    int rc = bats_part_take(s->v, take, s, err);
    free(s->machine);
    return rc;
}

int bats_view_take_part(struct bats_view *v, int64_t groups,
                        const char *machine, struct bats_error *err)
{
    struct stretch s = {.v = v, .groups = groups, .name = machine};
    return take_stretch(&s, err);
}

int bats_view_take_end(struct bats_view *v, int64_t groups,
                       const char *machine, struct bats_error *err)
{
    struct stretch s = {
        .v = v, .groups = groups, .is_end = true, .name = machine};
    return take_stretch(&s, err);
}
