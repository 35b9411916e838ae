#include "record/db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/schema.h"

#define MAGIC "SQLite format 3" /* the first 16 bytes, with the NUL */
#define SMALLEST 512            /* size of the smallest page */

int bats_db_look(const char *path, struct bats_error *err)
{
    char head[sizeof MAGIC];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 || fstat(fd, &st) != 0) {
        int why = errno;
        if (fd >= 0)
            close(fd);
        return bats_error_set(err, BATS_EINPUT, "%s: %s", path, strerror(why));
    }
    ssize_t n = S_ISREG(st.st_mode) ? read(fd, head, sizeof head) : -1;
    close(fd);
    if (n == 0)
        return 0;
    if (n < (ssize_t)sizeof head || memcmp(head, MAGIC, sizeof head) != 0)
        return bats_error_set(err, BATS_EINPUT,
                              "%s is not a run record of bats-mpi", path);
    if (st.st_size < SMALLEST)
        return bats_error_set(err, BATS_EINPUT,
                              "%s is damaged: it is cut off after %lld bytes",
                              path, (long long)st.st_size);
    return 1;
}

int bats_db_none(const char *path, struct bats_error *err)
{
    return bats_error_set(err, BATS_EINPUT, "%s: %s", path,
                          access(path, F_OK) == 0
                              ? "the record is empty: its run never began"
                              : "there is no such record");
}

/* SQLite forgets errno when a COMMIT fails, but its files remember it: ask the
 * log first, then the file itself. */
static int last_errno(struct bats_db *db)
{
    sqlite3_file *file = NULL;
    int why = sqlite3_system_errno(db->sqlite);
    if (why == 0 &&
        sqlite3_file_control(db->sqlite, "main", SQLITE_FCNTL_JOURNAL_POINTER,
                             &file) == SQLITE_OK &&
        file != NULL && file->pMethods != NULL)
        file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &why);
    if (why == 0)
        sqlite3_file_control(db->sqlite, "main", SQLITE_FCNTL_LAST_ERRNO,
                             &why);
    return why;
}

static int fail_system(struct bats_db *db, int rc, struct bats_error *err)
{
    int why = rc == SQLITE_FULL ? ENOSPC : last_errno(db);
    if (why == ENOSPC || why == EDQUOT || why == EFBIG)
        return bats_error_set(err, BATS_ESYS,
                              "%s: disk full: the run record cannot grow (%s)",
                              db->path, strerror(why));
    return bats_error_set(err, BATS_ESYS, "%s: %s (%s)", db->path,
                          sqlite3_errstr(rc),
                          why != 0 ? strerror(why) : "cause unknown");
}

/* SQLite only reports that the file does not exist, even if it may not create
 * it. */
static int why_not_opened(struct bats_db *db)
{
    char dir[4096] = ".";
    int why = sqlite3_system_errno(db->sqlite);
    const char *slash = strrchr(db->path, '/');
    if (slash != NULL)
        snprintf(dir, sizeof dir, "%.*s", (int)(slash - db->path) + 1,
                 db->path);
    return why == ENOENT &&
                   faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) != 0
               ? errno
               : why;
}

int bats_record_fail(struct bats_db *db, int rc, struct bats_error *err)
{
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return bats_error_set(err, BATS_EINPUT, "%s is in use by another run",
                              db->path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return bats_error_set(err, BATS_EINPUT,
                              "%s cannot be written: it or its directory is "
                              "read-only",
                              db->path);
    case SQLITE_CANTOPEN:
        return bats_error_set(err, BATS_EINPUT, "%s cannot be opened: %s",
                              db->path, strerror(why_not_opened(db)));
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_ERROR: /* a table is missing or garbled */
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
        return bats_error_set(err, BATS_EINPUT,
                              "%s is damaged (%s); 'bats-mpi record recover' "
                              "saves what is readable",
                              db->path, sqlite3_errmsg(db->sqlite));
    default: /* SQLITE_FULL, SQLITE_IOERR and unexpected errors */
        return fail_system(db, rc, err);
    }
}

static bool lacks_locks(int rc)
{
    return rc == SQLITE_IOERR_LOCK || rc == SQLITE_IOERR_RDLOCK ||
           rc == SQLITE_IOERR_CHECKRESERVEDLOCK;
}

