/*
 * directory: an empty directory that is the current one, for the group or for a
 * case, and files in it.
 */
#ifndef BATS_TEST_DIRECTORY_H
#define BATS_TEST_DIRECTORY_H

#include <unistd.h>

#include "test.h"

static char directory[32];

static inline int enter_directory(void **state)
{
    strcpy(directory, "/tmp/bats-test-XXXXXX");
    return !mkdtemp(directory) || chdir(directory) != 0;
}

static inline int leave_directory(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return chdir("/") | system(command);
}

static inline void write_bytes(const char *name, const char *bytes, size_t n)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static inline void write_text(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

/* The last call has refused this file, and what it says behind its path begins
 * so. */
static inline void assert_behind(const char *path, const char *expected)
{
    size_t n = strlen(path);
    assert_int_equal(err.code, BATS_EINPUT);
    if (strncmp(err.text, path, n) != 0 ||
        strncmp(err.text + n, expected, strlen(expected)) != 0)
        fail_msg("'%s' is not '%s%s'", err.text, path, expected);
}

#endif
