/*
 * source: the words of a plan file, and where they are.
 *
 * Layer: input, private to plan files. A statement ends with a newline or a
 * semicolon. '#' and '//' begin a comment up to the end of the line, and a
 * slash with a star one up to a star with a slash, all of them only at the
 * beginning of a word: dir/x*.dat has none. A backslash at the end of a line
 * continues it.
 *
 * Readers need not check for errors one by one: after the first error the
 * source is at its end, all functions do nothing, and `rc` is not 0.
 */
#ifndef BATS_SWEEP_SOURCE_H
#define BATS_SWEEP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "bats/error.h"
#include "util/text.h"

enum bats_token_kind {
    BATS_TOKEN_WORD,
    BATS_TOKEN_STRING, /* a word that begins with a quote */
    BATS_TOKEN_END,    /* end of a statement */
    BATS_TOKEN_EOF     /* end of the file, and of a statement */
};

struct bats_token {
    enum bats_token_kind kind;
    const char *at;    /* position in the text of the file */
    const char *value; /* without quotes, escapes replaced; valid until the
                        * next token; "" for an END or EOF */
};

struct bats_source {
    const char *name; /* name of the file */
    const char *text; /* followed by a NUL */
    const char *at;
    const char *open;          /* a comment that is not closed, or NULL */
    struct bats_token token;   /* the token read last */
    struct bats_text word;     /* its value */
    struct bats_text warnings; /* lines */
    int rc; /* BATS_EINPUT, BATS_ENOMEM: the first error, described in */
    struct bats_error *err;
};

void bats_source_release(struct bats_source *source);

/* Reads the next token. A word may have quoted parts, as in node:"a b"; in
 * double quotes, C escapes are replaced. BATS_EINPUT: a quote or a comment is
 * not closed. */
enum bats_token_kind bats_source_next(struct bats_source *source);

/* Reads the rest of the line, as for a shell, into token.value, without
 * comments that the shell does not know and without a final semicolon. Ends
 * the statement. */
void bats_source_rest(struct bats_source *source);

/* True if the token is this word. */
bool bats_source_is(const struct bats_source *source, const char *word);

/* True if the token ends the statement. */
bool bats_source_ends(const struct bats_source *source);

/* Reads the next token, which must be this word or the end of the statement;
 * messages call it `what`. */
void bats_source_expect(struct bats_source *source, const char *word);
void bats_source_end(struct bats_source *source, const char *what);

/* Fails with BATS_EINPUT: "name:line:column: expected ..., found ...". */
void bats_source_expected(struct bats_source *source, const char *what);

/* Fails with BATS_EINPUT: "name:line:column: sentence", for the token. */
void bats_source_refuse(struct bats_source *source, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Fails with BATS_ENOMEM unless has_memory. */
void bats_source_check(struct bats_source *source, bool has_memory);

/* Adds a warning about the text at `at`. */
void bats_source_warn(struct bats_source *source, const char *at,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
