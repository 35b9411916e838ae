/*
 * history: a whole recorded run on one axis of time, for charts.
 *
 * Layer: record. Used by report. The axis is virtual time: the sessions one
 * after the other, without the gaps. Machines with the same name and cluster
 * are the same in all sessions.
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

/* An ended execution. Executions of a slot do not overlap: if several results
 * arrived together, they end before their arrival. */
struct bats_history_span {
    bats_time begin, end;
    bats_time given, ended; /* when it was sent to the slot, and when its end
                               arrived */
    int64_t task;           /* number */
    uint32_t machine;
    uint32_t slot;
    uint32_t max_rss_kib; /* 0: unknown */
    uint8_t outcome;      /* enum bats_record_outcome */
    bool failed, timed_out;
    bool was_killed; /* by a signal */
};

struct bats_history_charge {
    bats_time begin;
    uint32_t machine; /* UINT32_MAX: the allocation, since the last charge */
    bats_money amount;
};

/* A time for which a machine was paid (bats/billing.h): a window, the time of
 * a task, or as long as it was held; in an allocation always. A window may be
 * paid beyond the end of the axis, which is the end of the last session. */
struct bats_history_hold {
    bats_time begin, end, paid_end;
    uint32_t machine;
};

/* A decision carried out, or the last one. */
struct bats_history_decision {
    bats_time time;
    const char *reason; /* "start", "planned again (more results)" */
    const char
        *machines; /* "slow 3, fast 1", by the clusters of its session */
    int64_t tasks_left, windows;
    bats_money budget_left; /* BATS_UNLIMITED: unlimited */
    bool feasible;
    bats_time end;   /* expected end of the bag; 0: unknown */
    bats_money cost; /* expected charge by then */
};

struct bats_run_history {
    char clusters[BATS_CLUSTERS_MAX][BATS_CLUSTER_NAME];
    bats_money charge[BATS_CLUSTERS_MAX]; /* per window, in the last session */
    size_t n_clusters;
    struct bats_lease_terms terms; /* of the last session */
    bats_time window, end;         /* window length; end of the axis */
    bats_time sampled_at;          /* on the axis; -1: never */
    bool is_sweep;                 /* tasks have parameters */
    struct bats_history_machine *machines;
    size_t n_machines;
    struct bats_history_span *spans; /* ordered by arrival of their ends */
    size_t n_spans;
    struct bats_history_span *lost; /* lost with their machines; `begin` is
                                       unknown */
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
