/*
 * perfetto: a recorded run in the Trace Event Format (JSON), which
 * ui.perfetto.dev and other viewers of traces open.
 *
 * Layer: report. Used by the verb report. A cluster is a process, a slot of a
 * machine a thread; executions and paid windows are slices, the money charged
 * is a counter, decisions are instants. Times are virtual.
 */
#ifndef BATS_PERFETTO_H
#define BATS_PERFETTO_H

#include <stdio.h>

#include "record/read/history.h"

/* BATS_ENOMEM; errors of writing are those of the file. */
int bats_perfetto_write(FILE *out, const struct bats_run_history *history,
                        struct bats_error *err);

#endif
