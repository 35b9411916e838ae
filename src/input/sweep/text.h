/*
 * text: a text that grows, and quoting for the shell.
 *
 * Layer: input, private to sweeps. The bytes are in a growing buffer of the
 * caller. If memory is short, `ok` is false, and everything put later is
 * dropped.
 */
#ifndef BATS_SWEEP_TEXT_H
#define BATS_SWEEP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct bats_text {
    char **bytes;
    size_t *room;
    size_t n;
    bool ok;
};

void bats_text_put(struct bats_text *text, const char *bytes, size_t n);
void bats_text_add(struct bats_text *text, const char *string);

/* As GNU parallel does: single quotes in double ones, the rest in single ones,
 * unless the shell takes all of it as it is. */
void bats_text_quote(struct bats_text *text, const char *bytes, size_t n);

#endif
