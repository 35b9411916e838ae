/*
 * last: the last bytes of a stream, however long it is.
 * Layer: exec. Used by stream for the standard error of tasks.
 */
#ifndef BATS_LAST_H
#define BATS_LAST_H

#include <stddef.h>

#include "util/complaint.h"

/* All zero: nothing was written. */
struct bats_last {
    char bytes[2 * BATS_COMPLAINT_BYTES];
    size_t n;
};

void bats_last_add(struct bats_last *last, const char *bytes, size_t n);

/* The last n bytes of the file behind `fd`, which can be read. */
void bats_last_read(struct bats_last *last, int fd);

/* The last *n <= BATS_COMPLAINT_BYTES bytes; valid until more are added. */
const char *bats_last_bytes(const struct bats_last *last, size_t *n);

#endif
