/*
 * similar: what was probably meant by a word that is not known.
 *
 * Layer: cli. The nearest name by the edits that make it of the word: a
 * character inserted, deleted or replaced, or two neighbours swapped (optimal
 * string alignment). One edit is likely for every three characters of a name.
 */
#ifndef BATS_SIMILAR_H
#define BATS_SIMILAR_H

#include <stddef.h>

struct bats_similar {
    const char *word; /* the first `length` bytes of it */
    size_t length;
    const char *name; /* the nearest of those that were tried, or NULL */
    unsigned edits;
};

struct bats_similar bats_similar_to(const char *word, size_t length);

/* `name` is one that is known. Of equally near ones the first is kept. */
void bats_similar_try(struct bats_similar *similar, const char *name);

#endif
