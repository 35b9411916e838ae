/* open: see request.h. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/history.h"
#include "cli/request.h"
#include "record/write/record.h"
#include "util/grow.h"

#define ROOM ((uint32_t)1 << 20) /* tasks, unless more are expected */

/* The socket is next to the record. */
int bats_open_bag_announce(const struct bats_settings *set,
                           struct bats_error *err)
{
    char own[4096] = "", *path;
    const char *record = set->record != NULL ? set->record : set->bag;
    if (record[0] != '/' && getcwd(own, sizeof own) == NULL)
        own[0] = '\0';
    if (asprintf(&path, "%s%s%s%s.sock", own, own[0] != '\0' ? "/" : "",
                 record, set->record != NULL ? "" : ".bats") < 0)
        return bats_no_memory(err);
    int rc = setenv("BATS_SOCKET", path, 1);
    free(path);
    return rc == 0 ? 0 : bats_no_memory(err);
}

struct loader {
    struct bats_bagfile *bag;
    struct bats_open_bag *open;
};

static int take(void *context, const char *command, const char *given,
                struct bats_error *err)
{
    struct loader *l = context;
    struct bats_open_bag *open = l->open;
    if (!bats_grow(&open->given, &open->room, open->n + 1,
                   sizeof *open->given) ||
        (given != NULL && (given = strdup(given)) == NULL))
        return bats_no_memory(err);
    open->given[open->n++] = (char *)given;
    return bats_bagfile_add(l->bag, command, err);
}

static void load_earlier(const struct bats_settings *set, struct loader *l)
{
    struct bats_record *record;
    char *path = bats_history_path(set);
    if (access(path, F_OK) == 0) {
        bats_must(bats_record_open(path, &record, &bats_why));
        int rc = bats_record_submitted(record, take, l, &bats_why);
        bats_record_abandon(record);
        bats_must(rc);
    }
    free(path);
}

void bats_open_bag_load(const struct bats_settings *set,
                        struct bats_bagfile **bag, struct bats_open_bag *open)
{
    uint32_t room = set->in_all > ROOM ? (uint32_t)set->in_all : ROOM;
    bats_must(bats_bagfile_open(set->bag, room, bag, &bats_why));
    if (bats_history_resumes(set))
        load_earlier(set, &(struct loader){*bag, open});
    open->is = (struct bats_run_open){.bag = *bag,
                                      .socket = getenv("BATS_SOCKET"),
                                      .driver = set->driver,
                                      .idle_us = set->idle,
                                      .in_all = (uint32_t)set->in_all,
                                      .given = open->given};
}

void bats_open_bag_release(struct bats_open_bag *open)
{
    for (size_t i = 0; i < open->n; i++)
        free(open->given[i]);
    free(open->given);
}
