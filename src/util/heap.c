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

void bats_heap_set(struct bats_heap *heap, uint32_t id, int64_t time)
{
    const struct bats_heap_item item = {time, id};
    uint32_t index = heap->at[id];
    if (index == UINT32_MAX)
        bats_heap_up(heap->item, heap->at, heap->n++, item);
    else if (time < heap->item[index].time)
        bats_heap_up(heap->item, heap->at, index, item);
    else if (time > heap->item[index].time)
        bats_heap_down(heap->item, heap->at, heap->n, index, item);
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
    if (index > 0 && bats_heap_before(last, heap->item[(index - 1) / 2]))
        bats_heap_up(heap->item, heap->at, index, last);
    else
        bats_heap_down(heap->item, heap->at, heap->n, index, last);
}

bool bats_heap_has(const struct bats_heap *heap, uint32_t id)
{
    return heap->at[id] != UINT32_MAX;
}
