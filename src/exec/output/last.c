#include "exec/output/last.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT BATS_COMPLAINT_BYTES

void bats_last_add(struct bats_last *last, const char *bytes, size_t n)
{
    if (n > KEPT) {
        bytes += n - KEPT;
        n = KEPT;
    }
    if (last->n + n > sizeof last->bytes) {
        memmove(last->bytes, last->bytes + last->n - KEPT, KEPT);
        last->n = KEPT;
    }
    memcpy(last->bytes + last->n, bytes, n);
    last->n += n;
}

void bats_last_read(struct bats_last *last, int fd)
{
    struct stat st;

    last->n = 0;
    if (fstat(fd, &st) != 0)
        return;
    off_t begin = st.st_size > KEPT ? st.st_size - KEPT : 0;
    ssize_t n = pread(fd, last->bytes, KEPT, begin);
    last->n = n > 0 ? (size_t)n : 0;
}

const char *bats_last_bytes(const struct bats_last *last, size_t *n)
{
    *n = last->n < KEPT ? last->n : KEPT;
    return last->bytes + last->n - *n;
}
