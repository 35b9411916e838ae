#include "record/owed.h"

#include "bats/billing.h"
#include "util/asset.h"

BATS_ASSET(owed_sql, "record/owed.sql");

int bats_owed_find(struct bats_db *db, bats_time now, struct bats_owed *owed,
                   struct bats_error *err)
{
    struct found {
        struct bats_owed owed;
        bats_money charged;
        struct bats_billing billing;
    } f = {.owed.lease = 0};
#define C(member) BATS_COLUMN(struct found, member)
    static const struct bats_db_column columns[] = {
        C(owed.session),   C(owed.last),     C(owed.machines),
        C(owed.lease),     C(charged),       C(billing.rate),
        C(billing.before), C(billing.least), {0}};
#undef C
    int rc = bats_db_get(db, owed_sql.begin, columns, &f, err, NULL, 0);
    __int128 own =
        (__int128)bats_billing_held(&f.billing, now < 0 ? f.owed.last : now) +
        f.billing.before - f.charged;
    *owed = f.owed;
    if (f.owed.lease > 0 && own > 0 && own < BATS_UNLIMITED)
        owed->own = (bats_money)own;
    return rc;
}
