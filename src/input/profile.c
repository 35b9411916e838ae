/* See profile.h. */
#include "input/profile.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bats/bag.h"
#include "input/model.h"
#include "input/textfile.h"
#include "util/encode.h"
#include "util/text.h"

#define VERSION 1
#define TASKS_MAX 1000000000 /* limits the memory for a small file to 1 GB */
#define SECONDS_MAX 9e12     /* limit of bats_time */
#define SLOTS_MAX 1e6

/* ---- reading: values, and where they are ---- */

/* After the first mistake, `rc`, all values are 0 and all lists empty. */
struct reader {
    const char *path;
    struct bats_profile *profile;
    struct bats_error *err;
    int rc;
};

/* A value (NULL: missing) and its name, as in "clusters[1].charge". */
struct value {
    const json_t *json;
    char name[96];
};

static struct value member(const struct value *of, const char *key)
{
    struct value v = *of;
    v.json = json_object_get(of->json, key);
    bats_append(v.name, sizeof v.name, "%s%s", v.name[0] ? "." : "", key);
    return v;
}

static struct value item(const struct value *of, size_t i)
{
    struct value v = *of;
    v.json = json_array_get(of->json, i);
    bats_append(v.name, sizeof v.name, "[%zu]", i);
    return v;
}

static void fail(struct reader *r, int rc)
{
    r->rc = r->rc < 0 ? r->rc : rc;
}

static void lack_memory(struct reader *r)
{
    if (r->rc == 0)
        fail(r, bats_no_memory(r->err));
}

