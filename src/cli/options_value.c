/* options_value: the value of one option, and options for the record. See
 * options.h. */
#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/words.h"
#include "run/run.h"
#include "site/batch_system.h"
#include "util/json.h"

/* Parses "90", "15m" or "200%". */
static int parse_timeout(const char *text, struct bats_sched_rules *rules,
                         struct bats_error *err)
{
    char number[32];
    size_t n = strlen(text);
    rules->timeout = 0;
    rules->timeout_median = 0;
    if (n == 0 || text[n - 1] != '%' || n > sizeof number) {
        return bats_period_parse(text, &rules->timeout, err);
    }
    snprintf(number, sizeof number, "%.*s", (int)n - 1, text);
    int rc = bats_factor_parse(number, &rules->timeout_median, err);
    rules->timeout_median /= 100;
    return rc;
}

/* Parses "100ms" or "100ms,1000". */
static int parse_sync(const char *text, struct bats_settings *settings,
                      struct bats_error *err)
{
    char duration[64];
    const char *comma = strchr(text, ',');
    size_t n = comma != NULL ? (size_t)(comma - text) : strlen(text);
    if (n >= sizeof duration)
        return bats_refuse(err, "'%s' is too long", text);
    memcpy(duration, text, n);
    duration[n] = '\0';
    int rc = bats_duration_parse(duration, &settings->run.sync_us, err);
    if (rc == 0 && comma != NULL)
        rc = bats_count_parse(comma + 1, &settings->run.sync_events, err);
    return rc;
}

static int parse_factor(const char *text, double low, double high,
                        const char *range, double *factor,
                        struct bats_error *err)
{
    double f;
    int rc = bats_factor_parse(text, &f, err);
    if (rc == 0 && !(f >= low && f <= high))
        rc = bats_refuse(err, "'%s' is not a number from %s", text, range);
    if (rc == 0)
        *factor = f;
    return rc;
}

/* Parses "never", "soon,fail=3", "now,fail=10%", as in GNU parallel. */
static int parse_halt(const char *text, struct bats_sched_rules *rules,
                      struct bats_error *err)
{
    char kind[5] = "", number[24] = "", percent[2] = "";
    uint64_t n;
    rules->halt_failed = 0;
    rules->halt_share = 0;
    if (strcmp(text, "never") == 0)
        return 0;
    sscanf(text, "%4[a-z],fail=%23[0-9]%1[%]", kind, number, percent);
    size_t length = strlen(kind) + 6 + strlen(number) + strlen(percent);
    bool now = strcmp(kind, "now") == 0;
    if ((!now && strcmp(kind, "soon") != 0) || length != strlen(text) ||
        bats_count_parse(number, &n, err) != 0 || n == 0 || n > UINT32_MAX ||
        (percent[0] != '\0' && n > 100))
        return bats_refuse(
            err,
            "invalid value '%s'; expected one of never, soon,fail=N, "
            "soon,fail=N%%, now,fail=N and now,fail=N%%",
            text);
    rules->halt_now = now;
    if (percent[0] != '\0')
        rules->halt_share = (double)n / 100;
    else
        rules->halt_failed = (uint32_t)n;
    return 0;
}

static int parse_money(const char *text, bats_money *amount,
                       struct bats_error *err)
{
    if (strcmp(text, "unlimited") == 0) {
        *amount = BATS_UNLIMITED;
        return 0;
    }
    return bats_money_parse(text, amount, err);
}

int bats_option_budget(enum bats_option_kind kind, const char *text,
                       struct bats_settings *settings, struct bats_error *err)
{
    settings->budget_text = NULL;
    if (bats_share_parse(text, &settings->budget_share)) {
        settings->budget_text = text;
        settings->run.budget = 0;
        return 0;
    }
    if (kind != BATS_OPTION_BUDGET || strcmp(text, "account") != 0)
        return parse_money(text, &settings->run.budget, err);
    settings->run.budget = BATS_BUDGET_ACCOUNT;
    return 0;
}

