#include "input/clusters_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/inifile.h"

#define BLANKS " \t\r\n"
#define DIGITS "0123456789"
#define NAME_CHARACTERS                                                       \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "-_."

enum { RUN_WINDOW, RUN_MINIMUM, RUN_CURRENCY, RUN_BILLING, RUN_KEYS };

/* State while the file is read. */
struct reader {
    struct bats_clusters_file *file;
    struct bats_error *err;
    unsigned line;                        /* present line, from 1 */
    struct bats_cluster_section *section; /* open; NULL: [run] */
    unsigned run_line, run_key_line[RUN_KEYS]; /* 0: not given */
};

#define FAIL(reader, ...)                                                     \
    bats_error_at((reader)->err, (reader)->file->path, (reader)->line,        \
                  __VA_ARGS__)

/* ---- sections ---- */

int bats_cluster_name_parse(const char *text, char name[BATS_CLUSTER_NAME],
                            struct bats_error *err)
{
    size_t length = strlen(text);
    if (length == 0)
        return bats_error_set(err, BATS_EINPUT,
                              "a cluster without a name: write "
                              "[cluster NAME]");
    if (length >= BATS_CLUSTER_NAME)
        return bats_error_set(
            err, BATS_EINPUT,
            "the name of the cluster is longer than %d characters",
            BATS_CLUSTER_NAME - 1);
    if (strspn(text, NAME_CHARACTERS) < length)
        return bats_error_set(err, BATS_EINPUT,
                              "'%s' is not a name for a cluster: letters, "
                              "digits, '-', '_' and '.' only",
                              text);
    strcpy(name, text);
    return 0;
}

static int open_cluster(struct reader *r, const char *name)
{
    struct bats_clusters_file *file = r->file;
    if (file->n_sections == BATS_CLUSTERS_MAX)
        return FAIL(r, "more than %d clusters", BATS_CLUSTERS_MAX);
    r->section = &file->sections[file->n_sections];
    int rc = bats_cluster_name_parse(name, r->section->cluster.name, r->err);
    if (rc < 0)
        return bats_error_prefix(r->err, rc, "%s:%u: ", file->path, r->line);
    for (size_t i = 0; i < file->n_sections; i++) {
        if (strcmp(file->sections[i].cluster.name, name) == 0)
            return FAIL(r, "cluster '%s' is already on line %u", name,
                        file->sections[i].line);
    }
    r->section->cluster.max = UINT32_MAX;
    r->section->speed = 1;
    r->section->where = BATS_KEY_COUNT;
    r->section->line = r->line;
    file->n_sections++;
    return 0;
}

static int open_section(void *context, unsigned line, const char *word,
                        const char *name)
{
    struct reader *r = context;
    r->line = line;
    r->section = NULL;
    if (strcmp(word, "cluster") == 0)
        return open_cluster(r, name);
    if (strcmp(word, "run") != 0 || *name)
        return FAIL(r,
                    "unknown section [%.60s%s%.60s]; known are [run] and "
                    "[cluster NAME]",
                    word, *name ? " " : "", name);
    if (r->run_line)
        return FAIL(r, "section [run] is already on line %u", r->run_line);
    r->run_line = line;
    return 0;
}

/* ---- keys ---- */

static int once(struct reader *r, const char *name, unsigned *first)
{
    return bats_inifile_once(r->file->path, r->line, name, first, r->err);
}

static const char *const run_key_names[RUN_KEYS] = {[RUN_WINDOW] = "window",
                                                    [RUN_MINIMUM] = "minimum",
                                                    [RUN_CURRENCY] =
                                                        "currency",
                                                    [RUN_BILLING] = "billing"};

