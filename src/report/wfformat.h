/*
 * wfformat: a recorded run as WfFormat 1.5 (JSON) of WfCommons, by the schema
 * at https://github.com/wfcommons/WfFormat.
 *
 * Layer: report. Used by the verb export. Times are real time. DONE tasks are
 * executed tasks. Others have no runtime, which the schema requires of
 * executed tasks, and hence no command. The reader is
 * input/workflow/wfformat.c.
 */
#ifndef BATS_REPORT_WFFORMAT_H
#define BATS_REPORT_WFFORMAT_H

#include <stdio.h>

#include "input/workflow/workflow.h"
#include "record/read/view.h"

struct bats_wfformat_source {
    struct bats_view *view;
    const char *name;                     /* of the workflow */
    const struct bats_workflow *workflow; /* names and files; NULL: unknown */
    uint64_t unnameable; /* result: files that are left out because the format
                            cannot name them */
};

/* `source` is a struct bats_wfformat_source. BATS_ENOMEM, errors of the view;
 * the caller checks the file for write errors. */
int bats_wfformat_write(void *source, FILE *out, struct bats_error *err);

#endif
