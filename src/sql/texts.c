#include "sql/texts.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK ((size_t)1 << 18)

struct bats_texts_block {
    struct bats_texts_block *next;
    size_t used, size;
    char at[];
};

static struct bats_texts_block *add_block(struct bats_texts *t, size_t n)
{
    size_t size = n > BLOCK ? n : BLOCK;
    struct bats_texts_block *b = malloc(sizeof *b + size);
    if (b == NULL)
        return NULL;
    *b = (struct bats_texts_block){.next = t->blocks, .size = size};
    return t->blocks = b;
}

const char *bats_texts_add(struct bats_texts *t, const char *text, size_t n)
{
    struct bats_texts_block *b = t->blocks;
    if (text == NULL || n == 0)
        return "";
    if ((b == NULL || b->size - b->used <= n) &&
        (b = add_block(t, n + 1)) == NULL)
        return NULL;
    char *at = memcpy(b->at + b->used, text, n + 1);
    b->used += n + 1;
    return at;
}

/* Machine names differ at their ends, so the hash uses these. */
const char *bats_texts_name(struct bats_texts *t, const char *text, size_t n)
{
    if (text == NULL || n == 0)
        return "";
    unsigned last = (unsigned char)text[n - 1];
    unsigned before = n > 1 ? (unsigned char)text[n - 2] : 0;
    const char **seen = &t->seen[(last + 16 * before + 7 * n) % 256];
    if (*seen == NULL || strcmp(*seen, text) != 0)
        *seen = bats_texts_add(t, text, n);
    return *seen;
}

void bats_texts_release(struct bats_texts *t)
{
    for (struct bats_texts_block *b = t->blocks, *next; b != NULL; b = next) {
        next = b->next;
        free(b);
    }
    *t = (struct bats_texts){0};
}
