/* sums: what a session needs to know of the results of those before it. */
#include <stdlib.h>

#include "record/state.h"
#include "util/grow.h"

static int no_memory(struct bats_error *err)
{
    return bats_error_set(err, BATS_ENOMEM, "out of memory");
}

static int make(struct bats_record *r, struct bats_error *err)
{
    struct bats_past_results *p = &r->results;
    size_t n = 0;
    int rc = bats_db_integer(
        &r->db, "SELECT coalesce(max(session), -1) + 1 FROM machine",
        &p->sessions, err);

    if (rc == 0)
        rc = bats_db_integer(&r->db,
                             "SELECT coalesce(max(id), -1) + 1 FROM machine",
                             &p->machines, err);
    if (rc < 0)
        return rc;
    if (p->sessions < 0 || p->machines < 0 ||
        __builtin_mul_overflow(p->sessions, p->machines, &n))
        return bats_error_set(err, BATS_EINPUT, "%s is damaged: its machines",
                              r->path);
    p->sums = calloc(n + 1, sizeof *p->sums);
    p->state = calloc((size_t)r->n_tasks + 1, 1);
    return p->sums == NULL || p->state == NULL ? no_memory(err) : 0;
}

static void add_result(struct bats_past_results *p,
                       const struct bats_past_task *t)
{
    if (t->result == 0 || t->session < 0 || t->session >= p->sessions ||
        t->machine < 0 || t->machine >= p->machines)
        return;
    struct bats_past_sum *sum =
        &p->sums[t->session * p->machines + t->machine];
    *(t->past.state == BATS_RECORD_FAILED ? &sum->failed : &sum->done) += 1;
    sum->wall_us += t->wall_us;
}

int bats_past_sum_up(struct bats_record *r, struct bats_error *err)
{
    struct bats_past_results *p = &r->results;
    size_t room = 0;
    int rc = make(r, err);

    for (size_t i = 0; rc == 0 && i < r->past.n; i++) {
        add_result(p, &r->past.tasks[i]);
        p->removed += !r->past.tasks[i].is_in_bag;
    }
    for (uint32_t i = 0; rc == 0 && i < r->n_tasks; i++) {
        if (r->named[i].found == 0)
            continue;
        const struct bats_past_task *t = &r->past.tasks[r->named[i].found - 1];
        p->state[i] = t->past.state;
        if (t->past.state != BATS_RECORD_FAILED)
            continue;
        if (!bats_grow(&p->failed, &room, p->n_failed + 1, sizeof *p->failed))
            return no_memory(err);
        p->failed[p->n_failed++] = (struct bats_past_failed){
            i, t->session, t->machine, t->wall_us};
    }
    return rc;
}

void bats_past_results_release(struct bats_past_results *p)
{
    free(p->sums);
    free(p->state);
    free(p->failed);
    *p = (struct bats_past_results){0};
}
