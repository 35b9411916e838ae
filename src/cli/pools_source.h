/*
 * pools_source: what is known of two pools, from a scenario, from the record
 * of a run or from a file of pools.
 *
 * Layer: cli.
 */
#ifndef BATS_CLI_POOLS_SOURCE_H
#define BATS_CLI_POOLS_SOURCE_H

#include "input/pools.h"

/* Finds out what the file is (that of bats_look_find): a record begins as
 * SQLite files do, a file of pools with '{', anything else is a scenario.
 * `is_online`: of a record, only what was known when fewer tasks were left than
 * unreliable slots. Release with bats_pools_release. BATS_EINPUT with a
 * sentence, BATS_ENOMEM, and those of a record. */
int bats_pools_read(const char *word, bool is_online,
                    struct bats_pools *pools, struct bats_error *err);

#endif
