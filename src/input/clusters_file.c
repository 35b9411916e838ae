#include "input/clusters_file.h"

#include <errno.h>
#include <ini.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"
#define DIGITS "0123456789"
#define NAME_CHARACTERS                                                       \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "-_."

/*
 * The file while it is read. inih splits lines into keys and values and knows
 * continuation lines, but it gives its handler no line number, says nothing of
 * a section without keys, and cuts long lines and long names short. So lines
 * reach it through read_line(), which counts them, opens the sections, takes
 * comments off and refuses what inih would cut.
 */
struct reader {
    FILE *in;
    struct bats_clusters_file *file;
    struct bats_error *err;
    int code;                             /* of the first mistake */
    unsigned line;                        /* being read, from 1 */
    bool continues;                       /* it continues the value above */
    struct bats_cluster_section *section; /* open; NULL: [run] or none */
    unsigned run_line, window_line, currency_line; /* 0: not seen */
    char *text;                                    /* the line as read */
    size_t text_size;
};

int bats_clusters_file_fail(const struct bats_clusters_file *file,
                            unsigned line, struct bats_error *err,
                            const char *format, ...)
{
    char sentence[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return bats_error_set(err, BATS_EINPUT, "%s:%u: %s", file->path, line,
                          sentence);
}

#define FAIL(reader, ...)                                                     \
    ((reader)->code = bats_clusters_file_fail((reader)->file, (reader)->line, \
                                              (reader)->err, __VA_ARGS__))

/* ---- sections ---- */

static int open_cluster(struct reader *r, const char *name, size_t length)
{
    struct bats_clusters_file *file = r->file;
    if (length == 0)
        return FAIL(r, "a cluster without a name: write [cluster NAME]");
    if (length >= BATS_CLUSTER_NAME)
        return FAIL(r, "the name of the cluster is longer than %d characters",
                    BATS_CLUSTER_NAME - 1);
    if (strspn(name, NAME_CHARACTERS) < length)
        return FAIL(r,
                    "'%.*s' is not a name for a cluster: letters, digits, "
                    "'-', '_' and '.' only",
                    (int)length, name);
    if (file->n_sections == BATS_CLUSTERS_MAX)
        return FAIL(r, "more than %d clusters", BATS_CLUSTERS_MAX);
    r->section = &file->sections[file->n_sections];
    memcpy(r->section->cluster.name, name, length);
    for (size_t i = 0; i < file->n_sections; i++) {
        if (strcmp(file->sections[i].cluster.name, r->section->cluster.name) ==
            0)
            return FAIL(r, "cluster '%s' is already on line %u",
                        r->section->cluster.name, file->sections[i].line);
    }
    r->section->cluster.max = UINT32_MAX;
    r->section->speed = 1;
    r->section->where = BATS_KEY_COUNT;
    r->section->line = r->line;
    file->n_sections++;
    return 0;
}

/* `text` is a line that begins with '['. */
static int open_section(struct reader *r, const char *text)
{
    const char *end = strchr(text, ']');
    if (!end || end[1 + strspn(end + 1, BLANKS)])
        return FAIL(r, "not a section of the form [NAME]");
    const char *word = text + 1 + strspn(text + 1, BLANKS);
    size_t word_length = strcspn(word, BLANKS "]");
    const char *name = word + word_length + strspn(word + word_length, BLANKS);
    size_t name_length = (size_t)(end - name);
    while (name_length > 0 && strchr(BLANKS, name[name_length - 1]))
        name_length--;

    r->section = NULL;
    if (word_length == 7 && strncmp(word, "cluster", 7) == 0)
        return open_cluster(r, name, name_length);
    if (word_length != 3 || strncmp(word, "run", 3) != 0 || name_length != 0)
        return FAIL(r,
                    "unknown section %.*s; known are [run] and "
                    "[cluster NAME]",
                    end - text < 80 ? (int)(end - text) + 1 : 80, text);
    if (r->run_line)
        return FAIL(r, "section [run] is already on line %u", r->run_line);
    r->run_line = r->line;
    return 0;
}

/* ---- keys ---- */

/* Notes that the key stands on this line; it may do so once. */
static bool is_first(struct reader *r, const char *name, unsigned *key_line)
{
    if (*key_line)
        FAIL(r, "'%s' is already on line %u", name, *key_line);
    else
        *key_line = r->line;
    return r->code == 0;
}

static int set_run_key(struct reader *r, const char *name, const char *value)
{
    struct bats_clusters_file *file = r->file;
    if (strcmp(name, "window") == 0) {
        struct bats_error why;
        if (!is_first(r, name, &r->window_line))
            return r->code;
        if (bats_duration_parse(value, &file->window, &why))
            return FAIL(r, "window: %s", why.text);
        if (file->window == 0)
            return FAIL(r, "window: must be longer than 0");
    } else if (strcmp(name, "currency") == 0) {
        if (!is_first(r, name, &r->currency_line))
            return r->code;
        if (strlen(value) >= sizeof file->currency)
            return FAIL(r, "currency: '%.60s' is longer than %zu bytes", value,
                        sizeof file->currency - 1);
        strcpy(file->currency, value);
    } else {
        return FAIL(r,
                    "unknown key '%.60s' in [run]; known are window and "
                    "currency",
                    name);
    }
    return 0;
}

static const char *const key_names[BATS_KEY_COUNT] = {
    [BATS_KEY_NODES] = "nodes",
    [BATS_KEY_RANKS] = "ranks",
    [BATS_KEY_PARTITION] = "partition",
    [BATS_KEY_CHARGE] = "charge",
    [BATS_KEY_MAX] = "max",
    [BATS_KEY_MACHINE] = "machine",
    [BATS_KEY_SPEED] = "speed"};

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
    if (!section->where_text)
        r->code = bats_error_set(r->err, BATS_ENOMEM, "out of memory");
    return r->code;
}

