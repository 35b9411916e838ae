/* traits: what directives and columns say about tasks. See state.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bats/rules.h"
#include "input/bag/state.h"
#include "input/sweep/sweep.h"

/* ---- the values ---- */

/* The number of the class of this name. */
static int find_class(struct bats_bagfile *bag, const char *name,
                      uint16_t *number, struct bats_error *err)
{
    bool is_new;
    if (*name == '\0')
        return bats_refuse(err, "the class has no name");
    if (strlen(name) >= BATS_CLASS)
        return bats_refuse(err, "'%.40s...' is too long", name);
    if (bag->classes.n == 0 &&
        bats_names_add(&bag->classes, BATS_NO_CLASS, &is_new) == BATS_NO_NAME)
        return bats_no_memory(err);
    uint32_t n = bats_names_add(&bag->classes, name, &is_new);
    if (n == BATS_NO_NAME)
        return bats_no_memory(err);
    if (n >= BATS_CATEGORIES_MAX)
        return bats_refuse(err, "more than %d classes",
                           BATS_CATEGORIES_MAX - 1);
    *number = (uint16_t)n;
    return 0;
}

enum trait { CLASS, CORES, GPUS, MEMORY, TIME, N_TRAITS };

static const struct {
    const char *key, *value;
} forms[N_TRAITS] = {[CLASS] = {"class", "NAME"},
                     [CORES] = {"cores", "N"},
                     [GPUS] = {"gpus", "N"},
                     [MEMORY] = {"memory", "SIZE"},
                     [TIME] = {"time", "DURATION"}};

static enum trait find_trait(const char *key, size_t n)
{
    enum trait i = CLASS;
    while (i < N_TRAITS && (strlen(forms[i].key) != n ||
                            strncasecmp(forms[i].key, key, n) != 0))
        i++;
    return i;
}

/* The sentence of an error names no line. */
static int set(struct bats_bagfile *bag, struct bats_bag_traits *traits,
               enum trait trait, const char *value, struct bats_error *err)
{
    int64_t bytes = 1;
    int rc = 0;
    switch (trait) {
    case CLASS:
        return find_class(bag, value, &traits->class, err);
    case CORES:
        return bats_count_within(value, 1, BATS_CORES_MOST,
                                 &traits->need.cores, err);
    case GPUS:
        traits->says_gpus = true;
        return bats_count_within(value, 0, BATS_GPUS_MOST, &traits->need.gpus,
                                 err);
    case MEMORY:
        rc = bats_size_parse(value, &bytes, err);
        traits->need.memory_kib = (bytes - 1) / 1024 + 1;
        return rc;
    case TIME:
        return bats_duration_parse(value, &traits->time, err);
    case N_TRAITS:
        break;
    }
    return rc;
}

/* ---- directives ---- */

/* `mark` and `key`: how the file names the trait. */
static int read_value(struct scan *scan, enum trait trait, const char *mark,
                      const char *key, const char *text, size_t n)
{
    char value[BATS_CLASS];
    if (n >= sizeof value)
        return FAIL(scan, "%s %s: '%.40s...' is too long", mark, key, text);
    memcpy(value, text, n);
    value[n] = '\0';
    scan->new_group = true;
    return bats_error_prefix(
        scan->err, set(scan->bag, &scan->traits, trait, value, scan->err),
        "%s:%" PRIu32 ": %s %s: ", scan->bag->name, scan->line, mark, key);
}

static int read_pairs(struct scan *scan, const char *text)
{
    int rc = 0;
    while (rc == 0 && *text != '\0') {
        size_t n = strcspn(text, BLANKS), key = strcspn(text, "=" BLANKS);
        enum trait trait = find_trait(text, key);
        if (key == n)
            return FAIL(scan, "'%.*s' is not of the form KEY=VALUE",
                        n < 40 ? (int)n : 40, text);
        if (trait == N_TRAITS)
            return FAIL(scan,
                        "unknown key '%.*s' after #BATS; known are class, "
                        "cores, gpus, memory and time",
                        key < 40 ? (int)key : 40, text);
        rc = read_value(scan, trait, "#BATS", forms[trait].key, text + key + 1,
                        n - key - 1);
        text += n;
        text += strspn(text, BLANKS);
    }
    return rc;
}

bool bats_bag_is_trait(const char *text)
{
    size_t n = strcspn(text, "=" BLANKS);
    return text[n] == '=' || find_trait(text, n) < N_TRAITS;
}

int bats_bag_trait(struct scan *scan, const char *text)
{
    size_t n = strcspn(text, "=" BLANKS);
    enum trait trait = find_trait(text, n);
    if (text[n] == '=')
        return read_pairs(scan, text);
    text += n;
    text += strspn(text, BLANKS);
    n = strcspn(text, BLANKS);
    if (text[n + strspn(text + n, BLANKS)] != '\0')
        return FAIL(scan, "not of the form '#BATS %s %s'", forms[trait].key,
                    forms[trait].value);
    return read_value(scan, trait, "#BATS", forms[trait].key, text, n);
}

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
            rc = read_value(scan, GPUS, "#HQ", "--resource gpus", text,
                            strcspn(text, BLANKS));
        else if (is_resource)
            return FAIL(scan,
                        "#HQ --resource: '%.40s' is neither gpus/nvidia=N nor "
                        "gpus/amd=N",
                        text);
        else if (skip(&text, "--cpus"))
            rc = read_value(scan, CORES, "#HQ", "--cpus", text,
                            strcspn(text, BLANKS));
        text += strcspn(text, BLANKS);
    }
    return rc;
}

