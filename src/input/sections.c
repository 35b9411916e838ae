#include "input/sections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/lease.h"
#include "input/textfile.h"
#include "util/text.h"

#define FAIL BATS_SECTIONS_FAIL
#define BLANKS " \t\r"

static size_t last_kind(const struct bats_sections *r)
{
    return r->n_kinds - 1;
}

/* The index of a section's lines. */
static size_t place(const struct bats_sections *r, size_t kind, size_t cluster)
{
    return kind + (kind == last_kind(r) ? cluster : 0);
}

/* Key i of a section: its own keys come first, then those of a model
 * (*of_model). NULL: no more keys. */
static const struct bats_key *key_at(const struct bats_sections *r,
                                     size_t kind, size_t i, bool *of_model)
{
    const struct bats_key *key = r->kinds[kind].keys;
    *of_model = false;
    for (; i > 0 && key->name; i--)
        key++;
    if (!key->name && kind == last_kind(r)) {
        *of_model = true;
        for (key = bats_model_keys; i > 0 && key->name; i--)
            key++;
    }
    return key->name ? key : NULL;
}

static const struct bats_key *find_key(const struct bats_sections *r,
                                       size_t kind, const char *name,
                                       size_t *i, bool *of_model)
{
    const struct bats_key *key;
    for (*i = 0; (key = key_at(r, kind, *i, of_model)) != NULL; ++*i)
        if (strcmp(key->name, name) == 0)
            return key;
    return NULL;
}

unsigned bats_sections_line(const struct bats_sections *r, size_t kind,
                            size_t cluster, const char *key)
{
    size_t at = place(r, kind, cluster), i;
    bool of_model;
    return !key                                    ? r->section_line[at]
           : find_key(r, kind, key, &i, &of_model) ? r->key_line[at][i]
                                                   : 0;
}

unsigned bats_sections_cluster(const struct bats_sections *r, size_t cluster,
                               const char *key)
{
    return bats_sections_line(r, last_kind(r), cluster, key);
}

/* ---- sections ---- */

static int open_cluster(struct bats_sections *r, const char *name,
                        struct bats_error *err)
{
    if (r->n_clusters == BATS_CLUSTERS_MAX)
        return bats_refuse(err, "more than %d clusters", BATS_CLUSTERS_MAX);
    r->cluster = r->n_clusters;
    struct bats_model *m = &r->models[r->cluster];
    *m = (struct bats_model){
        .cluster.max = UINT32_MAX, .speed = 1, .stock.cores = 1};
    int rc = bats_cluster_name_parse(name, m->cluster.name, err);
    for (size_t i = 0; rc == 0 && i < r->n_clusters; i++)
        if (strcmp(r->models[i].cluster.name, name) == 0)
            rc = bats_refuse(err, "cluster '%s' is already on line %u", name,
                             bats_sections_cluster(r, i, NULL));
    r->n_clusters += rc == 0;
    return rc;
}

/* "a, b and c": the next of n words. */
static void list(char *text, size_t size, const char *word, size_t i, size_t n)
{
    bats_append(text, size, "%s%s",
                i == 0       ? ""
                : i + 1 == n ? " and "
                             : ", ",
                word);
}

static int complain_of_section(const struct bats_sections *r, const char *word,
                               const char *name, struct bats_error *err)
{
    char known[100] = "", section[40];
    for (size_t i = 0; i < r->n_kinds; i++) {
        snprintf(section, sizeof section, "[%s%s]", r->kinds[i].word,
                 i == last_kind(r) ? " NAME" : "");
        list(known, sizeof known, section, i, r->n_kinds);
    }
    return bats_refuse(err, "unknown section [%.60s%s%.60s]; known are %s",
                       word, *name ? " " : "", name, known);
}

