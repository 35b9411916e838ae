/*
 * outfile: the two files into which a worker writes the output of all its
 * tasks, so that a million tasks do not make a million files.
 *
 * Layer: exec. Written by outlet, read by outdir. Model, for the worker of
 * rank R in the run RUN (or, with worker jobs, the R-th that joined):
 *
 *     stream-RUN-R.out    chunks: a header of 41 bytes, for people
 *
 *                             #bats <task> <attempt> <stream> <length>\n
 *
 *                         (decimal, padded with zeros to 10, 10, 1 and 10
 *                         digits; stream 1 is standard output, 2 standard
 *                         error), then `length` bytes of the task. The chunks
 *                         of one attempt stand together, in the order in
 *                         which they were read.
 *     stream-RUN-R.index  a first line "# ...", then for each attempt that
 *                         has ended one line of numbers:
 *
 *                             task attempt stopped exit signal begin end
 *                             stdout stderr\n
 *
 *                         stopped is 1 if bats-mpi stopped the attempt, which
 *                         then does not count. A second line for an attempt,
 *                         with stopped = 2, means that it does not count
 *                         because another replica of the task gave the result.
 *                         begin and end are the place of its chunks in the
 *                         .out file; stdout and stderr are the bytes that the
 *                         task wrote, kept or not.
 *
 * Tasks are counted from 1 here, as people see them.
 *
 * Invariants: both files only grow. A line of the index is written after all
 * chunks of its attempt, and before the result is reported: the chunks that
 * the index names exist. A worker that dies leaves at most chunks that no line
 * names, and a last line without its newline.
 */
#ifndef BATS_OUTFILE_H
#define BATS_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "util/usage.h"

#define BATS_OUTFILE_HEAD 41 /* bytes of a chunk's header */
#define BATS_OUTFILE_CHUNK "#bats %010u %010u %1u %010u\n"
#define BATS_OUTFILE_DISOWNED 2 /* `stopped` */
#define BATS_OUTFILE_FIRST                                                    \
    "# bats-mpi output 1: task attempt stopped exit signal begin end stdout " \
    "stderr\n"

struct bats_outfile; /* opaque */

/* Creates PREFIX.out and PREFIX.index, which must not exist, and missing
 * directories. BATS_ESYS names the file; BATS_ENOMEM. */
int bats_outfile_create(const char *prefix, struct bats_outfile **file,
                        struct bats_error *err);
void bats_outfile_destroy(struct bats_outfile *file);

/* Creates the directory and its missing parents. False, with errno: some cannot
 * be created. `path` is as it was afterwards. */
bool bats_outfile_make_directory(char *path);

/* The following output belongs to this attempt (task: index in the bag). */
void bats_outfile_begin(struct bats_outfile *file, uint32_t task,
                        uint32_t attempt);

/* BATS_ESYS if the file cannot be written; do not use it any more. */
int bats_outfile_add(struct bats_outfile *file, int stream, const char *bytes,
                     size_t n, struct bats_error *err);

/* Records how the attempt has ended; sets `begin` and `end` of its usage, the
 * place of its chunks in the .out file. */
int bats_outfile_end(struct bats_outfile *file, bool stopped,
                     struct bats_usage *usage, struct bats_error *err);

/* Marks an attempt that has ended as one that does not count. */
int bats_outfile_disown(struct bats_outfile *file, uint32_t task,
                        uint32_t attempt, struct bats_error *err);

#endif
