/* schedules for programs, and the frontier. See schedules.h. */
#include "report/schedules.h"

#include <inttypes.h>

#include "report/words.h"
#include "util/json.h"
#include "util/text.h"

const char *bats_schedules_machines(char *text, size_t size,
                                    const struct bats_estimator *e,
                                    const struct bats_schedule *s)
{
    if (e->plans != BATS_PLANS_WINDOWS)
        return bats_words_machines(text, size, e->clusters, e->n_clusters,
                                   s->plan.machines, ", ");
    text[0] = '\0';
    for (size_t i = 0; i < e->n_clusters; i++) {
        uint32_t machines = s->plan.machines[i], longer = s->longer[i];
        if (machines == 0)
            continue;
        bats_append(text, size, "%s%s %" PRIu32 " for %" PRId64 "%s",
                    text[0] != '\0' ? "; " : "", e->clusters[i].name, machines,
                    s->held[i],
                    text[0] != '\0'   ? ""
                    : s->held[i] == 1 ? " window"
                                      : " windows");
        if (longer > 0)
            bats_append(text, size, ", %" PRIu32 " of them for %" PRId64,
                        longer, s->held[i] + 1);
    }
    if (text[0] == '\0')
        snprintf(text, size, "no machines");
    return text;
}

/* ---- JSON ---- */

static json_t *configuration(const struct bats_estimator *e,
                             const uint32_t *machines)
{
    json_t *object = json_object();
    int bad = 0;
    for (size_t i = 0; i < e->n_clusters; i++)
        bad |= json_object_set_new(object, e->clusters[i].name,
                                   json_integer(machines[i]));
    return bats_json_whole(object, bad);
}

/* One lot: a number of machines for a number of windows. */
static int add_lot(json_t *list, const char *cluster, uint32_t machines,
                   int64_t windows)
{
    return machines == 0 || windows == 0
               ? 0
               : json_array_append_new(
                     list, json_pack("{s:o, s:I, s:I}", "cluster",
                                     bats_json_text(cluster), "machines",
                                     (json_int_t)machines, "windows",
                                     (json_int_t)windows));
}

static json_t *machine_windows(const struct bats_estimator *e,
                               const struct bats_schedule *s)
{
    json_t *list = json_array();
    int bad = 0;
    for (size_t i = 0; i < e->n_clusters; i++) {
        const char *name = e->clusters[i].name;
        bad |= add_lot(list, name, s->plan.machines[i] - s->longer[i],
                       s->held[i]);
        bad |= add_lot(list, name, s->longer[i], s->held[i] + 1);
    }
    return bats_json_whole(list, bad);
}

/* Members that only the papers' schedules have. */
static int add_risk(json_t *object, const struct bats_estimator *e,
                    const struct bats_schedule *s)
{
    int bad = json_object_set_new(object, "price_per_window",
                                  bats_json_money(s->plan.price));
    bad |= json_object_set_new(object, "delta_n",
                               json_integer((json_int_t)s->delta_n));
    bad |= json_object_set_new(object, "cushion", bats_json_money(s->cushion));
    if (s->refits)
        bad |= json_object_set_new(object, "with_cushion",
                                   configuration(e, s->raised.machines));
    return bad;
}

json_t *bats_schedules_json(const struct bats_estimator *e,
                            const struct bats_schedule *s)
{
    const struct bats_plan *p = &s->plan;
    const char *name = bats_offer_name(s->offer);
    bool is = p->feasible, sampled = is && s->is_bounded;
    json_t *object = json_pack(
        "{s:b, s:o, s:I, s:o, s:o, s:o, s:o, s:o}", "feasible", is,
        "configuration", configuration(e, p->machines), "windows",
        (json_int_t)p->windows, "makespan_s",
        bats_json_seconds(is, s->makespan.estimate), "makespan_low_s",
        bats_json_seconds(sampled, s->makespan.low), "makespan_high_s",
        bats_json_seconds(sampled, s->makespan.high), "cost",
        bats_json_money(p->cost), "cost_high",
        sampled ? bats_json_money(s->cost_high) : json_null());
    int bad = object == NULL;
    if (!bad && e->plans == BATS_PLANS_CONFIGURATIONS)
        bad |= add_risk(object, e, s);
    else if (!bad && e->plans == BATS_PLANS_WINDOWS)
        bad |= json_object_set_new(object, "machine_windows",
                                   machine_windows(e, s));
    if (!bad && s->budget != BATS_UNLIMITED)
        bad |=
            json_object_set_new(object, "budget", bats_json_money(s->budget));
    if (!bad && name[0] != '\0')
        bad |= json_object_set_new(object, "name", json_string(name));
    return bats_json_whole(object, bad);
}

