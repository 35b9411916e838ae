/* past_record: adds the measurements of a record to the history. See past.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/past.h"
#include "record/read/view.h"

struct reading {
    struct bats_task_kinds kinds;
    struct bats_past_place places[BATS_CLUSTERS_MAX];
    uint32_t n_places;
    struct bats_gather gather;
};

static bool is_named(const struct bats_view_result *result)
{
    return result->category != NULL &&
           strcmp(result->category, BATS_NO_CLASS) != 0;
}

static int take_time(struct reading *r, const struct bats_view_result *result,
                     struct bats_error *err)
{
    uint32_t place = 0;
    while (place < r->n_places &&
           strcmp(r->places[place].name, result->cluster) != 0)
        place++;
    if (place == BATS_CLUSTERS_MAX)
        return 0;
    if (place == r->n_places)
        snprintf(r->places[r->n_places++].name, BATS_CLUSTER_NAME, "%s",
                 result->cluster);
    uint32_t kind = is_named(result)
                        ? bats_task_kinds_named(&r->kinds, result->category)
                        : bats_task_kinds_number(&r->kinds, result->command);
    return kind == BATS_NO_KIND || bats_gather_note(&r->gather, kind, place,
                                                    result->seconds) < 0
               ? bats_no_memory(err)
               : 0;
}

/* Returns 1 if the session was added. */
static int add_session(struct bats_store *store, struct bats_view *view,
                       const struct bats_view_session *session,
                       struct bats_error *err)
{
    struct reading r = {.n_places = 0};
    struct bats_view_result *list;
    struct bats_texts texts = {0};
    size_t n;
    int rc = bats_store_has(store, session->run, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    rc = bats_view_results(view, session->id, &list, &n, &texts, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (!is_named(&list[i]) &&
            bats_task_kinds_see(&r.kinds, list[i].command) < 0)
            rc = bats_no_memory(err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = take_time(&r, &list[i], err);
    if (rc == 0)
        rc = bats_store_add(store, session->run, session->ended_s, &r.kinds,
                            r.places, &r.gather, err);
    free(list);
    bats_texts_release(&texts);
    bats_task_kinds_release(&r.kinds);
    bats_gather_release(&r.gather);
    return rc;
}

int bats_past_add_record(struct bats_store *store, const char *record,
                         bool scaled, struct bats_error *err)
{
    struct bats_view_session *sessions = NULL;
    struct bats_view *view;
    size_t n = 0;
    int added = 0, rc = bats_view_open(record, &view, err);
    if (rc < 0)
        return rc;
    rc = bats_view_sessions(view, &sessions, &n, err);
    for (size_t i = 0; rc >= 0 && i < n; i++) {
        bool is_real = sessions[i].time_scale == 1;
        if (sessions[i].run[0] == '\0' || (!is_real && !scaled))
            continue;
        rc = add_session(store, view, &sessions[i], err);
        added += rc > 0;
    }
    free(sessions);
    bats_view_close(view);
    return rc < 0 ? rc : added;
}
