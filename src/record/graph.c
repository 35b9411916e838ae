#include "record/graph.h"

#include <inttypes.h>

#include "util/text.h"

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
    int rc =
        bats_db_prepare(db, "INSERT INTO graph VALUES (?, ?, ?, ?)", &s, err);
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
