/* view_log: the log of a record in chronological order. */
#include <stdlib.h>

#include "record/read/part.h"
#include "record/write/record.h"
#include "util/asset.h"
#include "util/grow.h"

BATS_ASSET(log_sql, "record/read/log.sql");

struct part {
    const char *machine;
    int64_t task; /* 0: all */
    int64_t last; /* this many rows at the end of the log; 0: all */
    int64_t from; /* rows after this seq were read */
};

struct bats_view_logged {
    int64_t seq;   /* 0: an execution that has not ended */
    int64_t given; /* 0: it is no execution, or began before these rows */
    bats_time given_us;
    bool is_copy;
    struct bats_view_entry entry;
};

struct bats_view_place {
    int64_t seq;
    uint32_t row;
    bool has_begun; /* else it has ended */
};

static int place(struct bats_view *v, int64_t seq, bool has_begun,
                 struct bats_error *err)
{
    if (seq == 0)
        return 0;
    if (!bats_grow(&v->places, &v->places_room, v->n_places + 1,
                   sizeof *v->places))
        return bats_no_memory(err);
    v->places[v->n_places++] =
        (struct bats_view_place){seq, (uint32_t)v->n_log, has_begun};
    return 0;
}

static int take_row(void *context, sqlite3_stmt *statement,
                    struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_logged, member)
    static const struct bats_db_column columns[] = {
        C(seq),           C(given),         C(given_us),   C(is_copy),
        C(entry.session), C(entry.time),    C(entry.what), C(entry.machine),
        C(entry.task),    C(entry.removed), C(entry.text), {0}};
#undef C
    struct bats_view *v = context;
    if (!bats_grow(&v->log, &v->log_room, v->n_log + 1, sizeof *v->log))
        return bats_no_memory(err);
    struct bats_view_logged *row = &v->log[v->n_log];
    int rc = bats_db_fill(statement, columns, row, &v->log_texts, err);
    if (rc == 0)
        rc = place(v, row->given, true, err);
    if (rc == 0)
        rc = place(v, row->seq, false, err);
    v->n_log++;
    return rc;
}

static int by_seq(const void *left, const void *right)
{
    const struct bats_view_place *a = left, *b = right;
    return (a->seq > b->seq) - (a->seq < b->seq);
}

void bats_view_log_release(struct bats_view *v)
{
    free(v->log);
    free(v->places);
    v->log = NULL;
    v->places = NULL;
    v->n_log = v->log_room = v->n_places = v->places_room = 0;
    bats_texts_release(&v->log_texts);
}

static int fill(struct bats_view *v, void *context, struct bats_error *err)
{
    struct part *part = context;
    int64_t end;
    bats_view_log_release(v);
    int rc = bats_db_integer(&v->db, "SELECT seq FROM now", &end, err);
    if (rc < 0)
        return rc;
    part->from = part->last > 0 && part->last < end ? end - part->last : 0;
    return bats_db_each(&v->db, log_sql.begin, take_row, v, err,
                        BATS_VALUES(BATS_T(part->machine), BATS_I(part->task),
                                    BATS_I(part->from)));
}

/* The last entries are read from only as much of the log as necessary. They
 * are sorted here, because SQLite would take longer for that than for all
 * else. */
int bats_view_log(struct bats_view *v, const char *machine, int64_t task,
                  int64_t last, struct bats_error *err)
{
    struct part part = {machine, task, task == 0 ? last : 0, 0};
    int rc = bats_part_take(v, fill, &part, err);
    while (rc == 0 && (int64_t)v->n_places < last && part.from > 0) {
        part.last *= 8;
        rc = bats_part_take(v, fill, &part, err);
    }
    if (rc < 0)
        bats_view_log_release(v);
    if (v->n_places > 0)
        qsort(v->places, v->n_places, sizeof *v->places, by_seq);
    size_t n = part.last > 0 ? (size_t)last : v->n_places;
    v->next_place = v->n_places > n ? v->n_places - n : 0;
    return rc < 0 ? rc : part.from > 0 || v->next_place > 0;
}

bool bats_view_next_entry(struct bats_view *v, struct bats_view_entry *entry)
{
    if (v->next_place == v->n_places)
        return false;
    const struct bats_view_place *at = &v->places[v->next_place++];
    const struct bats_view_logged *row = &v->log[at->row];
    *entry = row->entry;
    if (at->has_begun) {
        entry->time = row->given_us;
        entry->what = row->is_copy ? "copy" : "run";
        entry->text = "";
    }
    return true;
}

/* ---- the last execution of one task ---- */

int bats_view_pause(struct bats_view *v, int64_t task,
                    struct bats_view_pause *pause, struct bats_error *err)
{
    static const struct bats_db_column columns[] = {
        BATS_COLUMN(struct bats_view_pause, yields),
        BATS_COLUMN(struct bats_view_pause, failed),
        BATS_COLUMN(struct bats_view_pause, yielded),
        {0}};
    *pause = (struct bats_view_pause){.failed = -1, .yielded = -1};
    return bats_part_get(
        v,
        "SELECT n.yields, iif(e.outcome = ?1, e.ended_us, -1),"
        " iif(e.outcome = ?2, e.ended_us, -1) FROM execution e"
        " JOIN task_now n ON n.task = e.task WHERE e.task = ?3"
        " AND e.session = (SELECT session FROM now)"
        " ORDER BY e.seq DESC LIMIT 1",
        columns, pause, err,
        BATS_VALUES(BATS_I(BATS_RECORD_RETRIED), BATS_I(BATS_RECORD_YIELDED),
                    BATS_I(task)));
}
