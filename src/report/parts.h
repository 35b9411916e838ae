/*
 * parts: what the two forms of the closing report share.
 * Layer: report, private to summary.c and brief.c.
 */
#ifndef BATS_REPORT_PARTS_H
#define BATS_REPORT_PARTS_H

#include <jansson.h>

#include "report/report.h"

#define BATS_REPORT_CAUSES 8 /* causes of failure that are shown */

/* "makespan   4h32m", wrapped at 80 columns. `text` is encoded here. */
void bats_report_labelled(FILE *out, const char *label, const char *text);

/* "bats-mpi: all 8 tasks done in 350ms". */
void bats_report_outcome(FILE *out, const struct bats_report *report);

/* The executions stopped, repeated, replicated and lost; empty without any. */
void bats_report_mishaps(FILE *out, const struct bats_report *report);

/* The categories as in the JSON of the report. NULL: out of memory. */
json_t *bats_report_categories(const struct bats_report *report);

#endif
