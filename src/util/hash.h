/*
 * hash: FNV-1a, 64 bits. Among a million texts, the chance that two have the
 * same hash is 3e-8.
 *
 * Layer: util.
 */
#ifndef BATS_HASH_H
#define BATS_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BATS_HASH UINT64_C(0xcbf29ce484222325) /* hash of no bytes */

/* Continues `hash` with these n bytes. */
static inline uint64_t bats_hash(uint64_t hash, const void *bytes, size_t n)
{
    for (const unsigned char *at = bytes; n-- > 0; at++)
        hash = (hash ^ *at) * UINT64_C(0x100000001b3);
    return hash;
}

/* The same with a text and its NUL, which separates it from the next one. */
static inline uint64_t bats_hash_text(uint64_t hash, const char *text)
{
    return bats_hash(hash, text, strlen(text) + 1);
}

#endif
