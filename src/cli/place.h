/*
 * place: the directory with the output of a run, noted in its record. Layer:
 * cli. A run notes the directory in its record; the verb output looks it up. A
 * directory next to or below the record is noted relative to it, so that both
 * can be moved together.
 */
#ifndef BATS_PLACE_H
#define BATS_PLACE_H

#include <jansson.h>

#include "bats/error.h"

/* The default directory for the output of the bag `bag` with --output stream:
 * "BAG.out", "stdin.out". In one block for free(); NULL: out of memory. */
char *bats_place_default(const char *bag);

/* Adds the directory `dir` to the object of settings for the record at
 * `record`; both exist. */
int bats_place_note(json_t *settings, const char *dir, const char *record,
                    struct bats_error *err);

/*
 * Finds the directory with the output of `run`: `run` itself if it is a
 * directory; else the one noted in its record, if readable; else the default
 * for this bag. *dir is for free(). BATS_EINPUT: the record cannot be read.
 */
int bats_place_find(const char *run, char **dir, struct bats_error *err);

#endif
