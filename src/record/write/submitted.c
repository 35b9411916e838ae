/* submitted: the tasks of an open bag, for a session that continues it. */
#include "record/state.h"

struct taker {
    bats_record_take *take;
    void *context;
};

static int take(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    const struct taker *to = context;
    const char *command = (const char *)sqlite3_column_text(s, 0);
    return command == NULL
               ? bats_no_memory(err)
               : to->take(to->context, command,
                          (const char *)sqlite3_column_text(s, 1), err);
}

int bats_record_submitted(struct bats_record *r, bats_record_take *taker,
                          void *context, struct bats_error *err)
{
    struct taker to = {taker, context};
    return bats_db_each(&r->db,
                        "SELECT t.command, s.given FROM task_now n"
                        " JOIN task t ON t.id = n.task"
                        " LEFT JOIN submission s ON s.task = t.id"
                        " WHERE NOT n.removed ORDER BY n.number",
                        take, &to, err, NULL, 0);
}
