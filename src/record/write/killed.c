/*
 * killed: charges what was open when a run was killed.
 *
 * Where machines are billed by the second or charged for use, what they may
 * cost is held, and charged only when it is certain; and a workflow holds the
 * windows that it has yet to share. A master that is killed cannot charge what
 * it held, and the record does not have it. But the record has all that the
 * engine has heard: it hears that again, and then that it was killed. So it
 * charges all that it held, the most that its machines may have cost until the
 * event that never came. Its answers become the last rows of that session, and
 * are verified as any others.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bats/billing.h"
#include "record/state.h"
#include "record/verify/replay.h"

/* The id of the last session, if it was killed and something may be open; 0: no
 * such session. */
static int find(struct bats_db *db, int64_t *session, struct bats_error *err)
{
    return bats_db_integer(
        db,
        "SELECT id FROM session s WHERE id = (SELECT max(id) FROM session)"
        "  AND ended_us IS NULL AND"
        "  (json_extract(options, '$.engine.billing.model') IN"
        "      ('second', 'use')"
        "    OR json_extract(options, '$.engine.workflows') IS NOT NULL)"
        "  AND NOT EXISTS (SELECT 1 FROM event"
        "    WHERE session = s.id AND type = 'killed')",
        session, err);
}

/* Adds the answer; *sum: of the charges. */
static int add(struct bats_record *r, bats_time now,
               const struct bats_command *c, bats_money *sum,
               struct bats_error *err)
{
    if (c->type != BATS_NOTICE_CHARGE)
        return bats_record_command(r, now, c, err);
    *sum += c->amount;
    return bats_record_charge(r, now, c->machine, c->amount, c->cushion, err);
}

/* Adds what the budgets had left, for the session cannot have gone beyond.
 * Without a budget there is none to keep. */
static int add_budgets(struct bats_record *r, bats_time now, bats_money *sum,
                       struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        &r->db,
        "WITH s AS (SELECT * FROM session WHERE id = ?) "
        "SELECT NULL, budget - (SELECT total(amount) FROM ledger) FROM s"
        "  WHERE json_extract(options, '$.engine.billing.model') IN"
        "    ('second', 'use') "
        "UNION ALL SELECT w.key, json_extract(w.value, '$.budget')"
        "  - json_extract(w.value, '$.charged')"
        "  - (SELECT total(why) FROM command c WHERE c.session = s.id"
        "     AND c.type = 'share' AND c.copy = w.key + 1)"
        "  FROM s, json_each(options, '$.engine.workflows') w",
        &s, err);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(s, 1, r->session);
    while ((rc = bats_db_step(&r->db, s, err)) > 0) {
        bool of_run = sqlite3_column_type(s, 0) == SQLITE_NULL;
        struct bats_command c = {
            .type = of_run ? BATS_NOTICE_CHARGE : BATS_NOTICE_SHARE,
            .machine = BATS_NO_MACHINE,
            .purse = (uint32_t)sqlite3_column_int64(s, 0),
            .amount = sqlite3_column_int64(s, 1)};
        if (c.amount > 0 && (rc = add(r, now, &c, sum, err)) < 0)
            break;
    }
    sqlite3_finalize(s);
    return rc;
}

/* Says so; without charges, only shares were open. */
static int say(struct bats_record *r, bats_time now, bats_money sum,
               bool is_known, struct bats_error *err)
{
    char sentence[200], amount[BATS_UNITS_TEXT];

    snprintf(sentence, sizeof sentence,
             "%s was charged for what was open when the run was killed%s",
             bats_money_format(amount, sum),
             is_known ? ""
                      : ": all that was left, because this version cannot "
                        "tell what was held");
    return bats_record_notice(r, now, UINT32_MAX, UINT32_MAX, sentence, err);
}

int bats_killed_settle(struct bats_record *r, struct bats_error *err)
{
    const struct bats_event killed = {.type = BATS_EVENT_KILLED};
    struct bats_replay_end end;
    bats_money sum = 0;
    int rc = find(&r->db, &r->session, err);

    if (rc < 0 || r->session == 0)
        return rc;
    rc = bats_replay_killed(&r->db, r->session, &end, err);
    bool is_known = rc == 0 && !end.differs;
    if (rc == BATS_EINPUT || end.differs)
        rc = bats_db_integer(&r->db,
                             "SELECT coalesce(max(time_us), 0) FROM event "
                             "WHERE session = (SELECT max(id) FROM session)",
                             &end.now, err);
    if (rc == 0 && (!is_known || end.n > 0))
        rc = bats_record_event(r, end.now, &killed, err);
    for (size_t i = 0; rc == 0 && i < end.n; i++)
        rc = add(r, end.now, &end.commands[i], &sum, err);
    if (rc == 0 && !is_known)
        rc = add_budgets(r, end.now, &sum, err);
    if (rc == 0 && bats_record_waiting(r) > 0)
        rc = say(r, end.now, sum, is_known, err);
    if (rc == 0)
        rc = bats_record_commit(r, err);
    if (rc == 0)
        rc = bats_record_sync(r, err);
    r->killed = sum;
    free(end.commands);
    return rc;
}
