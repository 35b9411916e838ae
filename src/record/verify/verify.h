/*
 * verify: checks a record for consistency.
 *
 * Layer: record. Used by the verb record and by tests. The rows of events
 * (execution, charge, lease, stake) are summed up and compared with the
 * recorded sums and states (now, cluster_now, task_now, account), and SQLite
 * checks the file. This detects rows changed, removed or added by hand.
 */
#ifndef BATS_RECORD_VERIFY_H
#define BATS_RECORD_VERIFY_H

#include "record/read/view.h"
#include "sql/texts.h"

struct bats_verified {
    int64_t sessions, tasks, executions, charges; /* examined */
    const char **differences; /* n sentences, at most 10 of a kind */
    size_t n;
    struct bats_texts texts; /* of the differences */
};

/* Release *verified in any case. BATS_EINPUT if the record cannot be read. */
int bats_record_verify(struct bats_view *view, struct bats_verified *verified,
                       struct bats_error *err);
void bats_verified_release(struct bats_verified *verified);

#endif
