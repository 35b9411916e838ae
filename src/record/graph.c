#include "record/graph.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

static const char table_sql[] =
    "CREATE TABLE IF NOT EXISTS graph ( -- which task waits for which others\n"
    "  session INTEGER,\n"
    "  node INTEGER,  -- number of the task in the bag of the session; larger\n"
    "                 -- ones stand for no task, but for a barrier\n"
    "  any INTEGER,   -- 1: it starts when those that it waits for have ended,\n"
    "                 -- however they have; 0: when they are done\n"
    "  children TEXT, -- JSON array: the nodes that wait for it\n"
    "  UNIQUE (session, node))";

/* ---- writing ---- */

/* Appends a number and a comma: at most 11 bytes. */
static char *put(char *at, uint32_t number)
{
    char digits[16];
    int n = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0)
        *at++ = digits[--n];
    *at++ = ',';
    return at;
}

/* The node's children as JSON; grows *text. NULL: out of memory. */
static const char *list(const struct bats_graph *graph, uint32_t node,
                        char **text, size_t *size)
{
    uint64_t n = graph->first[node + 1] - graph->first[node];
    if (!bats_grow(text, size, n * 11 + 3, 1))
        return NULL;
    char *at = *text;
    *at++ = '[';
    for (uint64_t k = graph->first[node]; k < graph->first[node + 1]; k++)
        at = put(at, graph->child[k] + 1);
    at -= n > 0;
    memcpy(at, "]", 2);
    return *text;
}

int bats_record_graph_write(struct bats_db *db, int64_t session,
                            const struct bats_graph *graph,
                            struct bats_error *err)
{
    sqlite3_stmt *s = NULL;
    char *text = NULL;
    size_t size = 0;
    int rc = bats_db_run(db, table_sql, err);

    if (rc == 0)
        rc = bats_db_prepare(db, "INSERT INTO graph VALUES (?, ?, ?, ?)", &s,
                             err);
    for (uint32_t i = 0; rc == 0 && i < graph->n_nodes; i++) {
        bool any = graph->any != NULL && graph->any[i] != 0;
        if (!any && graph->first[i] == graph->first[i + 1])
            continue;
        const char *children = list(graph, i, &text, &size);
        if (children == NULL) {
            rc = bats_no_memory(err);
            break;
        }
        rc = bats_db_put(db, s, err,
                         BATS_VALUES(BATS_I(session), BATS_I((int64_t)i + 1),
                                     BATS_I(any), BATS_T(children)));
    }
    sqlite3_finalize(s);
    free(text);
    return rc;
}

/* ---- reading ---- */

struct edges {
    struct bats_edge *list;
    size_t n, capacity;
};

static bool take(const char *text, uint32_t parent, uint32_t n_nodes,
                 struct edges *edges, bool *is_damaged)
{
    json_t *children = json_loads(text != NULL ? text : "", 0, NULL);
    size_t n = json_array_size(children);
    bool ok = bats_grow(&edges->list, &edges->capacity, edges->n + n + 1,
                        sizeof *edges->list);

    *is_damaged = !json_is_array(children);
    for (size_t i = 0; ok && i < n; i++) {
        json_int_t child = json_integer_value(json_array_get(children, i));
        *is_damaged |= child < 1 || child > n_nodes;
        edges->list[edges->n++] =
            (struct bats_edge){parent, (uint32_t)child - 1};
    }
    json_decref(children);
    return ok;
}

static int read_rows(struct bats_db *db, sqlite3_stmt *s, uint32_t n_nodes,
                     struct edges *edges, uint8_t *any, struct bats_error *err)
{
    int rc;
    while ((rc = bats_db_step(db, s, err)) > 0) {
        int64_t node = sqlite3_column_int64(s, 0) - 1;
        bool is_damaged = node < 0 || node >= n_nodes;
        if (!is_damaged && !take((const char *)sqlite3_column_text(s, 2),
                                 (uint32_t)node, n_nodes, edges, &is_damaged))
            return bats_no_memory(err);
        if (is_damaged)
            return bats_error_set(
                err, BATS_EINPUT,
                "%s is damaged: the children of node %" PRId64
                " cannot be read",
                db->path, node + 1);
        any[node] = sqlite3_column_int(s, 1) != 0;
    }
    return rc;
}

int bats_record_graph_read(struct bats_db *db, int64_t session,
                           uint32_t n_tasks, uint32_t n_nodes,
                           struct bats_graph *graph, struct bats_error *err)
{
    struct edges edges = {NULL, 0, 0};
    sqlite3_stmt *s = NULL;
    uint8_t *any = calloc((size_t)n_nodes + 1, 1);
    int rc = any == NULL ? bats_no_memory(err)
                         : bats_db_prepare(db,
                                           "SELECT node, any, children FROM "
                                           "graph WHERE session = ? "
                                           "ORDER BY node",
                                           &s, err);

    *graph = (struct bats_graph){0};
    if (rc == 0) {
        sqlite3_bind_int64(s, 1, session);
        rc = read_rows(db, s, n_nodes, &edges, any, err);
    }
    if (rc == 0)
        rc =
            bats_graph_init(graph, n_tasks, n_nodes, edges.list, edges.n, err);
    if (rc == 0)
        graph->any = any;
    else
        free(any);
    sqlite3_finalize(s);
    free(edges.list);
    return rc;
}

int bats_record_graph_prepare(struct bats_db *from, struct bats_db *to,
                              bool *has, struct bats_error *err)
{
    int64_t n = 0;
    *has = bats_db_integer(from,
                           "SELECT count(*) FROM sqlite_schema WHERE "
                           "type = 'table' AND name = 'graph'",
                           &n, NULL) == 0 &&
           n > 0;
    return *has ? bats_db_run(to, table_sql, err) : 0;
}
