#include "cli/past.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/cli.h"
#include "input/sweep/sweep.h"
#include "record/read/view.h"
#include "report/words.h"
#include "site/batch_system.h"
#include "util/encode.h"
#include "util/text.h"

/* Most commands and points of a bag that are checked. */
#define KINDS_SEEN 10000
#define POINTS_SEEN 1000

char *bats_past_path(const struct bats_settings *set)
{
    const char *named = getenv("BATS_HISTORY");
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    bool is_real = set->run.time_scale == 0 || set->run.time_scale == 1;
    if (set->no_history)
        return NULL;
    if (set->history != NULL)
        return strdup(set->history);
    if (!is_real || (named != NULL && *named == '\0'))
        return NULL;
    if (named != NULL)
        return strdup(named);
    if (state != NULL && state[0] == '/') {
        if (asprintf(&path, "%s/bats-mpi/history.db", state) < 0)
            return NULL;
    } else if (home != NULL && home[0] == '/') {
        if (asprintf(&path, "%s/.local/state/bats-mpi/history.db", home) < 0)
            return NULL;
    }
    return path;
}

/* ---- the tasks of a bag ---- */

struct bats_tour bats_tour(const struct bats_bagfile *bag, uint32_t most)
{
    uint32_t every = most > 0 ? bag->n_tasks / most + 1 : 1;
    return (struct bats_tour){.bag = bag, .i = -every, .every = every};
}

bool bats_tour_next(struct bats_tour *w)
{
    w->i += w->every;
    if (w->i >= w->bag->n_tasks) {
        bats_text_release(&w->command);
        return false;
    }
    if (bats_bagfile_command(w->bag, w->i, &w->command) < 0)
        bats_have(NULL);
    return true;
}

static bool has_class(const struct bats_bag_kinds *k, uint32_t i)
{
    return k->of_category != NULL &&
           k->of_category[k->bag->category[i]] != BATS_NO_KIND;
}

static void init_kinds(struct bats_bag_kinds *k,
                       const struct bats_bagfile *bag)
{
    uint32_t n = bag->n_categories;
    k->bag = bag;
    if (bag->category != NULL)
        k->of_category =
            bats_have(malloc((n + (size_t)1) * sizeof *k->of_category));
    for (uint32_t i = 0; k->of_category != NULL && i < n; i++)
        k->of_category[i] =
            strcmp(bag->category_names[i], BATS_NO_CLASS) != 0
                ? bats_task_kinds_named(&k->kinds, bag->category_names[i])
                : BATS_NO_KIND;
    for (struct bats_tour w = bats_tour(bag, KINDS_SEEN); bats_tour_next(&w);)
        if (!has_class(k, w.i) &&
            bats_task_kinds_see(&k->kinds, w.command.bytes) < 0)
            bats_have(NULL);
}

/* The kind of task i, which has this command. BATS_NO_KIND: no memory. */
static uint32_t kind_of(struct bats_bag_kinds *k, uint32_t i,
                        const char *command)
{
    return has_class(k, i) ? k->of_category[k->bag->category[i]]
                           : bats_task_kinds_number(&k->kinds, command);
}

uint32_t bats_learner_kind(struct bats_learner *l,
                           const struct bats_tour *walk)
{
    uint32_t kind = kind_of(&l->kinds, walk->i, walk->command.bytes);
    if (kind == BATS_NO_KIND)
        bats_have(NULL);
    return kind;
}

/* Counts the tasks of each kind in a sample of the bag. */
static void count(struct bats_learner *l)
{
    for (size_t i = 0; i < l->kinds.kinds.n; i++)
        l->kinds.kinds.kind[i].tasks = 0;
    for (struct bats_tour w = bats_tour(l->kinds.bag, KINDS_SEEN);
         bats_tour_next(&w);) {
        uint32_t kind = bats_learner_kind(l, &w);
        if (has_class(&l->kinds, w.i))
            l->kinds.kinds.kind[kind].tasks++;
    }
}

static bool number_at(const struct bats_sweep *sweep, uint32_t i,
                      size_t column, double *x)
{
    size_t n;
    char *end;
    const char *const *values = bats_sweep_values(sweep, i, &n);
    if (values == NULL || column >= n)
        return false;
    *x = strtod(values[column], &end);
    return end != values[column] && *end == '\0' && isfinite(*x);
}

