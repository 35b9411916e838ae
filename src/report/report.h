/*
 * report: the bill at the end of a run, for people and for machines.
 *
 * Layer: report. Used by cli. Two figures are always shown: charged, what the
 * ledger counted (windows entered x charge, never above the budget), and
 * reserved, what a batch system bills when all machines of the allocation are
 * held from the start of the run to its end; where the run gives nodes back,
 * for the time that each was held.
 */
#ifndef BATS_REPORT_H
#define BATS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bats/error.h"
#include "report/snapshot.h"

/* ---- tasks that failed ---- */

#define BATS_FAILURES_KEPT 1000 /* the first so many are remembered */

struct bats_failure {
    uint32_t task;   /* index in the bag */
    int exit_status; /* < 0: timed out */
    int signal;
    bats_time runtime;
    char *host;
    char *command;
};

/* All zero: empty. */
struct bats_failures {
    struct bats_failure *list; /* in the order in which they ended */
    size_t n;                  /* kept, at most BATS_FAILURES_KEPT */
};

/* Keeps a copy of `failure` while there is room. BATS_ENOMEM. */
int bats_failures_add(struct bats_failures *failures,
                      const struct bats_failure *failure,
                      struct bats_error *err);
void bats_failures_release(struct bats_failures *failures);

/* ---- the report ---- */

/* What the user asked for, as far as it says something about the result. */
struct bats_report_settings {
    const char *bag;
    const char *clusters; /* name of the clusters file, or NULL */
    const char *policy;
    const char *reconfigure;
    const char *tail;
    uint64_t seed;
    double time_scale;
    bats_time monitor; /* 0: window / 12 */
    bats_time grace;
    bool master_works;
    const char *output;     /* "lines", "stream", "none" or "results" */
    const char *output_dir; /* of stream and results, else NULL */
    int64_t max_output;     /* of a task and stream, bytes; 0: no limit */
    const char *joblog;     /* NULL: none */
    struct bats_sched_rules rules;
};

struct bats_report {
    struct bats_snapshot snapshot;
    struct bats_report_settings settings;
    struct bats_failures failures;
    uint64_t yielded;  /* executions that ended to be run again */
    bool recorded;     /* so that --resume does what is left */
    bool not_recorded; /* it ended because the record cannot be written */
    bool releases;     /* nodes may be given back: reserved is by time, and */
    bats_money reserved_before; /* of earlier sessions, too */
    const char *version;
    int signal;       /* that stopped the run, or 0 */
    int exit_code;    /* of bats-mpi */
    int64_t start_us; /* real time, microseconds since 1970 */
    int64_t real_us;  /* real time the run took */
};

/* What is promised for the schedule that was chosen (snapshot.has_promise), as
 * the bill says it: "cheapest: 50 SU in 2h30m, at most 60 SU in 3h". */
const char *bats_report_promise(char *text, size_t size,
                                const struct bats_snapshot *snapshot);

/* The closing report for people, at most 80 columns wide where names allow. */
void bats_report_print(FILE *out, const struct bats_report *report);

/* The same and more as one JSON object with a final newline. Money is a
 * string holding a decimal (null: unlimited or unknown), time a number of
 * seconds of bag time unless the key says real. BATS_ESYS, BATS_ENOMEM. */
int bats_report_json(FILE *out, const struct bats_report *report,
                     struct bats_error *err);

/* ---- before the run ---- */

/* The clusters, their machines and charges, as a table. */
void bats_report_platform(FILE *out, const struct bats_platform *platform);

#endif