json_t *bats_schedules_json_list(const struct bats_estimator *e,
                                 const struct bats_schedule *schedules,
                                 size_t n)
{
    json_t *list = json_array();
    int bad = 0;
    for (size_t i = 0; i < n; i++)
        bad |=
            json_array_append_new(list, bats_schedules_json(e, &schedules[i]));
    return bats_json_whole(list, bad);
}

/* ---- the page ---- */

#define POINTS 2000 /* of the frontier, at most */

/* Every step-th schedule, with its machines in words. */
static json_t *list_page(const struct bats_estimator *e,
                         const struct bats_schedule *list, size_t n,
                         size_t step)
{
    json_t *rows = json_array();
    char held[4096];
    for (size_t i = 0; i < n; i += step) {
        json_t *row = bats_schedules_json(e, &list[i]);
        bats_schedules_machines(held, sizeof held, e, &list[i]);
        json_object_set_new(row, "held", bats_json_text(held));
        json_array_append_new(rows, row);
    }
    return rows;
}

json_t *bats_schedules_page(const struct bats_estimator *e,
                            const struct bats_schedule *offers,
                            size_t n_offers,
                            const struct bats_schedule *frontier, size_t n)
{
    json_t *clusters = json_array();
    bats_money cheapest = n_offers > 0 ? offers[0].plan.cost : 0;
    for (size_t i = 0; i < e->n_clusters; i++) {
        const struct bats_cluster *c = &e->clusters[i];
        json_array_append_new(
            clusters,
            json_pack("{s:o, s:o, s:o, s:f}", "name", bats_json_text(c->name),
                      "charge", bats_json_money(c->charge), "machines",
                      c->max == UINT32_MAX ? json_null()
                                           : json_integer(c->max),
                      "mean_s", e->runtimes[i].mean / BATS_SECOND));
    }
    return json_pack(
        "{s:I, s:o, s:o, s:o, s:f, s:o}", "n_tasks", (json_int_t)e->n_tasks,
        "offers", list_page(e, offers, n_offers, 1), "frontier",
        list_page(e, frontier, n, (n + POINTS - 1) / POINTS), "clusters",
        clusters, "cheapest", (double)cheapest / BATS_UNIT, "currency",
        bats_json_text(e->currency));
}

/* ---- the critical path ---- */

#define PATH_SHOWN 10 /* of its tasks, and the last one */

/* The fastest cluster. */
static size_t find_fastest(const struct bats_estimator *e)
{
    size_t best = 0;
    for (size_t i = 1; i < e->n_clusters; i++)
        if (e->runtimes[i].mean > 0 && e->clusters[i].max > 0 &&
            (e->runtimes[best].mean <= 0 || e->clusters[best].max == 0 ||
             e->runtimes[i].mean < e->runtimes[best].mean))
            best = i;
    return best;
}

const char *bats_schedules_path(char *text, size_t size,
                                const struct bats_estimator *e,
                                const uint32_t *task, uint32_t n)
{
    size_t i = find_fastest(e);
    text[0] = '\0';
    if (e->chain <= 0)
        return text;
    snprintf(text, size, "Critical path: %s%s on %s",
             e->runtimes[i].is_guess ? BATS_WORDS_GUESS : "",
             bats_words_makespan(e->chain * e->runtimes[i].mean).s,
             e->clusters[i].name);
    if (n == 0)
        bats_append(text, size, ".");
    for (uint32_t k = 0; k < n; k++) {
        if (n > PATH_SHOWN + 1 && k >= PATH_SHOWN)
            k = n - 1;
        bats_append(text, size, "%s%" PRIu32 "%s",
                    k == 0                             ? ", tasks "
                    : k == n - 1 && n > PATH_SHOWN + 1 ? ", ..., "
                                                       : ", ",
                    task[k] + 1, k == n - 1 ? "." : "");
    }
    return text;
}

void bats_schedules_print_path(FILE *out, const struct bats_estimator *e,
                               const uint32_t *task, uint32_t n)
{
    char text[512];
    bats_schedules_path(text, sizeof text, e, task, n);
    if (text[0] == '\0')
        return;
    putc('\n', out);
    bats_words_wrap(out, text, 0, 0, 80);
}

