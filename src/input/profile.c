/* See profile.h. */
#include "input/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bats/bag.h"
#include "input/platform.h"
#include "util/encode.h"

#define VERSION 1
#define SECONDS_MAX 9e12 /* limit of bats_time */
#define SLOTS_MAX 1e6

/* ---- reading: mistakes, and where they are ---- */

/* The value being read: its file, and a name such as "clusters[1].charge". */
struct place {
    const char *path;
    char name[96];
};

static int wrong(const struct place *p, struct bats_error *err,
                 const char *what)
{
    return bats_error_set(err, BATS_EINPUT, "%s: %s %s", p->path, p->name,
                          what);
}

/* The member `key` of an object, or NULL; the place then names that member. */
static json_t *member(struct place *p, const json_t *object, const char *key)
{
    size_t n = strlen(p->name);

    snprintf(p->name + n, sizeof p->name - n, "%s%s", n > 0 ? "." : "", key);
    return json_object_get(object, key);
}

static struct place inside(const struct place *p, size_t i)
{
    struct place in = *p;
    size_t n = strlen(in.name);

    snprintf(in.name + n, sizeof in.name - n, "[%zu]", i);
    return in;
}

static int read_integer(struct place p, const json_t *object, const char *key,
                        int64_t low, int64_t high, int64_t *value,
                        struct bats_error *err)
{
    const json_t *v = member(&p, object, key);

    if (!json_is_integer(v) || json_integer_value(v) < low ||
        json_integer_value(v) > high)
        return bats_error_set(err, BATS_EINPUT,
                              "%s: %s has to be a whole number from %" PRId64
                              " to %" PRId64,
                              p.path, p.name, low, high);
    *value = json_integer_value(v);
    return 0;
}

/* Reads any JSON number as a time. */
static int read_seconds(const struct place *p, const json_t *v,
                        bats_time *time, struct bats_error *err)
{
    double seconds = json_is_number(v) ? json_number_value(v) : -1;

    if (!(seconds >= 0 && seconds < SECONDS_MAX))
        return wrong(p, err, "has to be a number of seconds, not negative");
    *time = (bats_time)llround(seconds * BATS_SECOND);
    return 0;
}

static int read_time(struct place p, const json_t *object, const char *key,
                     bats_time *time, struct bats_error *err)
{
    const json_t *v = member(&p, object, key);

    return read_seconds(&p, v, time, err);
}

/* Reads at most `most` bytes, including the NUL; with `text` NULL, only
 * checks. */
static int read_text(struct place p, const json_t *object, const char *key,
                     char *text, size_t most, struct bats_error *err)
{
    const char *v = json_string_value(member(&p, object, key));
    char *decoded = v ? strdup(v) : NULL;
    int rc = 0;

    if (v && !decoded)
        return bats_error_set(err, BATS_ENOMEM, "no memory for a profile");
    if (v)
        bats_encode_undo_unicode(decoded);
    if (!v || strlen(decoded) >= most)
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s: %s has to be a text of less than %zu bytes",
                            p.path, p.name, most);
    else
        strcpy(text, decoded);
    free(decoded);
    return rc;
}

static int read_money(struct place p, const json_t *object, const char *key,
                      bats_money *amount, struct bats_error *err)
{
    char text[BATS_UNITS_TEXT];
    struct bats_error why;
    int rc = read_text(p, object, key, text, sizeof text, err);

    if (rc == 0 && bats_money_parse(text, amount, &why) != 0) {
        member(&p, object, key);
        rc = bats_error_set(err, BATS_EINPUT, "%s: %s: %s", p.path, p.name,
                            why.text);
    }
    return rc;
}

static int read_array(struct place *p, const json_t *object, const char *key,
                      const json_t **array, struct bats_error *err)
{
    *array = member(p, object, key);
    return json_is_array(*array) ? 0 : wrong(p, err, "has to be a list");
}

