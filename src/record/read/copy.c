#include "record/read/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/db.h"

#define TRIES 20
#define PAUSE_NS 50000000 /* between two of them */

/* SQLite's companions: the log of a live record, the rollback journal of one
 * that was killed when it was about to be closed. */
static const char *const companions[] = {"-wal", "-journal"};

/* What must not change while a copy is made. */
struct mark {
    unsigned char wal[32]; /* the head of the log, or zeros */
    bool has_wal;
    bool has_journal;
    off_t size; /* of the file; both only where there is no log */
    struct timespec time;
};

static int fail(const char *path, struct bats_error *err)
{
    return bats_error_set(err, BATS_ESYS, "%s: %s", path, strerror(errno));
}

static void look(const char *path, struct mark *mark)
{
    char name[BATS_COPY_PATH];
    struct stat st;

    memset(mark, 0, sizeof *mark);
    snprintf(name, sizeof name, "%s-journal", path);
    mark->has_journal = access(name, F_OK) == 0;
    snprintf(name, sizeof name, "%s-wal", path);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        mark->has_wal = read(fd, mark->wal, sizeof mark->wal) > 0;
        close(fd);
    }
    if (!mark->has_wal && stat(path, &st) == 0) {
        mark->size = st.st_size;
        mark->time = st.st_mtim;
    }
}

/* Nothing to copy is fine where `may_miss`. */
static int copy_file(const char *from, const char *to, bool may_miss,
                     struct bats_error *err)
{
    static char buffer[1 << 16];
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out;
    ssize_t n;
    int rc = 0;

    if (in < 0)
        return may_miss && errno == ENOENT ? 0 : fail(from, err);
    out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (out < 0)
        rc = fail(to, err);
    while (rc == 0 && (n = read(in, buffer, sizeof buffer)) != 0) {
        if (n < 0)
            rc = fail(from, err);
        for (ssize_t done = 0, w; rc == 0 && done < n; done += w)
            if ((w = write(out, buffer + done, (size_t)(n - done))) < 0)
                rc = fail(to, err);
    }
    close(in);
    if (out >= 0 && close(out) != 0 && rc == 0)
        rc = fail(to, err);
    return rc;
}

static int copy_all(const char *path, const char *copy, struct bats_error *err)
{
    char from[BATS_COPY_PATH], to[BATS_COPY_PATH];
    int rc = copy_file(path, copy, false, err);

    for (size_t i = 0; rc == 0 && i < 2; i++) {
        snprintf(from, sizeof from, "%s%s", path, companions[i]);
        snprintf(to, sizeof to, "%s%s", copy, companions[i]);
        unlink(to);
        rc = copy_file(from, to, true, err);
    }
    return rc;
}

/* SQLite names a companion after the file itself, not after a link to it. */
static int copy_soundly(const char *link, const char *copy,
                        struct bats_error *err)
{
    struct mark before, after;
    char path[PATH_MAX];

    if (realpath(link, path) == NULL)
        return fail(link, err);
    for (int i = 0; i < TRIES; i++) {
        struct timespec pause = {.tv_nsec = i > 0 ? PAUSE_NS : 0};
        nanosleep(&pause, NULL);
        look(path, &before);
        int rc = copy_all(path, copy, err);
        if (rc < 0)
            return rc;
        look(path, &after);
        if (memcmp(&before, &after, sizeof before) == 0)
            return 0;
    }
    return bats_error_set(err, BATS_ESYS,
                          "%s is being written so fast that it cannot be "
                          "read: try again",
                          link);
}

int bats_copy_take(const char *path, char copy[BATS_COPY_PATH],
                   struct bats_error *err)
{
    const char *tmp = getenv("TMPDIR");
    int rc = bats_db_look(path, err);

    if (rc < 0)
        return rc;
    if (rc == 0)
        return bats_error_set(err, BATS_EINPUT, "%s: %s", path,
                              access(path, F_OK) == 0
                                  ? "the record is empty: its run never began"
                                  : "there is no such record");
    if (tmp == NULL || tmp[0] == '\0' || strlen(tmp) + 64 > BATS_COPY_PATH)
        tmp = "/tmp";
    snprintf(copy, BATS_COPY_PATH, "%s/bats-XXXXXX", tmp);
    if (mkdtemp(copy) == NULL)
        return fail(copy, err);
    strcat(copy, "/record");
    rc = copy_soundly(path, copy, err);
    if (rc < 0)
        bats_copy_remove(copy);
    return rc;
}

void bats_copy_remove(const char *copy)
{
    char name[BATS_COPY_PATH + 16];

    unlink(copy);
    for (size_t i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s%s", copy, companions[i]);
        unlink(name);
    }
    snprintf(name, sizeof name, "%s", copy);
    *strrchr(name, '/') = '\0';
    rmdir(name);
}