static int parse_run_value(struct bats_clusters_file *file, int key,
                           const char *value, struct bats_error *err)
{
    if (key == RUN_CURRENCY && strlen(value) >= sizeof file->currency)
        return bats_error_set(err, BATS_EINPUT,
                              "'%.60s' is longer than %zu bytes", value,
                              sizeof file->currency - 1);
    if (key == RUN_CURRENCY) {
        strcpy(file->currency, value);
        return 0;
    }
    if (key == RUN_BILLING)
        return bats_billing_find(value, &file->billing)
                   ? 0
                   : bats_error_set(err, BATS_EINPUT,
                                    "'%.60s' is neither window, allocation, "
                                    "use nor second",
                                    value);
    bats_time *time = key == RUN_WINDOW ? &file->window : &file->minimum;
    int rc = bats_duration_parse(value, time, err);
    return rc == 0 && *time == 0
               ? bats_error_set(err, BATS_EINPUT, "must be longer than 0")
               : rc;
}

static int set_run_key(struct reader *r, const char *name, const char *value)
{
    int key = 0;
    while (key < RUN_KEYS && strcmp(name, run_key_names[key]) != 0)
        key++;
    if (key == RUN_KEYS)
        return FAIL(r,
                    "unknown key '%.60s' in [run]; known are window, minimum, "
                    "currency and billing",
                    name);
    int rc = once(r, name, &r->run_key_line[key]);
    return rc < 0 ? rc
                  : bats_error_prefix(
                        r->err, parse_run_value(r->file, key, value, r->err),
                        "%s:%u: %s: ", r->file->path, r->line, name);
}

static const char *const key_names[BATS_KEY_MODEL] = {
    [BATS_KEY_NODES] = "nodes",
    [BATS_KEY_RANKS] = "ranks",
    [BATS_KEY_PARTITION] = "partition",
    [BATS_KEY_CHARGE] = "charge",
    [BATS_KEY_MAX] = "max",
    [BATS_KEY_MACHINE] = "machine",
    [BATS_KEY_SPEED] = "speed",
    [BATS_KEY_EXPECTED] = "expected",
    [BATS_KEY_RELIABLE] = "reliable",
    [BATS_KEY_RELIABILITY] = "reliability",
    [BATS_KEY_SURVIVAL] = "survival",
    [BATS_KEY_OUTAGES] = "outages",
    [BATS_KEY_NOTICED] = "noticed",
    [BATS_KEY_CHARGE_LOST] = "charge_lost"};

static const char *key_name(int key)
{
    return key < BATS_KEY_MODEL ? key_names[key]
                                : bats_model_keys[key - BATS_KEY_MODEL];
}

static int set_where(struct reader *r, enum bats_cluster_key key,
                     const char *value)
{
    struct bats_cluster_section *section = r->section;
    if (section->where != BATS_KEY_COUNT)
        return FAIL(r,
                    "'%s' beside '%s' on line %u: a cluster has one of "
                    "nodes, ranks and partition",
                    key_names[key], key_names[section->where],
                    section->key_line[section->where]);
    section->where = key;
    section->where_text = strdup(value);
    return section->where_text ? 0 : bats_no_memory(r->err);
}

/* How executions are lost there, and what they charge then. */
static int parse_loss(struct bats_cluster_section *section,
                      enum bats_cluster_key key, const char *value,
                      const char *from, struct bats_error *err)
{
    struct bats_reliability *reliability = &section->reliability;
    bool yes = false;
    int rc;
    if (key == BATS_KEY_CHARGE_LOST) {
        rc = bats_inifile_yes(value, &yes, err);
        section->cluster.lost_is_free = !yes;
        return rc;
    }
    if (key == BATS_KEY_RELIABLE)
        rc = bats_inifile_yes(value, &yes, err);
    else if (key == BATS_KEY_RELIABILITY)
        rc = bats_reliability_parse(reliability, value, err);
    else if (key == BATS_KEY_SURVIVAL)
        rc = bats_survival_parse(reliability, value, err);
    else if (key == BATS_KEY_OUTAGES)
        rc = bats_outages_read(reliability, from, value, err);
    else
        rc = bats_noticed_parse(&section->cluster.noticed, value, err);
    section->is_reliable |= yes;
    section->cluster.unreliable |= !yes;
    return rc;
}