static int open_section(struct bats_sections *r, const char *word,
                        const char *name, struct bats_error *err)
{
    r->is_open = true;
    r->key = NULL;
    r->kind = 0;
    while (r->kind < r->n_kinds && strcmp(word, r->kinds[r->kind].word) != 0)
        r->kind++;
    bool is_cluster = r->kind == last_kind(r);
    if (r->kind == r->n_kinds || (!is_cluster && *name))
        return complain_of_section(r, word, name, err);
    int rc = is_cluster ? open_cluster(r, name, err) : 0;
    if (rc < 0)
        return rc;
    unsigned *first = &r->section_line[place(r, r->kind, r->cluster)];
    if (*first > 0)
        return bats_refuse(err, "section [%s] is already on line %u", word,
                           *first);
    *first = r->line;
    return 0;
}

/* `text` is a line that begins with '['. */
static int read_section(struct bats_sections *r, char *text,
                        struct bats_error *err)
{
    size_t n = strlen(text) - 1;
    if (text[n] != ']' || strchr(text, ']') != text + n)
        return bats_refuse(err, "not a section of the form [NAME]");
    text[n] = '\0';
    char *word = bats_text_trim(text + 1, BLANKS),
         *name = word + strcspn(word, BLANKS);
    if (*name)
        *name++ = '\0';
    return open_section(r, word, name + strspn(name, BLANKS), err);
}

/* ---- values ---- */

/* `i` is the index of the element. */
static int store(const struct bats_key *key, void *at, size_t i,
                 const char *value, struct bats_error *why)
{
    switch (key->kind) {
    case BATS_KEY_DURATION:
        return bats_duration_parse(value, (bats_time *)at + i, why);
    case BATS_KEY_PERIOD:
        return bats_period_parse(value, (bats_time *)at + i, why);
    case BATS_KEY_FACTOR:
        return bats_factor_parse(value, (double *)at + i, why);
    case BATS_KEY_COUNT:
        return bats_count_within(value, 1, key->most, (uint32_t *)at + i, why);
    case BATS_KEY_YES:
        return bats_yes_parse(value, (bool *)at + i, why);
    case BATS_KEY_TEXT:
        if (strlen(value) >= key->most)
            return bats_refuse(why, "'%.60s' is longer than %u bytes", value,
                               key->most - 1);
        strcpy(at, value);
        break;
    case BATS_KEY_OWN:
    case BATS_KEY_ITEMS:
        break;
    }
    return 0;
}

/* Adds every item of "a, b,c"; a trailing comma is allowed. */
static int add_each(struct bats_sections *r, const char *value,
                    struct bats_error *why)
{
    int rc = 0;
    for (const char *at = value; rc == 0;) {
        char item[64];
        at += strspn(at, BLANKS);
        size_t n = strcspn(at, ","), length = n;
        while (length > 0 && strchr(BLANKS, at[length - 1]))
            length--;
        if (length >= sizeof item)
            return bats_refuse(why, "'%.60s...' is too long for an item", at);
        snprintf(item, sizeof item, "%.*s", (int)length, at);
        rc = r->key->add(r, item, why);
        at += n + (at[n] == ',');
        if (at[strspn(at, BLANKS)] == '\0')
            break;
    }
    return rc;
}

/* Stores a value of the current key. */
static int set_value(struct bats_sections *r, const char *value,
                     struct bats_error *err)
{
    const struct bats_key *key = r->key;
    bool is_cluster = r->kind == last_kind(r);
    char *object = r->of_model ? (char *)&r->models[r->cluster] : r->object;
    int rc =
        key->kind == BATS_KEY_OWN ? key->set(r, value, err)
        : key->kind == BATS_KEY_ITEMS
            ? add_each(r, value, err)
            : store(key, object + key->at,
                    is_cluster && !r->of_model ? r->cluster : 0, value, err);
    return bats_error_prefix(err, rc, "%s: ", key->name);
}

/* The title for messages: "run" or "cluster NAME". */
static const char *title(const struct bats_sections *r, size_t kind,
                         size_t cluster, char text[BATS_CLUSTER_NAME + 20])
{
    bool is_cluster = kind == last_kind(r);
    snprintf(text, BATS_CLUSTER_NAME + 20, "%s%s%s", r->kinds[kind].word,
             is_cluster ? " " : "",
             is_cluster ? r->models[cluster].cluster.name : "");
    return text;
}

