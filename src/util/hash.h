/*
 * hash: FNV-1a, 64 bits. Among a million texts, the chance that two have the
 * same hash is 3e-8. Also pseudo-random numbers, each a function of its
 * position.
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

/* The same with a text and its NUL, which separates it from the next text. */
static inline uint64_t bats_hash_text(uint64_t hash, const char *text)
{
    return bats_hash(hash, text, strlen(text) + 1);
}

#define BATS_MIX_STEP UINT64_C(0x9e3779b97f4a7c15) /* from state to state */

/* The next number of splitmix64 (Steele, Lea, Flood 2014) after the state x:
 * every bit of x matters for every bit of the result. */
static inline uint64_t bats_mix(uint64_t x)
{
    x += BATS_MIX_STEP;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Number n of the sequence of a seed, */
static inline uint64_t bats_mix_at(uint64_t seed, uint64_t n)
{
    return bats_mix(bats_mix(seed) ^ n);
}

/* as a number in (0, 1): the middle of one of 2^52 equal steps. */
static inline double bats_mix_uniform(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

#endif
