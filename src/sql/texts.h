/*
 * texts: storage for the texts of a list; they are freed together.
 *
 * Layer: sql.
 */
#ifndef BATS_SQL_TEXTS_H
#define BATS_SQL_TEXTS_H

#include <stddef.h>

struct bats_texts_block;

struct bats_texts { /* zeros: none */
    struct bats_texts_block *blocks;
    const char *seen[256]; /* some texts that may recur */
};

/* A copy of `text` (NULL: ""), which ends with a NUL at text[n]; NULL: out of
 * memory. */
const char *bats_texts_add(struct bats_texts *texts, const char *text,
                           size_t n);

/* The same for names, which mostly recur: avoids second copies. */
const char *bats_texts_name(struct bats_texts *texts, const char *text,
                            size_t n);

void bats_texts_release(struct bats_texts *texts);

#endif