/* Reads the number of a task, counted from 1. */
static int read_task(const struct place *p, const struct bats_profile *profile,
                     const json_t *v, uint32_t *task, struct bats_error *err)
{
    json_int_t number = json_is_integer(v) ? json_integer_value(v) : 0;

    if (number < 1 || number > profile->n_tasks)
        return bats_error_set(err, BATS_EINPUT,
                              "%s: %s has to begin with a task from 1 to "
                              "%" PRIu32,
                              p->path, p->name, profile->n_tasks);
    *task = (uint32_t)(number - 1);
    return 0;
}

/* ---- reading: the parts ---- */

static int read_bag(struct place p, const json_t *root,
                    struct bats_profile *profile, struct bats_error *err)
{
    const json_t *bag = member(&p, root, "bag");
    const char *name = json_string_value(json_object_get(bag, "name"));
    char hash[17];
    int64_t n_tasks;

    if (!name)
        return wrong(&p, err, "has to have a name");
    int rc = read_integer(p, bag, "tasks", 1, UINT32_MAX - 1, &n_tasks, err);
    if (rc == 0)
        rc = read_text(p, bag, "hash", hash, sizeof hash, err);
    if (rc < 0)
        return rc;
    if (strlen(hash) != 16 || strspn(hash, "0123456789abcdef") != 16)
        return wrong(&p, err, "has to have a hash of 16 hexadecimal digits");
    profile->n_tasks = (uint32_t)n_tasks;
    profile->bag_hash = strtoull(hash, NULL, 16);
    profile->bag_name = strdup(name);
    if (!profile->bag_name)
        return bats_error_set(err, BATS_ENOMEM, "no memory for a profile");
    bats_encode_undo_unicode(profile->bag_name);
    return 0;
}

static int read_sample(struct place p, const json_t *object, size_t cluster,
                       struct bats_profile *profile, struct bats_error *err)
{
    const json_t *sample;
    int rc = read_array(&p, object, "sample", &sample, err);

    if (rc < 0)
        return rc;
    size_t n = profile->n_observations + json_array_size(sample);
    struct bats_observation *all =
        realloc(profile->observations, (n + 1) * sizeof *all);
    if (!all)
        return bats_error_set(err, BATS_ENOMEM, "no memory for a profile");
    profile->observations = all;
    for (size_t i = 0; i < json_array_size(sample); i++) {
        const json_t *pair = json_array_get(sample, i);
        struct bats_observation *o = &all[profile->n_observations];
        struct place in = inside(&p, i);
        if (json_array_size(pair) != 2)
            return wrong(&in, err, "has to be a task and its seconds");
        rc = read_task(&in, profile, json_array_get(pair, 0), &o->task, err);
        if (rc == 0)
            rc = read_seconds(&in, json_array_get(pair, 1), &o->runtime, err);
        if (rc < 0)
            return rc;
        o->cluster = (uint32_t)cluster;
        profile->n_observations++;
    }
    return 0;
}

static int read_cluster(const struct place *p, const json_t *object,
                        struct bats_profile *profile, struct bats_error *err)
{
    size_t i = profile->n_clusters;
    struct bats_profile_cluster *c = &profile->clusters[i];
    char name[BATS_CLUSTER_NAME];
    struct bats_error why;
    struct place at = *p;
    int64_t max;

    int rc = read_text(*p, object, "name", name, sizeof name, err);
    if (rc < 0)
        return rc;
    if (bats_cluster_name_parse(name, c->cluster.name, &why) != 0)
        return bats_error_set(err, BATS_EINPUT, "%s: %s: %s", p->path, p->name,
                              why.text);
    for (size_t k = 0; k < i; k++)
        if (strcmp(profile->clusters[k].cluster.name, name) == 0)
            return wrong(p, err, "has the name of another cluster");
    rc = read_money(*p, object, "charge", &c->cluster.charge, err);
    if (rc == 0)
        rc = read_integer(*p, object, "max", 0, UINT32_MAX, &max, err);
    if (rc == 0)
        rc = read_integer(*p, object, "windows", 0, INT64_MAX, &c->windows,
                          err);
    if (rc == 0)
        rc = read_money(*p, object, "charged", &c->charged, err);
    if (rc < 0)
        return rc;
    c->cluster.max = (uint32_t)max;
    c->slots = json_number_value(member(&at, object, "slots"));
    if (!(c->slots > 0 && c->slots <= SLOTS_MAX))
        return wrong(&at, err, "has to be a number above 0");
    if (json_object_get(object, "expected_s")) {
        at = *p;
        rc = read_seconds(&at, member(&at, object, "expected_s"),
                          &c->expected, err);
        if (rc < 0)
            return rc;
    }
    return read_sample(*p, object, i, profile, err);
}

