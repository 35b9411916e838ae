/*
 * report: the bill at the end of a run, for people and for programs. Layer:
 * report. Used by cli. It shows the ledger's charges, never above the budget.
 * If windows are charged, it also shows the cost of all machines held from the
 * start of the run to its end ("reserved").
 */
#ifndef BATS_REPORT_H
#define BATS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bats/error.h"
#include "report/causes.h"
#include "report/snapshot.h"

/* ---- the report ---- */

/* Settings that help to explain the result. */
struct bats_report_settings {
    const char *given;    /* the caller's options, a JSON object, or NULL */
    const char *clusters; /* name of the clusters file, or NULL */
    const char *policy;
    uint64_t seed;
    double time_scale;
    bats_money budget; /* given, or BATS_UNLIMITED; a chosen schedule has its
                          own limit, status.budget */
};

/* Runtimes of a category. */
struct bats_report_category {
    const char *name; /* borrowed */
    struct bats_category_status is;
};

struct bats_report {
    struct bats_snapshot snapshot;
    struct bats_report_settings settings;
    struct bats_failures failures;
    struct bats_causes causes; /* of all failures, sorted */
    uint64_t yielded;          /* checkpointed executions */
    bool decisions_told; /* decisions were shown during the run, on the same
                            output */
    bool is_open;        /* tasks were added while it ran */
    bool recorded;       /* there is a record for --resume */
    const char *run;     /* name of the run for other verbs, or NULL */
    bool in_a_line;      /* brief: the outcome, and why tasks failed */
    bool not_recorded; /* the run ended because the record cannot be written */
    bats_money charged_killed; /* charge for what the killed last session had
                                   open; included in status.charged_before */
    const char *version;
    int signal;       /* the signal that stopped the run, or 0 */
    int exit_code;    /* exit code of bats-mpi */
    int64_t start_us; /* real time, microseconds since 1970 */
    int64_t real_us;  /* real time the run took */
    const struct bats_report_category *categories; /* of a workflow; the
                                                      longest total time
                                                      first */
    uint32_t n_categories;
    const struct bats_purse_status *workflows; /* of several in the run */
    uint32_t n_workflows;
};

/* The promise for the chosen schedule (snapshot.has_promise), as the bill
 * words it: "cheapest: 50 SU in 2h30m, at most 60 SU in 3h". */
const char *bats_report_promise(char *text, size_t size,
                                const struct bats_snapshot *snapshot);

/* The closing report for people, at most 80 columns wide where names allow. */
void bats_report_print(FILE *out, const struct bats_report *report);

/* True if no money is at stake: no budget, deadline, choice or clusters file.
 * Then these few lines suffice. */
bool bats_report_is_brief(const struct bats_report *report);
void bats_report_print_brief(FILE *out, const struct bats_report *report);

/* Writes the report, with more details, as one JSON object with a final
 * newline. Money is a string with a decimal number (null: unlimited or
 * unknown); time is a number of seconds of virtual time unless the key says
 * real. BATS_ESYS, BATS_ENOMEM. */
int bats_report_json(FILE *out, const struct bats_report *report,
                     struct bats_error *err);

/* A cluster, and the categories, as in this JSON. NULL: out of memory. */
json_t *bats_report_cluster(const struct bats_snapshot *snapshot, size_t i);
json_t *bats_report_categories(const struct bats_report *report);

/* ---- before the run ---- */

/* Prints the clusters, their machines and charges as a table. */
void bats_report_platform(FILE *out, const struct bats_platform *platform);

#endif
