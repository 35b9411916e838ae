#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "input/bag/state.h"
#include "input/sweep/sweep.h"

/* ---- the values: each returns 0, or an error that names no line ---- */

static int read_class(struct bats_bagfile *bag, struct bats_bag_traits *traits,
                      const char *value, struct bats_error *err)
{
    return bats_bag_class(bag, value, &traits->class, err);
}

static int read_number(const char *value, unsigned long least,
                       unsigned long most, uint32_t *number,
                       struct bats_error *err)
{
    size_t n = strspn(value, "0123456789");
    unsigned long read = n > 0 && n < 6 ? strtoul(value, NULL, 10) : ULONG_MAX;
    if (value[n] != '\0' || read < least || read > most)
        return bats_refuse(err, "'%.40s' is not a number from %lu to %lu",
                           value, least, most);
    *number = (uint32_t)read;
    return 0;
}

static int read_cores(struct bats_bagfile *bag, struct bats_bag_traits *traits,
                      const char *value, struct bats_error *err)
{
    (void)bag;
    return read_number(value, 1, BATS_CORES_MOST, &traits->need.cores, err);
}

static int read_gpus(struct bats_bagfile *bag, struct bats_bag_traits *traits,
                     const char *value, struct bats_error *err)
{
    (void)bag;
    traits->says_gpus = true;
    return read_number(value, 0, BATS_GPUS_MOST, &traits->need.gpus, err);
}

static int read_memory(struct bats_bagfile *bag,
                       struct bats_bag_traits *traits, const char *value,
                       struct bats_error *err)
{
    int64_t bytes;
    int rc = bats_size_parse(value, &bytes, err);
    (void)bag;
    if (rc == 0)
        traits->need.memory_kib = (bytes - 1) / 1024 + 1;
    return rc;
}

static int read_time(struct bats_bagfile *bag, struct bats_bag_traits *traits,
                     const char *value, struct bats_error *err)
{
    (void)bag;
    return bats_duration_parse(value, &traits->time, err);
}

/* ---- the keys ---- */

static const struct trait {
    const char *key, *value, *said;
    int (*read)(struct bats_bagfile *bag, struct bats_bag_traits *traits,
                const char *value, struct bats_error *err);
} traits[] = {{"class", "NAME", "#BATS class", read_class},
              {"cores", "N", "#BATS cores", read_cores},
              {"gpus", "N", "#BATS gpus", read_gpus},
              {"memory", "SIZE", "#BATS memory", read_memory},
              {"time", "DURATION", "#BATS time", read_time}};

#define N_TRAITS (sizeof traits / sizeof *traits)

static const struct trait *find_trait(const char *key, size_t n)
{
    for (size_t i = 0; i < N_TRAITS; i++)
        if (strlen(traits[i].key) == n &&
            strncasecmp(traits[i].key, key, n) == 0)
            return &traits[i];
    return NULL;
}

static int unknown(struct scan *scan, const char *key, size_t n)
{
    char known[200] = "";
    for (size_t i = 0; i < N_TRAITS; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s",
                 i == 0              ? ""
                 : i + 1 == N_TRAITS ? " and "
                                     : ", ",
                 traits[i].key);
    }
    return FAIL(scan, "unknown key '%.*s' after #BATS; known are %s",
                n < 40 ? (int)n : 40, key, known);
}

/* `said`: how the file names the trait. */
static int read_value(struct scan *scan, const struct trait *trait,
                      const char *said, const char *text, size_t n)
{
    char value[BATS_CLASS];
    if (n >= sizeof value)
        return FAIL(scan, "%s: '%.40s...' is too long", said, text);
    memcpy(value, text, n);
    value[n] = '\0';
    scan->new_group = true;
    return bats_error_prefix(
        scan->err, trait->read(scan->bag, &scan->traits, value, scan->err),
        "%s:%" PRIu32 ": %s: ", scan->bag->name, scan->line, said);
}

