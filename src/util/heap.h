/*
 * heap: a priority queue of ids, each at most once, earliest time first.
 *
 * Layer: util. Ids are 0 .. capacity - 1; equal times come out in the order of
 * their ids, so that the order is total. Every operation is O(log n).
 */
#ifndef BATS_HEAP_H
#define BATS_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The time is kept beside the id, so that comparisons stay in cache. */
struct bats_heap_item {
    int64_t time;
    uint32_t id;
};

struct bats_heap {
    struct bats_heap_item *item; /* the heap */
    uint32_t *at;                /* by id: index into item, or UINT32_MAX */
    uint32_t n;
};

/* Makes room for ids below `capacity`. Returns false if memory is short. */
bool bats_heap_init(struct bats_heap *heap, uint32_t capacity);
void bats_heap_release(struct bats_heap *heap);

/* Inserts `id` at `time`, or moves it there. */
void bats_heap_set(struct bats_heap *heap, uint32_t id, int64_t time);

/* Removes `id` if it is in the heap. */
void bats_heap_remove(struct bats_heap *heap, uint32_t id);

bool bats_heap_has(const struct bats_heap *heap, uint32_t id);

/* Returns the earliest time and its id, *id; INT64_MAX if the heap is
 * empty. */
static inline int64_t bats_heap_first(const struct bats_heap *heap,
                                      uint32_t *id)
{
    if (heap->n == 0)
        return INT64_MAX;
    *id = heap->item[0].id;
    return heap->item[0].time;
}

/* ---- a heap in an array, also without an index by id: `at` is NULL ---- */

static inline bool bats_heap_before(struct bats_heap_item a,
                                    struct bats_heap_item b)
{
    return a.time != b.time ? a.time < b.time : a.id < b.id;
}

/* `new` goes to `index` or above. */
static inline void bats_heap_up(struct bats_heap_item *item, uint32_t *at,
                                uint32_t index, struct bats_heap_item new)
{
    for (uint32_t parent; index > 0; index = parent) {
        parent = (index - 1) / 2;
        if (!bats_heap_before(new, item[parent]))
            break;
        item[index] = item[parent];
        if (at)
            at[item[index].id] = index;
    }
    item[index] = new;
    if (at)
        at[new.id] = index;
}

/* `new` goes to `index` or below, usually far below. So it first sinks all the
 * way, with one comparison per level, and then rises. */
static inline void bats_heap_down(struct bats_heap_item *item, uint32_t *at,
                                  uint32_t n, uint32_t index,
                                  struct bats_heap_item new)
{
    for (uint32_t child; (child = 2 * index + 1) < n; index = child) {
        child +=
            child + 1 < n && bats_heap_before(item[child + 1], item[child]);
        item[index] = item[child];
        if (at)
            at[item[index].id] = index;
    }
    bats_heap_up(item, at, index, new);
}

#endif
