/*
 * source: the words of a plan file, and where they are.
 *
 * Layer: input, private to plan files. A statement ends with a newline or a
 * semicolon. '#' and '//' begin a comment up to the end of the line, and a
 * slash with a star one up to a star with a slash, all of them only at the
 * beginning of a word: dir/x*.dat has none. A backslash at the end of a line
 * continues it.
 */
#ifndef BATS_SWEEP_SOURCE_H
#define BATS_SWEEP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "bats/error.h"

enum bats_token_kind {
    BATS_TOKEN_WORD,
    BATS_TOKEN_STRING, /* a word that begins with a quote */
    BATS_TOKEN_END,    /* of the statement */
    BATS_TOKEN_EOF     /* of the file, and of the statement */
};

struct bats_token {
    enum bats_token_kind kind;
    const char *at; /* in the text of the file */
    char *value; /* without quotes, escapes replaced; until the next token */
};

struct bats_source {
    const char *name; /* of the file */
    const char *text; /* with a NUL after it */
    const char *at;
    const char *open; /* a comment that is not closed; or NULL */
    struct bats_token token; /* the last one that was read */
    char *word;              /* room for it */
    size_t word_room;
    char *warnings; /* lines, for free(); NULL: none */
    struct bats_error *err;
};

void bats_source_release(struct bats_source *source);

/* Reads the next token. A word may have quoted parts, as in node:"a b"; in
 * double quotes the escapes of C hold. BATS_EINPUT: a quote or a comment is not
 * closed; BATS_ENOMEM. */
int bats_source_next(struct bats_source *source);

/* Reads the rest of the line as it is, for a shell, but for comments that the
 * shell does not know and a semicolon at the end: into token.value. It ends the
 * statement. */
int bats_source_rest(struct bats_source *source);

/* The token is this word. */
bool bats_source_is(const struct bats_source *source, const char *word);

/* Reads the next token, which must be this word. */
int bats_source_expect(struct bats_source *source, const char *word);

/* The token ends the statement. */
bool bats_source_ends(const struct bats_source *source);

/* BATS_EINPUT: "name:line:column: expected ..., found ...". */
int bats_source_expected(const struct bats_source *source, const char *what);

/* BATS_EINPUT: "name:line:column: sentence", for the token. */
int bats_source_refuse(const struct bats_source *source, const char *format,
                       ...) __attribute__((format(printf, 2, 3)));

/* Adds a line to the warnings, about the text at `at`. BATS_ENOMEM. */
int bats_source_warn(struct bats_source *source, const char *at,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