static int open_with(struct bats_db *db, const char *path, int flags,
                     const char *vfs)
{
    int64_t version;
    bats_db_close(db);
    int rc = sqlite3_open_v2(path, &db->sqlite, flags, vfs);
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_extended_result_codes(db->sqlite, 1);
    /* Before the first access, so that WAL needs no shared memory, which no
     * network file system offers. */
    rc = sqlite3_exec(db->sqlite,
                      "PRAGMA locking_mode = EXCLUSIVE;"
                      /* Anybody may have written the file, but no function
                       * here has side effects. SQLite 3.40 considers the JSON
                       * functions, which the views need, unsafe. */
                      "PRAGMA trusted_schema = ON;"
                      "PRAGMA cell_size_check = ON;",
                      NULL, NULL, NULL);
    if (rc == SQLITE_OK &&
        bats_db_integer(db, "PRAGMA user_version", &version, NULL) < 0)
        rc = sqlite3_extended_errcode(db->sqlite);
    return rc;
}

int bats_db_open(struct bats_db *db, const char *path, const char *name,
                 enum bats_db_mode mode, struct bats_error *err)
{
    /* Only this thread uses it. */
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                (mode == BATS_DB_CREATE ? SQLITE_OPEN_CREATE : 0);
    *db = (struct bats_db){.path = name, .fail = bats_record_fail};
    int rc = open_with(db, path, flags, NULL);
    /* Lustre without -o flock: rely on our own rule that one process
     * writes. */
    if (lacks_locks(rc))
        rc = open_with(db, path, flags, "unix-none");
    if (mode == BATS_DB_DAMAGED && db->sqlite != NULL) {
        /* A file shorter than its header says counts as damaged, unless the
         * schema may be written. */
        sqlite3_exec(db->sqlite, "PRAGMA writable_schema = ON", NULL, NULL,
                     NULL);
        return 0;
    }
    if (rc == SQLITE_OK)
        return 0;
    rc = db->sqlite == NULL ? bats_no_memory(err) : bats_db_fail(db, rc, err);
    return rc;
}

bool bats_db_is_cut_off(struct bats_db *db, const char *schema)
{
    char sql[64];
    char log[4096];
    struct stat st;
    int64_t page;
    const char *file = sqlite3_db_filename(db->sqlite, schema);
    snprintf(log, sizeof log, "%s-wal", file);
    if (stat(log, &st) == 0 && st.st_size > 0)
        return false; /* the log has the torn part */
    snprintf(sql, sizeof sql, "PRAGMA %s.page_size", schema);
    return bats_db_integer(db, sql, &page, NULL) < 0 || page <= 0 ||
           stat(file, &st) != 0 || st.st_size % page != 0;
}

int bats_db_check_version(const struct bats_db *db, int64_t version,
                          struct bats_error *err)
{
    if (version == BATS_SCHEMA_VERSION)
        return 0;
    return bats_error_set(
        err, BATS_EINPUT,
        "%s was written by %s bats-mpi (schema %lld, this "
        "one knows %d)",
        db->path, version > BATS_SCHEMA_VERSION ? "a newer" : "an older",
        (long long)version, BATS_SCHEMA_VERSION);
}

int bats_db_check(struct bats_db *db, const char *schema, bool *is_empty,
                  struct bats_error *err)
{
    char sql[3][80];
    int64_t application, version = 0, n;
    snprintf(sql[0], sizeof *sql, "PRAGMA %s.application_id", schema);
    snprintf(sql[1], sizeof *sql, "PRAGMA %s.user_version", schema);
    snprintf(sql[2], sizeof *sql, "SELECT count(*) FROM %s.sqlite_schema",
             schema);
    int rc = bats_db_integer(db, sql[0], &application, err);
    if (rc == 0)
        rc = bats_db_integer(db, sql[1], &version, err);
    if (rc == 0)
        rc = bats_db_integer(db, sql[2], &n, err);
    if (rc < 0)
        return rc;
    *is_empty = application == 0 && version == 0 && n == 0;
    if (*is_empty)
        return 0;
    if (application != BATS_SCHEMA_APPLICATION)
        return bats_error_set(err, BATS_EINPUT,
                              "%s is not a run record of bats-mpi", db->path);
    rc = bats_db_check_version(db, version, err);
    if (rc < 0)
        return rc;
    if (bats_db_is_cut_off(db, schema))
        return bats_error_set(err, BATS_EINPUT,
                              "%s is damaged: it is cut off; 'bats-mpi record "
                              "recover' saves what is readable",
                              db->path);
    return 0;
}
