/*
 * live: the state of a running run, in a small file for `bats-mpi top`.
 *
 * Layer: report. Written by the verb run, read by the verb top. The file
 * (RECORD.live) holds one JSON object, whose size depends only on the number
 * of clusters and workflows. It is replaced by rename every few seconds, so
 * readers always see a complete file, also over NFS. It is removed when the
 * run ends in order; the file of a killed run is recognised by its age
 * (`written_unix`).
 */
#ifndef BATS_LIVE_H
#define BATS_LIVE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bats/error.h"
#include "report/causes.h"
#include "report/snapshot.h"

#define BATS_LIVE_SUFFIX ".live"
#define BATS_LIVE_EVERY_US 2000000
#define BATS_LIVE_RUNNING 20  /* longest-running tasks */
#define BATS_LIVE_CAUSES 8    /* the most frequent ones */
#define BATS_LIVE_COMMAND 120 /* bytes shown of a command */
#define BATS_LIVE_NEED 64     /* bytes shown of a need */

/* Figures that the snapshot lacks. */
struct bats_live_more {
    const char *bag;
    const char *policy;
    int64_t started_us, now_us; /* real time since 1970 */
    double time_scale;
    double per_hour; /* ended tasks per hour, as in progress.h */
    struct bats_turns turns[BATS_CLUSTERS_MAX];
    struct bats_running running[BATS_LIVE_RUNNING]; /* the longest first */
    char commands[BATS_LIVE_RUNNING][BATS_LIVE_COMMAND];
    char needs[BATS_LIVE_RUNNING][BATS_LIVE_NEED]; /* "": one core */
    size_t n_running;
    const struct bats_causes *causes; /* sorted */
    const struct bats_purse_status *workflows;
    uint32_t n_workflows;
};

/* The object, or NULL if out of memory. */
json_t *bats_live_json(const struct bats_snapshot *snapshot,
                       const struct bats_live_more *more);

/* Replaces the file at `path`. BATS_ESYS: the old file stays. */
int bats_live_write(const char *path, const json_t *object,
                    struct bats_error *err);

/* Reads the file at `path`; *object is to be decref'd. BATS_EINPUT if it is
 * missing or not a status file. */
int bats_live_read(const char *path, json_t **object, struct bats_error *err);

/* Prints the screen of `top` in at most `rows` lines of at most `columns`
 * columns, encoded for a terminal; each line ends with `end`. Long sentences
 * wrap, tables lose their last columns. `now_us`: real time since 1970, for the
 * age. */
void bats_live_print(FILE *out, const json_t *object, int rows, int columns,
                     int64_t now_us, const char *end);

#endif