static int parse_value(struct bats_cluster_section *section, int key,
                       const char *value, const char *from,
                       struct bats_error *err)
{
    struct bats_cluster *cluster = &section->cluster;
    uint64_t max;
    if (key >= BATS_KEY_MODEL)
        return bats_model_set(cluster,
                              (enum bats_model_key)(key - BATS_KEY_MODEL),
                              value, from, err);
    switch (key) {
    case BATS_KEY_CHARGE:
        return bats_model_charge(cluster, value, &section->by_hour, err);
    case BATS_KEY_MAX:
        if (bats_count_parse(value, &max, NULL) || max == 0 ||
            max >= UINT32_MAX)
            return bats_error_set(err, BATS_EINPUT,
                                  "'%.60s' is not a whole number above 0",
                                  value);
        cluster->max = (uint32_t)max;
        return 0;
    case BATS_KEY_MACHINE:
        section->by_node = strcmp(value, "node") == 0;
        return section->by_node || strcmp(value, "rank") == 0
                   ? 0
                   : bats_error_set(err, BATS_EINPUT,
                                    "'%.60s' is neither rank nor node", value);
    case BATS_KEY_SPEED:
        return bats_factor_parse(value, &section->speed, err);
    case BATS_KEY_EXPECTED:
        return bats_duration_parse(value, &section->expected, err);
    default:
        return parse_loss(section, (enum bats_cluster_key)key, value, from,
                          err);
    }
}

static int set_cluster_key(struct reader *r, const char *name,
                           const char *value)
{
    struct bats_cluster_section *section = r->section;
    int key = 0;
    while (key < BATS_KEY_COUNT && strcmp(name, key_name(key)) != 0)
        key++;
    if (key == BATS_KEY_COUNT)
        return FAIL(r,
                    "unknown key '%.60s' in [cluster %s]; known are nodes, "
                    "ranks, partition, charge, max, machine, speed, "
                    "expected, reliable, reliability, survival, outages, "
                    "noticed, charge_lost, block, reclaimable, notice, "
                    "guaranteed, free and lifetime",
                    name, section->cluster.name);
    int rc = once(r, name, &section->key_line[key]);
    if (rc < 0)
        return rc;
    if (key <= BATS_KEY_PARTITION)
        return set_where(r, (enum bats_cluster_key)key, value);
    rc = parse_value(section, key, value, r->file->path, r->err);
    return bats_error_prefix(r->err, rc, "%s:%u: %s: ", r->file->path, r->line,
                             name);
}

/* A line without a key: `value` continues the list of `name`. */
static int continue_list(void *context, unsigned line, const char *name,
                         const char *value)
{
    struct reader *r = context;
    r->line = line;
    struct bats_cluster_section *section = r->section;
    if (!section || (strcmp(name, key_names[BATS_KEY_NODES]) != 0 &&
                     strcmp(name, key_names[BATS_KEY_RANKS]) != 0))
        return FAIL(r,
                    "an indented line without '=' continues the line "
                    "above, but '%.60s' is not a list",
                    name);
    char *so_far = section->where_text;
    size_t length = strlen(so_far);
    bool comma = length > 0 && so_far[length - 1] == ',';
    char *joined;
    if (asprintf(&joined, "%s%s%s", so_far, comma ? "" : ",", value) < 0)
        return bats_no_memory(r->err);
    free(so_far);
    section->where_text = joined;
    return 0;
}

static int set_key(void *context, unsigned line, const char *name,
                   const char *value)
{
    struct reader *r = context;
    r->line = line;
    return r->section ? set_cluster_key(r, name, value)
                      : set_run_key(r, name, value);
}

/* ---- after the last line ---- */

