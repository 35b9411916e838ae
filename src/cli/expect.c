/* expect: what the history expects of a bag's tasks: their runtimes, memory
 * and time that they need not ask for, and the order of --order longest. See
 * past.h. */
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

#define WORTHWHILE 0.95 /* of a time limit: a proposal must be shorter */
#define SEEN 100000     /* most tasks of the bag that are looked at */

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

/* The same on a cluster with a belief. */
static double expected_on(struct bats_learner *l, const struct bats_tour *w,
                          size_t cluster)
{
    if (!l->believes)
        return 0;
    uint32_t kind = bats_learner_kind(l, w);
    double seconds = explained(l, w->i, kind);
    double mean = l->believed.kinds[kind].mean[cluster];
    return isfinite(l->believed.kinds[kind].level)
               ? mean * (seconds > 0 ? seconds / l->models[kind].mean : 1)
               : 0;
}

/* A task pays for its share of a machine: one of as many as run there at the
 * same time. 0: it does not fit. */
static uint32_t sharers(const struct bats_learner *l, uint32_t task,
                        const struct bats_model *model)
{
    struct bats_need need = l->need;
    struct bats_stock stock = model->stock;
    stock.cores = stock.cores > 0 ? stock.cores : 1;
    bats_bagfile_need(l->kinds.bag, task, &need);
    return bats_need_room(&stock, &need);
}

/* A window of a cluster is charged per machine. */
void bats_learner_list(FILE *out, struct bats_learner *l,
                       const struct bats_clusters_file *file)
{
    const struct bats_cluster_section *sections = file->sections;
    fputs("task", out);
    for (size_t c = 0; c < l->n_clusters; c++)
        fprintf(out, "\t%s_s\t%s_cost", sections[c].model.cluster.name,
                sections[c].model.cluster.name);
    fputs("\tcommand\n", out);
    for (struct bats_tour w = bats_tour(l->points.bag, 0);
         bats_tour_next(&w);) {
        fprintf(out, "%" PRIu64, (uint64_t)w.i + 1);
        for (size_t c = 0; c < l->n_clusters; c++) {
            uint32_t n = sharers(l, w.i, &sections[c].model);
            double time = expected_on(l, &w, c);
            double price = time / (double)file->window *
                           (double)sections[c].model.cluster.charge;
            if (time > 0 && n > 0)
                fprintf(out, "\t%.4g\t%.4g", time / (double)BATS_SECOND,
                        price / n / (double)BATS_UNIT);
            else
                fputs("\t\t", out);
        }
        putc('\t', out);
        bats_words_put(out, BATS_ENCODE_UNICODE, w.command.bytes);
        putc('\n', out);
    }
}

/* ---- memory and time ---- */

/* The tasks of a kind in the bag. */
struct kind {
    double tasks;
    int64_t asked_kib; /* the most that any asks for; 0: none */
};

/* The cluster whose machines charge least, and its charge per machine-second,
 * in millionths; the machines have so many slots. */
static size_t cheapest(const struct bats_clusters_file *file, int64_t slots,
                       double *price)
{
    size_t best = 0;
    *price = INFINITY;
    for (size_t i = 0; i < file->n_sections; i++) {
        double here = (double)file->sections[i].model.cluster.charge /
                      ((double)file->window / (double)BATS_SECOND) *
                      (file->sections[i].by_node ? 1 : (double)slots);
        if (here < *price) {
            *price = here;
            best = i;
        }
    }
    return best;
}

static struct bats_phrase size_of(int64_t kib)
{
    struct bats_phrase p;
    int64_t unit = kib >= 10 << 20 ? 1 << 20 : kib >= 10 << 10 ? 1 << 10 : 1;
    char text[BATS_UNITS_TEXT];
    snprintf(p.s, sizeof p.s, "%s",
             bats_size_format(text, (kib + unit - 1) / unit * unit * 1024));
    return p;
}