/* ---- the columns of a sweep ---- */

static int refuse_value(struct bats_bagfile *bag, enum trait trait,
                        uint32_t task, size_t column, int code,
                        struct bats_error *err)
{
    uint32_t line;
    const char *file =
        bats_points_where(&bag->sweep->points, column, task, &line);
    const char *name = file != NULL ? file : bag->name;
    if (line > 0)
        return bats_error_prefix(err, code, "%s:%" PRIu32 ": %s: ", name, line,
                                 forms[trait].key);
    return bats_error_prefix(err, code, "%s: task %" PRIu64 ": %s: ", name,
                             (uint64_t)task + 1, forms[trait].key);
}

static int read_column(struct bats_bagfile *bag, enum trait trait,
                       size_t column, struct bats_error *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < bag->n_tasks; i++) {
        size_t n;
        const char *const *values = bats_sweep_values(bag->sweep, i, &n);
        if (values == NULL)
            return bats_no_memory(err);
        if (column < n && *values[column] != '\0')
            rc = set(bag, &bag->own_traits[i], trait, values[column], err);
        if (rc < 0)
            rc = refuse_value(bag, trait, i, column, rc, err);
    }
    return rc;
}

static bool make_traits(struct bats_bagfile *bag)
{
    if (bag->own_traits == NULL)
        bag->own_traits =
            calloc(bag->n_tasks + (size_t)1, sizeof *bag->own_traits);
    return bag->own_traits != NULL;
}

int bats_bag_read_script(struct bats_bagfile *bag, struct bats_error *err)
{
    struct scan scan = {.bag = bag, .err = err};
    const char *line;
    int rc = 0;
    for (char *rest = bag->text; rc == 0 && (line = strsep(&rest, "\n"));) {
        scan.line++;
        if (bats_text_skip_word(&line, "#BATS", BLANKS) &&
            bats_bag_is_trait(line))
            rc = bats_bag_trait(&scan, line);
    }
    if (rc < 0 || !scan.new_group)
        return rc;
    if (!make_traits(bag))
        return bats_no_memory(err);
    for (uint32_t i = 0; i < bag->n_tasks; i++)
        bag->own_traits[i] = scan.traits;
    return 0;
}

int bats_bag_read_columns(struct bats_bagfile *bag, struct bats_error *err)
{
    int rc = 0;
    for (enum trait k = CORES; rc == 0 && k < N_TRAITS; k++) {
        size_t column = bats_sweep_column(bag->sweep, forms[k].key);
        if (column != SIZE_MAX)
            rc = make_traits(bag) ? read_column(bag, k, column, err)
                                  : bats_no_memory(err);
    }
    return rc;
}

/* ---- classes ---- */

/* Fills class[] by task, for a bag of lines or a script. */
static void spread(const struct bats_bagfile *bag, uint16_t *class)
{
    for (uint32_t i = 0; bag->own_traits != NULL && i < bag->n_tasks; i++)
        class[i] = bag->own_traits[i].class;
    for (size_t g = 0; g < bag->n_groups; g++) {
        uint32_t end =
            g + 1 < bag->n_groups ? bag->groups[g + 1].first : bag->n_tasks;
        for (uint32_t i = bag->groups[g].first; i < end; i++)
            class[i] = bag->groups[g].traits.class;
    }
}

/* Fills class[] by task, for a sweep with this column. */
static int look_up(struct bats_bagfile *bag, size_t column, uint16_t *class,
                   struct bats_error *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < bag->n_tasks; i++) {
        size_t n;
        const char *const *values = bats_sweep_values(bag->sweep, i, &n);
        class[i] = 0;
        if (values == NULL)
            return bats_no_memory(err);
        if (column < n && *values[column] != '\0')
            rc = find_class(bag, values[column], &class[i], err);
    }
    return rc;
}

int bats_bag_list_classes(struct bats_bagfile *bag, struct bats_error *err)
{
    size_t column =
        bag->sweep != NULL ? bats_sweep_column(bag->sweep, "class") : SIZE_MAX;
    int rc = 0;
    if (column == SIZE_MAX && bag->classes.n == 0)
        return 0;
    uint16_t *of = bag->own_category =
        malloc((bag->n_tasks + (size_t)1) * sizeof *of);
    if (of == NULL)
        return bats_no_memory(err);
    if (column == SIZE_MAX)
        spread(bag, of);
    else
        rc = look_up(bag, column, of, err);
    /* A parameter with too many or too long values is not a class. */
    if (rc < 0 || bag->classes.n == 0)
        return rc == BATS_EINPUT ? 0 : rc;
    bag->own_names = malloc(bag->classes.n * sizeof *bag->own_names);
    if (bag->own_names == NULL)
        return bats_no_memory(err);
    for (uint32_t i = 0; i < bag->classes.n; i++)
        bag->own_names[i] = bats_names_text(&bag->classes, i);
    bag->category = of;
    bag->category_names = bag->own_names;
    bag->n_categories = (uint32_t)bag->classes.n;
    return 0;
}
