#include "run/needs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/crew.h"
#include "run/engine_options.h"
#include "run/joining.h"
#include "run/survey.h"

/* ---- tasks ---- */

struct bats_need bats_needs_of(const struct bats_run_options *o, uint32_t task)
{
    struct bats_need need = o->need;
    if (need.cores == 0)
        need.cores = 1;
    bats_bagfile_need(o->bag, task, &need);
    return need;
}

static bool is_need(const struct bats_need *need)
{
    return need->cores > 1 || need->gpus > 0 || need->memory_kib > 0;
}

bool bats_needs_any(const struct bats_run_options *o)
{
    if (o->bag == NULL)
        return false;
    struct bats_need most = bats_bagfile_most(o->bag);
    return o->open != NULL || is_need(&o->need) || is_need(&most);
}

struct bats_need bats_needs_most(const struct bats_run_options *o)
{
    struct bats_need most = {.cores = 1};
    for (uint32_t i = 0; i < o->bag->n_tasks; i++) {
        struct bats_need need = bats_needs_of(o, i);
        if (need.cores > most.cores)
            most.cores = need.cores;
        if (need.gpus > most.gpus)
            most.gpus = need.gpus;
        if (need.memory_kib > most.memory_kib)
            most.memory_kib = need.memory_kib;
    }
    return most;
}

/* Memory such as 1536M, rounded up to MiB. */
static void memory_text(char text[BATS_UNITS_TEXT], int64_t kib)
{
    bats_size_format(text, ((kib - 1) / 1024 + 1) * 1024 * 1024);
}

void bats_need_format(char *text, size_t size, const struct bats_need *need)
{
    char memory[BATS_UNITS_TEXT];
    bool has_cores = need->cores > 1 || !is_need(need);
    bool has_memory = need->memory_kib > 0;
    *text = '\0';
    if (has_cores)
        bats_append(text, size, "%" PRIu32 " core%s", need->cores,
                    need->cores == 1 ? "" : "s");
    if (need->gpus > 0)
        bats_append(text, size, "%s%" PRIu32 " GPU%s",
                    !has_cores   ? ""
                    : has_memory ? ", "
                                 : " and ",
                    need->gpus, need->gpus == 1 ? "" : "s");
    memory_text(memory, need->memory_kib);
    if (has_memory)
        bats_append(text, size, "%s%s of memory",
                    has_cores || need->gpus > 0 ? " and " : "", memory);
}

/* ---- lists of GPUs ---- */

/* Moves *at to the next name and returns its length; 0: the end. */
static size_t next_gpu(const char **at)
{
    *at += strspn(*at, ", ");
    return strcspn(*at, ", ");
}

size_t bats_gpus_count(const char *list)
{
    size_t n = 0;
    for (size_t k; (k = next_gpu(&list)) > 0; list += k)
        n++;
    return n;
}

static bool has_name(const char *list, const char *name, size_t n)
{
    for (size_t k; (k = next_gpu(&list)) > 0; list += k)
        if (k == n && strncmp(list, name, n) == 0)
            return true;
    return false;
}

void bats_gpus_number(struct bats_text *names, uint32_t n)
{
    bats_text_cut(names, 0);
    for (uint32_t k = 0; k < n; k++)
        bats_text_format(names, "%s%" PRIu32, k > 0 ? "," : "", k);
}

void bats_gpus_add(struct bats_text *names, const char *list)
{
    for (size_t k; (k = next_gpu(&list)) > 0; list += k) {
        const char *known = names->bytes != NULL ? names->bytes : "";
        if (!has_name(known, list, k))
            bats_text_format(names, "%s%.*s", *known ? "," : "", (int)k, list);
    }
}

/* ---- nodes ---- */

