/*
 * record_mutator: what fuzz_record's input looks like, and how a new one is
 * made of it, by libFuzzer's custom mutator.
 *
 * Most of what a mutator of bytes makes of a database is none any more, and is
 * refused at once. This one changes values and rows by SQL, also within the
 * JSON of a value, and only at times bytes or the length.
 */
#ifndef BATS_RECORD_MUTATOR_H
#define BATS_RECORD_MUTATOR_H

#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"
#include "record/schema.h"

#define HEAD 4       /* bytes before the file */
#define SMALLEST 512 /* of a database */

/* Bytes of the file and of its log; `n` is of all, HEAD and more. */
static void split(const uint8_t *data, size_t n, size_t *file, size_t *log)
{
    *log = (size_t)data[1] << 16 | (size_t)data[2] << 8 | data[3];
    if (*log > n - HEAD)
        *log = n - HEAD;
    *file = n - HEAD - *log;
}

/* libFuzzer's; not there where a target is a test. */
size_t __attribute__((weak))
LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed);

static unsigned draw(unsigned *state, unsigned n)
{
    *state = *state * 1103515245 + 12345;
    return (*state >> 8) % n;
}

/* Runs `sql` for a table and a column of it, with a value and a number. What
 * does not work does no harm. */
static void change(sqlite3 *db, const char *sql, const char *table,
                   const char *column, const char *value, size_t n,
                   unsigned place)
{
    char text[1024];
    sqlite3_stmt *s;

    snprintf(text, sizeof text, sql, table, column);
    if (sqlite3_prepare_v2(db, text, -1, &s, NULL) != SQLITE_OK)
        return;
    sqlite3_bind_text(s, 1, value, (int)n, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, place);
    for (int i = 0; i < 100 && sqlite3_step(s) == SQLITE_ROW; i++)
        ;
    sqlite3_finalize(s);
}

#define ROW                                                                   \
    " WHERE rowid = (SELECT rowid FROM %1$s LIMIT 1 OFFSET "                  \
    "?2 %% (SELECT count(*) FROM %1$s))"
/* A leaf of the JSON in a column. */
#define LEAF                                                                  \
    "(SELECT fullkey FROM json_tree(%2$s) WHERE atom IS NOT NULL LIMIT 1 "    \
    "OFFSET ?2 / 7 %% (SELECT count(*) FROM json_tree(%2$s) WHERE atom IS "   \
    "NOT NULL))"

/* ?1 is a value that is new, ?2 a number drawn. */
static const char *const changes[] = {
    "UPDATE OR IGNORE %1$s SET %2$s = ?1" ROW,
    "UPDATE OR IGNORE %1$s SET %2$s = CAST(?1 AS INTEGER)" ROW,
    "UPDATE OR IGNORE %1$s SET %2$s = %2$s + CAST(?1 AS INTEGER)" ROW,
    "UPDATE OR IGNORE %1$s SET %2$s = NULL" ROW,
    "UPDATE OR IGNORE %1$s SET %2$s = (SELECT %2$s FROM %1$s LIMIT 1 OFFSET "
    "?2 / 11 %% (SELECT count(*) FROM %1$s))" ROW,
    "DELETE FROM %1$s" ROW,
    /* A value without JSON has no leaf, and is not changed. */
    "UPDATE OR IGNORE %1$s SET %2$s = json_set(%2$s, " LEAF ", ?1)" ROW,
    "UPDATE OR IGNORE %1$s SET %2$s = json_set(%2$s, " LEAF
    ", CAST(?1 AS INTEGER))" ROW,
    "UPDATE OR IGNORE %1$s SET %2$s = json_set(%2$s, " LEAF
    ", json_extract(%2$s, " LEAF ") + CAST(?1 AS INTEGER))" ROW,
    "UPDATE OR IGNORE %1$s SET %2$s = json_remove(%2$s, " LEAF ")" ROW,
};

