/*
 * graph: writes the dependencies of a session's tasks. Layer: record, private
 * to it. The table `graph` has one row for each node (bats/graph.h) that has
 * children or waits for any end.
 */
#ifndef BATS_RECORD_GRAPH_H
#define BATS_RECORD_GRAPH_H

#include "bats/graph.h"
#include "record/db.h"

/* Writes the graph of the session. */
int bats_record_graph_write(struct bats_db *db, int64_t session,
                            const struct bats_graph *graph,
                            struct bats_error *err);

#endif
