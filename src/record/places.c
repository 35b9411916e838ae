#include "record/places.h"

#include <stdlib.h>

#include "bats/cluster.h"

#define MOST (1 << 28) /* machines in all sessions */

static int make(struct bats_places *p, struct bats_db *db,
                struct bats_error *err)
{
    int rc = bats_db_integer(
        db, "SELECT coalesce(max(id) + 1, 0) FROM machine", &p->machines, err);
    if (rc == 0)
        rc =
            bats_db_integer(db, "SELECT coalesce(max(id) + 1, 1) FROM session",
                            &p->sessions, err);
    if (rc < 0)
        return rc;
    if (p->machines < 0 || p->sessions < 1 ||
        p->machines > MOST / p->sessions) {
        *p = (struct bats_places){0};
        return bats_error_set(err, BATS_EINPUT,
                              "%s is damaged: a number is too large",
                              db->path);
    }
    size_t n = (size_t)(p->machines * p->sessions);
    p->at = malloc((n + 1) * sizeof *p->at);
    if (p->at == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++)
        p->at[i].cluster = -1;
    return 0;
}

static void take(struct bats_places *p, sqlite3_stmt *s)
{
    int64_t session = sqlite3_column_int64(s, 0);
    int64_t machine = sqlite3_column_int64(s, 1);
    int64_t cluster = sqlite3_column_int64(s, 2);
    if (session >= 0 && session < p->sessions && machine >= 0 &&
        machine < p->machines && cluster >= 0 && cluster < BATS_CLUSTERS_MAX)
        p->at[session * p->machines + machine] = (struct bats_machine_place){
            (int32_t)cluster, sqlite3_column_double(s, 3)};
}

int bats_places_load(struct bats_places *p, struct bats_db *db,
                     int64_t session, struct bats_error *err)
{
    sqlite3_stmt *s = NULL;
    *p = (struct bats_places){0};
    int rc = make(p, db, err);
    if (rc == 0)
        rc = bats_db_prepare(
            db,
            "SELECT m.session, m.id, n.id, s.time_scale FROM machine m"
            " JOIN session s ON s.id = m.session"
            " JOIN cluster c ON c.session = m.session AND c.id = m.cluster"
            " JOIN cluster n ON n.session = ?1 AND n.name = c.name",
            &s, err);
    if (rc == 0)
        sqlite3_bind_int64(s, 1, session);
    while (rc == 0 && (rc = bats_db_step(db, s, err)) > 0) {
        take(p, s);
        rc = 0;
    }
    sqlite3_finalize(s);
    return rc;
}

void bats_places_release(struct bats_places *p)
{
    free(p->at);
    *p = (struct bats_places){0};
}
