/*
 * grow: room in arrays that grow as they are filled.
 *
 * Layer: util.
 */
#ifndef BATS_UTIL_GROW_H
#define BATS_UTIL_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for `needed` elements of `size` bytes. `array` is the address of
 * the pointer to the elements; *capacity is the number that fit, and the
 * pointer is NULL while that is 0. The array grows by at least half, so that
 * adding n elements one by one copies at most 3 n. False: out of memory, and
 * nothing has changed. */
bool bats_grow(void *array, size_t *capacity, size_t needed, size_t size);

#endif
