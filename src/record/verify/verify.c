#include "record/verify/verify.h"

#include <stdlib.h>

#include "record/read/part.h"
#include "util/asset.h"

BATS_ASSET(checks_sql, "record/verify/verify.sql");

int bats_record_verify(struct bats_view *view, struct bats_verified *v,
                       struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_verified, member)
    static const struct bats_db_column columns[] = {
        C(sessions), C(tasks), C(executions), C(charges), {0}};
#undef C
    *v = (struct bats_verified){0};
    int rc = bats_part_get(view,
                           "SELECT (SELECT count(*) FROM session),"
                           " (SELECT count(*) FROM task_now),"
                           " (SELECT count(*) FROM execution),"
                           " (SELECT count(*) FROM charge)",
                           columns, v, err, NULL, 0);
    return rc < 0 ? rc
                  : bats_part_list(view, checks_sql.begin, bats_db_text,
                                   sizeof *v->differences, &v->differences,
                                   &v->n, &v->texts, err, NULL, 0);
}

void bats_verified_release(struct bats_verified *v)
{
    bats_texts_release(&v->texts);
    free(v->differences);
    *v = (struct bats_verified){0};
}