static int read_clusters(struct place p, const json_t *root,
                         struct bats_profile *profile, struct bats_error *err)
{
    const json_t *clusters;
    bats_money sum = 0;
    int rc = read_array(&p, root, "clusters", &clusters, err);

    if (rc < 0)
        return rc;
    size_t n = json_array_size(clusters);
    if (n < 1 || n > BATS_CLUSTERS_MAX)
        return wrong(&p, err, "has no cluster, or too many");
    for (size_t i = 0; i < n; i++) {
        struct place in = inside(&p, i);
        rc = read_cluster(&in, json_array_get(clusters, i), profile, err);
        if (rc < 0)
            return rc;
        if (!bats_units_add(sum, profile->clusters[i].charged, &sum))
            return wrong(&p, err, "were charged more than can be counted");
        profile->n_clusters++;
    }
    return 0;
}

static int read_ranges(struct place p, const json_t *root, const char *key,
                       const struct bats_profile *profile,
                       struct bats_task_ranges *ranges, struct bats_error *err)
{
    const json_t *list;
    int rc = read_array(&p, root, key, &list, err);

    if (rc < 0)
        return rc;
    size_t n = json_array_size(list);
    ranges->range = malloc((n + 1) * sizeof *ranges->range);
    if (!ranges->range)
        return bats_error_set(err, BATS_ENOMEM, "no memory for a profile");
    for (size_t i = 0; i < n; i++) {
        const json_t *pair = json_array_get(list, i);
        struct bats_task_range *r = &ranges->range[i];
        struct place in = inside(&p, i);
        if (json_array_size(pair) != 2)
            return wrong(&in, err, "has to be a first and a last task");
        rc = read_task(&in, profile, json_array_get(pair, 0), &r->first, err);
        if (rc == 0)
            rc = read_task(&in, profile, json_array_get(pair, 1), &r->last,
                           err);
        if (rc < 0)
            return rc;
        if (r->last < r->first || (i > 0 && r->first <= r[-1].last))
            return wrong(&in, err, "is not in ascending order");
        ranges->n++;
    }
    return 0;
}

/* Checks that no task is both done and failed. */
static int check_ranges(const struct place *p,
                        const struct bats_profile *profile,
                        struct bats_error *err)
{
    const struct bats_task_ranges *d = &profile->done, *f = &profile->failed;

    for (size_t i = 0, j = 0; i < d->n && j < f->n;) {
        if (d->range[i].last < f->range[j].first)
            i++;
        else if (f->range[j].last < d->range[i].first)
            j++;
        else
            return bats_error_set(
                err, BATS_EINPUT,
                "%s: task %" PRIu32 " is both done and failed", p->path,
                (d->range[i].first > f->range[j].first ? d->range[i].first
                                                       : f->range[j].first) +
                    1);
    }
    return 0;
}

static int read_billing(struct place p, const json_t *root,
                        enum bats_billing_model *model, struct bats_error *err)
{
    const json_t *value = json_object_get(root, "billing");

    if (!value || (json_is_string(value) &&
                   bats_billing_find(json_string_value(value), model)))
        return 0;
    member(&p, root, "billing");
    return wrong(&p, err, "is no billing model");
}

static int read_levels(struct place p, const json_t *root,
                       struct bats_levels *levels, struct bats_error *err)
{
    const json_t *list;

    if (!json_object_get(root, "levels"))
        return 0;
    int rc = read_array(&p, root, "levels", &list, err);
    if (rc < 0)
        return rc;
    if (json_array_size(list) > BATS_LEVELS_MAX)
        return wrong(&p, err, "has too many levels");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *pair = json_array_get(list, i);
        struct place in = inside(&p, i);
        levels->tasks[i] = json_number_value(json_array_get(pair, 0));
        levels->count[i] = json_number_value(json_array_get(pair, 1));
        if (json_array_size(pair) != 2 ||
            !(levels->tasks[i] >= 1 && levels->tasks[i] <= UINT32_MAX &&
              levels->count[i] >= 1 && levels->count[i] <= UINT32_MAX))
            return wrong(&in, err, "has to be two numbers, 1 or more");
        levels->n = i + 1;
    }
    return 0;
}

