#include "util/heap.h"

#include <stdlib.h>

bool bats_heap_init(struct bats_heap *heap, uint32_t capacity)
{
    heap->n = 0;
    if (capacity == 0)
        capacity = 1; /* calloc(0) may be NULL */
    heap->time = calloc(capacity, sizeof *heap->time);
    heap->item = calloc(capacity, sizeof *heap->item);
    heap->at = malloc(capacity * sizeof *heap->at);
    if (!heap->time || !heap->item || !heap->at) {
        bats_heap_release(heap);
        return false;
    }
    for (uint32_t id = 0; id < capacity; id++)
        heap->at[id] = UINT32_MAX;
    return true;
}

void bats_heap_release(struct bats_heap *heap)
{
    free(heap->time);
    free(heap->item);
    free(heap->at);
    *heap = (struct bats_heap){0};
}

static bool before(const struct bats_heap *heap, uint32_t a, uint32_t b)
{
    if (heap->time[a] != heap->time[b])
        return heap->time[a] < heap->time[b];
    return a < b;
}

static void place(struct bats_heap *heap, uint32_t index, uint32_t id)
{
    heap->item[index] = id;
    heap->at[id] = index;
}

static void sift_up(struct bats_heap *heap, uint32_t index, uint32_t id)
{
    while (index > 0) {
        uint32_t parent = (index - 1) / 2;
        if (!before(heap, id, heap->item[parent]))
            break;
        place(heap, index, heap->item[parent]);
        index = parent;
    }
    place(heap, index, id);
}

static void sift_down(struct bats_heap *heap, uint32_t index, uint32_t id)
{
    for (;;) {
        uint32_t child = 2 * index + 1;
        if (child >= heap->n)
            break;
        if (child + 1 < heap->n &&
            before(heap, heap->item[child + 1], heap->item[child]))
            child++;
        if (!before(heap, heap->item[child], id))
            break;
        place(heap, index, heap->item[child]);
        index = child;
    }
    place(heap, index, id);
}

void bats_heap_set(struct bats_heap *heap, uint32_t id, int64_t time)
{
    uint32_t index = heap->at[id];
    if (index == UINT32_MAX) {
        heap->time[id] = time;
        sift_up(heap, heap->n++, id);
        return;
    }
    bool earlier = time < heap->time[id];
    heap->time[id] = time;
    if (earlier)
        sift_up(heap, index, id);
    else
        sift_down(heap, index, id);
}

void bats_heap_remove(struct bats_heap *heap, uint32_t id)
{
    uint32_t index = heap->at[id];
    if (index == UINT32_MAX)
        return;
    heap->at[id] = UINT32_MAX;
    uint32_t last = heap->item[--heap->n];
    if (last == id)
        return;
    sift_up(heap, index, last);
    sift_down(heap, heap->at[last], last);
}

bool bats_heap_has(const struct bats_heap *heap, uint32_t id)
{
    return heap->at[id] != UINT32_MAX;
}
