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

#define CHUNK "#bats %010u %010u %1u %010u\n"
#define PIECE ((size_t)64 * 1024) /* bytes passed on at once */

struct bats_outfile {
    int out;
    int64_t at;    /* size of the file */
    int64_t begin; /* offset in it of the current attempt's begin */
    uint32_t task;
    uint32_t attempt;
    char path[];
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

int bats_outfile_create(const char *prefix, struct bats_outfile **file,
                        struct bats_error *err)
{
    static const char suffix[] = ".out";
    struct bats_outfile *f =
        malloc(sizeof *f + strlen(prefix) + sizeof suffix);
    int rc;
    if (!f)
        return bats_no_memory(err);
    *f = (struct bats_outfile){.out = -1};
    sprintf(f->path, "%s%s", prefix, suffix);
    rc = make_parent(prefix, err);
    if (rc == 0)
        f->out = open(
            f->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (rc == 0 && f->out < 0)
        rc =
            bats_error_set(err, BATS_ESYS,
                           "%.300s: cannot create this file for the output of "
                           "tasks: %s",
                           f->path, strerror(errno));
    if (rc < 0)
        bats_outfile_destroy(f);
    else
        *file = f;
    return rc;
}

void bats_outfile_destroy(struct bats_outfile *file)
{
    if (!file)
        return;
    if (file->out >= 0)
        close(file->out);
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
    snprintf(head, sizeof head, CHUNK, file->task + 1, file->attempt,
             (unsigned)stream, (unsigned)n);
    if (!write_all(file->out, parts, 2))
        return bats_error_set(
            err, BATS_ESYS,
            "%.300s: cannot write the output of task %" PRIu64 ": %s",
            file->path, (uint64_t)file->task + 1, strerror(errno));
    file->at += BATS_OUTFILE_HEAD + (int64_t)n;
    return 0;
}

void bats_outfile_end(const struct bats_outfile *file,
                      struct bats_usage *usage)
{
    usage->begin = file->begin;
    usage->end = file->at;
}

/* ---- reading ---- */

struct chunk {
    unsigned task;
    unsigned attempt;
    unsigned stream;
    unsigned length;
};

static bool read_head(FILE *in, struct chunk *c)
{
    char head[BATS_OUTFILE_HEAD + 1], again[BATS_OUTFILE_HEAD + 24];
    if (fread(head, 1, BATS_OUTFILE_HEAD, in) != BATS_OUTFILE_HEAD)
        return false;
    head[BATS_OUTFILE_HEAD] = '\0';
    if (sscanf(head, "#bats %u %u %u %u\n", &c->task, &c->attempt, &c->stream,
               &c->length) != 4)
        return false;
    snprintf(again, sizeof again, CHUNK, c->task, c->attempt, c->stream,
             c->length);
    return strcmp(head, again) == 0;
}

/* Passes on `length` bytes. Returns 1 if some are missing. */
static int hand_over(FILE *in, size_t length, bool *stop,
                     bool (*take)(void *context, const char *bytes, size_t n),
                     void *context)
{
    char piece[PIECE];
    while (length > 0 && !*stop) {
        size_t n = fread(piece, 1, length < PIECE ? length : PIECE, in);
        if (n == 0)
            return 1;
        *stop = !take(context, piece, n);
        length -= n;
    }
    return 0;
}

/* Returns 1 if the bytes between begin and end are damaged. */
static int
read_chunks(FILE *in, const struct bats_outfile_place *place, int stream,
            bool (*take)(void *context, const char *bytes, size_t n),
            void *context)
{
    int64_t at = place->begin;
    bool stop = false;
    struct chunk c;
    if (fseeko(in, at, SEEK_SET) != 0)
        return 1;
    for (; at < place->end && !stop; at += BATS_OUTFILE_HEAD + c.length) {
        if (!read_head(in, &c) || c.task != place->task + 1 ||
            c.attempt != place->attempt ||
            c.length > place->end - at - BATS_OUTFILE_HEAD)
            return 1;
        if (c.stream != (unsigned)stream
                ? fseeko(in, c.length, SEEK_CUR) != 0
                : hand_over(in, c.length, &stop, take, context))
            return 1;
    }
    return 0;
}

int bats_outfile_read(const struct bats_outfile_place *place, int stream,
                      bool (*take)(void *context, const char *bytes, size_t n),
                      void *context, struct bats_error *err)
{
    if (place->begin == place->end)
        return 0;
    FILE *in = fopen(place->path, "re");
    if (in == NULL)
        return bats_error_set(err, BATS_ESYS, "%.300s: %s", place->path,
                              strerror(errno));
    int rc = read_chunks(in, place, stream, take, context);
    fclose(in);
    return rc;
}
