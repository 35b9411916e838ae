/*
 * place: the directory with the output of a run, as its record knows it.
 *
 * Layer: cli. A run notes it in its record; the verb output asks for it. Where
 * the directory is in the same directory as the record, or below that, it is
 * noted from there, so that both may be moved together.
 */
#ifndef BATS_PLACE_H
#define BATS_PLACE_H

#include "bats/error.h"

/* Where a run of the bag `bag` with --output stream puts the output of its
 * tasks if it is not told: "BAG.out", "stdin.out". In one block for free();
 * NULL: out of memory. */
char *bats_place_default(const char *bag);

/* Adds the place `dir` to *settings, the JSON object for the record at `record`
 * (its name; both are there already); *settings is in a block of its own. */
int bats_place_note(char **settings, const char *dir, const char *record,
                    struct bats_error *err);

/*
 * The directory with the output of `run`: `run` itself if it is one; where its
 * record can be read and knows a place, that; else where a run of this bag
 * puts it if it is not told. *dir is for free(). BATS_EINPUT: the record cannot be read.
 */
int bats_place_find(const char *run, char **dir, struct bats_error *err);

#endif
