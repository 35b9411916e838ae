/*
 * clusters_file: the content of a clusters file, before it is matched with
 * ranks.
 * Layer: input. clusters_file.c fills it in, platform.c matches it with the
 * ranks, and cli shows it and plans with it. src/input/platform.h has the
 * functions.
 */
#ifndef BATS_INPUT_CLUSTERS_FILE_H
#define BATS_INPUT_CLUSTERS_FILE_H

#include "input/model.h"
#include "input/platform.h"
#include "util/hostlist.h"

/* The key that assigns ranks to a cluster. */
enum bats_cluster_where {
    BATS_WHERE_ALL, /* no key: all ranks */
    BATS_WHERE_NODES,
    BATS_WHERE_RANKS,
    BATS_WHERE_PARTITION
};

struct bats_rank_range {
    int first, last;
};

struct bats_cluster_section {
    struct bats_model model; /* its `max`: from the file, or implied by ranks
                              * or by nodes that are machines */
    bool by_node;            /* machine = node */
    bool says_noticed;       /* the file has the key `noticed` */
    enum bats_cluster_where where;
    unsigned line, where_line;      /* lines of the section and of its `where`
                                     * key */
    char *where_text;               /* its value, continuation lines joined */
    struct bats_hostlist nodes;     /* if where is nodes */
    struct bats_rank_range *ranges; /* if where is ranks: n_ranges */
    size_t n_ranges;
};

struct bats_clusters_file {
    char *path;
    struct bats_cluster_section sections[BATS_CLUSTERS_MAX];
    size_t n_sections;
    bool fewer_nodes; /* set by the caller: a node without ranks is accepted,
                       * because a resumed run may have lost it */
    bats_time window;
    bats_time minimum; /* shortest time that is charged; 0: none */
    enum bats_billing_model billing;
    char currency[16]; /* "": unspecified */
};

#endif
