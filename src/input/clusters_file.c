#include "input/clusters_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/sections.h"
#include "util/grow.h"

#define FAIL BATS_SECTIONS_FAIL

enum { RUN, CLUSTER, KINDS };

/* ---- keys ---- */

static int set_billing(struct bats_sections *r, const char *value,
                       struct bats_error *why)
{
    struct bats_clusters_file *file = r->object;
    return bats_billing_find(value, &file->billing)
               ? 0
               : bats_refuse(why,
                             "'%.60s' is neither window, allocation, use nor "
                             "second",
                             value);
}

static const char *const where_names[] = {[BATS_WHERE_NODES] = "nodes",
                                          [BATS_WHERE_RANKS] = "ranks",
                                          [BATS_WHERE_PARTITION] =
                                              "partition"};

/* The key says what kind of list it is. A further line is appended. */
static int set_where(struct bats_sections *r, const char *value,
                     struct bats_error *why)
{
    struct bats_clusters_file *file = r->object;
    struct bats_cluster_section *section = &file->sections[r->cluster];
    enum bats_cluster_where where = BATS_WHERE_NODES;
    char *first = section->where_text, *joined;
    while (strcmp(r->key->name, where_names[where]) != 0)
        where++;
    if (where == BATS_WHERE_PARTITION && *value == '\0')
        return bats_refuse(why, "no name");
    if (section->where != BATS_WHERE_ALL && section->where != where)
        return bats_refuse(
            why,
            "beside '%s' on line %u: a cluster has one of nodes, ranks and "
            "partition",
            where_names[section->where],
            bats_sections_cluster(r, r->cluster, where_names[section->where]));
    size_t length = first ? strlen(first) : 0;
    bool needs = first && (length == 0 || first[length - 1] != ',');
    if (asprintf(&joined, "%s%s%s", first ? first : "", needs ? "," : "",
                 value) < 0)
        return bats_no_memory(why);
    free(first);
    section->where = where;
    section->where_text = joined;
    return 0;
}

static int set_max(struct bats_sections *r, const char *value,
                   struct bats_error *why)
{
    return bats_count_within(value, 1, UINT32_MAX - 1,
                             &r->models[r->cluster].cluster.max, why);
}

static int set_machine(struct bats_sections *r, const char *value,
                       struct bats_error *why)
{
    struct bats_clusters_file *file = r->object;
    bool *by_node = &file->sections[r->cluster].by_node;
    *by_node = strcmp(value, "node") == 0;
    return *by_node || strcmp(value, "rank") == 0
               ? 0
               : bats_refuse(why, "'%.60s' is neither rank nor node", value);
}

#define MEMBER(name, kind, member, most)                                      \
    BATS_KEY_MEMBER(name, kind, bats_clusters_file, member, most)

static const struct bats_key run_keys[] = {
    MEMBER("window", PERIOD, window, 0),
    MEMBER("minimum", PERIOD, minimum, 0),
    MEMBER("currency", TEXT, currency,
           sizeof((struct bats_clusters_file *)NULL)->currency),
    BATS_KEY("billing", set_billing, false, false),
    {0},
};

static const struct bats_key cluster_keys[] = {
    BATS_KEY("nodes", set_where, true, false),
    BATS_KEY("ranks", set_where, true, false),
    BATS_KEY("partition", set_where, false, false),
    BATS_KEY("max", set_max, false, false),
    BATS_KEY("machine", set_machine, false, false),
    {0},
};

static const struct bats_section kinds[KINDS] = {{"run", run_keys},
                                                 {"cluster", cluster_keys}};

/* ---- after the last line ---- */

/* Parses "7" or "1-32". */
static bool read_range(const char *text, struct bats_rank_range *range)
{
    char first[10], last[10], rest[2];
    int n = sscanf(text, " %9[0-9] - %9[0-9] %1s", first, last, rest);
    if (n < 1 || n > 2 || (n == 1 && sscanf(text, " %*9[0-9] %1s", rest) == 1))
        return false;
    *range =
        (struct bats_rank_range){atoi(first), atoi(n == 2 ? last : first)};
    return range->first <= range->last;
}

/* Parses "1-32,40". */
static int read_ranks(struct bats_cluster_section *section,
                      struct bats_error *why)
{
    size_t room = 0;
    char *copy = strdup(section->where_text), *rest = copy, *item;
    int rc = copy ? 0 : bats_no_memory(why);
    while (rc == 0 && (item = strsep(&rest, ",")) != NULL)
        if (!bats_grow(&section->ranges, &room, section->n_ranges + 1,
                       sizeof *section->ranges))
            rc = bats_no_memory(why);
        else if (!read_range(item, &section->ranges[section->n_ranges++]))
            rc = bats_refuse(why,
                             "'%.60s' is not a list of ranks such as 1-32,40",
                             section->where_text);
    free(copy);
    return rc;
}

/* The number of machines that the section itself implies; 0: none. */
static uint64_t count_named(const struct bats_cluster_section *section)
{
    uint64_t n = 0;
    if (section->by_node)
        return section->nodes.n;
    for (size_t i = 0; i < section->n_ranges; i++)
        n +=
            (uint64_t)(section->ranges[i].last - section->ranges[i].first) + 1;
    return n;
}

