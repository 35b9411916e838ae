/* Writes a profile, and fills it from a bag. See profile.h. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/bag.h"
#include "input/profile.h"
#include "input/textfile.h"
#include "util/json.h"

/* Digits that a time in seconds needs to be exact to the microsecond. */
#define DIGITS 15

static json_t *seconds(bats_time time)
{
    if (time % BATS_SECOND == 0)
        return json_integer(time / BATS_SECOND);
    return json_real((double)time / BATS_SECOND);
}

static json_t *money(bats_money amount)
{
    char text[BATS_UNITS_TEXT];
    return json_string(bats_money_format(text, amount));
}

/* Appends the value to the list. Returns the list, or NULL. */
static json_t *append(json_t *list, json_t *value)
{
    return bats_json_whole(list, json_array_append_new(list, value));
}

static json_t *sample_of(const struct bats_profile *p, size_t cluster)
{
    json_t *sample = json_array();
    for (size_t i = 0; i < p->n_observations; i++) {
        const struct bats_observation *o = &p->observations[i];
        if (o->cluster != cluster)
            continue;
        sample = append(sample, json_pack("[I, o]", (json_int_t)o->task + 1,
                                          seconds(o->runtime)));
    }
    return sample;
}

static json_t *clusters_of(const struct bats_profile *p)
{
    json_t *clusters = json_array();
    for (size_t i = 0; i < p->n_clusters; i++) {
        const struct bats_profile_cluster *c = &p->clusters[i];
        json_t *cluster =
            json_pack("{s:s, s:o, s:I, s:f, s:I, s:o, s:o}", "name",
                      c->cluster.name, "charge", money(c->cluster.charge),
                      "max", (json_int_t)c->cluster.max, "slots", c->slots,
                      "windows", (json_int_t)c->windows, "charged",
                      money(c->charged), "sample", sample_of(p, i));
        if (c->room > 0 && c->room < c->slots)
            json_object_set_new(cluster, "room", json_real(c->room));
        if (c->expected > 0)
            json_object_set_new(cluster, "expected_s", seconds(c->expected));
        clusters = append(clusters, cluster);
    }
    return clusters;
}

/* Lists the ranges of tasks in this state. */
static json_t *list_of(const struct bats_profile *p, uint8_t state)
{
    json_t *list = json_array();
    for (uint32_t i = 0; p->state && i < p->n_tasks; i++) {
        uint32_t first = i;
        while (i < p->n_tasks && p->state[i] == state)
            i++;
        if (i > first)
            list = append(list, json_pack("[I, I]", (json_int_t)first + 1,
                                          (json_int_t)i));
    }
    return list;
}

static json_t *list_of_levels(const struct bats_levels *levels)
{
    json_t *list = json_array();
    for (size_t i = 0; i < levels->n; i++)
        list = append(list,
                      json_pack("[f, f]", levels->tasks[i], levels->count[i]));
    return list;
}

/* Returns false, as jansson does, if object or value are missing. */
static bool add(json_t *root, const char *key, json_t *value)
{
    return json_object_set_new(root, key, value) == 0;
}

static json_t *path_of(const struct bats_critical_path *path)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < path->n; i++)
        list = append(list, json_integer((json_int_t)path->task[i] + 1));
    return json_pack("{s:o, s:f}", "tasks", list, "means", path->means);
}

static json_t *to_json(const struct bats_profile *p)
{
    char hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, p->bag_hash);
    json_t *root = json_pack(
        "{s:i, s:{s:o, s:I, s:s}, s:o, s:s, s:o, s:o, s:o, s:o, s:o}",
        "bats_profile", 1, "bag", "name", bats_json_text(p->bag_name), "tasks",
        (json_int_t)p->n_tasks, "hash", hash, "window_s", seconds(p->window),
        "billing", bats_billing_name(p->billing), "currency",
        bats_json_text(p->currency), "elapsed_s", seconds(p->elapsed),
        "clusters", clusters_of(p), "done", list_of(p, BATS_TASK_DONE),
        "failed", list_of(p, BATS_TASK_FAILED));
    if ((p->levels.n == 0 ||
         add(root, "levels", list_of_levels(&p->levels))) &&
        (p->path.n == 0 || add(root, "critical_path", path_of(&p->path))))
        return root;
    json_decref(root);
    return NULL;
}

static int write_json(void *context, FILE *out, struct bats_error *err)
{
    const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(DIGITS);
    int rc = json_dumpf(context, out, flags);
    fputc('\n', out);
    return rc == 0 || ferror(out) ? 0 : bats_no_memory(err);
}

