#include "record/read/scan.h"

#include <stdlib.h>
#include <string.h>

/* ---- the arrays: what pack.c writes, and spaces ---- */

struct cursor {
    const char *at, *end;
};

static inline char peek(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n'))
        c->at++;
    return c->at < c->end ? *c->at : '\0';
}

static bool take(struct cursor *c, char what)
{
    if (peek(c) != what)
        return false;
    c->at++;
    return true;
}

/* A whole number; the fraction of others is left out. */
static bool take_number(struct cursor *c, int64_t *number)
{
    bool is_negative = take(c, '-');
    uint64_t n = 0;
    const char *first = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        n = n * 10 + (uint64_t)(*c->at - '0');
    if (c->at == first || c->at - first > 19 || n > INT64_MAX)
        return false;
    *number = is_negative ? -(int64_t)n : (int64_t)n;
    if (c->at < c->end && (*c->at == '.' || *c->at == 'e' || *c->at == 'E'))
        while (c->at < c->end && *c->at != ',' && *c->at != ']')
            c->at++;
    return true;
}

/* The usual value: up to 18 digits, with what follows a value after them. */
static bool take_digits(struct cursor *c, int64_t *number)
{
    const char *at = c->at;
    const char *end = c->end - at > 18 ? at + 18 : c->end;
    int64_t n = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        n = n * 10 + (*at - '0');
    if (at == c->at || at == c->end || (*at != ',' && *at != ']'))
        return false;
    c->at = at;
    *number = n;
    return true;
}

static bool take_text(struct cursor *c, struct bats_scan_text *text)
{
    text->at = ++c->at;
    while (c->at < c->end && *c->at != '"')
        c->at += *c->at == '\\' ? 2 : 1;
    if (c->at >= c->end)
        return false;
    text->n = (size_t)(c->at++ - text->at);
    return true;
}

static bool take_word(struct cursor *c, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

static bool take_value(struct cursor *c, struct bats_scan_row *row)
{
    size_t i = row->n;
    if (i == BATS_SCAN_COLUMNS)
        return false;
    row->n++;
    row->text[i] = (struct bats_scan_text){NULL, 0};
    if (take_digits(c, &row->number[i]))
        return true;
    row->number[i] = BATS_SCAN_NULL;
    char next = peek(c);
    if (next == '"')
        return take_text(c, &row->text[i]);
    return next == 'n' ? take_word(c, "null")
                       : take_number(c, &row->number[i]);
}

static bool take_row(struct cursor *c, struct bats_scan_row *row)
{
    row->n = 0;
    if (!take(c, '['))
        return false;
    do
        if (!take_value(c, row))
            return false;
    while (take(c, ','));
    return take(c, ']') && row->n > BATS_SCAN_TYPE &&
           row->number[BATS_SCAN_SEQ] != BATS_SCAN_NULL;
}

/* Columns that are missing at the end are NULL. Those from `n` on are
 * already. */
static void fill_up(struct bats_scan_row *row, size_t n)
{
    for (size_t i = row->n; i < n; i++) {
        row->number[i] = BATS_SCAN_NULL;
        row->text[i] = (struct bats_scan_text){NULL, 0};
    }
}

static int damaged(struct bats_db *db, struct bats_error *err)
{
    return bats_error_set(err, BATS_EINPUT,
                          "%s is damaged (malformed JSON); 'bats-mpi record "
                          "recover' saves what is readable",
                          db->path);
}

static int scan_array(struct bats_db *db, sqlite3_stmt *s, int column,
                      struct bats_scan_row *row, bats_scan_hear *hear,
                      void *context, struct bats_error *err)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    if (text == NULL)
        return 0;
    struct cursor c = {text, text + sqlite3_column_bytes(s, column)};
    int rc = 0;
    if (!take(&c, '['))
        return damaged(db, err);
    if (take(&c, ']')) /* of an older version */
        return 0;
    do {
        size_t n = row->n;
        if (!take_row(&c, row))
            return damaged(db, err);
        fill_up(row, n);
        rc = hear(context, row, err);
    } while (rc == 0 && take(&c, ','));
    return rc == 0 && !take(&c, ']') ? damaged(db, err) : rc;
}

int bats_scan(struct bats_db *db, int64_t after, int64_t groups, int64_t *last,
              bats_scan_hear *hear, void *context, struct bats_error *err)
{
    static const enum bats_scan_kind kinds[] = {
        BATS_SCAN_COMMAND, BATS_SCAN_EVENT, BATS_SCAN_ATTEMPT};
    struct bats_scan_row row = {.n = 0};
    sqlite3_stmt *s;
    int rc = bats_db_prepare(db,
                             "SELECT seq, session, commands, events, attempts "
                             "FROM rec.history WHERE seq > ?1 ORDER BY seq "
                             "LIMIT ?2",
                             &s, err);
    if (rc < 0)
        return rc;
    fill_up(&row, BATS_SCAN_COLUMNS);
    sqlite3_bind_int64(s, 1, after);
    sqlite3_bind_int64(s, 2, groups > 0 ? groups : -1);
    *last = after;
    while ((rc = bats_db_step(db, s, err)) > 0) {
        *last = sqlite3_column_int64(s, 0);
        row.session = sqlite3_column_int64(s, 1);
        rc = 0;
        for (int i = 0; rc == 0 && i < 3; i++) {
            row.kind = kinds[i];
            rc = scan_array(db, s, 2 + i, &row, hear, context, err);
        }
        if (rc < 0)
            break;
    }
    sqlite3_finalize(s);
    return rc;
}

bool bats_scan_is(const struct bats_scan_text *text, const char *word)
{
    size_t n = strlen(word);
    return text->n == n && memcmp(text->at, word, n) == 0;
}

size_t bats_scan_plain(char plain[BATS_SCAN_PLAIN],
                       const struct bats_scan_text *text)
{
    size_t n = 0;
    for (size_t i = 0; i < text->n && n + 1 < BATS_SCAN_PLAIN; i++) {
        char code[5] = "";
        plain[n++] = text->at[i];
        if (text->at[i] != '\\' || i + 1 >= text->n)
            continue;
        plain[n - 1] = text->at[++i];
        if (text->at[i] != 'u' || i + 4 >= text->n)
            continue;
        memcpy(code, text->at + i + 1, 4);
        plain[n - 1] = (char)strtol(code, NULL, 16);
        i += 4;
    }
    plain[n] = '\0';
    return n;
}
