/*
 * killed: charges a killed session what it held.
 *
 * Windows and allocation time are recorded when charged. But machines billed
 * by use or by the second are charged only when their cost is certain; until
 * then money is held, also by workflows. Before its command goes out, each
 * lease records what a kill would charge (if_killed). That amount is charged
 * here, in one transaction. Jobs stay open, with their money held, until the
 * next session that buys jobs takes them over.
 */
#include <stdio.h>

#include "record/state.h"

/* Inserts charges of held leases and stakes, from seq ?1 on, of session ?2 at
 * ?3. */
#define CHARGES                                                               \
    "INSERT INTO charge SELECT ?1 + row_number() OVER (), ?2, ?3, * FROM ("   \
    " SELECT id, machine, 0, if_killed FROM lease"                            \
    "  WHERE session = ?2 AND if_killed > 0"                                  \
    "   AND state NOT IN ('ended', 'killed')"                                 \
    " UNION ALL SELECT l.id, l.machine, s.account, s.held FROM stake s"       \
    "  JOIN lease l ON l.id = s.lease WHERE l.session = ?2 AND s.held > 0)"

/* The other changes; ?4: the last seq; ?5: the sentence. */
static const char *const changes[] = {
    "INSERT INTO happened SELECT ?4 - 1, ?2, ?3, 'killed', NULL, NULL, NULL,"
    " NULL",
    "INSERT INTO happened SELECT ?4, ?2, ?3, 'notice', NULL, NULL, NULL, ?5"
    " WHERE ?5 NOT NULL",
    "UPDATE cluster_now SET held = 0, (windows, charged) ="
    "  (SELECT windows + count(*), charged + coalesce(sum(amount), 0)"
    "   FROM charge c JOIN machine m ON m.session = ?2 AND m.id = c.machine"
    "   WHERE c.account = 0 AND c.seq > ?1 AND c.session = ?2"
    "    AND m.cluster = cluster_now.cluster) WHERE session = ?2",
    "DELETE FROM stake",
    "UPDATE lease SET state = 'killed', held = 0, if_killed = 0, ended_us = ?3"
    " WHERE session = ?2 AND state NOT IN ('ended', 'killed')"
    "  AND kind != 'job'",
    "UPDATE account SET held = CASE id WHEN 0 THEN (SELECT"
    "   coalesce(sum(held), 0) FROM lease WHERE session = ?2) ELSE 0 END,"
    "  charged = charged + (SELECT coalesce(sum(amount), 0) FROM charge"
    "   WHERE account = account.id AND session = ?2 AND seq > ?1)"
    " WHERE session = ?2",
    "DELETE FROM running",
    "UPDATE now SET seq = ?4, running = 0, pending = n0, done = n1,"
    "  failed = n2, skipped = n3 FROM (SELECT"
    "   count(*) FILTER (WHERE state = 0) AS n0,"
    "   count(*) FILTER (WHERE state = 1) AS n1,"
    "   count(*) FILTER (WHERE state = 2) AS n2,"
    "   count(*) FILTER (WHERE state = 3) AS n3"
    "  FROM task_now WHERE NOT removed) WHERE running > 0 OR ?4 > ?1",
    "UPDATE session SET finish = 'killed', last_us = ?3 WHERE id = ?2",
};

/* Runs `sql` with numbers ?1 to ?4 and text ?5, as far as it has them. */
static int run(struct bats_db *db, const char *sql, const int64_t numbers[4],
               const char *text, struct bats_error *err)
{
    return bats_db_each(db, sql, NULL, NULL, err,
                        BATS_VALUES(BATS_I(numbers[0]), BATS_I(numbers[1]),
                                    BATS_I(numbers[2]), BATS_I(numbers[3]),
                                    BATS_T(text)));
}

/* Called within a transaction. */
static int settle(struct bats_record *r, const int64_t numbers[4],
                  struct bats_error *err)
{
    int64_t all[4] = {numbers[0], numbers[1], numbers[2]};
    char sentence[200], amount[BATS_UNITS_TEXT], sum[200];
    int rc = run(&r->db, CHARGES, all, NULL, err);
    int64_t n = rc == 0 ? sqlite3_changes64(r->db.sqlite) : 0;
    snprintf(sum, sizeof sum,
             "SELECT total(amount) FROM charge WHERE account = 0"
             " AND seq > %lld",
             (long long)r->seq);
    if (rc == 0)
        rc = bats_db_integer(&r->db, sum, &r->killed, err);
    snprintf(sentence, sizeof sentence,
             "%s was charged for what was open when the run was killed",
             bats_money_format(amount, r->killed));
    all[3] = r->seq + n + 2;
    for (size_t i = 0; rc == 0 && i < sizeof changes / sizeof *changes; i++)
        rc = run(&r->db, changes[i], all, n > 0 ? sentence : NULL, err);
    if (rc == 0)
        r->seq = all[3];
    return rc;
}

int bats_killed_settle(struct bats_record *r, struct bats_error *err)
{
    int64_t session = 0, now = 0;
    int rc = bats_db_integer(
        &r->db,
        "SELECT id FROM session WHERE id = (SELECT max(id) FROM session)"
        "  AND ended_us IS NULL AND finish IS NULL",
        &session, err);
    if (rc < 0 || session == 0)
        return rc;
    rc = bats_db_integer(&r->db, "SELECT time_us FROM now", &now, err);
    if (rc == 0)
        rc = bats_db_run(&r->db, "BEGIN", err);
    if (rc == 0)
        rc = settle(r, (const int64_t[4]){r->seq, session, now}, err);
    if (rc == 0)
        rc = bats_db_run(&r->db, "COMMIT", err);
    if (rc < 0 && !sqlite3_get_autocommit(r->db.sqlite))
        bats_db_run(&r->db, "ROLLBACK", NULL);
    return rc == 0 ? bats_record_sync(r, err) : rc;
}
