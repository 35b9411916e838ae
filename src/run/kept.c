#include "run/kept.h"

#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

int bats_kept_add(struct bats_kept *kept, const struct bats_text *result,
                  struct bats_error *err)
{
    struct bats_text copy = {0};
    bats_text_put(&copy, result->bytes, result->n);
    if (copy.failed || !bats_grow(&kept->results, &kept->room, kept->n + 1,
                                  sizeof *kept->results)) {
        bats_text_release(&copy);
        return bats_no_memory(err);
    }
    kept->results[kept->n++] = copy;
    return 0;
}

void bats_kept_drop(struct bats_kept *kept, size_t n)
{
    n = n < kept->n ? n : kept->n;
    for (size_t i = 0; i < n; i++)
        bats_text_release(&kept->results[i]);
    kept->n -= n;
    if (kept->n > 0)
        memmove(kept->results, kept->results + n,
                kept->n * sizeof *kept->results);
}

void bats_kept_release(struct bats_kept *kept)
{
    bats_kept_drop(kept, SIZE_MAX);
    free(kept->results);
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
static int merge(struct bats_kept *kept, const struct bats_executor *executor,
                 struct bats_error *err)
{
    struct bats_text all = {0};
    for (size_t i = 0; i < kept->n; i++) {
        struct bats_message message;
        struct bats_task_result r;
        bats_proto_open(kept->results[i].bytes, kept->results[i].n, &message,
                        NULL);
        while (bats_proto_next_result(&message, &r))
            if (is_whole(executor, &r))
                bats_proto_result(&all, &r);
    }
    int rc = all.failed ? bats_no_memory(err) : 0;
    bats_kept_drop(kept, SIZE_MAX);
    if (rc == 0 && all.n > 0)
        rc = bats_kept_add(kept, &all, err);
    bats_text_release(&all);
    return rc;
}

int bats_kept_tell(struct bats_kept *kept,
                   const struct bats_executor *executor,
                   struct bats_hello *hello, struct bats_error *err)
{
    int rc = merge(kept, executor, err);
    if (executor != NULL)
        bats_executor_runs(executor, &hello->task, &hello->attempt);
    if (kept->run != NULL)
        hello->kept_run = kept->run;
    if (rc == 0 && kept->n > 0) {
        hello->results = kept->results[0].bytes;
        hello->n_results = kept->results[0].n;
    }
    return rc;
}