static bool is_factor(const struct bats_bagfile *bag, size_t column)
{
    double first, x;
    bool differs = false;
    uint32_t every = bag->n_tasks / POINTS_SEEN + 1;
    if (!number_at(bag->sweep, 0, column, &first))
        return false;
    for (uint32_t i = 0; i < bag->n_tasks; i += every) {
        if (!number_at(bag->sweep, i, column, &x))
            return false;
        differs |= x != first;
    }
    return differs;
}

/* Finds the first parameters that are numbers and vary. */
static void init_points(struct bats_bag_points *p,
                        const struct bats_bagfile *bag)
{
    p->bag = bag;
    if (bag->sweep == NULL)
        return;
    for (size_t k = 0; k < bag->sweep->width && p->n < BATS_FACTORS; k++) {
        const char *name = bats_points_name(&bag->sweep->points, k);
        char clean[BATS_PAST_NAMES / BATS_FACTORS - 1];
        size_t used = strlen(p->names);
        if (!is_factor(bag, k))
            continue;
        snprintf(clean, sizeof clean, "p%zu", k + 1);
        if (name != NULL)
            bats_encode(BATS_ENCODE_UNICODE, clean, sizeof clean, name);
        snprintf(p->names + used, sizeof p->names - used, "%s%s",
                 used > 0 ? "," : "", clean);
        p->column[p->n++] = k;
    }
}

bool bats_bag_points_at(const struct bats_bag_points *p, uint32_t i, double *x)
{
    for (uint32_t k = 0; k < p->n; k++)
        if (!number_at(p->bag->sweep, i, p->column[k], &x[k]))
            return false;
    return p->n > 0;
}

/* Mean and variation of each model over the points of the bag. */
static void see_points(struct bats_learner *l)
{
    double x[BATS_FACTORS];
    double *n = bats_have(calloc(l->kinds.kinds.n + 1, sizeof *n));
    for (struct bats_tour w = bats_tour(l->points.bag, KINDS_SEEN);
         bats_tour_next(&w);) {
        uint32_t k = bats_learner_kind(l, &w);
        if (!bats_bag_points_at(&l->points, w.i, x))
            continue;
        struct bats_past_model *m = &l->models[k];
        double t = bats_factors_at(&m->model, x);
        n[k]++;
        m->mean += t;
        m->cv += t * t;
    }
    for (size_t k = 0; k < l->kinds.kinds.n; k++) {
        struct bats_past_model *m = &l->models[k];
        m->mean /= fmax(n[k], 1);
        m->cv = sqrt(fmax(m->cv / fmax(n[k], 1) - m->mean * m->mean, 0)) /
                fmax(m->mean, 1e-300);
        m->model.is_there &= n[k] > 0;
    }
    free(n);
}

static void fit_models(struct bats_learner *l)
{
    if (l->points.n == 0 || l->past.n_rows == 0)
        return;
    count(l);
    l->models = bats_have(calloc(l->kinds.kinds.n + 1, sizeof *l->models));
    bats_must(bats_history_models(&l->past, &l->kinds.kinds, l->points.names,
                                  l->models, &bats_why));
    see_points(l);
}

/* ---- a run ---- */

static void warn(struct bats_learner *l, const struct bats_error *err)
{
    if (!l->quiet)
        bats_words_line(stderr, "bats-mpi: the history is not used: %s",
                        err->text);
    free(l->path);
    l->path = NULL;
}

/* Ignores a file that is not a record, or one of another version. */
static void look_back(struct bats_learner *l, const char *record, bool scaled)
{
    struct bats_store *store;
    struct bats_error err, none;
    struct bats_view *view;
    struct stat st;
    if (record == NULL || stat(record, &st) != 0 || st.st_size == 0 ||
        bats_view_open(record, &view, &none) < 0)
        return;
    bats_view_close(view);
    int rc = bats_store_open(l->path, true, &store, &err);
    if (rc == 0)
        rc = bats_past_add_record(store, record, scaled, &err);
    if (rc < 0)
        warn(l, &err);
    if (rc >= 0 || store != NULL)
        bats_store_close(store);
}

static void read_past(struct bats_learner *l)
{
    struct bats_store *store = NULL;
    struct bats_error err;
    int rc =
        l->path != NULL ? bats_store_open(l->path, false, &store, &err) : 0;
    if (rc == 0 && store != NULL)
        rc = bats_store_read(store, &l->past, &err);
    bats_store_close(store);
    if (rc < 0)
        warn(l, &err);
}

struct bats_need bats_past_need(const struct bats_settings *set)
{
    struct bats_need need = set->run.need;
    need.cores = need.cores > 0 ? need.cores : 1;
    need.limit = set->run.engine.rules.timeout;
    return need;
}

