#include "record/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/schema.h"
#include "util/encode.h"
#include "util/grow.h"

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

/* Size of `value` as a JSON string with quotes and NUL: each byte may become
 * six. */
static size_t room_of(const char *value)
{
    return 6 * strlen(value) + 4;
}

/* Writes `value` as a JSON text; returns its end. */
static char *put_text(char *to, const char *value)
{
    size_t size = 3 * strlen(value) + 1; /* bytes that are not UTF-8 */
    char *valid = malloc(size);
    if (valid == NULL)
        return NULL;
    bats_encode(BATS_ENCODE_UNICODE, valid, size, value);
    *to++ = '"';
    for (const char *at = valid; *at != '\0'; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == '"' || c == '\\')
            *to++ = '\\';
        if (c < ' ')
            to += sprintf(to, "\\u%04x", c);
        else
            *to++ = (char)c;
    }
    *to++ = '"';
    free(valid);
    return to;
}

const char *bats_parameters_text(struct bats_parameters *p,
                                 const char *const *values, size_t n)
{
    size_t length = 0;
    n = n < p->n ? n : p->n;
    for (size_t i = 0; i < n; i++) {
        size_t most = strlen(p->keys[i]) + room_of(values[i]) + 2;
        if (!bats_grow(&p->text, &p->text_room, length + most, 1))
            return NULL;
        char *to = p->text + length;
        *to++ = i == 0 ? '{' : ',';
        to = stpcpy(to, p->keys[i]);
        to = is_number(values[i]) ? stpcpy(to, values[i])
                                  : put_text(to, values[i]);
        if (to == NULL)
            return NULL;
        length = (size_t)(to - p->text);
    }
    if (!bats_grow(&p->text, &p->text_room, length + 3, 1))
        return NULL;
    strcpy(p->text + length, n > 0 ? "}" : "{}");
    return p->text;
}

void bats_parameters_release(struct bats_parameters *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->keys[i]);
    free(p->keys);
    free(p->text);
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

/* A name that the view already has as a column gets the prefix "p_". */
static int insert_name(struct bats_db *db, const char *name,
                       struct bats_error *err)
{
    return bats_db_each(
        db,
        "INSERT OR IGNORE INTO parameter (name, place) SELECT ?1, CASE WHEN "
        "EXISTS (SELECT 1 FROM pragma_table_info('tasks') WHERE "
        "lower(name) = lower(?1)) THEN 'p_' || ?1 ELSE ?1 END WHERE NOT EXISTS "
        "(SELECT 1 FROM parameter WHERE name = ?1)",
        NULL, NULL, err, BATS_VALUES(BATS_T(name)));
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
            rc = insert_name(db, name, err);
        if (rc == 0) /* so that the next name sees this column */
            rc = bats_schema_view_tasks(db, err);
        free(name);
    }
    return rc;
}
