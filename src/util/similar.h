/*
 * similar: guesses the name that was meant by an unknown word.
 *
 * Layer: util. Finds the name with the fewest edits from the word: a character
 * inserted, deleted or replaced, or two neighbours swapped (optimal string
 * alignment). One edit is allowed for every three characters of a name.
 */
#ifndef BATS_SIMILAR_H
#define BATS_SIMILAR_H

#include <stddef.h>

struct bats_similar {
    const char *word; /* only its first `length` bytes count */
    size_t length;
    const char *name; /* the nearest name so far, or NULL */
    unsigned edits;
};

struct bats_similar bats_similar_to(const char *word, size_t length);

/* Tries the known name `name`. Among equally near names the first one wins. */
void bats_similar_try(struct bats_similar *similar, const char *name);

#endif
