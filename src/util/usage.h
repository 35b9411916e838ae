/*
 * usage: how one execution of a task ended, and the time, memory and output it
 * took. Measured where it ran (exec), sent (proto), recorded and shown.
 *
 * Layer: util. Plain data.
 */
#ifndef BATS_UTIL_USAGE_H
#define BATS_UTIL_USAGE_H

#include <stdint.h>

/* Exit statuses that the master gives, with signal 15, to an execution that it
 * has ended for good: after a time-out, as in GNU parallel; or because the
 * task has filled a whole job and no job is longer. The last one is for an
 * execution that was killed because it held too much memory. */
#define BATS_STATUS_TIMED_OUT (-1)
#define BATS_STATUS_TOO_LONG (-2)
#define BATS_STATUS_WITHDRAWN (-3)
#define BATS_STATUS_OUT_OF_MEMORY (-4)

struct bats_usage {
    int exit_status;  /* 0..255; 126/127 if it could not be started; 128 +
                       * signal if a signal ended it; or one of the above */
    int signal;       /* signal that ended it, or 0 */
    int64_t start_us; /* real time, microseconds since 1970 */
    int64_t wall_us;  /* real time it took, slowing included; for a built-in
                       * sleep exactly the time requested */
    int64_t user_us;  /* CPU time of the process and its waited children */
    int64_t system_us;
    int64_t max_rss_kib; /* 0: unknown. It is less than that of this process,
                          * with which a child begins */
    int64_t written[2];  /* bytes on standard output and error; 0 if the task
                          * writes to the file itself */
    int64_t begin, end;  /* BATS_OUTPUT_STREAM: where its output is in the file
                          * (exec/output/outfile.h) */
};

#endif
