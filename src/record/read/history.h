/*
 * history: a whole recorded run on one axis of time, for charts.
 *
 * Layer: record. Used by report. The axis is virtual time: that of the first
 * session, then that of the second, and so on, without the time between them.
 * A machine of the same name and cluster is the same in all sessions.
 *
 * Errors: as view.h.
 */
#ifndef BATS_RECORD_HISTORY_H
#define BATS_RECORD_HISTORY_H

#include "bats/lease.h"
#include "record/read/texts.h"
#include "record/read/view.h"

struct bats_history_machine {
    const char *name;
    uint32_t cluster; /* index into clusters */
    uint32_t slots;
};

/* An execution that ended. Executions of a slot do not overlap: if several
 * results arrived together, they end before they were heard of. */
struct bats_history_span {
    bats_time begin, end;
    bats_time given, ended; /* when it was given to the slot, and heard of */
    int64_t task;           /* number */
    uint32_t machine;
    uint32_t slot;
    uint32_t attempt;
    int64_t wall_us;     /* real time */
    int64_t max_rss_kib; /* 0: not known */
    uint8_t outcome;     /* enum bats_record_outcome */
    bool failed, timed_out;
    bool was_killed; /* by a signal */
};

struct bats_history_charge {
    bats_time begin;
    uint32_t machine; /* UINT32_MAX: the allocation, since the charge before */
    bats_money amount;
};

/* A time for which a machine was paid (bats/billing.h): a window, or while a task
 * ran there, or as long as it was held; in an allocation all the time. A window
 * may be paid beyond the end of the axis, which is that of the last session. */
struct bats_history_hold {
    bats_time begin, end, paid_end;
    uint32_t machine;
};

/* A decision that was carried out, or the last one. */
struct bats_history_decision {
    bats_time time;
    const char *reason; /* "start", "planned again (more results)" */
    const char
        *machines; /* "slow 3, fast 1", by the clusters of its session */
    int64_t tasks_left, windows;
    bats_money budget_left; /* BATS_UNLIMITED: unlimited */
    bool feasible;
    bats_time end;   /* when the bag was expected to be done; 0: not known */
    bats_money cost; /* and what would be charged by then */
};

struct bats_run_history {
    char clusters[BATS_CLUSTERS_MAX][BATS_CLUSTER_NAME];
    bats_money charge[BATS_CLUSTERS_MAX]; /* per window, in the last session */
    size_t n_clusters;
    struct bats_lease_terms terms; /* of the last session */
    bats_time window, end;         /* length of a window; of the axis */
    bats_time sampled_at;          /* on the axis; -1: never */
    bool is_sweep;                 /* tasks have parameters */
    struct bats_history_machine *machines;
    size_t n_machines;
    struct bats_history_span *spans; /* as their ends were heard of */
    size_t n_spans;
    struct bats_history_span *lost; /* with their machines; `begin` is not
                                     * known */
    size_t n_lost;
    struct bats_history_charge *charges; /* in order */
    size_t n_charges;
    struct bats_history_hold *holds; /* by machine and begin */
    size_t n_holds;
    struct bats_history_decision *decisions;
    size_t n_decisions;
    struct bats_texts texts; /* of machines and decisions */
};

int bats_run_history_read(struct bats_view *view,
                          struct bats_run_history *history,
                          struct bats_error *err);
void bats_run_history_release(struct bats_run_history *history);

#endif
