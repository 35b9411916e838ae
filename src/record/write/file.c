/* file: the file of a record, and its name. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/state.h"

static int move(const char *from, const char *to, const char *suffix,
                struct bats_error *err)
{
    char old[4096], new[4096];
    snprintf(old, sizeof old, "%s%s", from, suffix);
    snprintf(new, sizeof new, "%s%s", to, suffix);
    if (rename(old, new) == 0 || (errno == ENOENT && suffix[0] != '\0'))
        return 0;
    return bats_error_set(err, BATS_ESYS, "%s: %s", old, strerror(errno));
}

/* Finds "path.1", or the next free number. */
static int find_free(const char *path, char *name, size_t size,
                     struct bats_error *err)
{
    name[0] = '\0';
    for (int i = 1; name[0] == '\0' || access(name, F_OK) == 0; i++)
        if (snprintf(name, size, "%s.%d", path, i) >= (int)size)
            return bats_error_set(err, BATS_EINPUT, "%s: the name is too long",
                                  path);
    return 0;
}

int bats_record_set_aside(const char *path, char *moved, size_t size,
                          struct bats_error *err)
{
    struct stat st;
    moved[0] = '\0';
    if (stat(path, &st) != 0)
        return 0;
    if (!S_ISREG(st.st_mode))
        return bats_refuse(err, "%s is not a run record of bats-mpi", path);
    if (bats_record_is_live(path))
        return bats_error_set(err, BATS_EINPUT, "%s is in use by another run",
                              path);
    int rc = find_free(path, moved, size, err);
    if (rc == 0)
        rc = move(path, moved, "", err);
    if (rc == 0)
        rc = move(path, moved, "-wal", err);
    if (rc == 0)
        rc = move(path, moved, "-journal", err);
    return rc;
}

bool bats_record_is_live(const char *path)
{
    /* SQLite locks these bytes, whatever the size of the file. */
    struct flock lock = {
        .l_type = F_WRLCK,
        .l_whence = SEEK_SET,
        .l_start = 0x40000000,
        .l_len = 512,
    };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_live =
        fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    return is_live;
}

/* ---- while it is open ---- */

void bats_record_measure(struct bats_record *r)
{
    struct stat st;
    if (r->fd < 0 || fstat(r->fd, &st) != 0)
        return;
    r->is_cut |= st.st_size < r->size;
    if (st.st_size > r->size)
        r->size = st.st_size;
}

/* Writes the whole record, as this process knows it, to the new file `to`. */
static int write_again(struct bats_record *r, const char *to,
                       struct bats_error *err)
{
    char *sql = sqlite3_mprintf("VACUUM INTO %Q", to);
    int rc = sql == NULL ? bats_no_memory(err) : bats_db_run(&r->db, sql, err);
    sqlite3_free(sql);
    return rc;
}

bool bats_record_is_named(const struct bats_record *r, bool *is_there)
{
    struct stat there, ours;
    *is_there = stat(r->path, &there) == 0;
    if (r->fd < 0 || fstat(r->fd, &ours) != 0)
        return true;
    return *is_there && there.st_ino == ours.st_ino &&
           there.st_dev == ours.st_dev;
}

int bats_record_keep(struct bats_record *r, bool *is_elsewhere,
                     struct bats_error *err)
{
    char to[4096];
    bool is_there;
    *is_elsewhere = false;
    bats_record_measure(r);
    if (r->is_cut)
        return bats_error_set(err, BATS_ESYS,
                              "%s was truncated while the run wrote "
                              "it; 'bats-mpi record recover' saves what is "
                              "readable",
                              r->path);
    if (bats_record_is_named(r, &is_there))
        return 0;
    *is_elsewhere = true;
    snprintf(to, sizeof to, "%s", r->path);
    int rc = is_there ? find_free(r->path, to, sizeof to, err) : 0;
    if (rc == 0)
        rc = write_again(r, to, err);
    if (rc < 0 || !is_there)
        return rc;
    return bats_error_set(err, BATS_ESYS,
                          "%s was replaced while the run wrote "
                          "it: the record of this run is %s",
                          r->path, to);
}