static int by_host(const void *a, const void *b)
{
    const struct bats_worker_rank *x = *(
                                      const struct bats_worker_rank *const *)a,
                                  *y = *(
                                      const struct bats_worker_rank *const *)b;
    int order = strcmp(x->host, y->host);
    return order != 0 ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Sorts the ranks by host. The caller frees the array; NULL: no memory. */
static const struct bats_worker_rank **sort(const struct bats_crew *crew)
{
    const struct bats_worker_rank **list =
        malloc((crew->n + 1) * sizeof *list);
    for (size_t i = 0; list != NULL && i < crew->n; i++)
        list[i] = &crew->ranks[i];
    if (list != NULL)
        qsort(list, crew->n, sizeof *list, by_host);
    return list;
}

/* The number of ranks on the host of list[from], its first rank. */
static size_t count(const struct bats_worker_rank *const *list, size_t from,
                    size_t n)
{
    size_t to = from;
    while (to < n && strcmp(list[to]->host, list[from]->host) == 0)
        to++;
    return to - from;
}

bool bats_needs_nodes(const struct bats_crew *crew,
                      const struct bats_run_options *options)
{
    if (!bats_needs_any(options))
        return false;
    struct bats_need most = bats_needs_most(options);
    if (options->open != NULL || most.cores > 1 || most.gpus > 0)
        return true;
    const struct bats_worker_rank **list = sort(crew);
    bool exceeds = false;
    for (size_t i = 0, n; list != NULL && i < crew->n; i += n) {
        uint64_t kib = crew->nodes[list[i]->rank].usable_bytes / 1024;
        n = count(list, i, crew->n);
        exceeds |= kib > 0 && (uint64_t)most.memory_kib > kib / n;
    }
    free(list);
    return exceeds;
}

/* ---- machines ---- */

static void list_gpus(const struct bats_crew *crew,
                      const struct bats_worker_rank *const *rank, size_t n,
                      uint32_t given, struct bats_text *names)
{
    bats_gpus_number(names, given);
    for (size_t i = 0; given == 0 && i < n; i++)
        bats_gpus_add(names, crew->nodes[rank[i]->rank].gpus);
}

static bool add_gpu(struct bats_survey *s, uint32_t machine, const char *name,
                    size_t n)
{
    char *old = s->gpus[machine], *list;
    if (s->stocks[machine].gpus == BATS_GPUS_MOST)
        return true;
    if (asprintf(&list, "%s%s%.*s", old != NULL ? old : "",
                 old != NULL ? "," : "", (int)n, name) < 0)
        return false;
    free(old);
    s->gpus[machine] = list;
    s->stocks[machine].gpus++;
    return true;
}

static bool divide(const struct bats_crew *crew,
                   const struct bats_worker_rank *const *rank, size_t n,
                   struct bats_text *names, struct bats_survey *s)
{
    size_t given = 0;
    const char *at = names->bytes != NULL ? names->bytes : "";
    size_t n_names = bats_gpus_count(at);
    for (size_t i = 0; i < n; i++) {
        size_t worker = (size_t)(rank[i] - crew->ranks);
        uint32_t machine = s->platform.slot_of[worker].machine;
        s->stocks[machine].memory_kib +=
            (int64_t)(crew->nodes[rank[i]->rank].usable_bytes / 1024 / n);
        for (; given < (i + 1) * n_names / n; given++) {
            size_t k = next_gpu(&at);
            if (!add_gpu(s, machine, at, k))
                return false;
            at += k;
        }
    }
    return true;
}

static int divide_nodes(const struct bats_crew *crew, uint32_t gpus_per_node,
                        struct bats_survey *s, struct bats_error *err)
{
    struct bats_text names = {0};
    const struct bats_worker_rank **list = sort(crew);
    bool done = list != NULL;
    for (size_t i = 0, n; done && i < crew->n; i += n) {
        n = count(list, i, crew->n);
        list_gpus(crew, list + i, n, gpus_per_node, &names);
        done = bats_text_length(&names) >= 0 &&
               divide(crew, list + i, n, &names, s);
    }
    free(list);
    bats_text_release(&names);
    return done ? 0 : bats_no_memory(err);
}

int bats_needs_stocks(const struct bats_crew *crew,
                      const struct bats_run_options *options,
                      struct bats_survey *s, struct bats_error *err)
{
    const struct bats_platform *p = &s->platform;
    const struct bats_joining *side = options->joining;
    const struct bats_stock *bought = side != NULL ? side->nodes : NULL;
    if (!bats_needs_any(options))
        return 0;
    s->stocks = calloc(p->n_machines, sizeof *s->stocks);
    s->n_nodes = bought != NULL ? bought[0].nodes : 1;
    s->gpus = calloc(p->n_machines * (size_t)s->n_nodes, sizeof *s->gpus);
    if (s->stocks == NULL || s->gpus == NULL)
        return bats_no_memory(err);
    for (uint32_t i = 0; i < p->n_machines; i++)
        s->stocks[i] =
            bought != NULL
                ? bought[p->machines[i].cluster]
                : (struct bats_stock){.cores = p->machines[i].slots};
    return side != NULL ? 0
                        : divide_nodes(crew, options->gpus_per_node, s, err);
}

/* ---- what fits nowhere ---- */

static int64_t part_of(const struct bats_stock *stock, int k)
{
    return k == 0 ? stock->cores : k == 1 ? stock->gpus : stock->memory_kib;
}

static uint32_t largest(const struct bats_survey *s, int k)
{
    uint32_t best = 0;
    for (uint32_t i = 0; i < s->platform.n_machines; i++)
        if (part_of(&s->stocks[i], k) > part_of(&s->stocks[best], k))
            best = i;
    return best;
}

static bool fits(const struct bats_survey *s, uint32_t machine,
                 const struct bats_need *need)
{
    return bats_need_room(&s->stocks[machine], need) > 0;
}

static bool fits_somewhere(const struct bats_survey *s,
                           const struct bats_need *need)
{
    for (uint32_t i = 0; i < s->platform.n_machines; i++)
        if (fits(s, i, need))
            return true;
    return false;
}

/* The first resource that no machine has enough of; 3: there is none. */
static int lacking(const struct bats_survey *s, const struct bats_need *need)
{
    const struct bats_need alone[] = {
        {.cores = need->cores},
        {.cores = 1, .gpus = need->gpus},
        {.cores = 1, .memory_kib = need->memory_kib}};
    int k = 0;
    while (k < 3 && fits_somewhere(s, &alone[k]))
        k++;
    return k;
}

static void stock_text(char *text, size_t size, const struct bats_stock *stock,
                       int k)
{
    char memory[BATS_UNITS_TEXT];
    memory_text(memory, stock->memory_kib);
    if (k == 2)
        snprintf(text, size, "%s", memory);
    else
        snprintf(text, size, "%" PRId64 " %s%s", part_of(stock, k),
                 k == 0 ? "rank" : "GPU", part_of(stock, k) == 1 ? "" : "s");
}

/* `who` begins the sentence: "the task". */
static int refuse(const struct bats_run_options *o,
                  const struct bats_survey *s, const char *who,
                  const struct bats_need *need, struct bats_error *err)
{
    const struct bats_platform *p = &s->platform;
    char name[BATS_MACHINE_NAME], text[BATS_NEED_TEXT], has[64];
    int k = lacking(s, need);
    bats_need_format(text, sizeof text, need);
    if (k == 3)
        return bats_refuse(err, "%s needs %s, and no machine has all of it",
                           who, text);
    uint32_t most = largest(s, k);
    bats_machine_name(name, p->clusters, p->machines, most);
    stock_text(has, sizeof has, &s->stocks[most], k);
    return bats_refuse(
        err, "%s needs %s; the largest machine, %s, has %s%s", who, text, name,
        has,
        p->machines[most].slots == 1 && o->clusters != NULL
            ? " (machine = node in the clusters file makes one of all ranks "
              "of a node)"
            : "");
}

static int refuse_task(const struct bats_run_options *o,
                       const struct bats_survey *s, uint32_t task,
                       const struct bats_need *need, struct bats_error *err)
{
    struct bats_text who = {0};
    uint32_t line = bats_bagfile_line(o->bag, task);
    bats_text_format(&who, "%s: task %" PRIu64, o->bag->name,
                     (uint64_t)task + 1);
    if (line > 0)
        bats_text_format(&who, ", line %" PRIu32 ",", line);
    int rc = bats_text_check(&who, err);
    if (rc == 0)
        rc = refuse(o, s, who.bytes, need, err);
    bats_text_release(&who);
    return rc;
}

int bats_needs_fit(const struct bats_run_options *o,
                   const struct bats_survey *s, struct bats_error *err)
{
    for (uint32_t i = 0; i < o->bag->n_tasks; i++) {
        struct bats_need need = bats_needs_of(o, i);
        if (!fits_somewhere(s, &need))
            return refuse_task(o, s, i, &need, err);
    }
    return 0;
}

/* Within a budget, a plan of policy bats may hold machines of any cluster
 * alone, and does not say which tasks they are for. So every cluster must meet
 * every need. */
static int check_clusters(const struct bats_run_options *o,
                          const struct bats_survey *s, bool has_budget,
                          const struct bats_need *need, struct bats_error *err)
{
    const struct bats_platform *p = &s->platform;
    char text[BATS_NEED_TEXT];
    bool has[BATS_CLUSTERS_MAX] = {false};
    if (s->policy == &bats_policy_rr || !has_budget)
        return 0;
    for (uint32_t i = 0; i < p->n_machines; i++)
        has[p->machines[i].cluster] |= fits(s, i, need);
    for (size_t i = 0; i < p->n_clusters; i++) {
        if (has[i])
            continue;
        bats_need_format(text, sizeof text, need);
        return bats_refuse(
            err,
            "%s: a task needs %s, and no machine of cluster %s has so m%s: "
            "within a budget only --policy rr uses such clusters",
            o->bag->name, text, p->clusters[i].name,
            strstr(text, "memory") != NULL ? "uch" : "any");
    }
    return 0;
}

/* ---- categories ---- */

static bool same(const struct bats_need *a, const struct bats_need *b)
{
    return a->cores == b->cores && a->gpus == b->gpus &&
           a->memory_kib == b->memory_kib;
}

/* The category of tasks with this need in class `of`: the class itself for the
 * first need seen, a new category for each further one. BATS_CATEGORIES_MAX:
 * there are too many. */
static uint32_t find_category(struct bats_engine_options *e, uint16_t *kind,
                              uint32_t *n, uint32_t of,
                              const struct bats_need *need)
{
    for (uint32_t k = of; k < *n; k++)
        if (kind[k] == of &&
            (same(&e->needs[k], need) || e->needs[k].cores == 0)) {
            e->needs[k] = *need;
            return k;
        }
    if (*n == BATS_CATEGORIES_MAX)
        return *n;
    kind[*n] = (uint16_t)of;
    e->needs[*n] = *need;
    return (*n)++;
}

/* Names the categories: needs within one class of the bag get distinct
 * names. */
static int name_categories(const struct bats_bagfile *bag,
                           struct bats_engine_options *e, const uint16_t *kind,
                           struct bats_error *err)
{
    struct bats_class_names *names = &e->names;
    uint32_t n = bag->category != NULL ? e->options.n_categories : 0;
    char text[BATS_NEED_TEXT];
    names->list = calloc(n + (size_t)1, sizeof *names->list);
    for (uint32_t k = 0; names->list != NULL && k < n; k++, names->n++) {
        const char *name = bag->category_names[kind[k]];
        bats_need_format(text, sizeof text, &e->needs[k]);
        if ((k < bag->n_categories
                 ? asprintf(&names->list[k], "%s", name)
                 : asprintf(&names->list[k], "%s, %s", name, text)) < 0)
            return bats_no_memory(err);
    }
    return names->list != NULL ? 0 : bats_no_memory(err);
}

static int64_t most_memory(const struct bats_survey *s,
                           const struct bats_need *need)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < s->platform.n_machines; i++)
        if (fits(s, i, need) && s->stocks[i].memory_kib > most)
            most = s->stocks[i].memory_kib;
    return most;
}

