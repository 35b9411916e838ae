#include "record/read/axis.h"

#include <inttypes.h>
#include <stdlib.h>

#include "record/read/part.h"
#include "record/write/record.h"
#include "util/asset.h"

BATS_ASSET(axis_sql, "record/read/axis.sql");
BATS_ASSET(page_sql, "record/read/page.sql");
BATS_ASSET(pools_sql, "record/read/pools.sql");
BATS_ASSET(pool_sums_sql, "record/read/pool_sums.sql");
BATS_ASSET(spans_sql, "record/read/spans.sql");

/* ---- executions ---- */

static int list_pools(struct bats_view *v, void *context,
                      struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_axis_pools, member)
#define X(member) BATS_COLUMN(struct bats_axis_execution, member)
    static const struct bats_db_column columns[] = {
        C(is_unreliable),  C(is_free),       C(noticed),
        C(jobs),           C(window),        C(currency),
        C(tasks),          C(end),           C(n_machines),
        C(pool[0].slots),  C(pool[1].slots), C(pool[0].charge),
        C(pool[1].charge), C(pool[0].asked), C(pool[1].asked),
        C(pool[0].there),  C(pool[1].there), {0}};
    static const struct bats_db_column execution_columns[] = {
        X(pool), X(sent), X(end), X(first), X(how), X(is_done), {0}};
#undef C
#undef X
    struct bats_axis_pools *p = context;
    free(p->list); /* of an earlier try */
    p->list = NULL;
    int rc = bats_db_run(&v->db, axis_sql.begin, err);
    if (rc == 0)
        rc =
            bats_db_list(&v->db, pools_sql.begin, execution_columns,
                         sizeof *p->list, &p->list, &p->n, NULL, err, NULL, 0);
    return rc < 0 ? rc
                  : bats_db_get(&v->db, pool_sums_sql.begin, columns, p, err,
                                NULL, 0);
}
_Static_assert(BATS_RECORD_RESULT == 0 && BATS_RECORD_PREEMPTED == 1 &&
                   BATS_RECORD_SUPERSEDED == 3 && BATS_RECORD_YIELDED == 4 &&
                   BATS_RECORD_LOST == 6 && BATS_ANSWERED == 0 &&
                   BATS_LOST == 1 && BATS_GIVEN_UP == 2 && BATS_STOPPED == 3,
               "pools.sql says so");

int bats_axis_pools(struct bats_view *view, struct bats_axis_pools *pools,
                    struct bats_error *err)
{
    *pools = (struct bats_axis_pools){0};
    return bats_part_take(view, list_pools, pools, err);
}

/* ---- what a page draws ---- */

struct writing {
    FILE *file; /* in memory, as it may be written several times */
    char *bytes;
    size_t n;
    const char *separator;
    struct bats_lease_terms terms;
    int64_t tick, last; /* microseconds */
};

/* Without '<', no text of a user ends the script that has the JSON. */
static void put_row(struct writing *w, const char *row)
{
    fputs(w->separator, w->file);
    for (; *row != '\0'; row++)
        if (*row == '<')
            fputs("\\u003c", w->file);
        else
            putc(*row, w->file);
    w->separator = ",\n";
}

/* Writes the members that the statements of `sql` yield. */
static int write_members(struct bats_view *v, struct writing *w,
                         const char *sql, struct bats_error *err)
{
    sqlite3_stmt *s = NULL;
    int rc = 0;
    while (rc == 0) {
        rc = sqlite3_prepare_v2(v->db.sqlite, sql, -1, &s, &sql);
        if (rc != SQLITE_OK)
            return bats_db_fail(&v->db, rc, err);
        if (s == NULL)
            break; /* after the last one */
        sqlite3_bind_int(s, 1, w->terms.in_windows);
        sqlite3_bind_int(s, 2, w->terms.returns);
        fprintf(w->file, ",\n\"%s\":[", sqlite3_column_name(s, 0));
        w->separator = "";
        while ((rc = bats_db_step(&v->db, s, err)) > 0)
            put_row(w, bats_view_text(s, 0));
        putc(']', w->file);
        sqlite3_finalize(s);
    }
    return rc;
}

/* Five bits a digit, the low ones first; all but the last are marked. */
static void put(FILE *out, uint64_t value)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (; value >= 32; value >>= 5)
        putc(digits[32 | (value & 31)], out);
    putc(digits[value], out);
}

static uint64_t whole(sqlite3_stmt *row, int column)
{
    int64_t n = sqlite3_column_int64(row, column);
    return n > 0 ? (uint64_t)n : 0;
}

static int take_span(void *context, sqlite3_stmt *row, struct bats_error *err)
{
    struct writing *w = context;
    int64_t end = (int64_t)whole(row, 2) / w->tick, since = end - w->last;
    w->last = end;
    put(w->file, whole(row, 0));
    put(w->file, whole(row, 1));
    put(w->file, (uint64_t)(since < 0 ? -2 * since - 1 : 2 * since));
    put(w->file, whole(row, 3) / (uint64_t)w->tick * 8 + whole(row, 4));
    put(w->file, whole(row, 5));
    put(w->file, whole(row, 6));
    return 0;
}

/* Long runs have longer ticks. */
static int write_spans(struct bats_view *v, struct writing *w,
                       struct bats_error *err)
{
    int rc = bats_db_integer(&v->db,
                             "SELECT max(1, sum(length) / (SELECT CASE WHEN"
                             " count(*) > 20000 THEN 1 << 24 ELSE 1 << 32 END"
                             " FROM execution)) FROM axis",
                             &w->tick, err);
    w->last = 0;
    fprintf(w->file, ",\n\"tick_us\":%" PRId64 ",\n\"spans\":\"", w->tick);
    if (rc == 0)
        rc = bats_db_each(&v->db, spans_sql.begin, take_span, w, err, NULL, 0);
    putc('"', w->file);
    return rc;
}

static void drop(struct writing *w)
{
    if (w->file != NULL)
        fclose(w->file);
    free(w->bytes);
    w->file = NULL;
    w->bytes = NULL;
}

static int write_all(struct bats_view *v, void *context,
                     struct bats_error *err)
{
    struct writing *w = context;
    drop(w); /* of an earlier try */
    w->file = open_memstream(&w->bytes, &w->n);
    if (w->file == NULL)
        return bats_no_memory(err);
    int rc = bats_db_run(&v->db, axis_sql.begin, err);
    if (rc == 0)
        rc = write_members(v, w, page_sql.begin, err);
    if (rc == 0)
        rc = write_spans(v, w, err);
    return rc == 0 && (fflush(w->file) != 0 || ferror(w->file))
               ? bats_no_memory(err)
               : rc;
}

int bats_axis_write(struct bats_view *view, struct bats_lease_terms terms,
                    FILE *out, struct bats_error *err)
{
    struct writing w = {.terms = terms};
    int rc = bats_part_take(view, write_all, &w, err);
    if (rc == 0)
        fwrite(w.bytes, 1, w.n, out);
    drop(&w);
    return rc;
}
