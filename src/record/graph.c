#include "record/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/text.h"

static const char table_sql[] =
    "CREATE TABLE IF NOT EXISTS graph ( -- which task waits for which others\n"
    "  session INTEGER,\n"
    "  node INTEGER,  -- number of the task in the bag of the session; larger\n"
    "                 -- ones stand for no task, but for a barrier\n"
    "  any INTEGER,   -- 1: it starts when those that it waits for have ended,\n"
    "                 -- however they have; 0: when they are done\n"
    "  children TEXT, -- JSON array: the nodes that wait for it\n"
    "  UNIQUE (session, node))";

/* The node's children as JSON. */
static void put_children(const struct bats_graph *graph, uint32_t node,
                         struct bats_text *text)
{
    const char *before = "[";
    bats_text_cut(text, 0);
    for (uint64_t k = graph->first[node]; k < graph->first[node + 1]; k++) {
        bats_text_format(text, "%s%" PRIu32, before, graph->child[k] + 1);
        before = ",";
    }
    bats_text_add(text, text->n > 0 ? "]" : "[]");
}

int bats_record_graph_write(struct bats_db *db, int64_t session,
                            const struct bats_graph *graph,
                            struct bats_error *err)
{
    sqlite3_stmt *s = NULL;
    struct bats_text text = {0};
    int rc = bats_db_run(db, table_sql, err);

    if (rc == 0)
        rc = bats_db_prepare(db, "INSERT INTO graph VALUES (?, ?, ?, ?)", &s,
                             err);
    for (uint32_t i = 0; rc == 0 && i < graph->n_nodes; i++) {
        bool any = graph->any != NULL && graph->any[i] != 0;
        if (!any && graph->first[i] == graph->first[i + 1])
            continue;
        put_children(graph, i, &text);
        rc = bats_text_check(&text, err);
        if (rc == 0)
            rc = bats_db_put(db, s, err,
                             BATS_VALUES(BATS_I(session),
                                         BATS_I((int64_t)i + 1), BATS_I(any),
                                         BATS_T(text.bytes)));
    }
    sqlite3_finalize(s);
    bats_text_release(&text);
    return rc;
}

/* A node and one of its children, from 1; 0: it has none. */
struct row {
    int64_t node, child;
    bool any;
};

/* The edges of the rows. any: by node. */
static size_t take(const struct row *rows, size_t n, struct bats_edge *edges,
                   uint8_t *any)
{
    size_t n_edges = 0;
    for (size_t i = 0; i < n; i++) {
        any[rows[i].node - 1] = rows[i].any;
        if (rows[i].child > 0)
            edges[n_edges++] = (struct bats_edge){(uint32_t)rows[i].node - 1,
                                                  (uint32_t)rows[i].child - 1};
    }
    return n_edges;
}

int bats_record_graph_read(struct bats_db *db, int64_t session,
                           uint32_t n_tasks, uint32_t n_nodes,
                           struct bats_graph *graph, struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct row, member)
    static const struct bats_db_column columns[] = {
        C(node), C(child), C(any), {0}};
#undef C
    char sql[384];
    struct row *rows;
    size_t n, bad = 0;
    snprintf(sql, sizeof sql,
             "SELECT node, CASE WHEN NOT json_valid(children) THEN -1"
             "  WHEN type IS NULL THEN 0"
             "  WHEN type = 'integer' AND value > 0 THEN value ELSE -1 END,"
             " any FROM graph LEFT JOIN"
             "  json_each(iif(json_valid(children), children, '[]'))"
             " WHERE session = %" PRId64 " ORDER BY node, key",
             session);
    *graph = (struct bats_graph){0};
    int rc =
        bats_db_list(db, sql, columns, sizeof *rows, &rows, &n, NULL, err);
    while (bad < n && rows[bad].node > 0 && rows[bad].node <= n_nodes &&
           rows[bad].child >= 0 && rows[bad].child <= n_nodes)
        bad++;
    if (rc == 0 && bad < n)
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s is damaged: the children of node %" PRId64
                            " cannot be read",
                            db->path, rows[bad].node);
    uint8_t *any = calloc((size_t)n_nodes + 1, 1);
    struct bats_edge *edges = malloc((n + 1) * sizeof *edges);
    if (rc == 0 && (any == NULL || edges == NULL))
        rc = bats_no_memory(err);
    if (rc == 0)
        rc = bats_graph_init(graph, n_tasks, n_nodes, edges,
                             take(rows, n, edges, any), err);
    if (rc == 0)
        graph->any = any;
    else
        free(any);
    free(edges);
    free(rows);
    return rc;
}

int bats_record_graph_prepare(struct bats_db *from, struct bats_db *to,
                              struct bats_error *err)
{
    int64_t n = 0;
    bats_db_integer(from,
                    "SELECT count(*) FROM sqlite_schema WHERE type = 'table'"
                    " AND name = 'graph'",
                    &n, NULL);
    return n > 0 ? bats_db_run(to, table_sql, err) : 0;
}
