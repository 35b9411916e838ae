/*
 * db: access to SQLite: statements, and rows as structs.
 *
 * Layer: sql. Used by record and history, which alone have tables.
 */
#ifndef BATS_SQL_DB_H
#define BATS_SQL_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"

struct bats_texts;

struct bats_db {
    sqlite3 *sqlite;
    const char *path; /* for messages; borrowed */
    /* Translates SQLite's last error into a sentence; `rc` is its code. */
    int (*fail)(struct bats_db *db, int rc, struct bats_error *err);
};

void bats_db_close(struct bats_db *db);

/* Runs statements without results. */
int bats_db_run(struct bats_db *db, const char *sql, struct bats_error *err);

/* The one integer that `sql` yields; 0 if it yields none. */
int bats_db_integer(struct bats_db *db, const char *sql, int64_t *value,
                    struct bats_error *err);

int bats_db_prepare(struct bats_db *db, const char *sql,
                    sqlite3_stmt **statement, struct bats_error *err);

/* Steps to the next row of a statement: 1, 0 at the end, or an error. At the
 * end and after an error the statement can be used again. */
int bats_db_step(struct bats_db *db, sqlite3_stmt *statement,
                 struct bats_error *err);

/* A value for a parameter of a statement. COPY is a text that whoever keeps
 * the value must copy; nothing here does. */
struct bats_db_value {
    enum { BATS_DB_INTEGER, BATS_DB_REAL, BATS_DB_TEXT, BATS_DB_COPY } type;
    union {
        int64_t integer; /* BATS_DB_NULL: NULL */
        double real;
        const char *text; /* or NULL */
    } is;
};
#define BATS_DB_NULL INT64_MIN
#define BATS_I(x) ((struct bats_db_value){.is.integer = (x)})
#define BATS_R(x)                                                             \
    ((struct bats_db_value){.type = BATS_DB_REAL, .is.real = (x)})
#define BATS_T(x)                                                             \
    ((struct bats_db_value){.type = BATS_DB_TEXT, .is.text = (x)})
#define BATS_C(x)                                                             \
    ((struct bats_db_value){.type = BATS_DB_COPY, .is.text = (x)})
#define BATS_VALUES(...)                                                      \
    (const struct bats_db_value[]){__VA_ARGS__},                              \
        (int)(sizeof(const struct bats_db_value[]){__VA_ARGS__} /             \
              sizeof(struct bats_db_value))

/* Binds the values to the prepared statement and runs it, as bats_db_step. */
int bats_db_put(struct bats_db *db, sqlite3_stmt *statement,
                struct bats_error *err, const struct bats_db_value *values,
                int n);

/* Runs the statements of `sql`, each with these values as far as it has
 * parameters, and passes each row to `take` until that fails; NULL: they yield
 * no rows. */
typedef int bats_db_row(void *context, sqlite3_stmt *row,
                        struct bats_error *err);
int bats_db_each(struct bats_db *db, const char *sql, bats_db_row *take,
                 void *context, struct bats_error *err,
                 const struct bats_db_value *values, int n);

/* ---- rows as structs ---- */

/* A struct member filled from a column: the first from column 0, and so on.
 * Members are integers of any size, bool, double, char[] (the text is cut to
 * fit) and const char *. NULL becomes 0, false or "". A list ends with an
 * all-zero column. */
struct bats_db_column {
    enum {
        BATS_DB_END,
        BATS_DB_WHOLE,
        BATS_DB_BOOL,
        BATS_DB_DOUBLE,
        BATS_DB_CHARS,
        BATS_DB_POINTER
    } type;
    size_t at, size;
};
#define BATS_COLUMN(struct_type, member)                                           \
    {                                                                              \
        _Generic(((struct_type *)NULL)->member,                                  \
              bool: BATS_DB_BOOL,                                             \
              double: BATS_DB_DOUBLE,                                         \
              char *: BATS_DB_CHARS,                                          \
              const char *: BATS_DB_POINTER,                                  \
              default: BATS_DB_WHOLE),                                        \
     offsetof(struct_type, member), sizeof((struct_type *)NULL)->member \
    }

/* An int64_t alone, and a const char *. */
extern const struct bats_db_column bats_db_whole[], bats_db_text[];

/* Fills the struct `to`. Its const char * point into `texts`; if `texts` is
 * NULL, they are valid until the next step. BATS_ENOMEM. */
int bats_db_fill(sqlite3_stmt *row, const struct bats_db_column *columns,
                 void *to, struct bats_texts *texts, struct bats_error *err);

/* Fills the struct from the first row; without rows it is unchanged. */
int bats_db_get(struct bats_db *db, const char *sql,
                const struct bats_db_column *columns, void *to,
                struct bats_error *err, const struct bats_db_value *values,
                int n);

/* All rows, of bats_db_each, as an array of n structs of `size` bytes, for
 * free(): `list` is the address of its pointer, NULL without rows and after an
 * error. */
int bats_db_list(struct bats_db *db, const char *sql,
                 const struct bats_db_column *columns, size_t size, void *list,
                 size_t *n, struct bats_texts *texts, struct bats_error *err,
                 const struct bats_db_value *values, int n_values);

/* A column's text for free(); "" for an SQL NULL. NULL: out of memory. */
char *bats_db_copy(sqlite3_stmt *row, int column);

/* As db->fail; or BATS_ENOMEM. */
int bats_db_fail(struct bats_db *db, int rc, struct bats_error *err);

#endif