json_t *bats_schedules_path_json(const struct bats_estimator *e,
                                 const uint32_t *task, uint32_t n)
{
    size_t i = find_fastest(e);
    json_t *list = e->chain > 0 ? json_array() : NULL;
    int bad = 0;
    for (uint32_t k = 0; list != NULL && k < n; k++)
        bad |=
            json_array_append_new(list, json_integer((json_int_t)task[k] + 1));
    if (e->chain <= 0)
        return json_null();
    list = bats_json_whole(list, bad);
    return json_pack("{s:f, s:o, s:o}", "length_s",
                     e->chain * e->runtimes[i].mean / 1e6, "cluster",
                     bats_json_text(e->clusters[i].name), "tasks", list);
}

/* ---- the frontier ---- */

static void print_text(FILE *out, const struct bats_estimator *e,
                       const struct bats_schedule *list, size_t n)
{
    fprintf(out, "%12s  %8s  %7s  %s\n", "cost", "makespan", "windows",
            "machines");
    for (size_t k = 0; k < n; k++) {
        const struct bats_schedule *s = &list[k];
        char text[4096];
        fprintf(out, "%12s  %8s  %7" PRId64 "  %s\n",
                bats_words_amount(s->plan.cost).s,
                bats_words_makespan(s->makespan.estimate).s, s->plan.windows,
                bats_schedules_machines(text, sizeof text, e, s));
    }
}

/* Machines of each cluster; where they are not all held for the same time, also
 * their windows. */
static void print_csv(FILE *out, const struct bats_estimator *e,
                      const struct bats_schedule *list, size_t n)
{
    bool held = e->plans == BATS_PLANS_WINDOWS;
    char windows[BATS_CLUSTER_NAME + 8];
    fprintf(out, "cost,makespan_s,windows%s", held ? "" : ",price_per_window");
    for (size_t i = 0; i < e->n_clusters; i++) {
        putc(',', out);
        bats_words_put(out, BATS_ENCODE_CSV, e->clusters[i].name);
        if (held) {
            snprintf(windows, sizeof windows, "%s_windows",
                     e->clusters[i].name);
            putc(',', out);
            bats_words_put(out, BATS_ENCODE_CSV, windows);
        }
    }
    putc('\n', out);
    for (size_t k = 0; k < n; k++) {
        const struct bats_schedule *s = &list[k];
        fputs(bats_words_amount(s->plan.cost).s, out);
        fprintf(out, ",%.6f,%" PRId64, s->makespan.estimate / 1e6,
                s->plan.windows);
        if (!held)
            fprintf(out, ",%s", bats_words_amount(s->plan.price).s);
        for (size_t i = 0; i < e->n_clusters; i++) {
            fprintf(out, ",%" PRIu32, s->plan.machines[i]);
            if (held)
                fprintf(out, ",%" PRId64,
                        s->plan.machines[i] * s->held[i] + s->longer[i]);
        }
        putc('\n', out);
    }
}

static json_t *point(const struct bats_estimator *e,
                     const struct bats_schedule *s)
{
    json_t *object = json_pack(
        "{s:o, s:f, s:I}", "cost", bats_json_money(s->plan.cost), "makespan_s",
        s->makespan.estimate / 1e6, "windows", (json_int_t)s->plan.windows);
    int bad = object == NULL;
    if (!bad && e->plans != BATS_PLANS_WINDOWS)
        bad |= json_object_set_new(object, "price_per_window",
                                   bats_json_money(s->plan.price));
    if (!bad)
        bad |= json_object_set_new(object, "configuration",
                                   configuration(e, s->plan.machines));
    if (!bad && e->plans == BATS_PLANS_WINDOWS)
        bad |= json_object_set_new(object, "machine_windows",
                                   machine_windows(e, s));
    return bats_json_whole(object, bad);
}

/* Prints point by point, because there may be many. */
static int print_json(FILE *out, const struct bats_estimator *e,
                      const struct bats_schedule *list, size_t n,
                      bool complete)
{
    fprintf(out, "{\"complete\": %s, \"frontier\": [",
            complete ? "true" : "false");
    for (size_t k = 0; k < n; k++) {
        json_t *object = point(e, &list[k]);
        fputs(k > 0 ? ",\n" : "\n", out);
        int bad = json_dumpf(object, out, BATS_JSON_SAFE);
        json_decref(object);
        if (bad != 0)
            return -1;
    }
    fputs("\n]}\n", out);
    return 0;
}

int bats_schedules_print_frontier(FILE *out, const struct bats_estimator *e,
                                  const struct bats_schedule *schedules,
                                  size_t n, bool complete,
                                  enum bats_frontier_format format)
{
    if (format == BATS_FRONTIER_JSON)
        return print_json(out, e, schedules, n, complete);
    if (format == BATS_FRONTIER_CSV)
        print_csv(out, e, schedules, n);
    else
        print_text(out, e, schedules, n);
    return 0;
}
