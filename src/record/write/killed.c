/*
 * killed: charges a killed session what it held.
 *
 * Windows are recorded when charged. But machines billed by use or by the
 * second are charged only when their cost is certain; until then money is
 * held, also by workflows. Before its command goes out, each lease records
 * what a kill would charge (if_killed). That amount is charged here, in one
 * transaction, and the time of the run's own job up to the last commit. Jobs
 * stay open, with their money held, until the next session that buys jobs
 * takes them over.
 */
#include <stdio.h>

#include "record/owed.h"
#include "record/state.h"
#include "util/asset.h"

BATS_ASSET(charge_killed_sql, "record/write/charge_killed.sql");
BATS_ASSET(killed_sql, "record/write/killed.sql");

/* Called within a transaction. */
static int settle(struct bats_record *r, const struct bats_owed *owed,
                  struct bats_error *err)
{
    char sentence[200], amount[BATS_UNITS_TEXT];
    struct charged {
        int64_t rows, amount;
    } sum;
    static const struct bats_db_column columns[] = {
        BATS_COLUMN(struct charged, rows),
        BATS_COLUMN(struct charged, amount),
        {0}};
    int rc = bats_db_get(&r->db, charge_killed_sql.begin, columns, &sum, err,
                         BATS_VALUES(BATS_I(r->seq), BATS_I(owed->session),
                                     BATS_I(owed->last), BATS_I(owed->lease),
                                     BATS_I(owed->own)));
    if (rc < 0)
        return rc;
    r->killed = sum.amount;
    snprintf(sentence, sizeof sentence,
             "%s was charged for what was open when the run was killed",
             bats_money_format(amount, r->killed));
    int64_t last = r->seq + sum.rows + 2;
    rc = bats_db_each(&r->db, killed_sql.begin, NULL, NULL, err,
                      BATS_VALUES(BATS_I(r->seq), BATS_I(owed->session),
                                  BATS_I(owed->last), BATS_I(last),
                                  BATS_T(sum.rows > 0 ? sentence : NULL)));
    if (rc == 0)
        r->seq = last;
    return rc;
}

int bats_killed_settle(struct bats_record *r, struct bats_error *err)
{
    struct bats_owed owed;
    int rc = bats_owed_find(&r->db, -1, &owed, err);
    if (rc < 0 || owed.session == 0)
        return rc;
    rc = bats_db_run(&r->db, "BEGIN", err);
    if (rc == 0)
        rc = settle(r, &owed, err);
    if (rc == 0)
        rc = bats_db_run(&r->db, "COMMIT", err);
    if (rc < 0 && !sqlite3_get_autocommit(r->db.sqlite))
        bats_db_run(&r->db, "ROLLBACK", NULL);
    return rc == 0 ? bats_record_sync(r, err) : rc;
}
