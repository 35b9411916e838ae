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

/* Path of the copy, for the handler of fatal signals; "" if there is none. A
 * record may be larger than the rest of /tmp, so copies must not be left
 * behind. */
static struct {
    char dir[PATH_MAX];
    char file[PATH_MAX + 16];
    char companions[2][PATH_MAX + 16];
} made;

/* Signals that end the process, unless it handles them. */
static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE,
                              SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ};
#define N_SIGNALS (sizeof signals / sizeof *signals)
static struct sigaction dispositions[N_SIGNALS]; /* saved before the copy */

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
    char from[PATH_MAX + 16];
    int rc = copy_file(path, made.file, false, err);
    for (size_t i = 0; rc == 0 && i < 2; i++) {
        snprintf(from, sizeof from, "%s%s", path, companions[i]);
        unlink(made.companions[i]);
        rc = copy_file(from, made.companions[i], true, err);
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

static void remove_files(void)
{
    unlink(made.file);
    for (size_t i = 0; i < 2; i++)
        unlink(made.companions[i]);
    rmdir(made.dir);
}

/* By the time the signal is raised again, it has its default action. */
static void on_signal(int sig)
{
    remove_files();
    raise(sig);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal,
                               .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < N_SIGNALS; i++) {
        sigaction(signals[i], NULL, &dispositions[i]);
        if (dispositions[i].sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
    }
}

static int make_directory(struct bats_error *err)
{
    const char *tmp = getenv("TMPDIR");
    if (tmp == NULL || tmp[0] == '\0' || strlen(tmp) + 64 > PATH_MAX)
        tmp = "/tmp";
    snprintf(made.dir, PATH_MAX, "%s/bats-XXXXXX", tmp);
    if (mkdtemp(made.dir) == NULL)
        return fail(made.dir, err);
    snprintf(made.file, sizeof made.file, "%s/record", made.dir);
    for (size_t i = 0; i < 2; i++)
        snprintf(made.companions[i], sizeof made.companions[i], "%s/record%s",
                 made.dir, companions[i]);
    return 0;
}

int bats_copy_take(const char *path, const char **copy, struct bats_error *err)
{
    int rc = bats_db_look(path, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return bats_db_none(path, err);
    catch_signals();
    rc = make_directory(err);
    if (rc == 0)
        rc = copy_soundly(path, err);
    if (rc < 0)
        bats_copy_remove();
    *copy = made.file;
    return rc;
}

void bats_copy_remove(void)
{
    remove_files();
    memset(&made, 0, sizeof made);
    for (size_t i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &dispositions[i], NULL);
}