/* A macro, so that the compiler checks the format. */
#define WRONG(r, v, format, ...)                                              \
    do {                                                                      \
        if ((r)->rc == 0)                                                     \
            fail(r, bats_error_at((r)->err, (r)->path, 0, "%s " format,       \
                                  (v).name, ##__VA_ARGS__));                  \
    } while (0)

static int64_t integer(struct reader *r, struct value v, int64_t low,
                       int64_t high)
{
    json_int_t n = json_integer_value(v.json);
    if (json_is_integer(v.json) && n >= low && n <= high)
        return n;
    WRONG(r, v, "has to be a whole number from %" PRId64 " to %" PRId64, low,
          high);
    return 0;
}

static bats_time seconds(struct reader *r, struct value v)
{
    double s = json_is_number(v.json) ? json_number_value(v.json) : -1;
    if (s >= 0 && s < SECONDS_MAX)
        return (bats_time)llround(s * BATS_SECOND);
    WRONG(r, v, "has to be a number of seconds, not negative");
    return 0;
}

/* Reads at most `most` bytes, including the NUL. */
static void text(struct reader *r, struct value v, char *to, size_t most)
{
    const char *given = json_string_value(v.json);
    char *decoded = given ? strdup(given) : NULL;
    *to = '\0';
    if (given && !decoded)
        lack_memory(r);
    else if (given)
        bats_encode_undo_unicode(decoded);
    if (decoded && strlen(decoded) < most)
        strcpy(to, decoded);
    else
        WRONG(r, v, "has to be a text of less than %zu bytes", most);
    free(decoded);
}

static bats_money money(struct reader *r, struct value v)
{
    char amount[BATS_UNITS_TEXT];
    bats_money read = 0;
    text(r, v, amount, sizeof amount);
    if (r->rc == 0)
        fail(r,
             bats_error_prefix(r->err, bats_money_parse(amount, &read, r->err),
                               "%s: %s: ", r->path, v.name));
    return read;
}

static size_t length(struct reader *r, struct value v)
{
    if (!json_is_array(v.json))
        WRONG(r, v, "has to be a list");
    return r->rc == 0 ? json_array_size(v.json) : 0;
}

/* The number of a task, counted from 1; `of` is the value it belongs to. */
static uint32_t task(struct reader *r, struct value of, const json_t *number)
{
    json_int_t n = json_integer_value(number);
    if (n >= 1 && n <= r->profile->n_tasks)
        return (uint32_t)(n - 1);
    WRONG(r, of, "has to begin with a task from 1 to %" PRIu32,
          r->profile->n_tasks);
    return 0;
}

/* Makes room for n elements and one more. Without memory returns `old`. */
static void *room(struct reader *r, void *old, size_t n, size_t size)
{
    void *array = r->rc == 0 ? realloc(old, (n + 1) * size) : NULL;
    if (array)
        return array;
    lack_memory(r);
    return old;
}

/* ---- reading: the parts ---- */

static void read_bag(struct reader *r, struct value bag)
{
    struct bats_profile *p = r->profile;
    const char *name = json_string_value(json_object_get(bag.json, "name"));
    char hash[17];
    if (!name)
        WRONG(r, bag, "has to have a name");
    p->n_tasks = (uint32_t)integer(r, member(&bag, "tasks"), 1, TASKS_MAX);
    text(r, member(&bag, "hash"), hash, sizeof hash);
    if (strlen(hash) != 16 || strspn(hash, "0123456789abcdef") != 16)
        WRONG(r, bag, "has to have a hash of 16 hexadecimal digits");
    if (r->rc < 0)
        return;
    p->bag_hash = strtoull(hash, NULL, 16);
    p->bag_name = strdup(name);
    if (p->bag_name)
        bats_encode_undo_unicode(p->bag_name);
    else
        lack_memory(r);
}

static void read_sample(struct reader *r, struct value sample, size_t cluster)
{
    struct bats_profile *p = r->profile;
    size_t n = length(r, sample);
    p->observations = room(r, p->observations, p->n_observations + n,
                           sizeof *p->observations);
    for (size_t i = 0; r->rc == 0 && i < n; i++) {
        struct value pair = item(&sample, i), time = pair;
        if (json_array_size(pair.json) != 2)
            WRONG(r, pair, "has to be a task and its seconds");
        time.json = json_array_get(pair.json, 1);
        p->observations[p->n_observations++] = (struct bats_observation){
            .task = task(r, pair, json_array_get(pair.json, 0)),
            .cluster = (uint32_t)cluster,
            .runtime = seconds(r, time)};
    }
}

static void read_cluster(struct reader *r, struct value v)
{
    struct bats_profile *p = r->profile;
    size_t i = p->n_clusters;
    struct bats_profile_cluster *c = &p->clusters[i];
    char name[BATS_CLUSTER_NAME];
    text(r, member(&v, "name"), name, sizeof name);
    if (r->rc == 0)
        fail(r, bats_error_prefix(
                    r->err,
                    bats_cluster_name_parse(name, c->cluster.name, r->err),
                    "%s: %s: ", r->path, v.name));
    for (size_t k = 0; k < i; k++)
        if (strcmp(p->clusters[k].cluster.name, name) == 0)
            WRONG(r, v, "has the name of another cluster");
    c->cluster.charge = money(r, member(&v, "charge"));
    c->cluster.max = (uint32_t)integer(r, member(&v, "max"), 0, UINT32_MAX);
    c->windows = integer(r, member(&v, "windows"), 0, INT64_MAX);
    c->charged = money(r, member(&v, "charged"));
    struct value slots = member(&v, "slots");
    c->slots = json_number_value(slots.json);
    if (!(c->slots > 0 && c->slots <= SLOTS_MAX))
        WRONG(r, slots, "has to be a number above 0");
    struct value room = member(&v, "room");
    c->room = room.json ? json_number_value(room.json) : c->slots;
    if (!(c->room > 0 && c->room <= SLOTS_MAX))
        WRONG(r, room, "has to be a number above 0");
    struct value expected = member(&v, "expected_s");
    if (expected.json)
        c->expected = seconds(r, expected);
    read_sample(r, member(&v, "sample"), i);
}

static void read_clusters(struct reader *r, struct value clusters)
{
    bats_money sum = 0;
    size_t n = length(r, clusters);
    if (n < 1 || n > BATS_CLUSTERS_MAX)
        WRONG(r, clusters, "has no cluster, or too many");
    for (size_t i = 0; r->rc == 0 && i < n; i++) {
        read_cluster(r, item(&clusters, i));
        if (!bats_units_add(sum, r->profile->clusters[i].charged, &sum))
            WRONG(r, clusters, "were charged more than can be counted");
        r->profile->n_clusters++;
    }
}

/* Sets this state for the tasks in a list of ascending ranges. */
static void read_states(struct reader *r, struct value list, uint8_t state)
{
    uint8_t *of = r->profile->state;
    size_t n = length(r, list);
    uint32_t last = 0;
    for (size_t i = 0; r->rc == 0 && i < n; i++) {
        struct value pair = item(&list, i);
        if (json_array_size(pair.json) != 2)
            WRONG(r, pair, "has to be a first and a last task");
        uint32_t k = task(r, pair, json_array_get(pair.json, 0));
        bool ascends = i == 0 || k > last;
        last = task(r, pair, json_array_get(pair.json, 1));
        if (!ascends || last < k)
            WRONG(r, pair, "is not in ascending order");
        for (; r->rc == 0 && k <= last; k++) {
            if (of[k] != BATS_TASK_PENDING)
                fail(r,
                     bats_error_at(r->err, r->path, 0,
                                   "task %" PRIu32 " is both done and failed",
                                   k + 1));
            of[k] = state;
        }
    }
}

static void read_levels(struct reader *r, struct value list)
{
    struct bats_levels *levels = &r->profile->levels;
    size_t n = list.json ? length(r, list) : 0;
    if (n > BATS_LEVELS_MAX)
        WRONG(r, list, "has too many levels");
    for (size_t i = 0; r->rc == 0 && i < n; i++) {
        struct value pair = item(&list, i);
        double tasks = json_number_value(json_array_get(pair.json, 0));
        double count = json_number_value(json_array_get(pair.json, 1));
        if (json_array_size(pair.json) != 2 ||
            !(tasks >= 1 && tasks <= UINT32_MAX && count >= 1 &&
              count <= UINT32_MAX))
            WRONG(r, pair, "has to be two numbers, 1 or more");
        levels->tasks[i] = tasks;
        levels->count[i] = count;
        levels->n = i + 1;
    }
}

static void read_path(struct reader *r, struct value v)
{
    struct bats_critical_path *path = &r->profile->path;
    if (!v.json)
        return;
    path->means = json_number_value(json_object_get(v.json, "means"));
    if (!(path->means >= 0 && path->means <= UINT32_MAX))
        WRONG(r, v, "has no length");
    struct value list = member(&v, "tasks");
    size_t n = length(r, list);
    path->task = room(r, NULL, n, sizeof *path->task);
    for (; r->rc == 0 && path->n < n; path->n++) {
        struct value one = item(&list, path->n);
        path->task[path->n] = task(r, one, one.json);
    }
}

static int read_profile(const char *path, const json_t *json,
                        struct bats_profile *p, struct bats_error *err)
{
    struct reader r = {.path = path, .profile = p, .err = err};
    const struct value root = {.json = json};
    struct value window = member(&root, "window_s");
    struct value billing = member(&root, "billing");
    if (!json_is_object(json) || !json_object_get(json, "bats_profile"))
        return bats_error_at(err, path, 0,
                             "this is not a profile of bats-mpi sample");
    integer(&r, member(&root, "bats_profile"), VERSION, VERSION);
    read_bag(&r, member(&root, "bag"));
    p->state = r.rc == 0 ? calloc(p->n_tasks, sizeof *p->state) : NULL;
    if (p->state == NULL)
        lack_memory(&r);
    p->window = seconds(&r, window);
    if (p->window == 0)
        WRONG(&r, window, "has to be above 0");
    p->elapsed = seconds(&r, member(&root, "elapsed_s"));
    if (billing.json &&
        !(json_is_string(billing.json) &&
          bats_billing_find(json_string_value(billing.json), &p->billing)))
        WRONG(&r, billing, "is not a billing model");
    text(&r, member(&root, "currency"), p->currency, sizeof p->currency);
    read_clusters(&r, member(&root, "clusters"));
    read_states(&r, member(&root, "done"), BATS_TASK_DONE);
    read_states(&r, member(&root, "failed"), BATS_TASK_FAILED);
    read_levels(&r, member(&root, "levels"));
    read_path(&r, member(&root, "critical_path"));
    return r.rc;
}

int bats_profile_load(const char *path, struct bats_profile *profile,
                      struct bats_error *err)
{
    struct bats_profile made = {.n_tasks = 0};
    json_error_t why;
    char *text;
    size_t n;
    int rc = bats_textfile_read_nul(path, &text, &n, err);
    if (rc < 0)
        return rc;
    json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);
    free(text);
    rc = root ? read_profile(path, root, &made, err)
              : bats_error_at(err, path, why.line > 0 ? (uint64_t)why.line : 0,
                              "%s", why.text);
    json_decref(root);
    if (rc == 0)
        *profile = made;
    else
        bats_profile_release(&made);
    return rc;
}

void bats_profile_release(struct bats_profile *profile)
{
    free(profile->bag_name);
    free(profile->observations);
    free(profile->state);
    free(profile->path.task);
    *profile = (struct bats_profile){.n_tasks = 0};
}
