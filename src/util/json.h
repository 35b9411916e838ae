/*
 * json: untrusted texts as JSON.
 * Layer: util. Used by all code that writes JSON. Convert a text with
 * bats_json_text, never with json_string or the "s" of json_pack, which refuse
 * bytes that are not UTF-8. Write a document with BATS_JSON_SAFE, so that it
 * cannot control a terminal.
 */
#ifndef BATS_JSON_H
#define BATS_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bats/units.h"
#include "util/encode.h"

#define BATS_JSON_SAFE JSON_ENSURE_ASCII /* a flag for json_dumpf */

/* `text` as JSON, with bytes that are not UTF-8 encoded as in encode.h; null
 * for NULL. NULL: out of memory. */
static inline json_t *bats_json_text(const char *text)
{
    if (text == NULL)
        return json_null();
    size_t size = bats_encode(BATS_ENCODE_UNICODE, NULL, 0, text) + 1;
    char *valid = malloc(size);
    if (valid == NULL)
        return NULL;
    bats_encode(BATS_ENCODE_UNICODE, valid, size, text);
    json_t *json = json_string(valid);
    free(valid);
    return json;
}

/* Returns `json`. If part of it is missing, releases it and returns NULL:
 * functions of jansson take NULL and return -1, and `bad` is the sum of their
 * results. */
static inline json_t *bats_json_whole(json_t *json, int bad)
{
    if (bad == 0)
        return json;
    json_decref(json);
    return NULL;
}

/* The amount as a text, which keeps a decimal number exact; null:
 * unlimited. */
static inline json_t *bats_json_money(bats_money amount)
{
    char text[BATS_UNITS_TEXT];
    return amount == BATS_UNLIMITED
               ? json_null()
               : json_string(bats_money_format(text, amount));
}

/* Microseconds as seconds; null if they are not known. */
static inline json_t *bats_json_seconds(bool is_known, double us)
{
    return is_known ? json_real(us / 1e6) : json_null();
}

#endif