static int read_pairs(struct scan *scan, const char *text)
{
    int rc = 0;
    while (rc == 0 && *text != '\0') {
        size_t n = strcspn(text, BLANKS), key = strcspn(text, "= \t");
        const struct trait *trait = find_trait(text, key);
        if (key == n)
            return FAIL(scan, "'%.*s' is not of the form KEY=VALUE",
                        n < 40 ? (int)n : 40, text);
        rc = trait == NULL ? unknown(scan, text, key)
                           : read_value(scan, trait, trait->said,
                                        text + key + 1, n - key - 1);
        text += n;
        text += strspn(text, BLANKS);
    }
    return rc;
}

bool bats_bag_is_trait(const char *text)
{
    size_t n = strcspn(text, "= \t");
    return text[n] == '=' || find_trait(text, n) != NULL;
}

int bats_bag_trait(struct scan *scan, const char *text)
{
    size_t n = strcspn(text, "= \t");
    const struct trait *trait = find_trait(text, n);
    if (text[n] == '=')
        return read_pairs(scan, text);
    text += n;
    text += strspn(text, BLANKS);
    n = strcspn(text, BLANKS);
    if (text[n + strspn(text + n, BLANKS)] != '\0')
        return FAIL(scan, "not of the form '#BATS %s %s'", trait->key,
                    trait->value);
    return read_value(scan, trait, trait->said, text, n);
}

/* ---- HyperQueue's options ---- */

/* Skips `word` and what separates it from its value. */
static bool skip(const char **text, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*text, word, n) != 0 || !strchr("= \t", (*text)[n]))
        return false;
    *text += n + ((*text)[n] != '\0');
    *text += strspn(*text, BLANKS);
    return true;
}

int bats_bag_hyperqueue(struct scan *scan, const char *text)
{
    int rc = 0;
    while (rc == 0 && *(text += strspn(text, BLANKS)) != '\0') {
        bool is_resource = skip(&text, "--resource");
        if (is_resource &&
            (skip(&text, "gpus/nvidia") || skip(&text, "gpus/amd")))
            rc = read_value(scan, find_trait("gpus", 4), "#HQ --resource gpus",
                            text, strcspn(text, BLANKS));
        else if (is_resource)
            return FAIL(scan,
                        "#HQ --resource: '%.40s' is neither gpus/nvidia=N nor "
                        "gpus/amd=N",
                        text);
        else if (skip(&text, "--cpus"))
            rc = read_value(scan, find_trait("cores", 5), "#HQ --cpus", text,
                            strcspn(text, BLANKS));
        text += strcspn(text, BLANKS);
    }
    return rc;
}

/* ---- the columns of a sweep ---- */

static int refuse_value(struct bats_bagfile *bag, const struct trait *trait,
                        uint32_t task, size_t column, int code,
                        struct bats_error *err)
{
    uint32_t line;
    const char *file =
        bats_points_where(&bag->sweep->points, column, task, &line);
    const char *name = file != NULL ? file : bag->name;
    if (line > 0)
        return bats_error_prefix(err, code, "%s:%" PRIu32 ": %s: ", name, line,
                                 trait->key);
    return bats_error_prefix(err, code, "%s: task %" PRIu64 ": %s: ", name,
                             (uint64_t)task + 1, trait->key);
}

static int read_column(struct bats_bagfile *bag, const struct trait *trait,
                       size_t column, struct bats_error *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < bag->n_tasks; i++) {
        size_t n;
        const char *const *values = bats_sweep_values(bag->sweep, i, &n);
        if (values == NULL)
            return bats_no_memory(err);
        if (column < n && *values[column] != '\0')
            rc = trait->read(bag, &bag->own_traits[i], values[column], err);
        if (rc < 0)
            rc = refuse_value(bag, trait, i, column, rc, err);
    }
    return rc;
}

int bats_bag_read_columns(struct bats_bagfile *bag, struct bats_error *err)
{
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < N_TRAITS; k++) {
        size_t column = bats_sweep_column(bag->sweep, traits[k].key);
        if (column == SIZE_MAX || traits[k].read == read_class)
            continue;
        if (bag->own_traits == NULL)
            bag->own_traits =
                calloc(bag->n_tasks + (size_t)1, sizeof *bag->own_traits);
        rc = bag->own_traits != NULL
                 ? read_column(bag, &traits[k], column, err)
                 : bats_no_memory(err);
    }
    return rc;
}
