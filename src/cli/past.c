#include "cli/past.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "record/read/results.h"
#include "report/words.h"
#include "site/batch_system.h"

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
    need.memory_kib = set->memory > 0 ? (set->memory - 1) / 1024 + 1 : 0;
    return need;
}

int bats_learner_init(struct bats_learner *l, const struct bats_settings *set,
                      const struct bats_bagfile *bag, const char *record,
                      struct bats_error *err)
{
    *l = (struct bats_learner){.path = bats_past_path(set),
                               .quiet = set->quiet,
                               .need = bats_past_need(set)};
    if (l->path == NULL)
        return 0;
    look_back(l, record, set->history != NULL);
    read_past(l);
    bats_bag_points_init(&l->points, bag);
    int rc = bats_bag_kinds_init(&l->kinds, bag, err);
    return rc < 0 ? rc : bats_learner_models(l, err);
}

void bats_learner_release(struct bats_learner *l)
{
    free(l->path);
    bats_bag_kinds_release(&l->kinds);
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
    uint32_t first = s->n_ranks > p->n_workers ? 1 : 0;
    for (size_t i = 0;
         i < p->n_workers && p->slot_of != NULL && i + first < s->n_ranks; i++)
        if (p->slot_of[i].machine < p->n_machines &&
            p->machines[p->slot_of[i].machine].cluster == cluster)
            return &s->nodes[i + first].hardware;
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

/* Asks for beliefs about the clusters in `places`. */
static bool believe(struct bats_learner *l,
                    const struct bats_cluster *clusters, size_t n)
{
    struct bats_error err;
    double charge[BATS_CLUSTERS_MAX];
    for (size_t i = 0; i < n; i++)
        charge[i] = (double)clusters[i].charge;
    free(l->believed.kinds);
    l->believed = (struct bats_believed){.bags = 0};
    l->believes = l->past.n_rows > 0 && bats_bag_kinds_count(&l->kinds) == 0 &&
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
    struct bats_need need = l->need;
    bats_bagfile_need(l->kinds.bag, e->task, &need);
    if (e->usage.max_rss_kib > 0)
        bats_gather_size(&l->gather, &(struct bats_past_size){
                                         .kind = kind,
                                         .asked_kib = need.memory_kib,
                                         .used_kib = e->usage.max_rss_kib,
                                         .cores = need.cores,
                                         .slots = machine->cores,
                                         .node_kib = machine->memory_kib,
                                         .tasks = 1,
                                         .seconds = seconds});
}

void bats_learner_note(struct bats_learner *l, const struct bats_execution *e)
{
    bool is_done = e->is_result && e->usage.exit_status == 0 &&
                   e->usage.signal == 0 && e->runtime > 0;
    if (l->path == NULL || !is_done)
        return;
    uint32_t kind = e->class != NULL
                        ? bats_task_kinds_named(&l->kinds.kinds, e->class)
                        : bats_bag_kinds_of(&l->kinds, e->task, e->command);
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