/* A positive decimal number. */
static bool read_speed(const char *value, double *speed)
{
    if (!*value || value[strspn(value, DIGITS ".")])
        return false;
    char *end;
    *speed = strtod(value, &end);
    return !*end && *speed > 0 && isfinite(*speed);
}

static bool read_max(const char *value, uint32_t *max)
{
    size_t digits = strspn(value, DIGITS);
    if (digits == 0 || digits > 9 || value[digits])
        return false;
    *max = (uint32_t)strtoul(value, NULL, 10);
    return *max > 0;
}

static int set_cluster_key(struct reader *r, const char *name,
                           const char *value)
{
    struct bats_cluster_section *section = r->section;
    struct bats_error why;
    int key = 0;
    while (key < BATS_KEY_COUNT && strcmp(name, key_names[key]) != 0)
        key++;
    if (key == BATS_KEY_COUNT)
        return FAIL(r,
                    "unknown key '%.60s' in [cluster %s]; known are nodes, "
                    "ranks, partition, charge, max, machine and speed",
                    name, section->cluster.name);
    if (!is_first(r, name, &section->key_line[key]))
        return r->code;

    switch (key) {
    case BATS_KEY_CHARGE:
        if (bats_money_parse(value, &section->cluster.charge, &why))
            return FAIL(r, "charge: %s", why.text);
        return 0;
    case BATS_KEY_MAX:
        if (!read_max(value, &section->cluster.max))
            return FAIL(r, "max: '%.60s' is not a whole number from 1 on",
                        value);
        return 0;
    case BATS_KEY_MACHINE:
        section->by_node = strcmp(value, "node") == 0;
        if (!section->by_node && strcmp(value, "rank") != 0)
            return FAIL(r, "machine: '%.60s' is neither rank nor node", value);
        return 0;
    case BATS_KEY_SPEED:
        if (!read_speed(value, &section->speed))
            return FAIL(r, "speed: '%.60s' is not a number above 0", value);
        return 0;
    default:
        return set_where(r, (enum bats_cluster_key)key, value);
    }
}

/* The line has no key of its own: `value` continues the list of `name`. */
static int continue_list(struct reader *r, const char *name, const char *value)
{
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
        return r->code = bats_error_set(r->err, BATS_ENOMEM, "out of memory");
    free(so_far);
    section->where_text = joined;
    return 0;
}

/* inih's handler: returns 1 if all is well. */
static int handle(void *user, const char *section_name, const char *name,
                  const char *value)
{
    struct reader *r = user;
    (void)section_name; /* cut short by inih; r->section is right */
    if (r->code)
        return 0;
    if (r->continues)
        continue_list(r, name, value);
    else if (r->section)
        set_cluster_key(r, name, value);
    else if (r->run_line)
        set_run_key(r, name, value);
    else
        FAIL(r, "'%.60s' stands in front of the first section", name);
    return r->code == 0;
}

