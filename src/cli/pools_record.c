#include "cli/pools_record.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/answers.h"
#include "input/profile.h"
#include "record/read/view.h"
#include "util/grow.h"

/* From being sent to its end. */
struct execution {
    bats_time sent, end;
    enum { ANSWERED, LOST, GIVEN_UP, STOPPED } how;
};

struct pool {
    struct execution *list;
    size_t n, capacity;
    double asked; /* slots of machines that were asked for, */
    double there; /* of those that were there to the end, */
    double slots; /* of all */
    double charge; /* of all, a window */
};

/* Its tasks that have not ended yet are open. */
struct machine {
    char name[BATS_MACHINE_NAME];
    int pool;
    struct open {
        int64_t task;
        bats_time sent;
    } *open;
    size_t n, capacity;
};

struct reading {
    struct bats_view *view;
    struct bats_view_status status;
    struct bats_cluster clusters[BATS_CLUSTERS_MAX]; /* only unreliable,
                                                        noticed */
    bool is_free;
    bats_time noticed; /* bats_strategy_noticed */
    int64_t jobs; /* at a time; 0: machines are no jobs */
    struct machine *machines;
    size_t n_machines, machines_capacity;
    struct pool pools[2]; /* unreliable, reliable */
    bool *was_sent;       /* by task */
    bats_time *done_times; /* of tasks, ascending */
    size_t n_done_times;
    int64_t session;
    bats_time before; /* what the sessions before it took */
    bats_time latest; /* of the log, on one axis */
    bats_time waited; /* until then, tasks had not been sent yet */
};

/* ---- reading ---- */

static int no_memory(struct bats_error *err)
{
    return bats_error_set(err, BATS_ENOMEM, "out of memory");
}

static int read_options(struct reading *r, const char *path,
                        struct bats_error *err)
{
    char *text = NULL;
    int rc = bats_view_options(r->view, &text, err);
    if (rc < 0)
        return rc;
    json_t *o = json_loads(text, 0, NULL);
    const json_t *engine = json_object_get(o, "engine");
    const json_t *kinds = json_object_get(engine, "unreliable");
    const json_t *delays = json_object_get(engine, "noticed_us");
    bool any = false;
    for (size_t i = 0; i < json_array_size(kinds) && i < BATS_CLUSTERS_MAX;
         i++) {
        json_int_t kind = json_integer_value(json_array_get(kinds, i));
        r->clusters[i].unreliable = kind > 0;
        r->clusters[i].noticed = json_integer_value(json_array_get(delays, i));
        r->is_free |= kind > 1;
        any |= kind > 0;
    }
    r->noticed = bats_strategy_noticed(r->clusters, BATS_CLUSTERS_MAX);
    r->jobs = json_integer_value(
        json_object_get(json_object_get(engine, "billing"), "jobs"));
    json_decref(o);
    free(text);
    return any ? 0
               : bats_error_set(err, BATS_EINPUT,
                                "%s: the run had no cluster with reliable = "
                                "no",
                                path);
}

static size_t cluster_of(const struct reading *r, const char *name)
{
    size_t i = 0;
    while (i + 1 < r->status.n_clusters &&
           strcmp(r->status.clusters[i].name, name) != 0)
        i++;
    return i;
}

static int take_machine(struct reading *r, const struct bats_view_machine *m,
                        struct bats_error *err)
{
    int pool = r->clusters[cluster_of(r, m->cluster)].unreliable ? 0 : 1;
    struct pool *p = &r->pools[pool];
    double slots = (double)m->slots;
    p->slots += slots;
    p->charge += (double)m->charge;
    if (m->state != BATS_VIEW_NEVER)
        p->asked += slots;
    if (m->state != BATS_VIEW_LOST)
        p->there += slots;
    if (!bats_grow(&r->machines, &r->machines_capacity, r->n_machines + 1,
                   sizeof *r->machines))
        return no_memory(err);
    struct machine *to = &r->machines[r->n_machines++];
    *to = (struct machine){.pool = pool};
    snprintf(to->name, sizeof to->name, "%s", m->name);
    return 0;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct machine *)left)->name,
                  ((const struct machine *)right)->name);
}

