/*
 * failing_vfs: the files of SQLite's default VFS, one of whose writes, syncs
 * and truncations fails. What SQLite's own tests do (www.sqlite.org/testing,
 * "I/O error tests").
 */
#ifndef BATS_FAILING_VFS_H
#define BATS_FAILING_VFS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static struct {
    uint64_t n;    /* operations so far that change a file */
    uint64_t fail; /* the number of the one that fails; 0: none */
    bool for_good; /* and all that follow */
    bool is_full;  /* for want of space, else because the device is broken */
    uint64_t failed;
} failing;

/* The tables of methods that the default VFS gives its files, and ours. */
static struct failing_methods {
    sqlite3_io_methods ours; /* comes first: it leads back here */
    const sqlite3_io_methods *real;
} failing_methods[8];

static const sqlite3_io_methods *real_methods(const sqlite3_file *file)
{
    return ((const struct failing_methods *)file->pMethods)->real;
}

static int fails(int broken, int *rc)
{
    failing.n++;
    bool now =
        failing.fail > 0 && (failing.n == failing.fail ||
                             (failing.for_good && failing.n > failing.fail));
    failing.failed += now;
    *rc = failing.is_full ? SQLITE_FULL : broken;
    return now;
}

static int failing_write(sqlite3_file *f, const void *bytes, int n,
                         sqlite3_int64 at)
{
    int rc;
    return fails(SQLITE_IOERR_WRITE, &rc)
               ? rc
               : real_methods(f)->xWrite(f, bytes, n, at);
}

/* There is no power cut here: it need not take its time. */
static int failing_sync(sqlite3_file *f, int flags)
{
    int rc;
    return fails(SQLITE_IOERR_FSYNC, &rc) ? rc : SQLITE_OK;
}

static int failing_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    int rc;
    return fails(SQLITE_IOERR_TRUNCATE, &rc)
               ? rc
               : real_methods(f)->xTruncate(f, size);
}

static sqlite3_vfs *real_vfs;

/* The file is the default VFS's own; only its table of methods is another. */
static int failing_open(sqlite3_vfs *vfs, sqlite3_filename name,
                        sqlite3_file *file, int flags, int *out)
{
    int rc = real_vfs->xOpen(real_vfs, name, file, flags, out);
    struct failing_methods *m = failing_methods;
    if (file->pMethods == NULL)
        return rc;
    while (m->real != NULL && m->real != file->pMethods)
        m++;
    m->real = file->pMethods;
    m->ours = *m->real;
    m->ours.xWrite = failing_write;
    m->ours.xSync = failing_sync;
    m->ours.xTruncate = failing_truncate;
    file->pMethods = &m->ours;
    return rc;
}

/* From now on every file of SQLite in this process is such a one. */
static inline void failing_install(void)
{
    static sqlite3_vfs vfs;
    real_vfs = sqlite3_vfs_find(NULL);
    vfs = *real_vfs;
    vfs.zName = "failing";
    vfs.xOpen = failing_open;
    sqlite3_vfs_register(&vfs, 1);
}

#endif
