/*
 * stream: the pipe that carries a task's standard output or error, and the
 * bytes that are not handed over yet.
 *
 * Layer: exec. Used by outlet. Model: the stream keeps a write end of its own
 * open as long as the task lives. So the pipe never reports an end of file:
 * after the end of the task what is there is read, and a stranger who still
 * holds the pipe cannot delay the result.
 *
 * A task's bytes beyond `limit` are read, counted and dropped; in their place
 * comes one line that says so (BATS_STREAM_MARK).
 *
 * Invariant, where whole lines are handed over: no newline in the buffer
 * unless `blocked`.
 */
#ifndef BATS_STREAM_H
#define BATS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest line that is handed over, with its newline. */
#define BATS_STREAM_LINE ((size_t)1 << 20)

/* The line at the cut; %s is the limit as bats_size_format writes it. */
#define BATS_STREAM_MARK "[bats-mpi: output truncated at %s]\n"

struct bats_stream {
    int in;  /* read end, not blocking; -1: closed */
    int out; /* write end, for the task */
    char *bytes;
    size_t n;
    size_t capacity; /* more than that is there for a newline and the mark */
    int64_t limit;   /* 0: none */
    int64_t total;   /* bytes that the task has written */
    char last;       /* of the bytes that were kept */
    bool cut;        /* the mark has been put in */
    bool blocked;    /* the taker said "not now" */
};

/* Who takes the bytes. */
struct bats_stream_taker {
    /* False for "not now": it is asked again. */
    bool (*take)(void *context, uint32_t task, int stream, const char *bytes,
                 size_t n);
    void *context;
    uint32_t task;
    int stream;
    bool raw; /* bytes as they come; else whole lines (runner.h, `lines`) */
};

/* All false: out of memory, or of descriptors (errno). */
bool bats_stream_init(struct bats_stream *stream);
/* A new pipe, empty. */
bool bats_stream_open(struct bats_stream *stream, int64_t limit);

void bats_stream_close(struct bats_stream *stream);
void bats_stream_release(struct bats_stream *stream);

/* Offers again what was refused. */
void bats_stream_retry(struct bats_stream *stream,
                       const struct bats_stream_taker *taker);

/* Reads once and hands over; false if nothing was there. */
bool bats_stream_read(struct bats_stream *stream,
                      const struct bats_stream_taker *taker);

/* The task has ended: reads all that is there, ends the last line. True when
 * everything is handed over. */
bool bats_stream_finish(struct bats_stream *stream,
                        const struct bats_stream_taker *taker);

#endif
