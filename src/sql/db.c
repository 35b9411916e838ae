#include "sql/db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/texts.h"
#include "util/grow.h"

int bats_db_fail(struct bats_db *db, int rc, struct bats_error *err)
{
    return (rc & 0xff) == SQLITE_NOMEM ? bats_no_memory(err)
                                       : db->fail(db, rc, err);
}

void bats_db_close(struct bats_db *db)
{
    sqlite3_close_v2(db->sqlite);
    db->sqlite = NULL;
}

int bats_db_run(struct bats_db *db, const char *sql, struct bats_error *err)
{
    int rc = sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : bats_db_fail(db, rc, err);
}

int bats_db_prepare(struct bats_db *db, const char *sql,
                    sqlite3_stmt **statement, struct bats_error *err)
{
    int rc = sqlite3_prepare_v3(db->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                statement, NULL);
    return rc == SQLITE_OK ? 0 : bats_db_fail(db, rc, err);
}

int bats_db_step(struct bats_db *db, sqlite3_stmt *statement,
                 struct bats_error *err)
{
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        return 1;
    if (rc != SQLITE_DONE)
        rc = bats_db_fail(db, rc, err);
    else
        rc = 0;
    sqlite3_reset(statement);
    return rc;
}

static void bind(sqlite3_stmt *s, int at, const struct bats_db_value *value)
{
    if (value->type == BATS_DB_TEXT || value->type == BATS_DB_COPY)
        sqlite3_bind_text(s, at, value->is.text, -1, SQLITE_STATIC);
    else if (value->type == BATS_DB_REAL)
        sqlite3_bind_double(s, at, value->is.real);
    else if (value->is.integer != BATS_DB_NULL)
        sqlite3_bind_int64(s, at, value->is.integer);
    else
        sqlite3_bind_null(s, at);
}

int bats_db_put(struct bats_db *db, sqlite3_stmt *statement,
                struct bats_error *err, const struct bats_db_value *values,
                int n)
{
    for (int i = 0; i < n; i++)
        bind(statement, i + 1, &values[i]);
    return bats_db_step(db, statement, err);
}

int bats_db_each(struct bats_db *db, const char *sql, bats_db_row *take,
                 void *context, struct bats_error *err,
                 const struct bats_db_value *values, int n)
{
    sqlite3_stmt *s;
    int rc = 0;
    while (rc == 0) {
        if (sqlite3_prepare_v2(db->sqlite, sql, -1, &s, &sql) != SQLITE_OK)
            return bats_db_fail(db, sqlite3_errcode(db->sqlite), err);
        if (s == NULL)
            break; /* after the last one */
        rc = bats_db_put(db, s, err, values, n);
        while (rc > 0 && (rc = take != NULL ? take(context, s, err) : 0) == 0)
            rc = bats_db_step(db, s, err);
        sqlite3_finalize(s);
    }
    return rc;
}

/* ---- rows as structs ---- */

const struct bats_db_column bats_db_whole[] = {
    {BATS_DB_WHOLE, 0, sizeof(int64_t)}, {0}};
const struct bats_db_column bats_db_text[] = {
    {BATS_DB_POINTER, 0, sizeof(const char *)}, {0}};

static void put_whole(void *to, size_t size, int64_t value)
{
    switch (size) {
    case 1:
        *(uint8_t *)to = (uint8_t)value;
        break;
    case 2:
        *(uint16_t *)to = (uint16_t)value;
        break;
    case 4:
        *(uint32_t *)to = (uint32_t)value;
        break;
    default:
        *(int64_t *)to = value;
    }
}

int bats_db_fill(sqlite3_stmt *row, const struct bats_db_column *columns,
                 void *to, struct bats_texts *texts, struct bats_error *err)
{
    for (int i = 0; columns[i].type != BATS_DB_END; i++) {
        void *at = (char *)to + columns[i].at;
        if (columns[i].type == BATS_DB_WHOLE) {
            put_whole(at, columns[i].size, sqlite3_column_int64(row, i));
        } else if (columns[i].type == BATS_DB_BOOL) {
            *(bool *)at = sqlite3_column_int64(row, i) != 0;
        } else if (columns[i].type == BATS_DB_DOUBLE) {
            *(double *)at = sqlite3_column_double(row, i);
        } else {
            const char *text = (const char *)sqlite3_column_text(row, i);
            text = text != NULL ? text : "";
            if (columns[i].type == BATS_DB_CHARS)
                snprintf(at, columns[i].size, "%s", text);
            else if (texts != NULL)
                text = bats_texts_name(texts, text, strlen(text));
            if (columns[i].type == BATS_DB_POINTER)
                *(const char **)at = text;
            if (text == NULL)
                return bats_no_memory(err);
        }
    }
    return 0;
}

struct target {
    const struct bats_db_column *columns;
    void *to;
};

static int take_one(void *context, sqlite3_stmt *row, struct bats_error *err)
{
    const struct target *t = context;
    int rc = bats_db_fill(row, t->columns, t->to, NULL, err);
    return rc < 0 ? rc : 1; /* no further row */
}

int bats_db_get(struct bats_db *db, const char *sql,
                const struct bats_db_column *columns, void *to,
                struct bats_error *err, const struct bats_db_value *values,
                int n)
{
    struct target t = {columns, to};
    int rc = bats_db_each(db, sql, take_one, &t, err, values, n);
    return rc < 0 ? rc : 0;
}

struct items {
    const struct bats_db_column *columns;
    struct bats_texts *texts;
    char *bytes;
    size_t size, n, room;
};

static int take_item(void *context, sqlite3_stmt *row, struct bats_error *err)
{
    struct items *t = context;
    if (!bats_grow(&t->bytes, &t->room, t->n + 1, t->size))
        return bats_no_memory(err);
    void *item = memset(t->bytes + t->n++ * t->size, 0, t->size);
    return bats_db_fill(row, t->columns, item, t->texts, err);
}

int bats_db_list(struct bats_db *db, const char *sql,
                 const struct bats_db_column *columns, size_t size, void *list,
                 size_t *n, struct bats_texts *texts, struct bats_error *err,
                 const struct bats_db_value *values, int n_values)
{
    struct items t = {columns, texts, NULL, size, 0, 0};
    int rc = bats_db_each(db, sql, take_item, &t, err, values, n_values);
    if (rc < 0) {
        free(t.bytes);
        t = (struct items){0};
    }
    *(void **)list = t.bytes;
    *n = t.n;
    return rc;
}

char *bats_db_copy(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return strdup(text != NULL ? text : "");
}

int bats_db_integer(struct bats_db *db, const char *sql, int64_t *value,
                    struct bats_error *err)
{
    *value = 0;
    return bats_db_get(db, sql, bats_db_whole, value, err, NULL, 0);
}
