#include "util/heap.h"

#include <stdlib.h>

bool bats_heap_init(struct bats_heap *heap, uint32_t capacity)
{
    heap->n = 0;
    if (capacity == 0)
        capacity = 1; /* calloc(0) may return NULL */
    heap->item = calloc(capacity, sizeof *heap->item);
    heap->at = malloc(capacity * sizeof *heap->at);
    if (!heap->item || !heap->at) {
        bats_heap_release(heap);
        return false;
    }
    for (uint32_t id = 0; id < capacity; id++)
        heap->at[id] = UINT32_MAX;
    return true;
}

void bats_heap_release(struct bats_heap *heap)
{
    free(heap->item);
    free(heap->at);
    *heap = (struct bats_heap){0};
}

static bool before(struct bats_heap_item a, struct bats_heap_item b)
{
    return a.time != b.time ? a.time < b.time : a.id < b.id;
}

/* `new` goes to `index` or above. */
static void sift_up(struct bats_heap *heap, uint32_t index,
                    struct bats_heap_item new)
{
    struct bats_heap_item *const item = heap->item;
    uint32_t *const at = heap->at;
    for (uint32_t parent; index > 0; index = parent) {
        parent = (index - 1) / 2;
        if (!before(new, item[parent]))
            break;
        item[index] = item[parent];
        at[item[index].id] = index;
    }
    item[index] = new;
    at[new.id] = index;
}

/* `new` goes to `index` or below, usually far below. So it first sinks all the
 * way, with one comparison per level, and then rises. */
static void sift_down(struct bats_heap *heap, uint32_t index,
                      struct bats_heap_item new)
{
    struct bats_heap_item *const item = heap->item;
    uint32_t *const at = heap->at;
    const uint32_t n = heap->n;
    for (uint32_t child; (child = 2 * index + 1) < n; index = child) {
        child += child + 1 < n && before(item[child + 1], item[child]);
        item[index] = item[child];
        at[item[index].id] = index;
    }
    sift_up(heap, index, new);
}

void bats_heap_set(struct bats_heap *heap, uint32_t id, int64_t time)
{
    const struct bats_heap_item item = {time, id};
    uint32_t index = heap->at[id];
    if (index == UINT32_MAX)
        sift_up(heap, heap->n++, item);
    else if (time < heap->item[index].time)
        sift_up(heap, index, item);
    else if (time > heap->item[index].time)
        sift_down(heap, index, item);
}

void bats_heap_remove(struct bats_heap *heap, uint32_t id)
{
    uint32_t index = heap->at[id];
    if (index == UINT32_MAX)
        return;
    heap->at[id] = UINT32_MAX;
    struct bats_heap_item last = heap->item[--heap->n];
    if (last.id == id)
        return;
    if (index > 0 && before(last, heap->item[(index - 1) / 2]))
        sift_up(heap, index, last);
    else
        sift_down(heap, index, last);
}

bool bats_heap_has(const struct bats_heap *heap, uint32_t id)
{
    return heap->at[id] != UINT32_MAX;
}
