#include "util/grow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_BYTES 64

bool bats_grow(void *array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return true;
    size_t room = *capacity + *capacity / 2, least = LEAST_BYTES / size + 1;
    room = room > needed ? room : needed;
    room = room > least ? room : least;
    if (room > SIZE_MAX / size)
        return false;
    /* The pointer is to any type, so it is copied as bytes. */
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, room * size);
    if (grown == NULL)
        return false;
    memcpy(array, &grown, sizeof grown);
    *capacity = room;
    return true;
}
