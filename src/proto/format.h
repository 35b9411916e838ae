/*
 * format: what reading and writing of messages have in common.
 *
 * Layer: proto, private to it.
 */
#ifndef BATS_FORMAT_H
#define BATS_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define BATS_FORMAT_MAGIC 0x53544142u /* "BATS" */

/* The little-endian number in `width` <= 8 bytes. */
static inline uint64_t bats_format_load(const uint8_t *from, size_t width)
{
    uint64_t value = 0;
    for (size_t i = width; i > 0; i--)
        value = value << 8 | from[i - 1];
    return value;
}

#endif