/* inih's reader: the next line, cleaned, into `line` of `size` bytes. */
static char *read_line(char *line, int size, void *user)
{
    struct reader *r = user;
    if (r->code)
        return NULL;
    ssize_t length = getline(&r->text, &r->text_size, r->in);
    if (length < 0)
        return NULL;
    r->line++;
    if (strlen(r->text) != (size_t)length)
        return FAIL(r, "a NUL byte; is this a text file?"), NULL;

    char *text = r->text;
    if (r->line == 1 && strncmp(text, "\xEF\xBB\xBF", 3) == 0)
        text += 3; /* a byte order mark */
    for (char *c = text; (c = strpbrk(c, "#;")); c++) {
        if (c == text || strchr(BLANKS, c[-1])) {
            *c = '\0';
            break;
        }
    }
    /* An indented line is a continuation to inih: not if it has a key. */
    char *first = text + strspn(text, BLANKS);
    r->continues = first > text && *first != '[' && !strpbrk(first, "=:");
    if (!r->continues)
        text = first;
    if (*first == '[' && open_section(r, first))
        return NULL;
    if (strlen(text) >= (size_t)size)
        return FAIL(r,
                    "longer than %d characters; a list may go on in "
                    "indented lines below",
                    size - 1),
               NULL;
    return strcpy(line, text);
}

/* ---- after the last line ---- */

/* "1-32,40" */
static int read_ranks(struct bats_cluster_section *section,
                      struct bats_error *why)
{
    const char *text = section->where_text;
    size_t room = 1;
    for (const char *c = text; *c; c++)
        room += *c == ',';
    section->ranges = calloc(room, sizeof *section->ranges);
    if (!section->ranges)
        return bats_error_set(why, BATS_ENOMEM, "out of memory");
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

/* How many machines the section itself says it has; 0 if it does not. */
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
    struct bats_error why;
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
            bats_hostlist_expand(section->where_text, &section->nodes, &why);
    else if (section->where == BATS_KEY_RANKS)
        code = read_ranks(section, &why);
    else if (!*section->where_text)
        code = bats_error_set(&why, BATS_EINPUT, "no name");
    if (code == BATS_EINPUT)
        return FAIL(r, "%s: %s", key_names[section->where], why.text);
    if (code)
        return r->code = bats_error_set(r->err, code, "%s", why.text);
    uint64_t named = count_named(section);
    if (!section->key_line[BATS_KEY_MAX] && named > 0 && named < UINT32_MAX)
        section->cluster.max = (uint32_t)named;
    return 0;
}

static void read_file(struct reader *r)
{
    int bad_line = ini_parse_stream(read_line, r, handle, r);
    if (r->code) /* the reader's or the handler's, which know more */
        return;
    if (bad_line) {
        r->line = bad_line > 0 ? (unsigned)bad_line : r->line;
        FAIL(r, "neither [SECTION] nor key = value");
    } else if (ferror(r->in)) {
        r->code = bats_error_set(r->err, BATS_EINPUT, "%s: %s", r->file->path,
                                 strerror(errno));
    } else if (r->file->n_sections == 0) {
        r->line = r->line ? r->line : 1;
        FAIL(r, "no section [cluster NAME] up to here, the end");
    }
    for (size_t i = 0; i < r->file->n_sections && !r->code; i++)
        finish_section(r, &r->file->sections[i]);
}

int bats_clusters_file_load(const char *path, struct bats_clusters_file **file,
                            struct bats_error *err)
{
    struct bats_clusters_file *f = calloc(1, sizeof *f);
    if (!f || !(f->path = strdup(path))) {
        bats_clusters_file_destroy(f);
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    }
    struct reader r = {.file = f, .err = err, .in = fopen(path, "re")};
    if (r.in) {
        read_file(&r);
        fclose(r.in);
    } else {
        r.code =
            bats_error_set(err, BATS_EINPUT, "%s: %s", path, strerror(errno));
    }
    free(r.text);
    if (r.code)
        bats_clusters_file_destroy(f);
    else
        *file = f;
    return r.code;
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

size_t bats_clusters_file_count(const struct bats_clusters_file *file)
{
    return file->n_sections;
}

const struct bats_cluster *
bats_clusters_file_cluster(const struct bats_clusters_file *file, size_t i)
{
    return &file->sections[i].cluster;
}

bats_time bats_clusters_file_window(const struct bats_clusters_file *file)
{
    return file->window;
}

const char *bats_clusters_file_currency(const struct bats_clusters_file *file)
{
    return file->currency;
}
