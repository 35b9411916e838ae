/*
 * clusters_fixture: what the tests of clusters files share: one file, written
 * anew for each text.
 */
#ifndef BATS_CLUSTERS_FIXTURE_H
#define BATS_CLUSTERS_FIXTURE_H

#include "directory.h"
#include "input/platform.h"

static const char clusters_path[] = "clusters.ini";

static inline struct bats_clusters_file *load_with(const char *text,
                                                   bats_time window)
{
    struct bats_clusters_file *file = NULL;
    write_text(clusters_path, text);
    assert_ok(bats_clusters_file_load(clusters_path, window, &file, &err));
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
    if (strncmp(err->text, clusters_path, strlen(clusters_path)) != 0 ||
        strncmp(err->text + strlen(clusters_path), expected,
                strlen(expected)) != 0)
        fail_msg("'%s' is not '%s%s'", err->text, clusters_path, expected);
}

#endif
