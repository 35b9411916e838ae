/* options_json: the options of a verb, for the run record. See options.h. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "report/words.h"
#include "run/run.h"
#include "site/batch_system.h"
#include "util/json.h"

static json_t *money(bats_money amount)
{
    return json_string(amount == BATS_BUDGET_ACCOUNT
                           ? "account"
                           : bats_words_amount(amount).s);
}

static json_t *seconds(bats_time time)
{
    return json_real((double)time / (double)BATS_SECOND);
}

/* --timeout and --halt each consist of several numbers. */
static json_t *timeout(const struct bats_sched_rules *rules)
{
    return rules->timeout_median > 0
               ? json_pack("{s:f}", "median", rules->timeout_median)
           : rules->timeout > 0 ? seconds(rules->timeout)
                                : json_null();
}

static json_t *halt(const struct bats_sched_rules *rules)
{
    if (rules->halt_failed == 0 && rules->halt_share <= 0)
        return json_null();
    return json_pack("{s:b, s:I, s:f}", "now", rules->halt_now, "failed",
                     (json_int_t)rules->halt_failed, "share",
                     rules->halt_share);
}

static json_t *value(const struct bats_option *option,
                     const struct bats_settings *set)
{
    const void *at = (const char *)set + option->offset;
    switch (option->kind) {
    case BATS_OPTION_FLAG:
        return json_boolean(*(const bool *)at);
    case BATS_OPTION_TEXT:
    case BATS_OPTION_FILE:
    case BATS_OPTION_DIRECTORY:
    case BATS_OPTION_CHOICE:
    case BATS_OPTION_OUTPUT:
        return bats_json_text(*(const char *const *)at);
    case BATS_OPTION_MONEY:
    case BATS_OPTION_BUDGET:
        return set->budget_text != NULL ? bats_json_text(set->budget_text)
                                        : money(*(const bats_money *)at);
    case BATS_OPTION_DURATION:
    case BATS_OPTION_PERIOD:
        return seconds(*(const bats_time *)at);
    case BATS_OPTION_SIZE:
        return json_integer(*(const int64_t *)at);
    case BATS_OPTION_COUNT:
        return json_integer((json_int_t) * (const uint64_t *)at);
    case BATS_OPTION_SMALL:
        return json_integer(*(const uint32_t *)at);
    case BATS_OPTION_SCALE:
    case BATS_OPTION_MORE:
    case BATS_OPTION_LEVEL:
        return json_real(*(const double *)at);
    case BATS_OPTION_SYNC:
        return json_pack("[o, I]", seconds(set->run.sync_us),
                         (json_int_t)set->run.sync_events);
    case BATS_OPTION_DEADLINE:
        return bats_json_text(set->deadline.text);
    case BATS_OPTION_TIMEOUT:
        return timeout(&set->run.engine.rules);
    case BATS_OPTION_HALT:
        return halt(&set->run.engine.rules);
    case BATS_OPTION_ENV:
    case BATS_OPTION_LIST:
    case BATS_OPTION_SOURCE:
        break;
    }
    return json_null();
}

json_t *bats_options_json(enum bats_verb verb, const struct bats_settings *set)
{
    json_t *object = json_object();
    int bad = json_object_set_new(object, "bag", bats_json_text(set->bag));
    if (set->n_files > 0) {
        json_t *words = json_array();
        for (size_t i = 0; i < set->n_files; i++)
            bad |= json_array_append_new(words, bats_json_text(set->files[i]));
        bad |= json_object_set_new(object, "workflows", words);
    }
    for (size_t i = 0; i < bats_options_n; i++)
        if (bats_options[i].verbs & 1u << verb &&
            bats_options[i].offset != offsetof(struct bats_settings, help))
            bad |= json_object_set_new(object, bats_options[i].name,
                                       value(&bats_options[i], set));
    if (bats_batch_memory() > 0)
        bad |= json_object_set_new(object, "memory_kib",
                                   json_integer(bats_batch_memory()));
    return bats_json_whole(object, bad);
}

/* ---- from JSON ---- */

static struct bats_phrase duration(const json_t *v)
{
    double us = json_number_value(v) * (double)BATS_SECOND;
    return bats_words_duration(us < 1e18 ? llround(us) : 0);
}

/* Prints the value quoted for the shell. */
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

static void print_value(FILE *out, enum bats_option_kind kind, const json_t *v)
{
    const json_t *median = json_object_get(v, "median");
    double failed = json_number_value(json_object_get(v, "failed"));
    double share = json_number_value(json_object_get(v, "share"));

    if (json_is_boolean(v))
        return;
    if (json_is_string(v))
        print_word(out, json_string_value(v));
    else if (kind == BATS_OPTION_HALT)
        fprintf(out, " %s,fail=%g%s",
                json_is_true(json_object_get(v, "now")) ? "now" : "soon",
                failed > 0 ? failed : 100 * share, failed > 0 ? "" : "%");
    else if (median != NULL)
        fprintf(out, " %g%%", 100 * json_number_value(median));
    else if (kind == BATS_OPTION_SYNC)
        fprintf(out, " %s,%lld", duration(json_array_get(v, 0)).s,
                (long long)json_integer_value(json_array_get(v, 1)));
    else if (kind == BATS_OPTION_DURATION || kind == BATS_OPTION_PERIOD ||
             kind == BATS_OPTION_TIMEOUT)
        fprintf(out, " %s", duration(v).s);
    else if (json_is_integer(v))
        fprintf(out, " %lld", (long long)json_integer_value(v));
    else
        fprintf(out, " %g", json_number_value(v));
}

static json_t *defaults_of(enum bats_verb verb)
{
    struct bats_settings set;
    char name[] = "bats-mpi", bag[] = "-", *argv[] = {name, bag, NULL};

    bats_options_parse(verb, 2, argv, &set, NULL);
    return bats_options_json(verb, &set);
}

char *bats_options_given(enum bats_verb verb, const json_t *given)
{
    char *text = NULL;
    size_t size;
    json_t *defaults = defaults_of(verb);
    FILE *out = given != NULL && defaults != NULL
                    ? open_memstream(&text, &size)
                    : NULL;
    bool first = true;

    for (size_t i = 0; out != NULL && i < bats_options_n; i++) {
        const struct bats_option *o = &bats_options[i];
        const json_t *v = json_object_get(given, o->name);
        if (!(o->verbs & 1u << verb) || v == NULL || json_is_null(v) ||
            json_is_false(v) ||
            json_equal(v, json_object_get(defaults, o->name)) ||
            o->offset == offsetof(struct bats_settings, run.budget))
            continue;
        fprintf(out, "%s--%s", first ? "" : " ", o->name);
        print_value(out, o->kind, v);
        first = false;
    }
    if (out != NULL)
        fclose(out);
    json_decref(defaults);
    return text;
}
