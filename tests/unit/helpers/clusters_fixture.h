/*
 * clusters_fixture: what the tests of clusters files share: one file, written
 * anew for each text.
 */
#ifndef BATS_CLUSTERS_FIXTURE_H
#define BATS_CLUSTERS_FIXTURE_H

#include "directory.h"
#include "input/platform.h"

static const char clusters_path[] = "clusters.ini";

static struct bats_clusters_file *file; /* the last one that was loaded */

static inline struct bats_clusters_file *load_with(const char *text,
                                                   bats_time window)
{
    bats_clusters_file_destroy(file);
    file = NULL;
    write_text(clusters_path, text);
    assert_ok(bats_clusters_file_load(clusters_path, window, &file, &err));
    return file;
}

static inline struct bats_clusters_file *load(const char *text)
{
    return load_with(text, 0);
}

#endif
