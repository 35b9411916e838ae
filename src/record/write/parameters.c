#include "record/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/schema.h"
#include "util/asset.h"
#include "util/grow.h"

BATS_ASSET(parameter_sql, "record/write/parameter.sql");

/* ---- JSON ---- */

static const char *skip_digits(const char *at)
{
    return at + strspn(at, "0123456789");
}

/* Whether the value is a JSON number that SQLite keeps exactly. */
static bool is_number(const char *value)
{
    const char *at = value + (*value == '-'), *whole = at;
    at = skip_digits(at);
    if (at == whole || (*whole == '0' && at > whole + 1))
        return false;
    if (*at == '.') {
        const char *part = at + 1;
        at = skip_digits(part);
        if (at == part)
            return false;
    }
    if (*at == 'e' || *at == 'E') {
        const char *power = at + 1 + (at[1] == '-' || at[1] == '+');
        at = skip_digits(power);
        if (at == power || at > power + 2)
            return false;
    }
    return *at == '\0' && at - value <= 15;
}

static void put_text(struct bats_parameters *p, const char *value)
{
    bats_text_cut(&p->value, 0);
    bats_text_encode(&p->value, BATS_ENCODE_UNICODE, value);
    bats_text_add(&p->text, "\"");
    for (size_t i = 0; i < p->value.n; i++) {
        unsigned char c = (unsigned char)p->value.bytes[i];
        if (c < ' ')
            bats_text_format(&p->text, "\\u%04x", c);
        else
            bats_text_format(&p->text, "%s%c",
                             c == '"' || c == '\\' ? "\\" : "", c);
    }
    bats_text_add(&p->text, "\"");
    p->text.failed |= p->value.failed;
}

const char *bats_parameters_text(struct bats_parameters *p,
                                 const char *const *values, size_t n)
{
    bats_text_cut(&p->text, 0);
    bats_text_add(&p->text, "{");
    for (size_t i = 0; i < n && i < p->n; i++) {
        bats_text_add(&p->text, i > 0 ? "," : "");
        bats_text_add(&p->text, p->keys[i]);
        if (is_number(values[i]))
            bats_text_add(&p->text, values[i]);
        else
            put_text(p, values[i]);
    }
    bats_text_add(&p->text, "}");
    return p->text.failed ? NULL : p->text.bytes;
}

void bats_parameters_release(struct bats_parameters *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->keys[i]);
    free(p->keys);
    bats_text_release(&p->text);
    bats_text_release(&p->value);
    *p = (struct bats_parameters){0};
}

/* ---- names ---- */

/* A name that needs no escaping in JSON and JSON paths. */
static char *plain_name(const char *name, size_t number)
{
    char *plain;
    if (name == NULL || *name == '\0')
        return asprintf(&plain, "p%zu", number) < 0 ? NULL : plain;
    size_t size = 3 * strlen(name) + 1;
    plain = malloc(size);
    if (plain == NULL)
        return NULL;
    bats_encode(BATS_ENCODE_UNICODE, plain, size, name);
    for (char *at = plain; *at != '\0'; at++)
        if (*at == '"' || *at == '\\' || (unsigned char)*at < ' ')
            *at = '_';
    return plain;
}

static int add_key(struct bats_parameters *p, const char *name,
                   struct bats_error *err)
{
    if (!bats_grow(&p->keys, &p->room, p->n + 1, sizeof *p->keys) ||
        asprintf(&p->keys[p->n], "\"%s\":", name) < 0)
        return bats_no_memory(err);
    p->n++;
    return 0;
}

int bats_parameters_name(struct bats_parameters *p, struct bats_db *db,
                         const char *const *names, size_t n,
                         struct bats_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        char *name = plain_name(names[i], i + 1);
        rc = name == NULL ? bats_no_memory(err) : add_key(p, name, err);
        if (rc == 0)
            rc = bats_db_each(db, parameter_sql.begin, NULL, NULL, err,
                              BATS_VALUES(BATS_T(name)));
        if (rc == 0) /* so that the next name sees this column */
            rc = bats_schema_view_tasks(db, err);
        free(name);
    }
    return rc;
}
