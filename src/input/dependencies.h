/*
 * dependencies: which tasks of a bag wait for which, by the names in its file.
 *
 * Layer: input. Used by the readers of bags and workflows. While a file is
 * read, statements are noted, each for one task or for several consecutive
 * ones. At the end all names are known, and the statements become a graph
 * (bats/graph.h). A name stands for all tasks of its statement, and a
 * statement of n tasks that waits for m others costs n + m edges. Lines are
 * for messages.
 */
#ifndef BATS_DEPENDENCIES_H
#define BATS_DEPENDENCIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/graph.h"

/* Edges as they are read. All zero: none. */
struct bats_edges {
    struct bats_edge *list;
    size_t n, room;
    bool failed; /* memory was short */
};

void bats_edges_add(struct bats_edges *edges, uint32_t parent, uint32_t child);
void bats_edges_release(struct bats_edges *edges);

struct bats_dependencies; /* opaque */

struct bats_bagfile;

/* NULL: no memory. `bag` gives the name and lines for messages, and must
 * outlive the result. */
struct bats_dependencies *
bats_dependencies_create(const struct bats_bagfile *bag);
void bats_dependencies_destroy(struct bats_dependencies *dependencies);

/* Notes "NAME" or "NAME after NAME..." for the next tasks. The text is not
 * copied: it must live until the graph is made. BATS_EINPUT for another form,
 * a duplicate name, or a previous statement without a task; BATS_ENOMEM. */
int bats_dependencies_note(struct bats_dependencies *dependencies,
                           const char *text, uint32_t line,
                           struct bats_error *err);

/* Gives these tasks to the last statement if it has none yet. */
void bats_dependencies_take(struct bats_dependencies *dependencies,
                            uint32_t first, uint32_t n);

/* Tasks from number `first` on wait for all earlier ones, and, with `any`,
 * start even if some of these fail. Call with ascending `first`.
 * BATS_ENOMEM. */
int bats_dependencies_barrier(struct bats_dependencies *dependencies,
                              uint32_t first, bool any,
                              struct bats_error *err);

/* Makes the graph of all `n_tasks`; the caller releases it. BATS_EINPUT with
 * file and line: an unknown name, a statement without a task, tasks that wait
 * for each other. BATS_ENOMEM. */
int bats_dependencies_graph(struct bats_dependencies *dependencies,
                            uint32_t n_tasks, struct bats_graph *graph,
                            struct bats_error *err);

/* BATS_EINPUT, naming the tasks, if some tasks of the graph wait for each
 * other. `describe` puts the name of a task into `text` and returns its line,
 * or 0. Joints between tasks are not mentioned. BATS_ENOMEM. */
int bats_dependencies_check(const struct bats_graph *graph, const char *file,
                            uint32_t (*describe)(const void *context,
                                                 uint32_t task, char *text,
                                                 size_t size),
                            const void *context, struct bats_error *err);

#endif
