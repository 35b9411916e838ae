/*
 * clusters_fixture: what the tests of clusters files share. One file, written
 * anew for each text.
 */
#ifndef BATS_CLUSTERS_FIXTURE_H
#define BATS_CLUSTERS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "input/platform.h"

static char clusters_path[] = "/tmp/bats-test-clusters-XXXXXX";

static inline int create_file(void **state)
{
    (void)state;
    int fd = mkstemp(clusters_path);
    return fd < 0 || close(fd) != 0;
}

static inline int remove_file(void **state)
{
    (void)state;
    return unlink(clusters_path);
}

static inline void write_file(const char *text, size_t length)
{
    FILE *f = fopen(clusters_path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, length, f), length);
    assert_int_equal(fclose(f), 0);
}

static inline struct bats_clusters_file *load_with(const char *text,
                                                   bats_time window)
{
    struct bats_clusters_file *file = NULL;
    struct bats_error err = {0, ""};
    write_file(text, strlen(text));
    if (bats_clusters_file_load(clusters_path, window, &file, &err))
        fail_msg("%s", err.text);
    return file;
}

static inline struct bats_clusters_file *load(const char *text)
{
    return load_with(text, 0);
}

static inline void expect_error(const struct bats_error *err,
                                const char *expected)
{
    assert_int_equal(err->code, BATS_EINPUT);
    assert_memory_equal(err->text, clusters_path, strlen(clusters_path));
    assert_string_equal(err->text + strlen(clusters_path), expected);
}

#endif
