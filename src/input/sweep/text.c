#include "input/sweep/text.h"

#include <string.h>

#include "util/grow.h"

void bats_text_put(struct bats_text *text, const char *bytes, size_t n)
{
    text->ok =
        text->ok && bats_grow(text->bytes, text->room, text->n + n + 1, 1);
    if (!text->ok)
        return;
    memcpy(*text->bytes + text->n, bytes, n);
    text->n += n;
    (*text->bytes)[text->n] = '\0';
}

void bats_text_add(struct bats_text *text, const char *string)
{
    bats_text_put(text, string, strlen(string));
}

static bool is_plain(const char *bytes, size_t n)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.+/";
    for (size_t i = 0; i < n; i++)
        if (memchr(plain, bytes[i], sizeof plain - 1) == NULL)
            return false;
    return n > 0;
}

/* There is no empty pair of single quotes at the ends. */
void bats_text_quote(struct bats_text *text, const char *bytes, size_t n)
{
    if (is_plain(bytes, n)) {
        bats_text_put(text, bytes, n);
        return;
    }
    if (n == 0)
        bats_text_add(text, "''");
    for (size_t i = 0; i < n;) {
        const char *quote = memchr(bytes + i, '\'', n - i);
        size_t end = quote != NULL ? (size_t)(quote - bytes) : n;
        if (end > i || (i > 0 && end < n)) {
            bats_text_add(text, "'");
            bats_text_put(text, bytes + i, end - i);
            bats_text_add(text, "'");
        }
        if (end < n)
            bats_text_add(text, "\"'\"");
        i = end + (end < n);
    }
}