/* Parses "1-32,40". */
static int read_ranks(struct bats_cluster_section *section,
                      struct bats_error *why)
{
    const char *text = section->where_text;
    size_t room = 1;
    for (const char *c = text; *c; c++)
        room += *c == ',';
    section->ranges = calloc(room, sizeof *section->ranges);
    if (!section->ranges)
        return bats_no_memory(why);
    for (;; text++) {
        int range[2];
        for (int end = 0; end < 2; end++) {
            text += strspn(text, BLANKS);
            size_t digits = strspn(text, DIGITS);
            if (digits == 0 || digits > 9)
                goto malformed;
            range[end] = atoi(text);
            text += digits;
            text += strspn(text, BLANKS);
            if (end == 0 && *text == '-')
                text++;
            else if (end == 0)
                range[++end] = range[0];
        }
        if (range[1] < range[0] || (*text != ',' && *text != '\0'))
            goto malformed;
        section->ranges[section->n_ranges++] =
            (struct bats_rank_range){range[0], range[1]};
        if (*text == '\0')
            return 0;
    }
malformed:
    return bats_error_set(why, BATS_EINPUT,
                          "'%.60s' is not a list of ranks such as 1-32,40",
                          section->where_text);
}

/* The number of machines that the section itself implies; 0 if it does not. */
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

static int finish_section(struct reader *r,
                          struct bats_cluster_section *section)
{
    r->line = section->line;
    if (!section->key_line[BATS_KEY_CHARGE])
        return FAIL(r, "cluster '%s' has no charge", section->cluster.name);
    if (section->where == BATS_KEY_COUNT) {
        if (r->file->n_sections > 1)
            return FAIL(r,
                        "cluster '%s' has none of nodes, ranks and "
                        "partition",
                        section->cluster.name);
        return 0;
    }
    r->line = section->key_line[section->where];
    int code = 0;
    if (section->where == BATS_KEY_NODES)
        code =
            bats_hostlist_expand(section->where_text, &section->nodes, r->err);
    else if (section->where == BATS_KEY_RANKS)
        code = read_ranks(section, r->err);
    else if (!*section->where_text)
        code = bats_error_set(r->err, BATS_EINPUT, "no name");
    if (code)
        return bats_error_prefix(r->err, code, "%s:%u: %s: ", r->file->path,
                                 r->line, key_names[section->where]);
    uint64_t named = count_named(section);
    if (!section->key_line[BATS_KEY_MAX] && named > 0 && named < UINT32_MAX)
        section->cluster.max = (uint32_t)named;
    return 0;
}

/* Checks the keys about lost executions, once the billing is known. */
static int check_losses(struct reader *r)
{
    for (size_t i = 0; i < r->file->n_sections; i++) {
        const struct bats_cluster_section *section = &r->file->sections[i];
        r->line = section->key_line[BATS_KEY_RELIABLE];
        if (section->is_reliable && section->cluster.unreliable)
            return FAIL(r, "reliable: 'yes' beside losses");
        r->line = section->key_line[BATS_KEY_CHARGE_LOST];
        if (r->line > 0 && !section->cluster.unreliable)
            return FAIL(r, "charge_lost: cluster '%s' is reliable",
                        section->cluster.name);
        if (!section->cluster.lost_is_free)
            continue;
        if (r->file->billing != BATS_BILLING_USE)
            return FAIL(r, "charge_lost: an execution alone is charged for "
                           "only with billing = use");
        if (section->by_node)
            return FAIL(r, "charge_lost: a machine that runs several tasks "
                           "is charged for all of them together: machine = "
                           "rank");
    }
    return 0;
}

/* Charges per hour, and no others, mean an allocation. */
static void settle_billing(const struct reader *r)
{
    bool by_hour = true, by_age = false;
    for (size_t i = 0; i < r->file->n_sections; i++) {
        by_hour &= r->file->sections[i].by_hour;
        by_age |= bats_model_is_by_age(&r->file->sections[i].cluster);
    }
    if (!r->run_key_line[RUN_BILLING])
        r->file->billing = by_age    ? BATS_BILLING_SECOND
                           : by_hour ? BATS_BILLING_ALLOCATION
                                     : BATS_BILLING_WINDOW;
}

