/*
 * text: a growing string of bytes, always with a NUL behind them.
 *
 * Layer: util. The program's append buffer, for text that is written piece by
 * piece. Where many pieces need printf, open_memstream does as well. A lack of
 * memory is checked once, at the end: `failed` is set, and everything added
 * later is dropped.
 */
#ifndef BATS_UTIL_TEXT_H
#define BATS_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "bats/error.h"
#include "util/encode.h"

/* All zero: empty. */
struct bats_text {
    char *bytes; /* n bytes and a NUL; NULL: nothing was ever added */
    size_t n, room;
    bool failed; /* memory was short */
};

void bats_text_put(struct bats_text *text, const char *bytes, size_t n);
void bats_text_add(struct bats_text *text, const char *string);
void bats_text_format(struct bats_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void bats_text_encode(struct bats_text *text, enum bats_encoding encoding,
                      const char *string);

/* Drops all bytes but the first n, and keeps the room. n = 0 also clears
 * `failed`. */
void bats_text_cut(struct bats_text *text, size_t n);

/* Returns the number of bytes, or BATS_ENOMEM if memory was short. */
ptrdiff_t bats_text_length(const struct bats_text *text);

/* 0, or BATS_ENOMEM if memory was short. */
int bats_text_check(const struct bats_text *text, struct bats_error *err);

void bats_text_release(struct bats_text *text);

/* Appends to the text in an array of `size` bytes; text that does not fit is
 * cut off. */
void bats_append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* True if `text` is a variable name: letters, digits and '_', not beginning
 * with a digit. */
bool bats_text_is_name(const char *text);

/* Cuts blanks off both ends. Returns the begin of what is left. */
char *bats_text_trim(char *text, const char *blanks);

/* If *text begins with `word` and blanks or the end follow, skips both. */
bool bats_text_skip_word(const char **text, const char *word,
                         const char *blanks);

bool bats_text_ends(const char *text, const char *end);

/* True if the word is one of `words`, each of which has a blank on both
 * sides. */
bool bats_text_lists(const char *words, const char *word);

#endif
