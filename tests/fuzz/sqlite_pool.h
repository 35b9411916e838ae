/*
 * sqlite_pool: memory for SQLite in a fuzz target, for SQLITE_CONFIG_MALLOC.
 *
 * Most of the time of a target that opens databases went into malloc, under
 * the sanitizers and with libFuzzer's hooks in it, for the small blocks that
 * SQLite parses its schema into. What it frees is kept here by powers of two,
 * and given to it again. The price: the sanitizers no longer see the ends of
 * SQLite's blocks, only of our own.
 */
#ifndef BATS_SQLITE_POOL_H
#define BATS_SQLITE_POOL_H

#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define POOLED 16 /* bytes of the smallest; in front of each is its power */

static void *kept[28]; /* SQLite asks for less than 2 GB */

static unsigned power_of(int n)
{
    unsigned units = ((unsigned)n + POOLED - 1) / POOLED;
    return units > 1 ? 32 - (unsigned)__builtin_clz(units - 1) : 0;
}

static void *pool_malloc(int n)
{
    unsigned power = power_of(n);
    uint8_t *block;
    if (kept[power] != NULL) {
        block = kept[power];
        memcpy(&kept[power], block, sizeof(void *));
        return block;
    }
    block = malloc(POOLED + ((size_t)POOLED << power));
    if (block == NULL)
        return NULL;
    memcpy(block, &power, sizeof power);
    return block + POOLED;
}

static int pool_size(void *block)
{
    unsigned power;
    memcpy(&power, (uint8_t *)block - POOLED, sizeof power);
    return POOLED << power;
}

static void pool_free(void *block)
{
    unsigned power = power_of(pool_size(block));
    memcpy(block, &kept[power], sizeof(void *));
    kept[power] = block;
}

static void *pool_realloc(void *block, int n)
{
    int had = pool_size(block);
    if (n <= had)
        return block;
    void *more = pool_malloc(n);
    if (more == NULL)
        return NULL;
    memcpy(more, block, (size_t)had);
    pool_free(block);
    return more;
}

static int pool_round(int n)
{
    return POOLED << power_of(n);
}

static int pool_begin(void *context)
{
    return SQLITE_OK;
}

static const sqlite3_mem_methods pool = {pool_malloc, pool_free,  pool_realloc,
                                         pool_size,   pool_round, pool_begin,
                                         NULL,        NULL};

#endif
