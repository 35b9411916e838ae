#include "input/sweep/script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/sweep/text.h"
#include "util/grow.h"

void bats_script_text(struct bats_script *script, const char *bytes, size_t n)
{
    if (!bats_grow(&script->text, &script->text_room, script->length + n + 1,
                   1)) {
        script->failed = true;
        return;
    }
    memcpy(script->text + script->length, bytes, n);
    script->length += n;
}

void bats_script_add(struct bats_script *script, const char *string)
{
    bats_script_text(script, string, strlen(string));
}

void bats_script_value(struct bats_script *script, size_t value,
                       enum bats_script_form form)
{
    if (!bats_grow(&script->pieces, &script->room, script->n + 1,
                   sizeof *script->pieces)) {
        script->failed = true;
        return;
    }
    script->pieces[script->n++] = (struct bats_script_piece){
        .end = script->length, .value = value, .form = form};
}

void bats_script_append(struct bats_script *script,
                        const struct bats_script *more)
{
    size_t at = 0;
    for (size_t i = 0; i < more->n; i++) {
        const struct bats_script_piece *p = &more->pieces[i];
        bats_script_text(script, more->text + at, p->end - at);
        bats_script_value(script, p->value, p->form);
        at = p->end;
    }
    if (more->length > at)
        bats_script_text(script, more->text + at, more->length - at);
    script->failed = script->failed || more->failed;
}

void bats_script_release(struct bats_script *script)
{
    free(script->text);
    free(script->pieces);
    *script = (struct bats_script){0};
}

/* Within single quotes of the shell. */
static void put_sed(struct bats_text *out, const char *value)
{
    for (; *value != '\0'; value++) {
        if (strchr("\\&/\n", *value) != NULL)
            bats_text_add(out, "\\");
        if (*value == '\'')
            bats_text_add(out, "'\\''");
        else
            bats_text_put(out, value, 1);
    }
}

static void put_value(struct bats_text *out, const char *value,
                      enum bats_script_form form)
{
    if (form == BATS_SCRIPT_WORD)
        bats_text_quote(out, value, strlen(value));
    else if (form == BATS_SCRIPT_SED)
        put_sed(out, value);
    else
        bats_text_add(out, value);
}

ptrdiff_t bats_script_expand(const struct bats_script *script,
                             const struct bats_values *values, uint64_t number,
                             char **text, size_t *size)
{
    struct bats_text out = {.bytes = text, .room = size, .ok = true};
    char digits[24];
    size_t at = 0;
    snprintf(digits, sizeof digits, "%" PRIu64, number);
    for (size_t i = 0; i < script->n; i++) {
        const struct bats_script_piece *p = &script->pieces[i];
        bats_text_put(&out, script->text + at, p->end - at);
        at = p->end;
        if (p->value < values->n)
            put_value(&out, values->item[p->value], p->form);
        else
            bats_text_add(&out, digits);
    }
    bats_text_put(&out, script->text + at, script->length - at);
    return out.ok ? (ptrdiff_t)out.n : -1;
}