static int read_machines(struct reading *r, struct bats_error *err)
{
    struct bats_view_machine m;
    int rc = bats_view_machines(r->view, err);
    while (rc == 0 && (rc = bats_view_next_machine(r->view, &m, err)) > 0)
        rc = take_machine(r, &m, err);
    if (rc == 0 && r->n_machines > 0)
        qsort(r->machines, r->n_machines, sizeof *r->machines, by_name);
    return rc < 0 ? rc : 0;
}

static struct machine *find_machine(const struct reading *r, const char *name)
{
    struct machine key;
    snprintf(key.name, sizeof key.name, "%s", name);
    return r->n_machines > 0 ? bsearch(&key, r->machines, r->n_machines,
                                       sizeof key, by_name)
                             : NULL;
}

static int begin(struct reading *r, struct machine *m, int64_t task,
                 struct bats_error *err)
{
    if (!bats_grow(&m->open, &m->capacity, m->n + 1, sizeof *m->open))
        return no_memory(err);
    m->open[m->n++] = (struct open){task, r->latest};
    if (task <= r->status.tasks && !r->was_sent[task]) {
        r->was_sent[task] = true;
        r->waited = r->latest;
    }
    return 0;
}

static int end(struct reading *r, struct machine *m, int64_t task, int how,
               struct bats_error *err)
{
    struct pool *p = &r->pools[m->pool];
    size_t i = 0;
    while (i < m->n && m->open[i].task != task)
        i++;
    if (i == m->n)
        return 0;
    if (!bats_grow(&p->list, &p->capacity, p->n + 1, sizeof *p->list))
        return no_memory(err);
    p->list[p->n++] =
        (struct execution){m->open[i].sent, r->latest, (unsigned)how};
    m->n--;
    memmove(&m->open[i], &m->open[i + 1], (m->n - i) * sizeof *m->open);
    return 0;
}

/* How an execution has ended; -1: the entry is of something else. */
static int find_end(const struct reading *r, const struct bats_view_entry *e)
{
    if (e->timed_out)
        return GIVEN_UP;
    if (strcmp(e->what, "lose") == 0)
        return LOST;
    if (strcmp(e->what, "done") == 0)
        return ANSWERED;
    if (strcmp(e->what, "superseded") == 0)
        return e->was_killed ? STOPPED : ANSWERED;
    if (strcmp(e->what, "preempted") == 0)
        return r->noticed > 0 ? LOST : STOPPED;
    return strcmp(e->what, "failed") == 0 ||
                   strcmp(e->what, "checkpointed") == 0
               ? STOPPED
               : -1;
}

static void next_session(struct reading *r, int64_t session)
{
    r->session = session;
    r->before = r->latest;
    for (size_t i = 0; i < r->n_machines; i++)
        r->machines[i].n = 0;
}

static int take_entry(struct reading *r, const struct bats_view_entry *e,
                      struct bats_error *err)
{
    struct machine *m = find_machine(r, e->machine);
    if (e->session != r->session)
        next_session(r, e->session);
    if (r->latest < r->before + e->time)
        r->latest = r->before + e->time;
    if (!m || e->task <= 0)
        return 0;
    if (strcmp(e->what, "run") == 0 || strcmp(e->what, "copy") == 0)
        return begin(r, m, e->task, err);
    int how = find_end(r, e);
    if (strcmp(e->what, "done") == 0 &&
        r->n_done_times < (size_t)r->status.tasks)
        r->done_times[r->n_done_times++] = r->latest;
    return how < 0 ? 0 : end(r, m, e->task, how, err);
}