/* The drawn one of the names that `sql` yields. */
static void draw_name(sqlite3 *db, const char *sql, const char *table,
                      unsigned drawn, char name[32])
{
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        return;
    sqlite3_bind_int64(s, 1, drawn);
    sqlite3_bind_text(s, 2, table, -1, SQLITE_STATIC);
    if (sqlite3_step(s) == SQLITE_ROW)
        snprintf(name, 32, "%s", sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
}

#define TABLES "FROM sqlite_schema WHERE type = 'table'"
static const char table_sql[] = "SELECT name " TABLES " ORDER BY rowid LIMIT 1"
                                " OFFSET ?1 % (SELECT count(*) " TABLES ")";
static const char column_sql[] =
    "SELECT name FROM pragma_table_info(?2) LIMIT 1 OFFSET ?1 % "
    "(SELECT count(*) FROM pragma_table_info(?2))";

/* A number at the edge of something, or what libFuzzer makes of a word. */
static size_t draw_value(unsigned *state, char value[64])
{
    static const char *const values[] = {"0",
                                         "1",
                                         "-1",
                                         "2",
                                         "7",
                                         "255",
                                         "4294967295",
                                         "4294967296",
                                         "1e300",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "",
                                         "all done",
                                         "rr",
                                         "[]",
                                         "{}",
                                         "[1,2]",
                                         "100000000"};
    size_t n = sizeof values / sizeof *values;
    const char *word = values[draw(state, (unsigned)n)];
    snprintf(value, 64, "%s", word);
    if (draw(state, 3) > 0)
        return strlen(word);
    return LLVMFuzzerMutate((uint8_t *)value, strlen(word), 63);
}

/* Changes rows of the file; false where it is no database any more. */
static bool change_rows(uint8_t *data, size_t *size, size_t max_size,
                        unsigned *state)
{
    sqlite3 *db = NULL;
    sqlite3_int64 n = (sqlite3_int64)*size;
    uint8_t *copy = sqlite3_malloc64((sqlite3_uint64)n);
    char table[32] = "meta", column[32] = "rowid", value[64];

    must(copy != NULL);
    memcpy(copy, data, *size);
    copy[18] = copy[19] = 1; /* no log: that cannot be in memory */
    must(sqlite3_open(":memory:", &db) == SQLITE_OK);
    must(sqlite3_deserialize(db, "main", copy, n, n,
                             SQLITE_DESERIALIZE_FREEONCLOSE |
                                 SQLITE_DESERIALIZE_RESIZEABLE) == SQLITE_OK);
    sqlite3_exec(db, "PRAGMA journal_mode = OFF", NULL, NULL, NULL);
    for (unsigned i = 1 + draw(state, 3); i > 0; i--) {
        draw_name(db, table_sql, NULL, draw(state, 64), table);
        draw_name(db, column_sql, table, draw(state, 64), column);
        size_t length = draw_value(state, value);
        change(db, changes[draw(state, sizeof changes / sizeof *changes)],
               table, column, value, length, draw(state, 1 << 20));
    }
    uint8_t *changed = sqlite3_serialize(db, "main", &n, 0);
    bool is_good = changed != NULL && n >= SMALLEST && (size_t)n <= max_size &&
                   sqlite3_total_changes(db) > 0;
    if (is_good) {
        *size = (size_t)n;
        memcpy(data, changed, *size);
    }
    sqlite3_free(changed);
    sqlite3_close(db);
    return is_good;
}

static void change_bytes(uint8_t *data, size_t n, unsigned *state)
{
    size_t at = draw(state, (unsigned)n), most = n - at < 8 ? n - at : 8;
    LLVMFuzzerMutate(data + at, 1 + draw(state, (unsigned)most), most);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed)
{
    size_t file, log;

    if (size < SMALLEST + HEAD)
        return LLVMFuzzerMutate(data, size, SMALLEST - 1);
    split(data, size, &file, &log);
    if (draw(&seed, 4) == 0)
        data[0] = (uint8_t)draw(&seed, 4);
    unsigned way = draw(&seed, 8);
    if (way == 0) /* cut off */
        return size - draw(&seed, (unsigned)(size - SMALLEST));
    if (way > 1 && log == 0 &&
        change_rows(data + HEAD, &file, max_size - HEAD, &seed))
        return file + HEAD;
    change_bytes(data + HEAD, size - HEAD, &seed);
    return size;
}

#endif
