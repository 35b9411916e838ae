/*
 * fuzz: what the fuzz targets share.
 *
 * A target is one file, fuzz_NAME.c, with the function that libFuzzer calls
 * for each input. It aborts where something is not as it must be; the
 * sanitizers see the rest. `make fuzz` (clang) looks for new inputs, from
 * those in seeds/NAME/ on; replay.c feeds just these as one of the unit tests.
 * An input that has found a mistake stays there for good.
 */
#ifndef BATS_FUZZ_H
#define BATS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* A file of these bytes, in memory; close() takes it away. */
static inline int fuzz_file(const uint8_t *bytes, size_t n, char path[32])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        abort();
    return fd;
}

#endif
