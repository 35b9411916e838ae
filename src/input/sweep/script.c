#include "input/sweep/script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/sweep/template.h"
#include "util/grow.h"

void bats_script_value(struct bats_script *script, size_t value,
                       enum bats_script_form form)
{
    if (!bats_grow(&script->pieces, &script->room, script->n + 1,
                   sizeof *script->pieces)) {
        script->text.failed = true;
        return;
    }
    script->pieces[script->n++] = (struct bats_script_piece){
        .end = script->text.n, .value = value, .form = form};
}

void bats_script_append(struct bats_script *script,
                        const struct bats_script *more)
{
    size_t at = 0;
    for (size_t i = 0; i < more->n; i++) {
        const struct bats_script_piece *p = &more->pieces[i];
        bats_text_put(&script->text, more->text.bytes + at, p->end - at);
        bats_script_value(script, p->value, p->form);
        at = p->end;
    }
    if (more->text.n > at)
        bats_text_put(&script->text, more->text.bytes + at, more->text.n - at);
    script->text.failed |= more->text.failed;
}

void bats_script_release(struct bats_script *script)
{
    bats_text_release(&script->text);
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
        bats_template_quote(out, value, strlen(value));
    else if (form == BATS_SCRIPT_SED)
        put_sed(out, value);
    else
        bats_text_add(out, value);
}

ptrdiff_t bats_script_expand(const struct bats_script *script,
                             const struct bats_values *values, uint64_t number,
                             struct bats_text *out)
{
    const char *text = script->text.bytes;
    size_t at = 0;
    bats_text_cut(out, 0);
    for (size_t i = 0; i < script->n; i++) {
        const struct bats_script_piece *p = &script->pieces[i];
        bats_text_put(out, text + at, p->end - at);
        at = p->end;
        if (p->value < values->n)
            put_value(out, values->item[p->value], p->form);
        else
            bats_text_format(out, "%" PRIu64, number);
    }
    bats_text_put(out, text + at, script->text.n - at);
    return bats_text_length(out);
}