/* Adds categories for tasks that ran out of memory: the same needs with more
 * memory, up to that of the largest machine. */
static void add_larger(const struct bats_run_options *o,
                       const struct bats_survey *s,
                       struct bats_engine_options *e, uint16_t *kind)
{
    uint32_t n = e->options.n_categories;
    for (uint32_t k = 0; k < n; k++) {
        struct bats_need need = e->needs[k];
        double more = (double)need.memory_kib * o->retry_memory;
        int64_t most = most_memory(s, &need);
        e->more[k] = (uint16_t)k;
        if (most == 0 || need.memory_kib == 0)
            continue;
        need.memory_kib = more < (double)most ? (int64_t)ceil(more) : most;
        if (need.memory_kib <= e->needs[k].memory_kib)
            continue;
        uint32_t found = find_category(e, kind, &n, kind[k], &need);
        if (found < BATS_CATEGORIES_MAX)
            e->more[k] = (uint16_t)found;
    }
    e->options.n_categories = n;
}

static int sort_by_need(const struct bats_run_options *o,
                        const struct bats_survey *s,
                        struct bats_engine_options *e, uint16_t *kind,
                        struct bats_error *err)
{
    uint32_t n = o->bag->category != NULL ? o->bag->n_categories : 1;
    bool all_fit = true;
    for (uint32_t k = 0; k < n; k++)
        kind[k] = (uint16_t)k;
    for (uint32_t i = 0; i < o->bag->n_tasks; i++) {
        uint32_t of = o->bag->category != NULL ? o->bag->category[i] : 0;
        struct bats_need need = bats_needs_of(o, i);
        uint32_t k = find_category(e, kind, &n, of, &need);
        if (k == BATS_CATEGORIES_MAX)
            return bats_refuse(err, "%s: more than %d classes of tasks",
                               o->bag->name, BATS_CATEGORIES_MAX);
        e->category[i] = (uint16_t)k;
    }
    for (uint32_t k = 0; k < n; k++) {
        if (e->needs[k].cores == 0) /* a category without tasks */
            e->needs[k].cores = 1;
        all_fit &= fits_somewhere(s, &e->needs[k]);
    }
    if (!all_fit)
        return bats_needs_fit(o, s, err);
    e->options.n_categories = n;
    if (o->retry_memory > 0)
        add_larger(o, s, e, kind);
    return name_categories(o->bag, e, kind, err);
}

