/*
 * codec: the parts that messages consist of, written or read.
 *
 * Layer: proto, private to it. Each function takes a value. When writing, it
 * appends and returns that value; when reading, it returns the value read. So
 * proto.c defines the layout of a message once for both.
 *
 * A reader remembers its first complaint. After that every value is 0 and
 * every text empty, so that callers need not check after each step.
 */
#ifndef BATS_CODEC_H
#define BATS_CODEC_H

#include <endian.h>
#include <string.h>

#include "proto/proto.h"
#include "util/grow.h"

struct codec {
    struct bats_text *packet; /* to write to; NULL: read from `at` */
    const uint8_t *at, *end;
    const char *complaint; /* NULL: none */
};

/* Returns room for n more bytes, or NULL. */
static inline char *codec_extend(struct bats_text *p, size_t n)
{
    p->failed = p->failed || (p->room - p->n < n &&
                              !bats_grow(&p->bytes, &p->room, p->n + n, 1));
    if (p->failed)
        return NULL;
    p->n += n;
    return p->bytes + p->n - n;
}

static inline void codec_complain(struct codec *c, const char *complaint)
{
    if (c->complaint == NULL)
        c->complaint = complaint;
    c->at = c->end;
}

/* A little-endian number of `width` <= 8 bytes. A constant width compiles to
 * one load or store. */
static inline uint64_t codec_number(struct codec *c, uint64_t value,
                                    size_t width)
{
    uint64_t bits = htole64(value);
    if (c->packet != NULL) {
        char *to = codec_extend(c->packet, width);
        if (to != NULL)
            memcpy(to, &bits, width);
        return value;
    }
    if ((size_t)(c->end - c->at) < width) {
        codec_complain(c, "is cut short");
        return 0;
    }
    bits = 0;
    memcpy(&bits, c->at, width);
    c->at += width;
    return le64toh(bits);
}

/* A number in one byte, at most `max`. */
static inline int codec_small(struct codec *c, int value, int max)
{
    value = (int)codec_number(c, (uint64_t)value, 1);
    if (c->packet == NULL && value > max) {
        codec_complain(c, "has a value out of range");
        return 0;
    }
    return value;
}

/* A number that is not negative. */
static inline int64_t codec_amount(struct codec *c, int64_t value)
{
    uint64_t amount = codec_number(c, (uint64_t)value, 8);
    if (c->packet == NULL && amount > INT64_MAX) {
        codec_complain(c, "has a negative amount");
        return 0;
    }
    return (int64_t)amount;
}

static inline const char *codec_bytes(struct codec *c, const char *bytes,
                                      size_t *n)
{
    size_t length = (uint32_t)codec_number(c, *n, 4);
    if (c->packet != NULL) {
        char *to = length == *n ? codec_extend(c->packet, length + 1) : NULL;
        c->packet->failed |= to == NULL;
        if (to != NULL && length > 0)
            memcpy(to, bytes, length);
        if (to != NULL)
            to[length] = 0;
        return bytes;
    }
    *n = 0;
    if ((size_t)(c->end - c->at) <= length) {
        codec_complain(c, "is cut short");
        return "";
    }
    if (c->at[length] != 0) {
        codec_complain(c, "has a text without its end");
        return "";
    }
    *n = length;
    c->at += length + 1;
    return (const char *)c->at - length - 1;
}

static inline const char *codec_text(struct codec *c, const char *text,
                                     size_t max)
{
    size_t n = c->packet != NULL ? strlen(text) : 0;
    text = codec_bytes(c, text, &n);
    if (c->packet == NULL && (n > max || memchr(text, 0, n) != NULL)) {
        codec_complain(c, n > max ? "has a text that is too long"
                                  : "has a NUL inside a text");
        return "";
    }
    return text;
}

/* A text in an array of `size` bytes. */
static inline void codec_name(struct codec *c, char *name, size_t size)
{
    const char *text = codec_text(c, name, size - 1);
    if (c->packet == NULL)
        memcpy(name, text, strlen(text) + 1);
}

/* Texts, each with its NUL, *n bytes in all. */
static inline const char *codec_texts(struct codec *c, const char *texts,
                                      size_t *n)
{
    texts = codec_bytes(c, texts, n);
    if (c->packet == NULL && *n > 0 && texts[*n - 1] != '\0')
        codec_complain(c, "has a text without its end in a list");
    return texts;
}

#endif