/* Checks prices and lifetimes, once the billing is known. */
static int check_models(struct reader *r)
{
    for (size_t i = 0; i < r->file->n_sections; i++) {
        const struct bats_cluster_section *section = &r->file->sections[i];
        enum bats_model_key key;
        int rc = bats_model_check(&section->cluster, r->file->billing, &key,
                                  r->err);
        if (rc == 0)
            continue;
        int at = key == BATS_MODEL_KEYS ? BATS_KEY_CHARGE
                                        : BATS_KEY_MODEL + (int)key;
        return bats_error_prefix(r->err, rc, "%s:%u: %s: ", r->file->path,
                                 section->key_line[at], key_name(at));
    }
    return 0;
}

/* Settles the window in force and its charge. */
static int settle_window(struct reader *r, bats_time window)
{
    struct bats_clusters_file *file = r->file;
    char text[BATS_UNITS_TEXT], least[BATS_UNITS_TEXT];

    if (window > 0)
        file->window = window;
    else if (file->window == 0)
        file->window = BATS_WINDOW_DEFAULT;
    r->line = r->run_key_line[RUN_MINIMUM];
    if (file->window < file->minimum)
        return FAIL(r,
                    "a window of %s is shorter than %s, the shortest that "
                    "is charged",
                    bats_duration_format(text, file->window),
                    bats_duration_format(least, file->minimum));
    for (size_t i = 0; i < file->n_sections; i++) {
        struct bats_cluster_section *section = &file->sections[i];
        r->line = section->key_line[BATS_KEY_CHARGE];
        if (!bats_model_settle(&section->cluster, section->by_hour,
                               file->window, file->billing))
            return FAIL(r,
                        "charge: the charge of a window of %s is too "
                        "large",
                        bats_duration_format(text, file->window));
    }
    return 0;
}

static int read_file(struct reader *r, const char *text, bats_time window)
{
    static const struct bats_inifile_reader reader = {open_section, set_key,
                                                      continue_list};
    unsigned lines = 0;
    int code =
        bats_inifile_read(r->file->path, text, &reader, r, &lines, r->err);
    if (code)
        return code;
    r->line = lines ? lines : 1;
    if (r->file->n_sections == 0)
        return FAIL(r, "the file ends without a section "
                       "[cluster NAME]");
    for (size_t i = 0; i < r->file->n_sections && !code; i++)
        code = finish_section(r, &r->file->sections[i]);
    if (code)
        return code;
    settle_billing(r);
    code = check_models(r);
    if (!code)
        code = check_losses(r);
    return code ? code : settle_window(r, window);
}

int bats_clusters_text_load(const char *text, const char *path,
                            bats_time window, struct bats_clusters_file **file,
                            struct bats_error *err)
{
    struct bats_clusters_file *f = calloc(1, sizeof *f);
    if (!f || !(f->path = strdup(path))) {
        bats_clusters_file_destroy(f);
        return bats_no_memory(err);
    }
    struct reader r = {.file = f, .err = err};
    int code = read_file(&r, text, window);
    if (code)
        bats_clusters_file_destroy(f);
    else
        *file = f;
    return code;
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
        if (section->cluster.unreliable &&
            !section->key_line[BATS_KEY_NOTICED] &&
            !bats_reliability_loses(&section->reliability))
            section->cluster.noticed = noticed;
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
        bats_reliability_release(&file->sections[i].reliability);
    }
    free(file->path);
    free(file);
}

const char *bats_clusters_file_partition(const struct bats_clusters_file *file,
                                         size_t i)
{
    const struct bats_cluster_section *section = &file->sections[i];
    return section->where == BATS_KEY_PARTITION ? section->where_text : NULL;
}
