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
 * the pointer to them, which is NULL while *capacity, what there is room for,
 * is 0. Grows by half at least, so that adding n elements one by one copies no
 * more than 3 n. False: out of memory; then nothing has changed. */
bool bats_grow(void *array, size_t *capacity, size_t needed, size_t size);

#endif
