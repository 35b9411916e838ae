/*
 * joblog: one line per task that ended, in GNU parallel's format.
 *
 * Layer: report. Used by cli. Columns, separated by tabs: Seq (number of the
 * task, from 1), Host, Starttime (seconds since 1970), JobRuntime (seconds,
 * both in real time), Send (0), Receive (those bytes of its standard output
 * that passed through bats-mpi), Exitval (0 after a signal), Signal, Command,
 * byte for byte, because programs run it again (no command has a newline).
 * `parallel --resume`, `--resume-failed` and `--retry-failed` accept the file.
 * Each line is written as soon as its task has ended.
 */
#ifndef BATS_JOBLOG_H
#define BATS_JOBLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"

struct bats_joblog; /* opaque */

struct bats_joblog_entry {
    uint32_t task; /* index in the bag */
    const char *host;
    int64_t start_us; /* real time, microseconds since 1970 */
    int64_t wall_us;  /* real time */
    uint64_t stdout_bytes;
    int exit_status; /* < 0: as in util/usage.h; written as -1 with signal
                        15 */
    int signal;
    const char *command;
};

/* Opens the file at `path` ("-": standard output) for a new run: its contents
 * stay until bats_joblog_begin. BATS_EINPUT if it cannot be written. */
int bats_joblog_create(const char *path, struct bats_joblog **log,
                       struct bats_error *err);

/* Opens the file for a resumed run: its lines stay until bats_joblog_begin.
 * BATS_EINPUT also if it is not a joblog. */
int bats_joblog_open(const char *path, struct bats_joblog **log,
                     struct bats_error *err);

/* Empties the file and writes the head. Call before the first write; in a
 * resumed run, write the lines of earlier results next, unless it is standard
 * output. */
void bats_joblog_begin(struct bats_joblog *log);
bool bats_joblog_is_file(const struct bats_joblog *log);

/* BATS_ESYS if the line could not be written. */
int bats_joblog_write(struct bats_joblog *log,
                      const struct bats_joblog_entry *entry,
                      struct bats_error *err);

void bats_joblog_destroy(struct bats_joblog *log);

#endif