static int read_path(struct place p, const json_t *root,
                     const struct bats_profile *profile,
                     struct bats_critical_path *path, struct bats_error *err)
{
    const json_t *list, *object = member(&p, root, "critical_path");

    if (!object)
        return 0;
    path->means = json_number_value(json_object_get(object, "means"));
    if (!(path->means >= 0 && path->means <= UINT32_MAX))
        return wrong(&p, err, "has no length");
    int rc = read_array(&p, object, "tasks", &list, err);
    size_t n = rc == 0 ? json_array_size(list) : 0;
    path->task = malloc((n + 1) * sizeof *path->task);
    if (!path->task)
        return bats_error_set(err, BATS_ENOMEM, "no memory for a profile");
    for (; rc == 0 && path->n < n; path->n++) {
        struct place in = inside(&p, path->n);
        rc = read_task(&in, profile, json_array_get(list, path->n),
                       &path->task[path->n], err);
    }
    return rc;
}

static int read_profile(const char *path, const json_t *root,
                        struct bats_profile *profile, struct bats_error *err)
{
    struct place p = {.path = path};
    int64_t version;

    if (!json_is_object(root) || !json_object_get(root, "bats_profile"))
        return bats_error_set(err, BATS_EINPUT,
                              "%s: this is not a profile of bats-mpi sample",
                              path);
    int rc =
        read_integer(p, root, "bats_profile", VERSION, VERSION, &version, err);
    if (rc == 0)
        rc = read_bag(p, root, profile, err);
    if (rc == 0)
        rc = read_time(p, root, "window_s", &profile->window, err);
    if (rc == 0 && profile->window == 0) {
        member(&p, root, "window_s");
        return wrong(&p, err, "has to be above 0");
    }
    if (rc == 0)
        rc = read_time(p, root, "elapsed_s", &profile->elapsed, err);
    if (rc == 0)
        rc = read_billing(p, root, &profile->billing, err);
    if (rc == 0)
        rc = read_text(p, root, "currency", profile->currency,
                       sizeof profile->currency, err);
    if (rc == 0)
        rc = read_clusters(p, root, profile, err);
    if (rc == 0)
        rc = read_ranges(p, root, "done", profile, &profile->done, err);
    if (rc == 0)
        rc = read_ranges(p, root, "failed", profile, &profile->failed, err);
    if (rc == 0)
        rc = check_ranges(&p, profile, err);
    if (rc == 0)
        rc = read_levels(p, root, &profile->levels, err);
    if (rc == 0)
        rc = read_path(p, root, profile, &profile->path, err);
    if (rc == 0 && json_object_get(root, "pools"))
        rc = bats_pools_from_json(json_object_get(root, "pools"), path,
                                  &profile->pools, err);
    return rc;
}

int bats_profile_load(const char *path, struct bats_profile *profile,
                      struct bats_error *err)
{
    struct bats_profile made = {.n_tasks = 0};
    json_error_t why;
    FILE *file = fopen(path, "r");

    if (!file)
        return bats_error_set(err, BATS_EINPUT, "%s: %s", path,
                              strerror(errno));
    errno = 0;
    json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &why);
    int rc = 0;
    if (!root && errno == EISDIR)
        rc =
            bats_error_set(err, BATS_EINPUT, "%s: %s", path, strerror(EISDIR));
    else if (!root)
        rc = bats_error_set(err, BATS_EINPUT, "%s:%d: %s", path, why.line,
                            why.text);
    fclose(file);
    if (rc == 0)
        rc = read_profile(path, root, &made, err);
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
    free(profile->done.range);
    free(profile->failed.range);
    free(profile->path.task);
    bats_pools_release(&profile->pools);
    *profile = (struct bats_profile){.n_tasks = 0};
}
