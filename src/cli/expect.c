/* expect: what the history expects of a bag's tasks: their runtimes, memory
 * that they need not ask for, and the order of --order longest. See past.h. */
#include "cli/past.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bats/rules.h"
#include "cli/cli.h"
#include "input/clusters_file.h"
#include "input/workflow/names.h"
#include "record/read/view.h"
#include "report/words.h"
#include "util/grow.h"
#include "util/text.h"

/* ---- runtimes ---- */

/* The seconds that the model of its kind predicts for the point of task i; 0:
 * no prediction. */
static double explained(struct bats_learner *l, uint32_t i, uint32_t kind)
{
    double x[BATS_FACTORS];
    return l->models != NULL && l->models[kind].model.is_there &&
                   bats_bag_points_at(&l->points, i, x)
               ? bats_factors_at(&l->models[kind].model, x)
               : 0;
}

/* The expected runtime of the task that is visited, by its kind and its point
 * of a sweep, in microseconds of virtual time; 0: unknown. */
static double expected(struct bats_learner *l, const struct bats_tour *w)
{
    if (l->past.n_rows == 0)
        return 0;
    uint32_t kind = bats_learner_kind(l, w);
    double seconds = explained(l, w->i, kind);
    return (double)BATS_SECOND *
           (seconds > 0
                ? seconds
                : bats_history_last(&l->past, l->kinds.kinds.kind[kind].name));
}

/* ---- the longest tasks first ---- */

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

static void count(struct sum *sum, double time)
{
    sum->time += time;
    sum->n++;
}

static void add(struct past *past, const char *command, double time)
{
    bool is_new;
    uint32_t i = bats_names_add(&past->commands, command, &is_new);
    if (i == BATS_NO_NAME || !bats_grow(&past->sums, &past->room,
                                        past->commands.n, sizeof *past->sums))
        bats_have(NULL);
    if (is_new)
        past->sums[i] = (struct sum){0};
    count(&past->sums[i], time);
}

/* A record that cannot be read is ignored here: resuming it is refused
 * elsewhere. */
static void look_back(struct past *past, const char *record, double time_scale)
{
    struct bats_view *view = NULL;
    struct bats_view_task task;
    struct stat st;
    if (record == NULL || stat(record, &st) != 0 || st.st_size == 0 ||
        bats_view_open(record, &view, &bats_why) < 0)
        return;
    bats_must(bats_view_tasks(view, NULL, 0, NULL, BATS_VIEW_BY_NUMBER, 0,
                              &bats_why));
    while (bats_must(bats_view_next_task(view, &task, &bats_why)) > 0)
        if (task.wall_us > 0)
            add(past, task.command, (double)task.wall_us * time_scale);
    bats_view_close(view);
}

static void learn(struct entry *entries, const struct bats_bagfile *bag,
                  const struct past *past, struct bats_learner *learner)
{
    for (struct bats_tour w = bats_tour(bag, 0); bats_tour_next(&w);) {
        bats_time told = bats_bagfile_time(bag, w.i);
        uint32_t at = bats_names_find(&past->commands, w.command.bytes);
        double time = told > 0 ? (double)told
                      : at != BATS_NO_NAME
                          ? past->sums[at].time / past->sums[at].n
                          : expected(learner, &w);
        entries[w.i] = (struct entry){time > 0 ? time : -1, w.i};
    }
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

uint32_t *bats_learner_longest(struct bats_learner *l,
                               const struct bats_bagfile *bag,
                               const char *record, double time_scale,
                               uint32_t *known)
{
    uint32_t n = bag->n_tasks;
    struct past past = {0};
    struct entry *entries = bats_have(calloc(n, sizeof *entries));
    uint32_t *order = bats_have(malloc(n * sizeof *order));
    look_back(&past, record, time_scale);
    learn(entries, bag, &past, l);
    *known = guess(entries, bag);
    qsort(entries, n, sizeof *entries, compare);
    for (uint32_t i = 0; i < n; i++)
        order[i] = entries[i].task;
    bats_names_release(&past.commands);
    free(past.sums);
    free(entries);
    return order;
}
