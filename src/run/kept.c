#include "run/kept.h"

#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

int bats_shelf_add(struct bats_shelf *shelf, const void *bytes, size_t n,
                   struct bats_error *err)
{
    struct bats_text copy = {0};
    bats_text_put(&copy, bytes, n);
    if (copy.failed || !bats_grow(&shelf->list, &shelf->room, shelf->n + 1,
                                  sizeof *shelf->list)) {
        bats_text_release(&copy);
        return bats_no_memory(err);
    }
    shelf->list[shelf->n++] = copy;
    return 0;
}

void bats_shelf_drop(struct bats_shelf *shelf, size_t n)
{
    n = n < shelf->n ? n : shelf->n;
    for (size_t i = 0; i < n; i++)
        bats_text_release(&shelf->list[i]);
    shelf->n -= n;
    if (shelf->n > 0)
        memmove(shelf->list, shelf->list + n, shelf->n * sizeof *shelf->list);
}

static void release(struct bats_shelf *shelf)
{
    bats_shelf_drop(shelf, SIZE_MAX);
    free(shelf->list);
    *shelf = (struct bats_shelf){0};
}

void bats_kept_release(struct bats_kept *kept)
{
    release(&kept->results);
    release(&kept->later);
    free(kept->run);
    *kept = (struct bats_kept){0};
}

/* False if some lines of the task were sent, or the last master has stopped
 * it. */
static bool is_whole(const struct bats_executor *executor,
                     const struct bats_task_result *r)
{
    if (r->cancelled)
        return false;
    return r->to_come[0] + r->to_come[1] == 0 ||
           (executor != NULL &&
            bats_executor_asks(executor, r->task, r->attempt));
}

/* Merges the results into one message, without those that are not whole. */
static int merge(struct bats_shelf *results,
                 const struct bats_executor *executor, struct bats_error *err)
{
    struct bats_text all = {0};
    for (size_t i = 0; i < results->n; i++) {
        struct bats_message message;
        struct bats_task_result r;
        bats_proto_open(results->list[i].bytes, results->list[i].n, &message,
                        NULL);
        while (bats_proto_next_result(&message, &r))
            if (is_whole(executor, &r))
                bats_proto_result(&all, &r);
    }
    int rc = all.failed ? bats_no_memory(err) : 0;
    bats_shelf_drop(results, SIZE_MAX);
    if (rc == 0 && all.n > 0)
        rc = bats_shelf_add(results, all.bytes, all.n, err);
    bats_text_release(&all);
    return rc;
}

int bats_kept_tell(struct bats_kept *kept,
                   const struct bats_executor *executor,
                   struct bats_hello *hello, struct bats_error *err)
{
    int rc = merge(&kept->results, executor, err);
    if (executor != NULL)
        bats_executor_runs(executor, &hello->task, &hello->attempt);
    if (kept->run != NULL)
        hello->kept_run = kept->run;
    if (rc == 0 && kept->results.n > 0) {
        hello->results = kept->results.list[0].bytes;
        hello->n_results = kept->results.list[0].n;
    }
    return rc;
}
