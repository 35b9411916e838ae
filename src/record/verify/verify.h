/*
 * verify: whether a record agrees with itself.
 *
 * Layer: record. Used by the verb record and by tests. The rows that are
 * written as things happen (execution, charge, lease, stake) are summed up and
 * compared with what the record keeps as sums and states (now, cluster_now,
 * task_now, account), and SQLite checks the file. A row that was changed,
 * removed or added by hand shows in one of them.
 */
#ifndef BATS_RECORD_VERIFY_H
#define BATS_RECORD_VERIFY_H

#include "record/read/texts.h"
#include "record/read/view.h"

/* No more differences of one kind are listed. */
#define BATS_VERIFY_MAX 10

struct bats_verified {
    int64_t sessions, tasks, executions, charges; /* looked at */
    const char **differences;                     /* n sentences */
    size_t n;
    struct bats_texts texts; /* of them */
};

/* Release *verified in any case. BATS_EINPUT if the record cannot be read. */
int bats_record_verify(struct bats_view *view, struct bats_verified *verified,
                       struct bats_error *err);
void bats_verified_release(struct bats_verified *verified);

#endif