/* Finds the ranks of the section, and the maximum number of its machines. */
static int finish_section(struct bats_sections *r, size_t i)
{
    struct bats_clusters_file *file = r->object;
    struct bats_cluster_section *section = &file->sections[i];
    struct bats_cluster *cluster = &r->models[i].cluster;
    enum bats_cluster_where where = section->where;
    struct bats_error why;
    int rc = 0;
    section->line = bats_sections_cluster(r, i, NULL);
    section->where_line = bats_sections_cluster(
        r, i, where == BATS_WHERE_ALL ? NULL : where_names[where]);
    section->says_noticed = bats_sections_cluster(r, i, "noticed") > 0;
    unsigned slots_line = bats_sections_cluster(r, i, "slots");
    if (section->by_node && slots_line == 0)
        r->models[i].stock.cores = 0;
    if (!section->by_node && r->models[i].stock.cores > 1)
        return FAIL(r, slots_line,
                    "slots: a machine is a rank, with one slot; or write "
                    "machine = node");
    if (where == BATS_WHERE_ALL && r->n_clusters > 1)
        return FAIL(r, section->line,
                    "cluster '%s' has none of nodes, ranks and partition",
                    cluster->name);
    if (where == BATS_WHERE_NODES)
        rc = bats_hostlist_expand(section->where_text, &section->nodes, &why);
    else if (where == BATS_WHERE_RANKS)
        rc = read_ranks(section, &why);
    if (rc < 0)
        return FAIL(r, section->where_line, "%s: %s", where_names[where],
                    why.text);
    uint64_t named = count_named(section);
    if (cluster->max == UINT32_MAX && named > 0 && named < UINT32_MAX)
        cluster->max = (uint32_t)named;
    return 0;
}

/* Sets the default of `billing`: second for prices by age; allocation if all
 * charges are per hour; else window. */
static void settle_billing(const struct bats_sections *r)
{
    struct bats_clusters_file *file = r->object;
    bool by_hour = true;
    for (size_t i = 0; i < r->n_clusters; i++)
        by_hour &= r->models[i].by_hour;
    if (bats_sections_line(r, RUN, 0, "billing") == 0)
        file->billing = bats_sections_by_age(r) ? BATS_BILLING_SECOND
                        : by_hour               ? BATS_BILLING_ALLOCATION
                                                : BATS_BILLING_WINDOW;
}

/* Sets the window, which must not be shorter than `minimum`. */
static int settle_window(struct bats_sections *r, bats_time window)
{
    struct bats_clusters_file *file = r->object;
    char text[BATS_UNITS_TEXT], least[BATS_UNITS_TEXT];
    if (window > 0)
        file->window = window;
    else if (file->window == 0)
        file->window = BATS_WINDOW_DEFAULT;
    return file->window >= file->minimum
               ? 0
               : FAIL(r, bats_sections_line(r, RUN, 0, "minimum"),
                      "a window of %s is shorter than %s, the shortest that "
                      "is charged",
                      bats_duration_format(text, file->window),
                      bats_duration_format(least, file->minimum));
}

static int read_file(struct bats_sections *r, const char *text,
                     bats_time window)
{
    struct bats_clusters_file *file = r->object;
    int rc = bats_sections_read(r, text, CLUSTER);
    file->n_sections = r->n_clusters;
    for (size_t i = 0; rc == 0 && i < r->n_clusters; i++)
        rc = finish_section(r, i);
    if (rc < 0)
        return rc;
    settle_billing(r);
    rc = bats_sections_check(r, file->billing, false);
    if (rc == 0)
        rc = settle_window(r, window);
    return rc < 0 ? rc : bats_sections_settle(r, file->window, file->billing);
}

int bats_clusters_text_load(const char *text, const char *path,
                            bats_time window, struct bats_clusters_file **file,
                            struct bats_error *err)
{
    struct bats_clusters_file *f = calloc(1, sizeof *f);
    struct bats_sections *r = calloc(1, sizeof *r);
    int rc = f && r && (f->path = strdup(path)) ? 0 : bats_no_memory(err);
    if (rc == 0) {
        *r = (struct bats_sections){.path = f->path,
                                    .object = f,
                                    .kinds = kinds,
                                    .n_kinds = KINDS,
                                    .err = err};
        rc = read_file(r, text, window);
        for (size_t i = 0; i < f->n_sections; i++)
            f->sections[i].model = r->models[i];
    }
    free(r);
    if (rc < 0)
        bats_clusters_file_destroy(f);
    else
        *file = f;
    return rc;
}

int bats_clusters_file_load(const char *path, bats_time window,
                            struct bats_clusters_file **file,
                            struct bats_error *err)
{
    return bats_clusters_text_load(NULL, path, window, file, err);
}

void bats_clusters_file_notice(struct bats_clusters_file *file,
                               bats_time noticed)
{
    for (size_t i = 0; i < file->n_sections; i++) {
        struct bats_cluster_section *section = &file->sections[i];
        struct bats_model *m = &section->model;
        if (m->cluster.unreliable && !section->says_noticed &&
            !bats_reliability_loses(&m->reliability))
            m->cluster.noticed = noticed;
    }
}

void bats_clusters_file_destroy(struct bats_clusters_file *file)
{
    if (!file)
        return;
    for (size_t i = 0; i < file->n_sections; i++) {
        free(file->sections[i].where_text);
        free(file->sections[i].ranges);
        bats_hostlist_release(&file->sections[i].nodes);
    }
    free(file->path);
    free(file);
}

const char *bats_clusters_file_partition(const struct bats_clusters_file *file,
                                         size_t i)
{
    const struct bats_cluster_section *section = &file->sections[i];
    return section->where == BATS_WHERE_PARTITION ? section->where_text : NULL;
}