static int parse_choice(const char *text, const char *choices,
                        const char **choice, struct bats_error *err)
{
    size_t n = strlen(text);
    for (const char *at = choices; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (n > 0 && strcspn(at, "|") == n && strncmp(at, text, n) == 0) {
            *choice = text;
            return 0;
        }
    }
    return bats_refuse(err, "invalid value '%s'; expected one of %s", text,
                       choices);
}

static int parse_output(const char *text, struct bats_settings *settings,
                        struct bats_error *err)
{
    static const char stream[] = "stream:";
    size_t n = sizeof stream - 1;
    if (strncmp(text, stream, n) != 0)
        return parse_choice(text, "lines|stream|none", &settings->output, err);
    if (text[n] == '\0')
        return bats_refuse(err, "the directory is missing");
    settings->output = "stream";
    settings->output_dir = text + n;
    return 0;
}

static int add_to_list(const char *text, struct bats_settings *settings,
                       struct bats_error *err)
{
    if (settings->n_task == BATS_OPTIONS_LIST)
        return bats_refuse(err, "given too often: write 1,2,3");
    settings->task[settings->n_task++] = text;
    return 0;
}

static int add_source(const struct bats_option *option, const char *text,
                      struct bats_settings *settings, struct bats_error *err)
{
    if (settings->sweep.n_sources == BATS_OPTIONS_LIST)
        return bats_refuse(err, "too many sources of values");
    settings->source[settings->sweep.n_sources++] = (struct bats_sweep_source){
        .kind = (enum bats_source_kind)option->offset, .text = text};
    return 0;
}

/* --env NAME,...: stores nothing, since tasks have the environment of the run
 * in any case. */
static int check_names(const char *text, struct bats_error *err)
{
    for (const char *at = text; *at != '\0';) {
        char name[256];
        int n = (int)strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", n, at);
        bool found = getenv(name) != NULL || strcmp(name, "_") == 0;
        snprintf(name, sizeof name, "BASH_FUNC_%.*s%%%%", n, at);
        if (!found && getenv(name) == NULL)
            return bats_refuse(
                err, "no variable or function '%.*s' is exported", n, at);
        at += n + (at[n] == ',');
    }
    return 0;
}

static int parse_kib(const char *text, int64_t *kib, struct bats_error *err)
{
    int64_t bytes = 1;
    int rc = bats_size_parse(text, &bytes, err);
    *kib = (bytes - 1) / 1024 + 1;
    return rc;
}

static int store(const struct bats_option *option, const char *text,
                 struct bats_settings *settings, struct bats_error *err)
{
    void *value = (char *)settings + option->offset;
    switch (option->kind) {
    case BATS_OPTION_FLAG:
        *(bool *)value = true;
        return 0;
    case BATS_OPTION_CHOICE:
        return parse_choice(text, option->argument, value, err);
    case BATS_OPTION_DURATION:
        return bats_duration_parse(text, value, err);
    case BATS_OPTION_PERIOD:
        return bats_period_parse(text, value, err);
    case BATS_OPTION_SIZE:
        return bats_size_parse(text, value, err);
    case BATS_OPTION_KIB:
        return parse_kib(text, value, err);
    case BATS_OPTION_COUNT:
        return bats_count_parse(text, value, err);
    case BATS_OPTION_SMALL:
        return bats_count_within(text, 0, UINT8_MAX, value, err);
    case BATS_OPTION_DEADLINE:
        return bats_deadline_parse(text, time(NULL), value, err);
    case BATS_OPTION_TIMEOUT:
        return parse_timeout(text, value, err);
    case BATS_OPTION_HALT:
        return parse_halt(text, value, err);
    case BATS_OPTION_LEVEL:
        return parse_factor(text, 0.5, 0.9999, "0.5 to 0.9999", value, err);
    case BATS_OPTION_SCALE:
        /* Outside these limits, times cannot be represented. */
        return parse_factor(text, 1e-6, 1e6, "0.000001 to 1000000", value,
                            err);
    case BATS_OPTION_MORE:
        return parse_factor(text, 1.01, 1000, "1.01 to 1000", value, err);
    case BATS_OPTION_MONEY:
    case BATS_OPTION_BUDGET:
        settings->budget_from = "--budget";
        return bats_option_budget(option->kind, text, settings, err);
    case BATS_OPTION_OUTPUT:
        return parse_output(text, settings, err);
    case BATS_OPTION_ENV:
        return check_names(text, err);
    case BATS_OPTION_LIST:
        return add_to_list(text, settings, err);
    case BATS_OPTION_SYNC:
        return parse_sync(text, settings, err);
    default: /* TEXT */
        *(const char **)value = text;
        return text[0] != '\0' ? 0 : bats_refuse(err, "the argument is empty");
    }
}

