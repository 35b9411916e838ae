/* waiting: the rows that wait for a commit. */
#include <stdlib.h>
#include <string.h>

#include "record/state.h"
#include "util/grow.h"

#define AWAITED_MOST 4096

int bats_rows_add(struct bats_record *r, struct bats_row row, bats_time now,
                  const char *text, struct bats_error *err)
{
    row.now = now;
    row.text = text != NULL ? strdup(text) : NULL;
    if (!bats_grow(&r->rows, &r->rows_capacity, r->n_rows + 1,
                   sizeof *r->rows) ||
        (text != NULL && row.text == NULL)) {
        free(row.text);
        return bats_no_memory(err);
    }
    if (row.seq == 0)
        row.seq = ++r->seq;
    r->rows[r->n_rows++] = row;
    return 0;
}

void bats_rows_drop(struct bats_record *r)
{
    for (size_t i = 0; i < r->n_rows; i++) {
        if (r->rows[i].kind == BATS_ROW_DECISION)
            free(r->rows[i].u.decision);
        if (r->rows[i].kind == BATS_ROW_TASK)
            free(r->rows[i].u.task.given);
        free(r->rows[i].text);
    }
    r->n_rows = 0;
    r->batch++;
    r->is_dirty = false;
}

size_t bats_record_waiting(const struct bats_record *r)
{
    return r->n_rows + r->is_dirty;
}

void bats_record_forget(struct bats_record *r)
{
    bats_rows_drop(r);
}

int bats_rows_await(struct bats_record *r, struct bats_error *err)
{
    struct bats_now *n = &r->now;
    for (size_t i = 0; i < r->n_rows; i++) {
        struct bats_row *row = &r->rows[i];
        if (row->kind != BATS_ROW_END || row->u.run.has_attempt)
            continue;
        if (n->n_awaited == AWAITED_MOST) {
            n->n_awaited /= 2;
            memmove(n->awaited, n->awaited + n->n_awaited,
                    n->n_awaited * sizeof *n->awaited);
        }
        if (!bats_grow(&n->awaited, &n->awaited_room, n->n_awaited + 1,
                       sizeof *n->awaited))
            return bats_no_memory(err);
        n->awaited[n->n_awaited] = *row;
        n->awaited[n->n_awaited++].u.run.is_written = false;
    }
    return 0;
}
