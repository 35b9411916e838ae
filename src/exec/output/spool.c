#include "exec/output/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/grow.h"

#define PIECE ((size_t)64 * 1024)

static const char *directory(void)
{
    const char *dir = getenv("TMPDIR");
    return dir != NULL && dir[0] != '\0' ? dir : "/tmp";
}

void bats_spool_init(struct bats_spool *spool)
{
    *spool = (struct bats_spool){.fd = -1};
}

void bats_spool_clear(struct bats_spool *spool)
{
    if (spool->fd >= 0)
        close(spool->fd);
    spool->fd = -1;
    spool->n = 0;
    spool->n_file = 0;
}

void bats_spool_release(struct bats_spool *spool)
{
    bats_spool_clear(spool);
    free(spool->bytes);
    free(spool->piece);
    bats_spool_init(spool);
}

/* Opens a file without a name, also on file systems that cannot create one. */
static int open_nameless(void)
{
    char path[4096];
    int fd = open(directory(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return fd;
    if (snprintf(path, sizeof path, "%s/bats-mpi-XXXXXX", directory()) >=
        (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static int fail(const char *what, struct bats_error *err)
{
    return bats_error_set(err, BATS_ESYS,
                          "%.300s: cannot %s the output of a task, which is "
                          "kept here until the task has ended: %s",
                          directory(), what, strerror(errno));
}

static int add_to_file(struct bats_spool *spool, const char *bytes, size_t n,
                       struct bats_error *err)
{
    if (spool->fd < 0 && (spool->fd = open_nameless()) < 0)
        return fail("write", err);
    while (n > 0) {
        ssize_t done = pwrite(spool->fd, bytes, n, spool->n_file);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail("write", err);
        bytes += done;
        n -= (size_t)done;
        spool->n_file += done;
    }
    return 0;
}

int bats_spool_add(struct bats_spool *spool, const char *bytes, size_t n,
                   struct bats_error *err)
{
    size_t here = 0;
    if (spool->bytes == NULL &&
        (spool->bytes = malloc(BATS_SPOOL_MEMORY)) == NULL)
        return bats_no_memory(err);
    if (spool->fd < 0)
        here = n < BATS_SPOOL_MEMORY - spool->n ? n
                                                : BATS_SPOOL_MEMORY - spool->n;
    memcpy(spool->bytes + spool->n, bytes, here);
    spool->n += here;
    return n > here ? add_to_file(spool, bytes + here, n - here, err) : 0;
}

int64_t bats_spool_size(const struct bats_spool *spool)
{
    return (int64_t)spool->n + spool->n_file;
}

bool bats_spool_in_memory(const struct bats_spool *spool)
{
    return spool->n_file == 0;
}

/* Copies `size` bytes from `offset` on; fewer only at the end. */
static ptrdiff_t read_at(const struct bats_spool *spool, int64_t offset,
                         char *to, size_t size, struct bats_error *err)
{
    size_t n = 0;
    if (offset < (int64_t)spool->n) {
        n = spool->n - (size_t)offset;
        n = n < size ? n : size;
        memcpy(to, spool->bytes + offset, n);
    }
    while (n < size) {
        int64_t at = offset + (int64_t)n - (int64_t)spool->n;
        if (at >= spool->n_file)
            break;
        ssize_t got = pread(spool->fd, to + n, size - n, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            errno = EIO; /* the file was truncated by someone else */
        if (got <= 0)
            return fail("read", err);
        n += (size_t)got;
    }
    return (ptrdiff_t)n;
}

ptrdiff_t bats_spool_lines(struct bats_spool *spool, int64_t offset,
                           const char **lines, struct bats_error *err)
{
    for (size_t size = PIECE;; size *= 2) {
        if (!bats_grow(&spool->piece, &spool->room, size, 1))
            return bats_no_memory(err);
        ptrdiff_t n = read_at(spool, offset, spool->piece, size, err);
        *lines = spool->piece;
        if (n < (ptrdiff_t)size)
            return n;
        const char *last = memrchr(spool->piece, '\n', size);
        if (last != NULL)
            return last - spool->piece + 1;
    }
}
