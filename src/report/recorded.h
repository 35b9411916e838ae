/*
 * recorded: what a record says of its run, for the verb status and the page.
 *
 * Layer: report.
 */
#ifndef BATS_RECORDED_H
#define BATS_RECORDED_H

#include <jansson.h>

#include "bats/lease.h"
#include "record/read/view.h"

/* The status, completed by the options of the last session, which are *options,
 * to be decref'd (NULL: it has none): clusters on which no task has ended have
 * the runtime that the user expects; what an allocation was billed is shared
 * out to its clusters by their charges. Errors: those of the view. */
int bats_recorded_status(struct bats_view *view,
                         struct bats_view_status *status, json_t **options,
                         struct bats_error *err);

/* How the last session was billed. */
struct bats_lease_terms bats_recorded_terms(const json_t *options);

/* The clusters of the status as objects, for programs and tables. */
json_t *bats_recorded_clusters(const struct bats_view_status *status);

#endif
