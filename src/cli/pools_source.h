/*
 * pools_source: the properties of two pools, read from a scenario, the record
 * of a run or a file of pools.
 *
 * Layer: cli.
 */
#ifndef BATS_CLI_POOLS_SOURCE_H
#define BATS_CLI_POOLS_SOURCE_H

#include "input/pools.h"

/* Detects the kind of the file (path as in bats_look_find): a record begins as
 * SQLite files do, a file of pools with '{', anything else is a scenario.
 * `is_online`: of a record, only what was known when fewer tasks than
 * unreliable slots were left. Release with bats_pools_release. BATS_EINPUT
 * with a sentence, BATS_ENOMEM, and errors of records. */
int bats_pools_read(const char *word, bool is_online,
                    struct bats_pools *pools, struct bats_error *err);

#endif
