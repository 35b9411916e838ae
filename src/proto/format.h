/*
 * format: shared by reading and writing messages.
 *
 * Layer: proto, private to it.
 */
#ifndef BATS_FORMAT_H
#define BATS_FORMAT_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BATS_FORMAT_MAGIC 0x53544142u /* "BATS" */

/* The little-endian number in `width` <= 8 bytes. With a constant width it is
 * one load. */
static inline uint64_t bats_format_load(const uint8_t *from, size_t width)
{
    uint64_t value = 0;
    memcpy(&value, from, width);
    return le64toh(value);
}

#endif
