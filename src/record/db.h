/*
 * db: the record as a database: opening it, its version, and what its errors
 * mean. Layer: record, private to it.
 */
#ifndef BATS_RECORD_DB_H
#define BATS_RECORD_DB_H

#include "sql/db.h"

enum bats_db_mode {
    BATS_DB_CREATE, /* read and write, created if missing */
    BATS_DB_WRITE,  /* read and write */
    BATS_DB_DAMAGED /* read and write, tolerating damage */
};

/*
 * Checks the first bytes of the file, without SQLite: 1 if it may be a
 * database, 0 if it is empty or does not exist, BATS_EINPUT if it is something
 * else or cannot be read.
 */
int bats_db_look(const char *path, struct bats_error *err);

/* BATS_EINPUT: says that bats_db_look has found nothing. */
int bats_db_none(const char *path, struct bats_error *err);

/* Opens the file `path` (`name` in messages), exclusively from its first use
 * on. Call bats_db_close after an error, too. */
int bats_db_open(struct bats_db *db, const char *path, const char *name,
                 enum bats_db_mode mode, struct bats_error *err);

/* `fail` of a record. */
int bats_record_fail(struct bats_db *db, int rc, struct bats_error *err);

/* BATS_EINPUT unless the database `schema` (main, or one that is attached) is a
 * record of this version or is empty (*is_empty). */
int bats_db_check(struct bats_db *db, const char *schema, bool *is_empty,
                  struct bats_error *err);

/* BATS_EINPUT: a newer or an older bats-mpi has written the record. */
int bats_db_check_version(const struct bats_db *db, int64_t version,
                          struct bats_error *err);

/* The file ends within a page, which SQLite would read as zeros. */
bool bats_db_is_cut_off(struct bats_db *db, const char *schema);

#endif
