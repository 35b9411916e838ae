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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static inline void must(bool is_so)
{
    if (!is_so)
        abort();
}

/* A file of these bytes, in memory; close() takes it away. */
static inline int fuzz_file(const uint8_t *bytes, size_t n, char path[32])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    must(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    return fd;
}

static inline void fuzz_write(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    must(f != NULL && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

struct fuzz_bytes {
    uint8_t *at; /* in memory that ends where they do; NULL: not to be read */
    size_t n;
};

static inline struct fuzz_bytes fuzz_read(const char *path)
{
    struct fuzz_bytes bytes = {NULL, 0};
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return bytes;
    must(fseek(f, 0, SEEK_END) == 0);
    bytes.n = (size_t)ftell(f);
    bytes.at = malloc(bytes.n > 0 ? bytes.n : 1);
    rewind(f);
    must(bytes.at != NULL && fread(bytes.at, 1, bytes.n, f) == bytes.n);
    fclose(f);
    return bytes;
}

/* A directory of the process in memory, where fsync costs nothing; at its end
 * the directory and the files in it are removed. */
static char fuzz_dir[32];

static inline void fuzz_remove_directory(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", fuzz_dir);
    must(system(command) == 0);
}

static inline bool fuzz_make_directory(void)
{
    if (fuzz_dir[0] != '\0')
        return false;
    snprintf(fuzz_dir, sizeof fuzz_dir, "/dev/shm/bats-fuzz-XXXXXX");
    must(mkdtemp(fuzz_dir) != NULL && atexit(fuzz_remove_directory) == 0);
    return true;
}

#endif
