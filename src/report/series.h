/*
 * series: a recorded run as series of at most BATS_SERIES_POINTS points, and as
 * bars of a Gantt chart.
 *
 * Layer: report. Pure except for memory. Each interval of the axis becomes one
 * point: the mean over it (machines held and in use: areas are preserved) or
 * the value at its end (money).
 */
#ifndef BATS_SERIES_H
#define BATS_SERIES_H

#include <jansson.h>

#include "record/read/history.h"

#define BATS_SERIES_POINTS 2000 /* well below 4,000 */

/* {"t": seconds, "charged": [...], "reserved": [...]}; rate: charge of all
 * machines of the platform per window; 0: "reserved" is null. */
json_t *bats_series_money(const struct bats_run_history *history,
                          bats_money rate);

/* [{"name", "held": machines, "busy": machines}], on the "t" of the money;
 * "busy" counts the slots in use as parts of a machine. */
json_t *bats_series_machines(const struct bats_run_history *history);

/* Paid and used slot time of one cluster. */
struct bats_series_use {
    double paid, used; /* microseconds x slots */
};
void bats_series_use(const struct bats_run_history *history,
                     struct bats_series_use use[BATS_CLUSTERS_MAX]);

/* [{"cluster", "edges": seconds, "counts", "n", "mean", "estimate"}] of the
 * runtimes of DONE tasks; `estimate` is the mean of those ended when the
 * sample was taken. */
json_t *bats_series_runtimes(const struct bats_run_history *history);

/*
 * {"rows": [[label, cluster, machine]], "tick": seconds,
 * "ticks", "spans", "windows"}. The last two are base64 of numbers, seven bits
 * to a byte, the low ones first, the top bit set in all but the last byte:
 *
 *   spans    for each row: n, and n times: ticks since the end of the one
 *            before, 8 x ticks of length + kind, number of the task
 *   windows  for each machine: n, and n times: ticks since the end of the one
 *            before, ticks of length; very many windows are joined where one
 *            follows another
 *
 * Kinds: 0 done, 1 stopped by bats-mpi, 2 failed and run again, 3 superseded by
 * a replica, 4 checkpointed, 5 failed beside a replica, 6 failed.
 */
json_t *bats_series_gantt(const struct bats_run_history *history);

#endif
