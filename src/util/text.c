#include "util/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

/* Room for n more bytes and the NUL. */
static bool make_room(struct bats_text *text, size_t n)
{
    text->failed = text->failed || n > SIZE_MAX - text->n - 1 ||
                   !bats_grow(&text->bytes, &text->room, text->n + n + 1, 1);
    return !text->failed;
}

void bats_text_put(struct bats_text *text, const char *bytes, size_t n)
{
    if (!make_room(text, n))
        return;
    if (n > 0)
        memcpy(text->bytes + text->n, bytes, n);
    text->n += n;
    text->bytes[text->n] = '\0';
}

void bats_text_add(struct bats_text *text, const char *string)
{
    bats_text_put(text, string, strlen(string));
}

void bats_text_format(struct bats_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (!make_room(text, (size_t)n))
        return;
    va_start(args, format);
    vsnprintf(text->bytes + text->n, (size_t)n + 1, format, args);
    va_end(args);
    text->n += (size_t)n;
}

void bats_text_encode(struct bats_text *text, enum bats_encoding encoding,
                      const char *string)
{
    size_t n = bats_encode(encoding, NULL, 0, string);
    if (!make_room(text, n))
        return;
    bats_encode(encoding, text->bytes + text->n, n + 1, string);
    text->n += n;
}

void bats_text_cut(struct bats_text *text, size_t n)
{
    if (n < text->n) {
        text->n = n;
        text->bytes[n] = '\0';
    }
    text->failed = text->failed && n > 0;
}

ptrdiff_t bats_text_length(const struct bats_text *text)
{
    return text->failed ? BATS_ENOMEM : (ptrdiff_t)text->n;
}

int bats_text_check(const struct bats_text *text, struct bats_error *err)
{
    return text->failed ? bats_no_memory(err) : 0;
}

void bats_text_release(struct bats_text *text)
{
    free(text->bytes);
    *text = (struct bats_text){0};
}

void bats_append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

bool bats_text_is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return *text != '\0' && (*text < '0' || *text > '9') &&
           text[strspn(text, letters)] == '\0';
}

char *bats_text_trim(char *text, const char *blanks)
{
    text += strspn(text, blanks);
    size_t n = strlen(text);
    while (n > 0 && strchr(blanks, text[n - 1]))
        n--;
    text[n] = '\0';
    return text;
}

bool bats_text_skip_word(const char **text, const char *word,
                         const char *blanks)
{
    size_t n = strlen(word);
    if (strncmp(*text, word, n) != 0 || !strchr(blanks, (*text)[n]))
        return false;
    *text += n + strspn(*text + n, blanks);
    return true;
}

bool bats_text_ends(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

bool bats_text_lists(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = words; n > 0 && (at = strstr(at, word)); at++)
        if (at > words && at[-1] == ' ' && at[n] == ' ')
            return true;
    return false;
}
