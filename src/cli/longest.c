#include "cli/longest.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "bats/rules.h"
#include "input/workflow/names.h"
#include "record/read/view.h"
#include "util/grow.h"

struct sum {
    double time;
    uint32_t n;
};

struct entry {
    double time; /* < 0: unknown */
    uint32_t task;
};

/* The runtimes of earlier tasks, by their commands. */
struct past {
    struct bats_names commands;
    struct sum *sums;
    size_t room;
};

static int add(struct past *past, const char *command, double time)
{
    bool is_new;
    uint32_t i = bats_names_add(&past->commands, command, &is_new);
    if (i == BATS_NO_NAME || !bats_grow(&past->sums, &past->room,
                                        past->commands.n, sizeof *past->sums))
        return BATS_ENOMEM;
    if (is_new)
        past->sums[i] = (struct sum){0};
    past->sums[i].time += time;
    past->sums[i].n++;
    return 0;
}

/* A record that cannot be read is ignored here: resuming it is refused
 * elsewhere. */
static int look_back(struct past *past, const char *record, double time_scale,
                     struct bats_error *err)
{
    struct bats_view *view = NULL;
    struct bats_view_task task;
    struct stat st;
    if (record == NULL || stat(record, &st) != 0 || st.st_size == 0)
        return 0;
    if (bats_view_open(record, &view, err) < 0)
        return 0;
    int rc = bats_view_tasks(view, NULL, 0, NULL, BATS_VIEW_BY_NUMBER, 0, err);
    while (rc == 0 && (rc = bats_view_next_task(view, &task, err)) > 0)
        rc = task.wall_us > 0 && add(past, task.command,
                                     (double)task.wall_us * time_scale) < 0
                 ? bats_no_memory(err)
                 : 0;
    bats_view_close(view);
    return rc;
}

static int learn(struct entry *entries, const struct bats_bagfile *bag,
                 const struct past *past, struct bats_learner *learner)
{
    struct bats_text command = {0};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < bag->n_tasks; i++) {
        bats_time told = bats_bagfile_time(bag, i);
        entries[i] = (struct entry){told > 0 ? (double)told : -1, i};
        if (told > 0 || (past->commands.n == 0 && learner->past.n_rows == 0))
            continue;
        rc = bats_bagfile_command(bag, i, &command) < 0 ? BATS_ENOMEM : 0;
        uint32_t at = rc == 0 ? bats_names_find(&past->commands, command.bytes)
                              : BATS_NO_NAME;
        if (at != BATS_NO_NAME)
            entries[i].time = past->sums[at].time / past->sums[at].n;
        double kind = rc == 0 && at == BATS_NO_NAME
                          ? bats_learner_task(learner, i, command.bytes)
                          : 0;
        if (kind > 0)
            entries[i].time = kind;
    }
    bats_text_release(&command);
    return rc;
}

static void count(struct sum *sum, double time)
{
    sum->time += time;
    sum->n++;
}

/* Gives each task without a known runtime the mean of its kind. Returns the
 * number of known ones. */
static uint32_t guess(struct entry *entries, const struct bats_bagfile *bag)
{
    static const struct sum none;
    uint32_t n = bag->n_tasks;
    const uint16_t *kind = bag->category;
    struct sum all = none, kinds[BATS_CATEGORIES_MAX] = {none};
    for (uint32_t i = 0; i < n; i++)
        if (entries[i].time >= 0) {
            count(&all, entries[i].time);
            if (kind != NULL)
                count(&kinds[kind[i]], entries[i].time);
        }
    for (uint32_t i = 0; i < n; i++)
        if (entries[i].time < 0) {
            const struct sum *sum =
                kind != NULL && kinds[kind[i]].n > 0 ? &kinds[kind[i]] : &all;
            entries[i].time = sum->n > 0 ? sum->time / sum->n : 0;
        }
    return all.n;
}

static int compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->time != b->time)
        return a->time > b->time ? -1 : 1;
    return a->task < b->task ? -1 : 1;
}

int bats_longest(const struct bats_bagfile *bag, const char *record,
                 double time_scale, struct bats_learner *learner,
                 uint32_t **order, uint32_t *known, struct bats_error *err)
{
    uint32_t n = bag->n_tasks;
    struct past past = {0};
    struct entry *entries = calloc(n, sizeof *entries);
    *order = malloc(n * sizeof **order);
    int rc = entries != NULL && *order != NULL
                 ? look_back(&past, record, time_scale, err)
                 : bats_no_memory(err);
    if (rc == 0 && learn(entries, bag, &past, learner) < 0)
        rc = bats_no_memory(err);
    if (rc == 0) {
        *known = guess(entries, bag);
        qsort(entries, n, sizeof *entries, compare);
    }
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        (*order)[i] = entries[i].task;
    bats_names_release(&past.commands);
    free(past.sums);
    free(entries);
    return rc;
}
