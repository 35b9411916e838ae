/*
 * clusters_file: the contents of a clusters file, before they are matched with
 * any ranks.
 * Layer: input. clusters_file.c fills it in, platform.c matches it with the
 * ranks, and cli shows and plans with it. src/input/platform.h has the
 * functions.
 */
#ifndef BATS_INPUT_CLUSTERS_FILE_H
#define BATS_INPUT_CLUSTERS_FILE_H

#include "input/model.h"
#include "input/platform.h"
#include "util/hostlist.h"

/* The keys of a [cluster] section. The first three say which ranks belong to
 * it. */
enum bats_cluster_key {
    BATS_KEY_NODES,
    BATS_KEY_RANKS,
    BATS_KEY_PARTITION,
    BATS_KEY_CHARGE,
    BATS_KEY_MAX,
    BATS_KEY_MACHINE,
    BATS_KEY_SPEED,
    BATS_KEY_EXPECTED,
    BATS_KEY_RELIABLE,
    BATS_KEY_RELIABILITY,
    BATS_KEY_SURVIVAL,
    BATS_KEY_OUTAGES,
    BATS_KEY_NOTICED,
    BATS_KEY_CHARGE_LOST,
    BATS_KEY_MODEL, /* the first of those in model.h */
    BATS_KEY_COUNT = BATS_KEY_MODEL + BATS_MODEL_KEYS
};

struct bats_rank_range {
    int first, last;
};

struct bats_cluster_section {
    struct bats_cluster cluster; /* `max` is UINT32_MAX if the file does not
                                    imply it: no key max, and neither ranks nor
                                    nodes that are machines */
    bool by_hour;                /* the charge in the file is per hour */
    double speed;       /* that it is made to have; 1: as it is */
    bats_time expected; /* runtime of a task; 0: not given */
    bool is_reliable;                  /* the file says so */
    struct bats_reliability reliability; /* losses that are emulated */
    bool by_node;                      /* machine = node */
    enum bats_cluster_key where;       /* COUNT: all ranks */
    unsigned line;                     /* line of the section */
    unsigned key_line[BATS_KEY_COUNT]; /* 0: not given */
    char *where_text;               /* its value, continuation lines joined */
    struct bats_hostlist nodes;     /* if where is nodes */
    struct bats_rank_range *ranges; /* if where is ranks: n_ranges */
    size_t n_ranges;
};

struct bats_clusters_file {
    char *path;
    struct bats_cluster_section sections[BATS_CLUSTERS_MAX];
    size_t n_sections;
    bool fewer_nodes; /* set by the caller: a node without ranks is no mistake,
                         as a run that is resumed may have lost it */
    bats_time window;
    bats_time minimum; /* the shortest time that is charged; 0: none */
    enum bats_billing_model billing;
    char currency[16]; /* "": not given */
};

#endif
