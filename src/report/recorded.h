/*
 * recorded: a run's figures from its record, for the verb status and the page.
 *
 * Layer: report.
 */
#ifndef BATS_RECORDED_H
#define BATS_RECORDED_H

#include <jansson.h>

#include "bats/lease.h"
#include "record/read/view.h"

/* The status, completed from the last session's options. *options (to be
 * decref'd; NULL: none) gets these. Clusters without ended tasks get the
 * runtime that the user expects; an allocation's bill is split among its
 * clusters by their charges. Errors: those of the view. */
int bats_recorded_status(struct bats_view *view,
                         struct bats_view_status *status, json_t **options,
                         struct bats_error *err);

/* How the last session was billed. */
struct bats_lease_terms bats_recorded_terms(const json_t *options);

/* The clusters of the status as objects, for programs and tables. */
json_t *bats_recorded_clusters(const struct bats_view_status *status);

#endif