/* True if every machine can fill all of its slots with tasks of the largest
 * needs, and none needs a GPU of its own. */
static bool always_fit(const struct bats_survey *s,
                       const struct bats_need *most)
{
    if (most->gpus > 0)
        return false;
    for (uint32_t i = 0; i < s->platform.n_machines; i++)
        if (bats_need_room(&s->stocks[i], most) <
            s->platform.machines[i].slots)
            return false;
    return true;
}

static int check_jobs(const struct bats_run_options *o,
                      const struct bats_need *most, struct bats_error *err)
{
    if (o->joining->nodes == NULL && (most->cores > 1 || most->gpus > 0))
        return bats_refuse(err,
                           "%s has tasks that need several cores or GPUs, "
                           "which --welcome does not give them",
                           o->bag->name);
    return 0;
}

int bats_needs_check(const struct bats_run_options *o,
                     const struct bats_survey *s, const struct bats_need *need,
                     bool has_budget, struct bats_error *err)
{
    int rc = o->joining != NULL ? check_jobs(o, need, err) : 0;
    if (rc < 0)
        return rc;
    if (o->joining != NULL && need->memory_kib > 0 &&
        s->stocks[largest(s, 2)].memory_kib <= BATS_NEEDS_NONE)
        return bats_refuse(err, "the task needs memory, and that of worker "
                                "jobs is unknown: give alloc --memory SIZE "
                                "(of a task) or --sbatch --mem=SIZE");
    return fits_somewhere(s, need)
               ? check_clusters(o, s, has_budget, need, err)
               : refuse(o, s, "the task", need, err);
}

