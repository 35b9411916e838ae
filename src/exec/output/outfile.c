#include "exec/output/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define LINE 200 /* longer than any line of the index */

struct bats_outfile {
    int out;
    int index;
    int64_t at;    /* size of the .out file */
    int64_t begin; /* offset in it of the current attempt's begin */
    uint32_t task;
    uint32_t attempt;
    char prefix[]; /* prefix of the names, for messages */
};

/* Creates missing parents, too. Modifies `path` temporarily. */
bool bats_outfile_make_directory(char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    char *slash = strrchr(path, '/');
    if (errno != ENOENT || slash == NULL || slash == path)
        return false;
    *slash = '\0';
    bool made = bats_outfile_make_directory(path);
    *slash = '/';
    return made && (mkdir(path, 0777) == 0 || errno == EEXIST);
}

static int make_parent(const char *path, struct bats_error *err)
{
    char dir[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path)
        return 0;
    if ((size_t)snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path) <
            sizeof dir &&
        bats_outfile_make_directory(dir))
        return 0;
    return bats_error_set(err, BATS_ESYS,
                          "%.300s: cannot create this directory for the "
                          "output of tasks: %s",
                          dir, strerror(errno));
}

/* Writes everything, despite signals and short writes. */
static bool write_all(int fd, struct iovec *part, int n)
{
    while (n > 0) {
        ssize_t done = writev(fd, part, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        for (; n > 0 && (size_t)done >= part->iov_len; part++, n--)
            done -= (ssize_t)part->iov_len;
        if (n > 0) {
            part->iov_base = (char *)part->iov_base + done;
            part->iov_len -= (size_t)done;
        }
    }
    return true;
}

static int open_new(const char *prefix, const char *suffix, int *fd,
                    struct bats_error *err)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s%s", prefix, suffix);
    errno = ENAMETOOLONG;
    *fd = n < (int)sizeof path
              ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC,
                     0666)
              : -1;
    return *fd >= 0 ? 0
                    : bats_error_set(err, BATS_ESYS,
                                     "%.300s%s: cannot create this file for "
                                     "the output of tasks: %s",
                                     prefix, suffix, strerror(errno));
}

static int cannot_write(const struct bats_outfile *file, const char *suffix,
                        struct bats_error *err)
{
    return bats_error_set(err, BATS_ESYS,
                          "%.300s%s: cannot write the output of task "
                          "%" PRIu64 ": %s",
                          file->prefix, suffix, (uint64_t)file->task + 1,
                          strerror(errno));
}

int bats_outfile_create(const char *prefix, struct bats_outfile **file,
                        struct bats_error *err)
{
    struct bats_outfile *f = malloc(sizeof *f + strlen(prefix) + 1);
    struct iovec first = {BATS_OUTFILE_FIRST, sizeof BATS_OUTFILE_FIRST - 1};
    int rc;
    if (!f)
        return bats_no_memory(err);
    *f = (struct bats_outfile){.out = -1, .index = -1};
    strcpy(f->prefix, prefix);
    if ((rc = make_parent(prefix, err)) ||
        (rc = open_new(prefix, ".out", &f->out, err)) ||
        (rc = open_new(prefix, ".index", &f->index, err)))
        goto error;
    if (!write_all(f->index, &first, 1)) {
        rc = bats_error_set(err, BATS_ESYS, "%.300s.index: %s", prefix,
                            strerror(errno));
        goto error;
    }
    *file = f;
    return 0;
error:
    bats_outfile_destroy(f);
    return rc;
}

void bats_outfile_destroy(struct bats_outfile *file)
{
    if (!file)
        return;
    if (file->out >= 0)
        close(file->out);
    if (file->index >= 0)
        close(file->index);
    free(file);
}

void bats_outfile_begin(struct bats_outfile *file, uint32_t task,
                        uint32_t attempt)
{
    file->begin = file->at;
    file->task = task;
    file->attempt = attempt;
}

int bats_outfile_add(struct bats_outfile *file, int stream, const char *bytes,
                     size_t n, struct bats_error *err)
{
    char head[BATS_OUTFILE_HEAD + 16];
    struct iovec parts[2] = {{head, BATS_OUTFILE_HEAD}, {(char *)bytes, n}};
    snprintf(head, sizeof head, BATS_OUTFILE_CHUNK, file->task + 1,
             file->attempt, (unsigned)stream, (unsigned)n);
    if (!write_all(file->out, parts, 2))
        return cannot_write(file, ".out", err);
    file->at += BATS_OUTFILE_HEAD + (int64_t)n;
    return 0;
}

/* Writes the index line of an attempt. */
static int add_line(struct bats_outfile *file, uint32_t task, uint32_t attempt,
                    int stopped, const struct bats_usage *u,
                    struct bats_error *err)
{
    char line[LINE];
    struct iovec part = {line, 0};
    part.iov_len = (size_t)snprintf(
        line, sizeof line,
        "%u %u %d %d %d %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
        task + 1, attempt, stopped, u->exit_status, u->signal, u->begin,
        u->end, u->written[0], u->written[1]);
    if (!write_all(file->index, &part, 1))
        return cannot_write(file, ".index", err);
    return 0;
}

int bats_outfile_end(struct bats_outfile *file, bool stopped,
                     struct bats_usage *usage, struct bats_error *err)
{
    usage->begin = file->begin;
    usage->end = file->at;
    return add_line(file, file->task, file->attempt, stopped, usage, err);
}

int bats_outfile_disown(struct bats_outfile *file, uint32_t task,
                        uint32_t attempt, struct bats_error *err)
{
    return add_line(file, task, attempt, BATS_OUTFILE_DISOWNED,
                    &(struct bats_usage){0}, err);
}