void bats_learner_init(struct bats_learner *l, const struct bats_settings *set,
                       const struct bats_bagfile *bag, const char *record)
{
    *l = (struct bats_learner){.path = bats_past_path(set),
                               .quiet = set->quiet,
                               .need = bats_past_need(set)};
    if (l->path == NULL)
        return;
    look_back(l, record, set->history != NULL);
    read_past(l);
    init_points(&l->points, bag);
    init_kinds(&l->kinds, bag);
    fit_models(l);
}

void bats_learner_release(struct bats_learner *l)
{
    free(l->path);
    bats_task_kinds_release(&l->kinds.kinds);
    free(l->kinds.of_category);
    bats_gather_release(&l->gather);
    bats_store_release(&l->past);
    free(l->believed.kinds);
    free(l->models);
    *l = (struct bats_learner){.path = NULL};
}

/* The hardware of the rank of the cluster's first machine. */
static const struct bats_hardware *hardware_of(const struct bats_survey *s,
                                               size_t cluster)
{
    const struct bats_platform *p = &s->platform;
    for (size_t i = 0;
         i < p->n_workers && p->slot_of != NULL && i + 1 < s->n_ranks; i++)
        if (p->slot_of[i].machine < p->n_machines &&
            p->machines[p->slot_of[i].machine].cluster == cluster)
            return &s->nodes[i + 1].hardware;
    return NULL;
}

void bats_learner_meet(struct bats_learner *l, const struct bats_survey *s)
{
    const char *site = bats_batch_site();
    for (size_t i = 0; i < s->platform.n_clusters; i++) {
        struct bats_past_place *place = &l->places[i];
        const struct bats_hardware *h = hardware_of(s, i);
        snprintf(place->name, sizeof place->name, "%s",
                 s->platform.clusters[i].name);
        if (h != NULL && h->model[0] != '\0')
            snprintf(place->hardware, sizeof place->hardware,
                     "%.80s, %u cores", h->model, h->cores);
        snprintf(place->site, sizeof place->site, "%s", site);
    }
    for (uint32_t i = s->platform.n_machines; i-- > 0;)
        l->stocks[s->platform.machines[i].cluster] =
            s->stocks != NULL
                ? s->stocks[i]
                : (struct bats_stock){.cores = s->platform.machines[i].slots};
}

/* ---- what is believed ---- */

static bool believe(struct bats_learner *l,
                    const struct bats_cluster *clusters, size_t n)
{
    struct bats_error err;
    double charge[BATS_CLUSTERS_MAX];
    for (size_t i = 0; i < n; i++)
        charge[i] = (double)clusters[i].charge;
    free(l->believed.kinds);
    l->believed = (struct bats_believed){.bags = 0};
    if (l->past.n_rows > 0)
        count(l);
    l->believes = l->past.n_rows > 0 &&
                  bats_history_believe(&l->past, l->places, charge, n,
                                       &l->kinds.kinds, l->points.names,
                                       l->models, &l->believed, &err) > 0;
    l->n_clusters = n;
    return l->believes;
}

bool bats_learner_believe(void *context, const struct bats_survey *survey,
                          struct bats_prior *prior)
{
    struct bats_learner *l = context;
    const struct bats_platform *p = &survey->platform;
    bats_learner_meet(l, survey);
    if (!believe(l, p->clusters, p->n_clusters))
        return false;
    *prior = l->believed.prior;
    return true;
}

bool bats_learner_expect(struct bats_learner *l,
                         const struct bats_cluster *clusters,
                         size_t n_clusters)
{
    for (size_t i = 0; i < n_clusters; i++) {
        l->places[i] = (struct bats_past_place){.name = ""};
        strcpy(l->places[i].name, clusters[i].name);
    }
    return believe(l, clusters, n_clusters);
}

double bats_past_factor(double deviation)
{
    return exp(1.28 * deviation);
}

/* Writes "4m10s, 2m to 8m". */
static void put_range(char *text, size_t size, const struct bats_prior *p,
                      size_t cluster)
{
    double own = p->own[cluster];
    double factor = bats_past_factor(sqrt(p->level * p->level + own * own));
    snprintf(text, size, "%s, %s to %s",
             bats_words_makespan(p->mean[cluster]).s,
             bats_words_makespan(p->mean[cluster] / factor).s,
             bats_words_makespan(p->mean[cluster] * factor).s);
}

