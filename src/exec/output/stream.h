/*
 * stream: the pipe that carries a task's standard output or error, and the
 * bytes that are not passed on yet.
 *
 * Layer: exec. Used by outlet. Model: the stream keeps its own write end open
 * while the task lives, so the pipe never reports an end of file. After the
 * end of the task the contents of the pipe are read; another process that
 * still holds the pipe cannot delay the result.
 *
 * Bytes beyond `limit` are read, counted and dropped; one line marks the cut
 * (BATS_STREAM_MARK).
 *
 * Invariant, if complete lines are passed on: no newline is in the buffer
 * unless `blocked`.
 */
#ifndef BATS_STREAM_H
#define BATS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/complaint.h"

/* Longest line that is passed on, with its newline. */
#define BATS_STREAM_LINE ((size_t)1 << 20)

/* The line at the cut; %s is the limit as bats_size_format writes it. */
#define BATS_STREAM_MARK "[bats-mpi: output truncated at %s]\n"

/* The last bytes of a stream of any length: of standard error, for the result.
 * All zero: nothing was written. */
struct bats_last {
    char bytes[2 * BATS_COMPLAINT_BYTES];
    size_t n;
};

void bats_last_add(struct bats_last *last, const char *bytes, size_t n);

/* Reads the last n bytes of the file behind `fd`. */
void bats_last_read(struct bats_last *last, int fd);

/* The last *n <= BATS_COMPLAINT_BYTES bytes; valid until more are added. */
const char *bats_last_bytes(const struct bats_last *last, size_t *n);

/* The receiver of the bytes. */
struct bats_stream_taker {
    /* Returns false for "not now": the bytes are offered again. */
    bool (*take)(void *context, uint32_t task, int stream, const char *bytes,
                 size_t n);
    void *context;
    uint32_t task;
    int stream;
    bool raw; /* bytes as they come; else complete lines (runner.h, `lines`) */
};

struct bats_stream {
    struct bats_stream_taker to; /* set by the user before opening */
    int in;                      /* read end, non-blocking; -1: closed */
    int out;                     /* write end, for the task */
    char *bytes;
    size_t n;
    size_t capacity; /* the buffer is larger by room for a newline and the
                      * mark */
    int64_t limit;   /* 0: no limit */
    int64_t total;   /* bytes written by the task */
    char last;       /* last kept byte */
    bool cut;        /* the mark has been added */
    bool blocked;    /* the taker said "not now" */
    struct bats_last *last_bytes; /* keeps the last bytes; not owned; may be
                                   * NULL */
};

/* Returns false on failure (memory, or descriptors: errno). */
bool bats_stream_init(struct bats_stream *stream);
/* Opens a new, empty pipe. */
bool bats_stream_open(struct bats_stream *stream, int64_t limit);

void bats_stream_close(struct bats_stream *stream);
void bats_stream_release(struct bats_stream *stream);

/* Offers refused bytes again. */
void bats_stream_retry(struct bats_stream *stream);

/* Reads once and passes the bytes on; false if there were none. */
bool bats_stream_read(struct bats_stream *stream);

/* Call when the task has ended: reads the rest, ends the last line. True when
 * everything is passed on. */
bool bats_stream_finish(struct bats_stream *stream);

#endif