/* "8G: 212 SU; 4G with 3 % tried again: 131 SU" */
static void propose(const struct bats_learner *l,
                    const struct bats_clusters_file *file, const char *name,
                    uint32_t past_kind, const struct kind *kind, double factor,
                    struct bats_text *text)
{
    struct bats_size_choice best;
    int64_t slots = 1;
    double price;
    if (!bats_size_best(l->past.sizes, l->past.n_sizes, past_kind,
                        kind->asked_kib, factor, &best))
        return;
    for (size_t i = 0; i < l->past.n_sizes; i++)
        if (l->past.sizes[i].kind == past_kind &&
            l->past.sizes[i].slots > slots)
            slots = l->past.sizes[i].slots;
    size_t c = cheapest(file, slots, &price);
    bats_money before = (bats_money)llround(best.now * price * kind->tasks);
    bats_money after = (bats_money)llround(best.cost * price * kind->tasks);
    bats_text_format(
        text, "memory of %s, on %s: %s: %s; %s", name,
        file->sections[c].model.cluster.name, size_of(kind->asked_kib).s,
        bats_words_money(before, file->currency).s, size_of(best.kib).s);
    if (best.again > 0)
        bats_text_format(text, " with %.2g %% tried again", 100 * best.again);
    bats_text_format(text, ": %s\n",
                     bats_words_money(after, file->currency).s);
}

/* "time of fit.py: 2h; 21m, a twentieth more than the longest of 212 tasks, on
 * whatever cluster": a limit holds on all. `limit` is 0 if the tasks ask for
 * what those of the last bag asked for. */
static void propose_time(const struct bats_past *past, uint32_t kind,
                         bats_time limit, struct bats_text *text)
{
    char asked[BATS_UNITS_TEXT], enough[BATS_UNITS_TEXT];
    double most = 0;
    int64_t tasks = 0;
    for (size_t i = 0; i < past->n_sizes; i++)
        if (past->sizes[i].kind == kind) {
            const struct bats_past_size *size = &past->sizes[i];
            tasks += size->tasks;
            most = ceil(size->most_s * BATS_SIZE_SPARE) * (double)BATS_SECOND;
            if (limit == 0)
                limit = llround(size->limit_s * (double)BATS_SECOND);
        }
    if (tasks == 0 || most > WORTHWHILE * (double)limit)
        return;
    bats_text_format(
        text,
        "time of %s: %s; %s, a twentieth more than the longest of %" PRId64
        " task%s, on whatever cluster\n",
        past->kinds[kind], bats_duration_format(asked, limit),
        bats_duration_format(enough, llround(most)), tasks,
        tasks == 1 ? "" : "s");
}

void bats_learner_sizes(struct bats_learner *l,
                        const struct bats_clusters_file *file, double factor,
                        struct bats_text *text)
{
    const struct bats_bagfile *bag = l->kinds.bag;
    uint32_t n = (uint32_t)l->kinds.kinds.n;
    if (l->past.n_sizes == 0)
        return;
    struct kind *kinds = bats_have(calloc(n + 1, sizeof *kinds));
    for (struct bats_tour w = bats_tour(bag, SEEN); bats_tour_next(&w);) {
        struct bats_need need = l->need;
        uint32_t k = bats_learner_kind(l, &w);
        if (k >= n)
            continue;
        bats_bagfile_need(bag, w.i, &need);
        kinds[k].tasks += w.every;
        if (need.memory_kib > kinds[k].asked_kib)
            kinds[k].asked_kib = need.memory_kib;
    }
    for (size_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < l->past.n_kinds; i++)
            if (kinds[k].tasks > 0 &&
                strcmp(l->past.kinds[i], l->kinds.kinds.kind[k].name) == 0) {
                if (kinds[k].asked_kib > 0)
                    propose(l, file, l->past.kinds[i], i, &kinds[k], factor,
                            text);
                propose_time(&l->past, i, l->need.limit, text);
            }
    free(kinds);
    bats_must(bats_text_check(text, &bats_why));
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