int bats_profile_save(const struct bats_profile *profile, const char *path,
                      struct bats_error *err)
{
    json_t *root = to_json(profile);
    if (!root)
        return bats_no_memory(err);
    int rc = bats_textfile_write(path, write_json, root, err);
    json_decref(root);
    return rc;
}

/* ---- the bag ---- */

int bats_profile_check_bag(const struct bats_profile *profile,
                           const char *path, const struct bats_bagfile *bag,
                           struct bats_error *err)
{
    uint32_t n = bag->n_tasks;
    uint64_t hash;
    if (n != profile->n_tasks)
        return bats_refuse(err,
                           "%s: made for a bag of %" PRIu32
                           " tasks (%s), but %s has %" PRIu32,
                           path, profile->n_tasks, profile->bag_name,
                           bag->name, n);
    int rc = bats_bagfile_hash(bag, &hash, err);
    if (rc == 0 && hash != profile->bag_hash)
        rc = bats_refuse(err,
                         "%s: made for other commands (%s) than those in %s, "
                         "though there are as many",
                         path, profile->bag_name, bag->name);
    return rc;
}

int bats_profile_set_bag(struct bats_profile *profile,
                         const struct bats_bagfile *bag,
                         struct bats_error *err)
{
    uint64_t hash;
    int rc = bats_bagfile_hash(bag, &hash, err);
    if (rc < 0)
        return rc;
    char *name = strdup(bag->name);
    if (!name)
        return bats_no_memory(err);
    free(profile->bag_name);
    profile->bag_name = name;
    profile->bag_hash = hash;
    profile->n_tasks = bag->n_tasks;
    return 0;
}

/* ---- the tasks ---- */

int bats_profile_set_states(struct bats_profile *profile, const uint8_t *state,
                            struct bats_error *err)
{
    uint32_t n = profile->n_tasks;
    uint8_t *copy = calloc(n, sizeof *copy);
    if (!copy)
        return bats_no_memory(err);
    for (uint32_t i = 0; i < n; i++)
        if (state[i] == BATS_TASK_DONE || state[i] == BATS_TASK_FAILED)
            copy[i] = state[i];
    free(profile->state);
    profile->state = copy;
    return 0;
}

uint32_t bats_profile_left(const struct bats_profile *profile)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < profile->n_tasks; i++)
        n += !profile->state || profile->state[i] == BATS_TASK_PENDING;
    return n;
}

bats_money bats_profile_charged(const struct bats_profile *profile)
{
    bats_money sum = 0;
    for (size_t i = 0; i < profile->n_clusters; i++)
        sum += profile->clusters[i].charged;
    return sum;
}

/* ---- tasks that wait for others ---- */

/* Finished tasks have no weight and are not on the path. */
static int set_path(struct bats_critical_path *path,
                    const struct bats_graph *g, const uint8_t *left,
                    const double *weight, struct bats_error *err)
{
    uint32_t n_circle,
        *order = malloc(((size_t)g->n_nodes + 1) * sizeof *order),
        *next = malloc(((size_t)g->n_nodes + 1) * sizeof *next);
    double *length = calloc((size_t)g->n_nodes + 1, sizeof *length);
    uint32_t *task = malloc(((size_t)g->n_tasks + 1) * sizeof *task), n = 0;
    int64_t rc = order && next && length && task
                     ? bats_graph_sort(g, order, &n_circle, err)
                     : bats_no_memory(err);
    for (uint32_t i = 0; rc >= 0 && i < g->n_tasks; i++)
        length[i] = !left[i] ? 0 : weight ? weight[i] : 1;
    if (rc >= 0) {
        uint32_t node = bats_graph_chain(g, order, length, next);
        double means = length[node];
        for (; node != BATS_GRAPH_END; node = next[node])
            if (node < g->n_tasks && left[node])
                task[n++] = node;
        free(path->task);
        *path = (struct bats_critical_path){task, n, means};
        task = NULL;
    }
    free(order);
    free(next);
    free(length);
    free(task);
    return rc < 0 ? (int)rc : 0;
}

int bats_profile_set_graph(struct bats_profile *profile,
                           const struct bats_graph *graph, const uint8_t *left,
                           const double *weight, struct bats_error *err)
{
    int rc = bats_graph_levels(graph, left, &profile->levels, err);
    return rc < 0 ? rc : set_path(&profile->path, graph, left, weight, err);
}