int bats_option_store(const struct bats_option *option, const char *text,
                      struct bats_settings *settings, struct bats_error *err)
{
    struct bats_error why = {0};
    if (option->kind == BATS_OPTION_SOURCE) /* the offset holds its kind */
        return add_source(option, text, settings, err);
    if (store(option, text, settings, &why) != 0)
        return bats_refuse(err, "--%s: %s", option->name, why.text);
    settings->given[option - bats_options] = text != NULL ? text : "";
    return 0;
}

bool bats_settings_given(const struct bats_settings *settings,
                         const char *name)
{
    for (size_t i = 0; i < bats_options_n; i++)
        if (settings->given[i] != NULL &&
            strcmp(bats_options[i].name, name) == 0)
            return true;
    return false;
}

/* ---- for the record ---- */

static json_t *given_json(const struct bats_settings *set)
{
    json_t *given = json_object();
    int bad = 0;
    for (size_t i = 0; i < bats_options_n; i++) {
        const struct bats_option *o = &bats_options[i];
        bool is_flag = o->kind == BATS_OPTION_FLAG;
        bool adds = o->kind == BATS_OPTION_LIST || o->kind == BATS_OPTION_ENV;
        if (set->given[i] != NULL && !adds)
            bad |= json_object_set_new(
                given, o->name,
                is_flag ? json_true() : bats_json_text(set->given[i]));
    }
    return bats_json_whole(given, bad);
}

json_t *bats_options_json(enum bats_verb verb, const struct bats_settings *set)
{
    int64_t memory_kib = set->run.need.memory_kib > 0
                             ? set->run.need.memory_kib
                             : bats_batch_memory(false);
    json_t *object =
        json_pack("{s:s, s:o, s:o}", "verb", bats_verbs[verb].name, "bag",
                  bats_json_text(set->bag), "given", given_json(set));
    int bad = object == NULL;
    if (set->n_files > 0) {
        json_t *words = json_array();
        for (size_t i = 0; i < set->n_files; i++)
            bad |= json_array_append_new(words, bats_json_text(set->files[i]));
        bad |= json_object_set_new(object, "workflows", words);
    }
    if (memory_kib > 0)
        bad |= json_object_set_new(object, "memory_kib",
                                   json_integer(memory_kib));
    return bats_json_whole(object, bad);
}

static void print_word(FILE *out, const char *value)
{
    char *text = strdup(value);
    if (text == NULL)
        return;
    bats_encode_undo_unicode(text);
    putc(' ', out);
    bats_words_put(out, BATS_ENCODE_SHELL, text);
    free(text);
}

char *bats_options_given(const json_t *options)
{
    char *text = NULL;
    size_t size;
    const char *name;
    json_t *value;
    FILE *out = options != NULL ? open_memstream(&text, &size) : NULL;
    bool first = true;
    if (out == NULL)
        return NULL;
    json_object_foreach(json_object_get(options, "given"), name, value)
    {
        if (strcmp(name, "budget") == 0)
            continue;
        fprintf(out, "%s--%s", first ? "" : " ", name);
        if (json_is_string(value))
            print_word(out, json_string_value(value));
        first = false;
    }
    fclose(out);
    return text;
}