static int complain_of_key(const struct bats_sections *r, const char *name,
                           struct bats_error *err)
{
    char known[500] = "", section[BATS_CLUSTER_NAME + 20];
    size_t n = 0;
    bool of_model;
    while (key_at(r, r->kind, n, &of_model))
        n++;
    for (size_t i = 0; i < n; i++)
        list(known, sizeof known, key_at(r, r->kind, i, &of_model)->name, i,
             n);
    return bats_refuse(err, "unknown key '%.60s' in [%s]; known are %s", name,
                       title(r, r->kind, r->cluster, section), known);
}

static int set_key(struct bats_sections *r, const char *name,
                   const char *value, struct bats_error *err)
{
    size_t i;
    if (!r->is_open)
        return bats_refuse(err, "'%.60s' is before the first section", name);
    r->key = find_key(r, r->kind, name, &i, &r->of_model);
    if (!r->key)
        return complain_of_key(r, name, err);
    unsigned *first = &r->key_line[place(r, r->kind, r->cluster)][i];
    if (*first > 0)
        return bats_refuse(err, "'%s' is already on line %u", name, *first);
    *first = r->line;
    return set_value(r, value, err);
}

/* '#' or ';' begins a comment at the start of a line and after a blank. */
static void cut_comment(char *line)
{
    for (char *c = line; (c = strpbrk(c, "#;")); c++)
        if (c == line || strchr(BLANKS, c[-1])) {
            *c = '\0';
            return;
        }
}

static int read_line(void *context, char *line, struct bats_error *err)
{
    struct bats_sections *r = context;
    if (r->line++ == 0 && strncmp(line, "\xEF\xBB\xBF", 3) == 0)
        line += 3; /* a byte order mark */
    cut_comment(line);
    char *text = bats_text_trim(line, BLANKS), *mark = strpbrk(text, "=:");
    if (*text == '\0')
        return 0;
    if (*text == '[')
        return read_section(r, text, err);
    if (mark) {
        *mark = '\0';
        return set_key(r, bats_text_trim(text, BLANKS),
                       bats_text_trim(mark + 1, BLANKS), err);
    }
    if (text == line || !r->key)
        return bats_refuse(err, "neither [SECTION] nor key = value");
    if (!r->key->is_list)
        return bats_refuse(
            err,
            "an indented line without '=' continues the line above, but "
            "'%.60s' is not a list",
            r->key->name);
    return set_value(r, text, err);
}

/* ---- after the last line ---- */

static int check_section(struct bats_sections *r, size_t kind, size_t cluster,
                         unsigned last_line)
{
    unsigned line = bats_sections_line(r, kind, cluster, NULL);
    const struct bats_key *key;
    bool of_model;
    char text[BATS_CLUSTER_NAME + 20];
    if (line == 0)
        return FAIL(r, last_line, "the file ends without a section [%s%s]",
                    r->kinds[kind].word, kind == last_kind(r) ? " NAME" : "");
    for (size_t i = 0; (key = key_at(r, kind, i, &of_model)) != NULL; i++)
        if (key->is_needed && r->key_line[place(r, kind, cluster)][i] == 0)
            return FAIL(r, line, "[%s] has no %s",
                        title(r, kind, cluster, text), key->name);
    return 0;
}

int bats_sections_read(struct bats_sections *r, const char *text,
                       size_t needed)
{
    int rc = bats_textfile_lines(r->path, text, read_line, r, r->err);
    unsigned lines = r->line > 0 ? r->line : 1;
    for (size_t kind = needed; rc == 0 && kind < r->n_kinds; kind++)
        for (size_t i = 0; rc == 0 && (i == 0 || (kind == last_kind(r) &&
                                                  i < r->n_clusters));
             i++)
            rc = check_section(r, kind, i, lines);
    return rc;
}

/* ---- what several keys say together ---- */

static bool is_by_age(const struct bats_tariff *t)
{
    return t->n_steps > 1 || t->longest > 0 || t->free > 0;
}

