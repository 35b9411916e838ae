#include "exec/output/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bats/units.h"

#define FIRST_SIZE ((size_t)64 * 1024) /* capacity of a pipe */
#define KEPT BATS_COMPLAINT_BYTES
#define SPARE ((size_t)128) /* for a newline and the mark */

/* ---- the last bytes ---- */

void bats_last_add(struct bats_last *last, const char *bytes, size_t n)
{
    if (n > KEPT) {
        bytes += n - KEPT;
        n = KEPT;
    }
    if (last->n + n > sizeof last->bytes) {
        memmove(last->bytes, last->bytes + last->n - KEPT, KEPT);
        last->n = KEPT;
    }
    memcpy(last->bytes + last->n, bytes, n);
    last->n += n;
}

void bats_last_read(struct bats_last *last, int fd)
{
    struct stat st;

    last->n = 0;
    if (fstat(fd, &st) != 0)
        return;
    off_t begin = st.st_size > KEPT ? st.st_size - KEPT : 0;
    ssize_t n = pread(fd, last->bytes, KEPT, begin);
    last->n = n > 0 ? (size_t)n : 0;
}

const char *bats_last_bytes(const struct bats_last *last, size_t *n)
{
    *n = last->n < KEPT ? last->n : KEPT;
    return last->bytes + last->n - *n;
}

/* ---- the pipe ---- */

bool bats_stream_init(struct bats_stream *stream)
{
    *stream = (struct bats_stream){.in = -1, .out = -1};
    stream->bytes = malloc(FIRST_SIZE + SPARE);
    stream->capacity = FIRST_SIZE - 1;
    return stream->bytes != NULL;
}

bool bats_stream_open(struct bats_stream *stream, int64_t limit)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    /* Only the read end is non-blocking: tasks expect blocking writes. */
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) {
        close(ends[0]);
        close(ends[1]);
        return false;
    }
    stream->in = ends[0];
    stream->out = ends[1];
    stream->n = 0;
    stream->limit = limit;
    stream->total = 0;
    stream->last = '\n';
    stream->cut = stream->blocked = false;
    return true;
}

void bats_stream_close(struct bats_stream *stream)
{
    if (stream->in >= 0) {
        close(stream->in);
        close(stream->out);
    }
    stream->in = stream->out = -1;
}

void bats_stream_release(struct bats_stream *stream)
{
    bats_stream_close(stream);
    free(stream->bytes);
    stream->bytes = NULL;
}

static bool grow(struct bats_stream *stream)
{
    size_t size = 2 * (stream->capacity + 1);
    char *bytes;

    if (size > BATS_STREAM_LINE ||
        !(bytes = realloc(stream->bytes, size + SPARE)))
        return false;
    stream->bytes = bytes;
    stream->capacity = size - 1;
    return true;
}

/* The part of the buffer that may be passed on: up to the last newline. */
static size_t whole_lines(struct bats_stream *stream)
{
    const char *last = memrchr(stream->bytes, '\n', stream->n);

    if (last)
        return (size_t)(last - stream->bytes) + 1;
    if (stream->n < stream->capacity || grow(stream))
        return 0;
    stream->bytes[stream->n++] = '\n'; /* the line is cut here */
    return stream->n;
}

static void deliver(struct bats_stream *stream)
{
    size_t n = stream->to.raw ? stream->n : whole_lines(stream);

    if (n == 0)
        return;
    stream->blocked = !stream->to.take(stream->to.context, stream->to.task,
                                       stream->to.stream, stream->bytes, n);
    if (!stream->blocked) {
        stream->n -= n;
        memmove(stream->bytes, stream->bytes + n, stream->n);
    }
}

void bats_stream_retry(struct bats_stream *stream)
{
    if (stream->blocked)
        deliver(stream);
}

/* `got` new bytes are in the buffer: keeps those within the limit. */
static void keep(struct bats_stream *stream, size_t got)
{
    int64_t left = stream->limit - stream->total;
    char size[BATS_UNITS_TEXT];

    stream->total += (int64_t)got;
    if (stream->last_bytes != NULL)
        bats_last_add(stream->last_bytes, stream->bytes + stream->n, got);
    if (stream->limit > 0 && (int64_t)got > left)
        got = left > 0 ? (size_t)left : 0;
    stream->n += got;
    if (got > 0)
        stream->last = stream->bytes[stream->n - 1];
    if (stream->limit == 0 || stream->total <= stream->limit || stream->cut)
        return;
    stream->cut = true;
    stream->n += (size_t)snprintf(stream->bytes + stream->n, SPARE,
                                  "%s" BATS_STREAM_MARK,
                                  stream->last == '\n' ? "" : "\n",
                                  bats_size_format(size, stream->limit));
}

bool bats_stream_read(struct bats_stream *stream)
{
    ssize_t got;

    do
        got = read(stream->in, stream->bytes + stream->n,
                   stream->capacity - stream->n);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return false;
    keep(stream, (size_t)got);
    deliver(stream);
    return true;
}

bool bats_stream_finish(struct bats_stream *stream)
{
    while (!stream->blocked && bats_stream_read(stream))
        ;
    if (!stream->blocked && stream->n > 0) {
        stream->bytes[stream->n++] = '\n';
        deliver(stream);
    }
    return !stream->blocked;
}
