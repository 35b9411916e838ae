#include "util/encode.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RAW 0xEF00u /* + a byte: the character for that byte, in UNICODE */

struct sink {
    char *out;
    size_t size, n; /* n: length of the whole text, including what did not
                     * fit */
    bool full;
};

/* Adds the bytes as a whole. Once some bytes did not fit, adds nothing. */
static void add(struct sink *sink, const char *bytes, size_t n)
{
    sink->full = sink->full || sink->n + n >= sink->size;
    if (!sink->full)
        memcpy(sink->out + sink->n, bytes, n);
    sink->n += n;
    if (!sink->full)
        sink->out[sink->n] = '\0';
}

static void add_text(struct sink *sink, const char *text)
{
    add(sink, text, strlen(text));
}

static bool continues(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

/* Reads the character at `text` and returns its length; 0: not UTF-8. */
static size_t read_character(const char *text, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *byte = (const unsigned char *)text;
    size_t n = byte[0] < 0x80   ? 1
               : byte[0] < 0xC0 ? 0
               : byte[0] < 0xE0 ? 2
               : byte[0] < 0xF0 ? 3
               : byte[0] < 0xF8 ? 4
                                : 0;
    uint32_t c = n < 2 ? byte[0] : byte[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (!continues(byte[i]))
            return 0;
        c = c << 6 | (byte[i] & 0x3Fu);
    }
    bool surrogate = c >= 0xD800 && c < 0xE000;
    if (n > 1 && (c < least[n] || surrogate || c > 0x10FFFF))
        return 0;
    *character = c;
    return n;
}

/* True for control characters (C0, DEL, C1), line ends, and characters that
 * change the direction of writing. */
static bool controls(uint32_t c)
{
    return c < ' ' || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E ||
           c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

/* Adds the first character of `text`, or its first byte if that is not UTF-8.
 * Returns the number of bytes read. */
static size_t add_terminal(struct sink *sink, const char *text)
{
    static const char from[] = "\t\n\r\033", to[] = "tnre";
    uint32_t c = 0;
    size_t n = read_character(text, &c);
    const char *short_one = n == 1 ? strchr(from, (int)c) : NULL;
    if (n > 0 && !controls(c)) {
        add(sink, text, n);
    } else if (short_one != NULL) {
        add(sink, (char[]){'\\', to[short_one - from]}, 2);
    } else {
        n = n > 0 ? n : 1;
        for (size_t i = 0; i < n; i++) {
            char escape[8];
            snprintf(escape, sizeof escape, "\\x%02x", (unsigned char)text[i]);
            add_text(sink, escape);
        }
    }
    return n;
}

/* The length of the printable ASCII at the start of `text`: the common
 * case. */
static size_t plain(const char *text)
{
    size_t n = 0;
    while (text[n] >= ' ' && text[n] < 0x7F)
        n++;
    return n;
}

/* Adds as many of the bytes as fit. */
static void add_plain(struct sink *sink, const char *text, size_t n)
{
    size_t room = sink->n < sink->size ? sink->size - sink->n - 1 : 0;
    size_t fits = sink->full ? 0 : n < room ? n : room;
    add(sink, text, fits);
    if (n > fits)
        add(sink, text + fits, n - fits);
}

static void add_all_terminal(struct sink *sink, const char *text)
{
    while (*text != '\0') {
        size_t n = plain(text);
        if (n > 0)
            add_plain(sink, text, n);
        else
            n = add_terminal(sink, text);
        text += n;
    }
}

static bool stands_for_byte(uint32_t c)
{
    return c >= RAW + 0x80 && c <= RAW + 0xFF;
}

static size_t add_unicode(struct sink *sink, const char *text)
{
    uint32_t c = 0;
    size_t n = read_character(text, &c);
    if (n > 0 && !stands_for_byte(c)) {
        add(sink, text, n);
        return n;
    }
    uint32_t raw = RAW + (unsigned char)*text;
    add(sink,
        (char[]){(char)(0xE0 | raw >> 12), (char)(0x80 | (raw >> 6 & 0x3F)),
                 (char)(0x80 | (raw & 0x3F))},
        3);
    return 1;
}

static bool is_formula(const char *text)
{
    char *end;
    if (*text == '\0' || strchr("=+-@\t\r", *text) == NULL)
        return false;
    strtod(text, &end);
    return end == text || *end != '\0';
}

/* Adds the text with `by` in place of each `c`. */
static void add_replaced(struct sink *sink, const char *text, char c,
                         const char *by)
{
    for (; *text != '\0'; text++)
        add(sink, *text == c ? by : text, *text == c ? strlen(by) : 1);
}

static void add_csv(struct sink *sink, const char *text)
{
    const char *mark = is_formula(text) ? "'" : "";
    bool is_quoted = text[strcspn(text, ",\"\r\n")] != '\0';
    add_text(sink, is_quoted ? "\"" : "");
    add_text(sink, mark);
    if (is_quoted)
        add_replaced(sink, text, '"', "\"\"");
    else
        add_text(sink, text);
    add_text(sink, is_quoted ? "\"" : "");
}

static void add_quoted(struct sink *sink, const char *text)
{
    add(sink, "'", 1);
    add_replaced(sink, text, '\'', "'\\''");
    add(sink, "'", 1);
}

static void add_shell(struct sink *sink, const char *text)
{
    if (bats_encode_is_word(text)) {
        add_text(sink, text);
        return;
    }
    if (bats_encode(BATS_ENCODE_TERMINAL, NULL, 0, text) == strlen(text)) {
        add_quoted(sink, text); /* a terminal gets it unchanged */
        return;
    }
    add_text(sink, "$'");
    while (*text != '\0')
        if (*text == '\'' || *text == '\\')
            add(sink, (char[]){'\\', *text++}, 2);
        else
            text += add_terminal(sink, text);
    add(sink, "'", 1);
}

size_t bats_encode(enum bats_encoding encoding, char *out, size_t size,
                   const char *text)
{
    struct sink sink = {.out = out, .size = size};
    if (size > 0)
        out[0] = '\0';
    switch (encoding) {
    case BATS_ENCODE_TERMINAL:
        add_all_terminal(&sink, text);
        break;
    case BATS_ENCODE_UNICODE:
        while (*text != '\0')
            text += add_unicode(&sink, text);
        break;
    case BATS_ENCODE_CSV:
        add_csv(&sink, text);
        break;
    case BATS_ENCODE_SHELL:
        add_shell(&sink, text);
        break;
    case BATS_ENCODE_QUOTED:
        add_quoted(&sink, text);
        break;
    }
    return sink.n;
}

const char *bats_encode_terminal(char *out, size_t size, const char *text)
{
    bats_encode(BATS_ENCODE_TERMINAL, out, size, text);
    return out;
}

void bats_encode_undo_unicode(char *text)
{
    char *to = text;
    while (*text != '\0') {
        uint32_t c = 0;
        size_t n = read_character(text, &c);
        if (n == 0)
            n = 1;
        if (n > 1 && stands_for_byte(c)) {
            *to++ = (char)(c & 0xFF);
        } else {
            memmove(to, text, n);
            to += n;
        }
        text += n;
    }
    *to = '\0';
}

bool bats_encode_is_word(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-+=:,@%/";
    return text[0] != '\0' && text[strspn(text, plain)] == '\0';
}