bool bats_sections_by_age(const struct bats_sections *r)
{
    bool any = false;
    for (size_t i = 0; i < r->n_clusters; i++)
        any |= is_by_age(&r->models[i].cluster.tariff);
    return any;
}

static bool is_range(const struct bats_tariff *t)
{
    return t->n_steps == 2 && t->step[1].from == 0;
}

static int check(struct bats_sections *r, size_t i,
                 enum bats_billing_model billing, bool emulated)
{
    const struct bats_model *m = &r->models[i];
    const struct bats_cluster *c = &m->cluster;
    const struct bats_tariff *t = &c->tariff;
    static const char reclaimed[] = "is for reclaimable = yes";
    const struct {
        const char *key;
        bool is_wrong;
        const char *sentence;
    } mistakes[] = {
        {"charge", is_range(t) && t->longest == 0,
         "a range of prices is for blocks: block = 1h..6h"},
        {"charge", t->longest > 0 && t->n_steps > 1 && !is_range(t),
         "a block has one price, or two for its ends: AMOUNT..AMOUNT"},
        {"block", t->longest > 0 && c->reclaimable,
         "a block is not reclaimed before its end: no reclaimable = yes"},
        {"notice", c->notice > 0 && !c->reclaimable, reclaimed},
        {"guaranteed", c->lifetime.guaranteed > 0 && !c->reclaimable,
         reclaimed},
        {"free", t->free > 0 && !c->reclaimable, reclaimed},
        {"lifetime",
         c->lifetime.survival != BATS_SURVIVAL_ALL && !c->reclaimable,
         reclaimed},
        {t->longest > 0 ? "block"
         : t->free > 0  ? "free"
                        : "charge",
         is_by_age(t) && billing != BATS_BILLING_SECOND,
         "needs billing = second"},
        {"reliable", m->is_reliable && c->unreliable, "'yes' beside losses"},
        {"noticed",
         emulated && c->noticed > 0 &&
             !bats_reliability_loses(&m->reliability),
         "the cluster has no losses"},
        {"charge_lost",
         bats_sections_cluster(r, i, "charge_lost") > 0 && !c->unreliable,
         "the cluster is reliable"},
        {"charge_lost",
         c->lost_is_free && !bats_lease_terms(billing).idle_is_free,
         "only billing = use charges for single executions"},
        {"charge_lost", c->lost_is_free && m->stock.cores != 1,
         "a machine that runs several tasks is charged for all of them "
         "together"}};
    for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++)
        if (mistakes[k].is_wrong)
            return FAIL(r, bats_sections_cluster(r, i, mistakes[k].key),
                        "%s: %s", mistakes[k].key, mistakes[k].sentence);
    return 0;
}

int bats_sections_check(struct bats_sections *r,
                        enum bats_billing_model billing, bool emulated)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < r->n_clusters; i++)
        rc = check(r, i, billing, emulated);
    return rc;
}

int bats_sections_settle(struct bats_sections *r, bats_time window,
                         enum bats_billing_model billing)
{
    char text[BATS_UNITS_TEXT];
    for (size_t i = 0; i < r->n_clusters; i++) {
        struct bats_cluster *c = &r->models[i].cluster;
        struct bats_tariff *t = &c->tariff;
        bool by_hour = r->models[i].by_hour;
        t->per = by_hour ? BATS_HOUR : window;
        if (t->longest > 0 && !is_range(t))
            t->charge_longest = t->step[0].charge;
        if (is_range(t)) {
            t->step[1] = (struct bats_tariff_step){0, 0};
            t->n_steps = 1;
        }
        if (by_hour)
            c->charge = bats_billing_use(t->step[0].charge, BATS_HOUR, window);
        if (billing != BATS_BILLING_SECOND)
            *t = (struct bats_tariff){.per = 0};
        if (c->charge >= BATS_UNLIMITED)
            return FAIL(r, bats_sections_cluster(r, i, "charge"),
                        "charge: the charge of a window of %s is too large",
                        bats_duration_format(text, window));
    }
    return 0;
}
