/*
 * wfformat: a recorded run as WfFormat 1.5 (JSON) of WfCommons,
 * https://github.com/wfcommons/WfFormat, as its schema there wants it.
 *
 * Layer: report. Used by the verb export. Times are real time. A task is
 * executed there if it is done. One that failed or did not run has no runtime,
 * which the schema asks of all that are executed, and so no command. Our own
 * reader is input/workflow/wfformat.c.
 */
#ifndef BATS_REPORT_WFFORMAT_H
#define BATS_REPORT_WFFORMAT_H

#include <stdio.h>

#include "input/workflow/workflow.h"
#include "record/read/view.h"

struct bats_wfformat_source {
    struct bats_view *view;
    const char *name;                     /* of the workflow */
    const struct bats_workflow *workflow; /* names and files, or NULL: not
                                             known */
    uint64_t unnameable; /* result: files that the format has no name for, and
                            which are left out */
};

/* `source` is a struct bats_wfformat_source. BATS_ENOMEM, errors of the view;
 * errors of writing are those of the file. */
int bats_wfformat_write(void *source, FILE *out, struct bats_error *err);

#endif
