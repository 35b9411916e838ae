/*
 * Feeds arbitrary bytes to the reader of bags (libFuzzer):
 *
 *     clang -g -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Iinclude \
 *         -Isrc tests/fuzz/fuzz_bagfile.c src/input/bagfile.c \
 *         src/util/error.c src/util/units.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input/bagfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char path[64];
    int fd = memfd_create("bag", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        abort();

    struct bats_bagfile *bag;
    struct bats_error err;
    if (bats_bagfile_load(path, &bag, &err) == 0) {
        char *command = NULL;
        size_t size = 0;
        uint32_t count = bats_bagfile_count(bag);
        /* A directive may repeat a command four thousand million times. */
        for (uint32_t k = 0; k < 200 && k < count; k++) {
            uint32_t i = k < 100 ? k : count - 1 - (k - 100);
            bool is_builtin;
            bats_time duration;
            if (bats_bagfile_command(bag, i, &command, &size) < 0 ||
                bats_builtin_parse(command, &is_builtin, &duration, &err) ||
                bats_bagfile_line(bag, i) == 0)
                abort();
        }
        free(command);
        bats_bagfile_destroy(bag);
    }
    close(fd);
    return 0;
}