static int read_log(struct reading *r, struct bats_error *err)
{
    struct bats_view_entry e;
    size_t n = (size_t)r->status.tasks + 1;
    r->was_sent = calloc(n, sizeof *r->was_sent);
    r->done_times = calloc(n, sizeof *r->done_times);
    if (!r->was_sent || !r->done_times)
        return no_memory(err);
    int rc = bats_view_log(r->view, NULL, 0, 0, err);
    while (rc == 0 && (rc = bats_view_next_entry(r->view, &e, err)) > 0)
        rc = take_entry(r, &e, err);
    return rc < 0 ? rc : 0;
}

/* ---- what follows from it ---- */

static double slots_of(const struct reading *r, int pool)
{
    const struct pool *p = &r->pools[pool];
    if (r->jobs == 0 || r->n_machines == 0)
        return p->there;
    return fmin(p->slots, (double)r->jobs * (r->pools[0].slots +
                                             r->pools[1].slots) /
                              (double)r->n_machines);
}

static double effective_size(const struct reading *r)
{
    const struct pool *p = &r->pools[0];
    double busy = 0, slots = slots_of(r, 0);
    for (size_t i = 0; i < p->n; i++)
        busy += fmax((double)(p->list[i].end < r->waited ? p->list[i].end
                                                         : r->waited) -
                         (double)p->list[i].sent,
                     0);
    if (busy <= 0 || p->asked <= 0)
        return slots;
    double size = busy / (double)r->waited;
    if (r->jobs == 0)
        size *= fmax(slots, p->asked) / p->asked;
    return fmax(fmin(round(size), p->slots), 1);
}

/* The executions before `now` as they were known then. For free(). */
static struct bats_instance *list_instances(const struct pool *p,
                                            bats_time now, size_t *n)
{
    struct bats_instance *list = malloc((p->n + 1) * sizeof *list);
    double sum = 0, answered = 0;
    *n = 0;
    for (size_t i = 0; i < p->n; i++) {
        bool counts = p->list[i].how == ANSWERED && p->list[i].end <= now;
        sum += counts ? (double)(p->list[i].end - p->list[i].sent) : 0;
        answered += counts;
    }
    double d = BATS_THROUGHPUT_D * sum / fmax(answered, 1);
    for (size_t i = 0; list && i < p->n; i++) {
        const struct execution *x = &p->list[i];
        bool is_over = x->end <= now, answers = is_over && x->how == ANSWERED;
        if (x->sent < now &&
            !(is_over && x->how == STOPPED && (double)(x->end - x->sent) < d))
            list[(*n)++] = (struct bats_instance){
                .sent = x->sent,
                .time = answers ? x->end - x->sent : -1,
                .ended = !is_over           ? 0
                         : x->end > x->sent ? x->end - x->sent
                                            : 1,
                .noticed = is_over && x->how == LOST};
    }
    return list;
}

/* When fewer tasks were left than the unreliable pool has slots. */
static bats_time tail_of(const struct reading *r, double slots)
{
    double at = (double)r->status.tasks - slots;
    return at < 0 || at >= (double)r->n_done_times ? BATS_NEVER
                                                   : r->done_times[(size_t)at];
}

/* False: no memory, or nothing has answered there. */
static bool find_answers(const struct reading *r, int pool, bats_time now,
                         bats_time d, struct bats_answers *a)
{
    size_t n;
    struct bats_instance *list = list_instances(&r->pools[pool], now, &n);
    bool ok =
        list &&
        (pool == 0 && r->noticed > 0
             ? bats_answers_noticed(list, n, now < r->latest ? now : r->latest,
                                    r->noticed, a)
             : bats_answers_find(list, n, now, d, a));
    free(list);
    return ok;
}

