/* options_json: what a verb was told, for the run record. See options.h. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"

/* JSON is UTF-8; the names of files need not be: then every byte outside ASCII
 * becomes '?'. */
static json_t *text(const char *text)
{
    if (text == NULL)
        return json_null();
    json_t *json = json_string(text);
    char *copy = json == NULL ? strdup(text) : NULL;
    if (copy == NULL)
        return json;
    for (char *at = copy; *at != '\0'; at++)
        if ((*at & 0x80) != 0)
            *at = '?';
    json = json_string(copy);
    free(copy);
    return json;
}

static json_t *money(bats_money amount)
{
    char format[BATS_UNITS_TEXT];
    return json_string(bats_money_format(format, amount));
}

static json_t *seconds(bats_time time)
{
    return json_real((double)time / (double)BATS_SECOND);
}

/* What people write as time-out and halt is several numbers. */
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
        return text(*(const char *const *)at);
    case BATS_OPTION_MONEY:
        return money(*(const bats_money *)at);
    case BATS_OPTION_DURATION:
    case BATS_OPTION_PERIOD:
        return seconds(*(const bats_time *)at);
    case BATS_OPTION_SIZE:
        return json_integer(*(const int64_t *)at);
    case BATS_OPTION_COUNT:
        return json_integer((json_int_t) * (const uint64_t *)at);
    case BATS_OPTION_SMALL:
        return json_integer(*(const uint32_t *)at);
    case BATS_OPTION_FACTOR:
    case BATS_OPTION_LEVEL:
        return json_real(*(const double *)at);
    case BATS_OPTION_SYNC:
        return json_pack("[o, I]", seconds(set->sync),
                         (json_int_t)set->sync_events);
    case BATS_OPTION_TIMEOUT:
        return timeout(&set->rules);
    case BATS_OPTION_HALT:
        return halt(&set->rules);
    case BATS_OPTION_LIST:
        break;
    }
    return json_null();
}

char *bats_options_json(enum bats_verb verb, const struct bats_settings *set)
{
    json_t *object = json_object();
    int bad = json_object_set_new(object, "bag", text(set->bag));
    for (size_t i = 0; i < bats_options_n; i++)
        if (bats_options[i].verbs & 1u << verb &&
            bats_options[i].offset != offsetof(struct bats_settings, help))
            bad |= json_object_set_new(object, bats_options[i].name,
                                       value(&bats_options[i], set));
    char *json =
        bad == 0 ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15))
                 : NULL;
    json_decref(object);
    return json;
}
