/* schedules for programs. See schedules.h. */
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
    json_t *object =
        json_pack("{s:b, s:o, s:I, s:o, s:o, s:o, s:o, s:o}", "feasible", is,
                  "configuration", configuration(e, p->machines), "windows",
                  (json_int_t)p->windows, "makespan_s",
                  is ? json_real(s->makespan.estimate / 1e6) : json_null(),
                  "makespan_low_s",
                  sampled ? json_real(s->makespan.low / 1e6) : json_null(),
                  "makespan_high_s",
                  sampled ? json_real(s->makespan.high / 1e6) : json_null(),
                  "cost", bats_json_money(p->cost), "cost_high",
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

void bats_schedules_print_path(FILE *out, const struct bats_estimator *e,
                               const uint32_t *task, uint32_t n)
{
    size_t i = find_fastest(e);
    char text[512];
    if (e->chain <= 0)
        return;
    snprintf(text, sizeof text, "\nCritical path: %s%s on %s",
             e->runtimes[i].is_guess ? BATS_WORDS_GUESS : "",
             bats_words_makespan(e->chain * e->runtimes[i].mean).s,
             e->clusters[i].name);
    if (n == 0)
        bats_append(text, sizeof text, ".");
    for (uint32_t k = 0; k < n; k++) {
        if (n > PATH_SHOWN + 1 && k >= PATH_SHOWN)
            k = n - 1;
        bats_append(text, sizeof text, "%s%" PRIu32 "%s",
                    k == 0                             ? ", tasks "
                    : k == n - 1 && n > PATH_SHOWN + 1 ? ", ..., "
                                                       : ", ",
                    task[k] + 1, k == n - 1 ? "." : "");
    }
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