static bats_time longest(const struct pool *p, bats_time now)
{
    struct bats_answers a;
    size_t n;
    struct bats_instance *list = list_instances(p, now, &n);
    bats_time d = BATS_HOUR;
    if (list && bats_answers_find(list, n, BATS_NEVER, 0, &a)) {
        d = (bats_time)(BATS_THROUGHPUT_D * a.mean);
        free(a.times);
    }
    free(list);
    return d;
}

static void set_pool(const struct reading *r, int pool, double slots,
                     const struct bats_answers *a, struct bats_pools *pools)
{
    const struct pool *p = &r->pools[pool];
    if (pool == 0) {
        pools->model.n_unreliable = (uint32_t)slots;
        pools->model.gamma = a->gamma;
    } else {
        pools->model.n_reliable = (uint32_t)slots;
    }
    bats_pools_set(pools, pool, a->times, a->n_times);
    if (pool == 0 && r->noticed > 0)
        bats_pools_set_lost(pools, r->noticed, a->loses, a->lost, a->n_lost);
    else
        free(a->lost);
    bats_pools_set_charge(pools, pool,
                          (bats_money)llround(p->charge / p->slots *
                                              (double)BATS_HOUR /
                                              (double)r->status.window));
}

/* A reliable pool that was never used is taken to answer as the other one does.
 */
static int make_pools(struct reading *r, const char *path, bool is_online,
                      struct bats_pools *pools, struct bats_error *err)
{
    struct bats_answers a;
    double size[2] = {effective_size(r), slots_of(r, 1)};
    bats_time now = is_online ? tail_of(r, size[0]) : BATS_NEVER;
    bats_time d = longest(&r->pools[0], now);
    if (size[0] < 1 || !find_answers(r, 0, now, d, &a))
        return bats_error_set(err, BATS_EINPUT,
                              "%s: nothing has answered in the unreliable "
                              "clusters",
                              path);
    set_pool(r, 0, size[0], &a, pools);
    if (size[1] >= 1 &&
        (find_answers(r, 1, now, d, &a) || find_answers(r, 0, now, d, &a)))
        set_pool(r, 1, size[1], &a, pools);
    pools->model.n_tasks = (uint32_t)r->status.tasks;
    pools->model.lost_is_free = r->is_free;
    snprintf(pools->currency, sizeof pools->currency, "%.15s",
             r->status.currency);
    return 0;
}

static void release(struct reading *r)
{
    bats_view_close(r->view);
    for (size_t i = 0; i < r->n_machines; i++)
        free(r->machines[i].open);
    free(r->machines);
    free(r->was_sent);
    free(r->done_times);
    free(r->pools[0].list);
    free(r->pools[1].list);
}

int bats_pools_of_record(const char *path, bool is_online,
                         struct bats_pools *pools, struct bats_error *err)
{
    struct reading r = {.session = 0};
    *pools = (struct bats_pools){0};
    int rc = bats_view_open(path, &r.view, err);
    if (rc == 0)
        rc = bats_view_status(r.view, &r.status, err);
    if (rc == 0)
        rc = read_options(&r, path, err);
    if (rc == 0)
        rc = read_machines(&r, err);
    if (rc == 0)
        rc = read_log(&r, err);
    if (rc == 0)
        rc = make_pools(&r, path, is_online, pools, err);
    release(&r);
    return rc;
}

int bats_pools_keep(const char *record, const char *path,
                    struct bats_error *err)
{
    struct bats_profile profile = {.n_tasks = 0};
    struct bats_pools pools;
    int rc = bats_pools_of_record(record, false, &pools, err);
    if (rc == BATS_EINPUT) { /* there is nothing to keep */
        bats_pools_release(&pools);
        return 0;
    }
    if (rc == 0)
        rc = bats_profile_load(path, &profile, err);
    if (rc < 0) {
        bats_pools_release(&pools);
        return rc;
    }
    bats_pools_release(&profile.pools);
    profile.pools = pools;
    rc = bats_profile_save(&profile, path, err);
    bats_profile_release(&profile);
    return rc;
}
