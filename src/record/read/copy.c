#include "record/read/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/db.h"

#define TRIES 20
#define PAUSE_NS 50000000 /* between two attempts */

/* SQLite's companion files: the log of a record in use, and the rollback
 * journal of one whose writer was killed while closing it. */
static const char *const companions[] = {"-wal", "-journal"};

static char dir[PATH_MAX], file[PATH_MAX + 16]; /* of the copy */
static sigset_t mask;                           /* saved before it */

static int fail(const char *path, struct bats_error *err)
{
    return bats_error_set(err, BATS_ESYS, "%s: %s", path, strerror(errno));
}

void bats_copy_mark(const char *path, struct bats_copy_mark *mark)
{
    char name[PATH_MAX + 16];
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
    /* Opening makes a network file system ask its server. */
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0) {
        mark->size = st.st_size;
        mark->time = st.st_mtim;
    }
    if (fd >= 0)
        close(fd);
}

/* A copy may be made during a checkpoint: see copy.h. */
static void look(const char *path, struct bats_copy_mark *mark)
{
    bats_copy_mark(path, mark);
    if (mark->has_wal) {
        mark->size = 0;
        mark->time = (struct timespec){0};
    }
}

/* With `may_miss`, a missing file is fine. */
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

static int copy_all(const char *path, struct bats_error *err)
{
    char from[PATH_MAX + 16], to[PATH_MAX + 32];
    int rc = copy_file(path, file, false, err);

    for (size_t i = 0; rc == 0 && i < 2; i++) {
        snprintf(from, sizeof from, "%s%s", path, companions[i]);
        snprintf(to, sizeof to, "%s%s", file, companions[i]);
        unlink(to);
        rc = copy_file(from, to, true, err);
    }
    return rc;
}

/* SQLite derives the name of a companion from the file itself, not from a link
 * to it. */
static int copy_soundly(const char *link, struct bats_error *err)
{
    struct bats_copy_mark before, after;
    char path[PATH_MAX];

    if (realpath(link, path) == NULL)
        return fail(link, err);
    for (int i = 0; i < TRIES; i++) {
        struct timespec pause = {.tv_nsec = i > 0 ? PAUSE_NS : 0};
        nanosleep(&pause, NULL);
        look(path, &before);
        int rc = copy_all(path, err);
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

static int make_directory(struct bats_error *err)
{
    const char *tmp = getenv("TMPDIR");

    if (tmp == NULL || tmp[0] == '\0' || strlen(tmp) + 64 > PATH_MAX)
        tmp = "/tmp";
    snprintf(dir, PATH_MAX, "%s/bats-XXXXXX", tmp);
    if (mkdtemp(dir) == NULL)
        return fail(dir, err);
    snprintf(file, sizeof file, "%s/record", dir);
    return 0;
}

/* Signals that would end the process wait: a record may be larger than the rest
 * of /tmp, so copies must not be left behind. */
static void hold_signals(void)
{
    static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE,
                                  SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ};
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(&held, signals[i]);
    sigprocmask(SIG_BLOCK, &held, &mask);
}

int bats_copy_take(const char *path, const char **copy, struct bats_error *err)
{
    int rc = bats_db_look(path, err);

    if (rc < 0)
        return rc;
    if (rc == 0)
        return bats_db_none(path, err);
    hold_signals();
    rc = make_directory(err);
    if (rc == 0)
        rc = copy_soundly(path, err);
    if (rc < 0)
        bats_copy_remove();
    *copy = file;
    return rc;
}

void bats_copy_remove(void)
{
    char name[PATH_MAX + 32];
    unlink(file);
    for (size_t i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s%s", file, companions[i]);
        unlink(name);
    }
    rmdir(dir);
    sigprocmask(SIG_SETMASK, &mask, NULL);
}