int bats_needs_take(const struct bats_run_options *o,
                    const struct bats_survey *survey,
                    struct bats_engine_options *e, struct bats_error *err)
{
    if (o->open != NULL || !bats_needs_any(o))
        return 0;
    struct bats_need most = bats_needs_most(o);
    int rc = o->joining != NULL ? check_jobs(o, &most, err) : 0;
    bool may_grow = o->retry_memory > 0 && most.memory_kib > 0;
    if (rc < 0 || (always_fit(survey, &most) && !may_grow))
        return rc;
    e->needs = calloc(BATS_CATEGORIES_MAX, sizeof *e->needs);
    e->category = calloc(o->bag->n_tasks, sizeof *e->category);
    e->more = o->retry_memory > 0
                  ? calloc(BATS_CATEGORIES_MAX, sizeof *e->more)
                  : NULL;
    uint16_t *kind = calloc(BATS_CATEGORIES_MAX, sizeof *kind);
    bool has_more = e->more != NULL || o->retry_memory == 0;
    rc = e->needs != NULL && has_more && e->category != NULL && kind != NULL
             ? sort_by_need(o, survey, e, kind, err)
             : bats_no_memory(err);
    bool has_budget = e->options.budget != BATS_UNLIMITED;
    for (uint32_t k = 0; rc == 0 && k < e->options.n_categories; k++)
        rc = check_clusters(o, survey, has_budget, &e->needs[k], err);
    free(kind);
    e->options.needs = e->needs;
    e->options.more = e->more;
    e->options.stocks = survey->stocks;
    e->options.category = e->category;
    /* Tasks with needs have no offers: drop them if the user did not ask for
     * them. */
    e->options.sampling.on &= !o->engine.sampling.offers;
    return rc;
}

/* ---- the environment of a task ---- */

void bats_needs_show(const struct bats_survey *s, uint32_t machine,
                     uint32_t slot, uint64_t gpus, struct bats_text *variables)
{
    uint32_t n_slots = s->platform.machines[machine].slots / s->n_nodes;
    const char *list = s->gpus[machine * s->n_nodes + slot / n_slots];
    static const char *const names[] = {"CUDA_VISIBLE_DEVICES",
                                        "ROCR_VISIBLE_DEVICES"};
    for (int i = 0; i < 2; i++) {
        const char *at = list != NULL ? list : "";
        const char *comma = "";
        bats_text_format(variables, "%s=", names[i]);
        for (uint64_t left = gpus; left != 0; left >>= 1) {
            size_t k = next_gpu(&at);
            if (left & 1) {
                bats_text_format(variables, "%s%.*s", comma, (int)k, at);
                comma = ",";
            }
            at += k;
        }
        bats_text_format(variables, "%c", '\0');
    }
}
