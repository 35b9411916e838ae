/* runs: turns executions into rows, from their start on a machine until the
 * details of their end are known. */
#include <stdlib.h>
#include <string.h>

#include "bats/sched.h"
#include "record/state.h"

#define I BATS_I
#define NONE BATS_DB_NULL
#define CANCELLED 6 /* index of that value in a row of `running` */

int bats_runs_begin(struct bats_record *r, bats_time now,
                    const struct bats_command *c, struct bats_error *err)
{
    struct bats_now_run *run =
        bats_now_add(&r->now, c->machine, c->slot, c->task);
    if (run == NULL)
        return bats_no_memory(err);
    run->copy = c->replica;
    run->given = now;
    run->row = r->n_rows;
    run->batch = r->batch;
    run->seq = ++r->seq;
    return bats_rows_put(
        r, BATS_PUT_RUN, NULL, err,
        BATS_VALUES(I(run->seq), I(bats_record_id(r, c->task)), I(c->replica),
                    I(c->machine), I(c->slot), I(now), I(NONE)));
}

int bats_runs_cancel(struct bats_record *r, const struct bats_command *c,
                     struct bats_error *err)
{
    struct bats_now_run *run =
        bats_now_find(&r->now, c->machine, c->slot, c->task);
    if (run == NULL)
        return 0;
    run->cancelled = c->time_out ? 2 : 1;
    if (run->batch != r->batch)
        return bats_rows_put(r, BATS_PUT_CANCEL, NULL, err,
                             BATS_VALUES(I(run->seq), I(run->cancelled)));
    r->rows[run->row].u.put.values[CANCELLED] = I(run->cancelled);
    return 0;
}

static int add_end(struct bats_record *r, struct bats_row_end end,
                   struct bats_error *err)
{
    if (end.seq == 0)
        end.seq = ++r->seq;
    return bats_rows_add(
        r, (struct bats_row){.kind = BATS_ROW_END, .u.end = end}, err);
}

int bats_runs_end(struct bats_record *r, bats_time now, uint32_t machine,
                  uint32_t slot, uint32_t task, bats_time runtime,
                  bool is_lost, struct bats_error *err)
{
    struct bats_now_run run;
    if (!bats_now_take(&r->now, machine, slot, task, &run))
        return 0;
    bool is_written = run.batch != r->batch;
    if (!is_written)
        r->rows[run.row].kind = BATS_ROW_NOTHING;
    int rc = add_end(r,
                     (struct bats_row_end){.task = run.task,
                                           .copy = run.copy,
                                           .machine = machine,
                                           .slot = slot,
                                           .run = run.seq,
                                           .given = run.given,
                                           .ended = now,
                                           .runtime = runtime,
                                           .cancelled = run.cancelled,
                                           .is_written = is_written,
                                           .has_lost = is_lost},
                     err);
    return rc < 0 ? rc : 1;
}

int bats_runs_end_all(struct bats_record *r, bats_time now, uint32_t machine,
                      bool is_lost, struct bats_error *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc >= 0 && i < r->now.machines[machine].n_slots; i++)
        do
            rc = bats_runs_end(r, now, machine, i, BATS_NO_TASK, -1, is_lost,
                               err);
        while (rc > 0);
    return rc;
}

int bats_runs_end_session(struct bats_record *r, bats_time now,
                          struct bats_error *err)
{
    int rc = 0;
    r->now.time = now;
    r->is_dirty = true;
    for (uint32_t m = 0; rc >= 0 && m < r->now.n_machines; m++)
        rc = bats_runs_end_all(r, now, m, false, err);
    return rc;
}

static bool is_awaited(const struct bats_row_end *x, uint32_t task,
                       uint32_t machine)
{
    return !x->has_attempt && x->task == task && x->machine == machine;
}

/* The row for this attempt's execution: a pending one, or a new one that
 * replaces any row in the file. */
static struct bats_row *row_of(struct bats_record *r, bats_time now,
                               const struct bats_record_attempt *a,
                               struct bats_error *err)
{
    struct bats_now *n = &r->now;
    for (size_t i = r->n_rows; i-- > 0;)
        if (r->rows[i].kind == BATS_ROW_END &&
            is_awaited(&r->rows[i].u.end, a->task, a->machine))
            return &r->rows[i];
    struct bats_row_end end = {
        .task = a->task, .machine = a->machine, .ended = now, .runtime = -1};
    size_t at = n->n_awaited;
    while (at > 0 && !is_awaited(&n->awaited[at - 1], a->task, a->machine))
        at--;
    if (at > 0) {
        end = n->awaited[at - 1];
        n->awaited[at - 1] = n->awaited[--n->n_awaited];
    }
    return add_end(r, end, err) == 0 ? &r->rows[r->n_rows - 1] : NULL;
}

int bats_record_attempt(struct bats_record *r, bats_time now,
                        const struct bats_record_attempt *attempt,
                        struct bats_error *err)
{
    const char *host = attempt->host;
    if (host != NULL && attempt->machine < r->now.n_machines &&
        r->now.machines[attempt->machine].host != NULL &&
        strcmp(r->now.machines[attempt->machine].host, host) == 0)
        host = NULL;
    char *text = host != NULL ? strdup(host) : NULL;
    struct bats_row *row = row_of(r, now, attempt, err);
    if (row == NULL || (host != NULL && text == NULL)) {
        free(text);
        return bats_no_memory(err);
    }
    row->text = text;
    row->u.end.has_attempt = true;
    row->u.end.attempt = *attempt;
    return bats_now_attempt(r, attempt, err);
}