const char *bats_learner_words(const struct bats_learner *l, char *text,
                               size_t size)
{
    const struct bats_prior *p = &l->believed.prior;
    char range[4 * sizeof(struct bats_phrase)];
    size_t best = 0, n = 0;
    text[0] = '\0';
    if (!l->believes)
        return text;
    for (size_t i = 1; i < l->n_clusters; i++)
        best = p->mean[i] < p->mean[best] ? i : best;
    const char *name = l->places[best].name;
    if (isfinite(p->level)) {
        put_range(range, sizeof range, p, best);
        n = (size_t)snprintf(
            text, size, "from %" PRIu32 " earlier bag%s: %s on %s",
            l->believed.bags, l->believed.bags == 1 ? "" : "s", range, name);
    } else {
        n = (size_t)snprintf(text, size, "from bags of other kinds: %s is",
                             name);
    }
    const char *between = isfinite(p->level) ? ";" : "";
    for (size_t i = 0; i < l->n_clusters && n < size; i++)
        if (i != best) {
            n += (size_t)snprintf(
                text + n, size - n, "%s %.3g times as fast as %s", between,
                p->mean[i] / p->mean[best], l->places[i].name);
            between = ",";
        }
    return text;
}

const char *bats_learner_outcome(const struct bats_learner *l,
                                 const struct bats_sched *sched, char *text,
                                 size_t size)
{
    struct bats_cluster_status status, most = {.done = 0};
    char range[4 * sizeof(struct bats_phrase)];
    size_t which = 0;
    text[0] = '\0';
    for (size_t i = 0; l->believes && i < l->n_clusters; i++) {
        bats_sched_cluster_status(sched, i, &status);
        if (status.done > most.done) {
            most = status;
            which = i;
        }
    }
    if (most.done == 0 || !isfinite(l->believed.prior.level))
        return text;
    put_range(range, sizeof range, &l->believed.prior, which);
    snprintf(text, size, "the history expected %s, of a task on %s: it was %s",
             range, l->places[which].name,
             bats_words_makespan(most.mean_runtime).s);
    return text;
}

static void note_size(struct bats_learner *l, const struct bats_execution *e,
                      uint32_t kind, double seconds)
{
    const struct bats_stock *machine = &l->stocks[e->cluster];
    bats_time limit = e->need.limit > 0 ? e->need.limit : l->need.limit;
    bats_gather_size(&l->gather,
                     &(struct bats_past_size){.kind = kind,
                                              .asked_kib = e->need.memory_kib,
                                              .used_kib = e->usage.max_rss_kib,
                                              .cores = e->need.cores,
                                              .slots = machine->cores,
                                              .node_kib = machine->memory_kib,
                                              .tasks = 1,
                                              .seconds = seconds,
                                              .limit_s = (double)limit /
                                                         (double)BATS_SECOND,
                                              .most_s = seconds});
}

void bats_learner_note(struct bats_learner *l, const struct bats_execution *e)
{
    bool is_done = e->is_result && e->usage.exit_status == 0 &&
                   e->usage.signal == 0 && e->runtime > 0;
    if (l->path == NULL || !is_done)
        return;
    uint32_t kind = e->class != NULL
                        ? bats_task_kinds_named(&l->kinds.kinds, e->class)
                        : kind_of(&l->kinds, e->task, e->command);
    double x[BATS_FACTORS], s = (double)e->runtime / (double)BATS_SECOND;
    if (kind == BATS_NO_KIND)
        return;
    bats_gather_note(&l->gather, kind, e->cluster, s);
    note_size(l, e, kind, s);
    if (bats_bag_points_at(&l->points, e->task, x))
        bats_gather_point(&l->gather, kind, e->cluster, e->task,
                          l->points.names, x, l->points.n, s);
}

void bats_learner_end(struct bats_learner *l, const char *run)
{
    struct bats_store *store;
    struct bats_error err;
    if (l->path == NULL || l->gather.n == 0)
        return;
    int rc = bats_store_open(l->path, true, &store, &err);
    if (rc == 0)
        rc = bats_store_add(store, run, time(NULL), &l->kinds.kinds, l->places,
                            &l->gather, &err);
    bats_store_close(store);
    if (rc < 0)
        warn(l, &err);
}

/* ---- adding a record ---- */

struct reading {
    struct bats_task_kinds kinds;
    struct bats_past_place places[BATS_CLUSTERS_MAX];
    uint32_t n_places;
    struct bats_gather gather;
};

static bool is_named(const struct bats_view_result *result)
{
    return result->category[0] != '\0' &&
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
