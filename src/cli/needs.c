#include "cli/needs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/words.h"
#include "util/grow.h"

#define TEXTS 3 /* most kinds of free room that are listed */

/* ---- the options ---- */

int bats_known_expand(const json_t *list, int64_t n_tasks, int64_t **values,
                      struct bats_error *err)
{
    *values = NULL;
    if (!json_is_array(list) || n_tasks <= 0)
        return 0;
    *values = calloc((size_t)n_tasks, sizeof **values);
    if (*values == NULL)
        return bats_no_memory(err);
    int64_t task = 0;
    for (size_t i = 0; i + 1 < json_array_size(list); i += 2) {
        int64_t n = json_integer_value(json_array_get(list, i + 1));
        for (; n > 0 && task < n_tasks; n--)
            (*values)[task++] = json_integer_value(json_array_get(list, i));
    }
    return 0;
}

int bats_known_needs_read(struct bats_view *view, int64_t n_tasks,
                          struct bats_known_needs *k, struct bats_error *err)
{
    char *text;
    *k = (struct bats_known_needs){.n_tasks = n_tasks};
    int rc = bats_view_options(view, &text, err);
    if (rc < 0)
        return rc;
    k->options = json_loads(text, 0, NULL);
    free(text);
    const json_t *engine = json_object_get(k->options, "engine");
    k->list = json_object_get(engine, "needs");
    k->stocks = json_object_get(engine, "stocks");
    k->names = json_object_get(k->options, "categories");
    return bats_known_expand(json_object_get(engine, "categories"), n_tasks,
                             &k->category, err);
}

void bats_known_needs_release(struct bats_known_needs *k)
{
    json_decref(k->options);
    free(k->category);
}

size_t bats_known_category(const struct bats_known_needs *k, int64_t number)
{
    return k->category != NULL && number >= 1 && number <= k->n_tasks
               ? (size_t)k->category[number - 1]
               : 0;
}

static int64_t number_at(const json_t *list, size_t i)
{
    return json_integer_value(json_array_get(list, i));
}

bool bats_known_need(const struct bats_known_needs *k, int64_t number,
                     struct bats_need *need)
{
    const json_t *row =
        json_array_get(k->list, bats_known_category(k, number));
    *need = (struct bats_need){.cores = (uint32_t)number_at(row, 0),
                               .gpus = (uint32_t)number_at(row, 1),
                               .memory_kib = number_at(row, 2)};
    return row != NULL;
}

/* ---- what is free ---- */

struct room {
    struct bats_stock free;
    uint32_t n; /* machines that have so much free */
    const char *name;
};

static void count(struct room *rooms, size_t *n, const struct room *room)
{
    for (size_t i = 0; i < *n; i++)
        if (rooms[i].free.cores == room->free.cores &&
            rooms[i].free.gpus == room->free.gpus &&
            rooms[i].free.memory_kib == room->free.memory_kib) {
            rooms[i].n++;
            return;
        }
    rooms[(*n)++] = *room;
}

static int by_number(const void *a, const void *b)
{
    const struct room *x = a, *y = b;
    return (x->n < y->n) - (x->n > y->n);
}

/* Leaves what the task needs of the machine's resources, and only that. */
static struct bats_stock of_interest(const struct bats_stock *free,
                                     const struct bats_need *need)
{
    return (struct bats_stock){.cores = free->cores,
                               .gpus = need->gpus > 0 ? free->gpus : 0,
                               .memory_kib =
                                   need->memory_kib > 0 && free->memory_kib > 0
                                       ? free->memory_kib
                                       : 0};
}

/* The resources of all nodes of a machine. */
static struct bats_stock whole(const struct bats_stock *node)
{
    uint32_t n = node->nodes > 1 ? node->nodes : 1;
    return (struct bats_stock){.cores = node->cores * n,
                               .gpus = node->gpus * n,
                               .memory_kib = node->memory_kib * n};
}

/* Sums up what is free on the machines that could hold the task. The loads are
 * ordered by machine. */
static size_t list_rooms(const struct bats_known_needs *k,
                         const struct bats_view_load *loads, size_t n,
                         const struct bats_need *need, struct room *rooms)
{
    size_t n_rooms = 0;
    for (size_t i = 0; i < n;) {
        const json_t *row =
            json_array_get(k->stocks, (size_t)loads[i].machine);
        struct bats_stock all = {.cores = (uint32_t)number_at(row, 0),
                                 .gpus = (uint32_t)number_at(row, 1),
                                 .memory_kib = number_at(row, 2),
                                 .nodes = (uint32_t)number_at(row, 3)};
        struct room room = {
            .free = whole(&all), .n = 1, .name = loads[i].name};
        bool holds = bats_need_room(&all, need) > 0;
        int64_t machine = loads[i].machine;
        for (; i < n && loads[i].machine == machine; i++) {
            struct bats_need taken;
            if (loads[i].task == 0 ||
                !bats_known_need(k, loads[i].task, &taken))
                continue;
            room.free.cores -= taken.cores;
            room.free.gpus -= taken.gpus;
            room.free.memory_kib -= taken.memory_kib;
        }
        room.free = of_interest(&room.free, need);
        if (holds)
            count(rooms, &n_rooms, &room);
    }
    qsort(rooms, n_rooms, sizeof *rooms, by_number);
    return n_rooms;
}

static void put_room(struct bats_text *t, const struct room *room,
                     const struct bats_need *need)
{
    char memory[BATS_UNITS_TEXT];
    bats_text_format(t, "%s", bats_words_count(room->free.cores, "core").s);
    if (need->gpus > 0)
        bats_text_format(t, ", %s",
                         bats_words_count(room->free.gpus, "GPU").s);
    if (need->memory_kib > 0 && room->free.memory_kib > 0) {
        bats_size_format(memory, room->free.memory_kib / 1024 * 1024 * 1024);
        bats_text_format(t, ", %s", memory);
    }
    if (room->n == 1)
        bats_text_format(t, " on %s", room->name);
    else
        bats_text_format(t, " on each of %" PRIu32 " machines", room->n);
}

int bats_known_room(struct bats_view *view, const struct bats_known_needs *k,
                    int64_t number, struct bats_text *t,
                    struct bats_error *err)
{
    struct bats_view_load *loads = NULL;
    struct bats_view_reservation kept;
    struct bats_need need;
    size_t n;
    if (!bats_known_need(k, number, &need) || k->stocks == NULL)
        return 0;
    int rc = bats_view_loads(view, &loads, &n, err);
    if (rc == 0)
        rc = bats_view_reservation(view, &kept, err);
    struct room *rooms = rc == 0 ? calloc(n + 1, sizeof *rooms) : NULL;
    if (rc == 0 && rooms == NULL)
        rc = bats_no_memory(err);
    size_t n_rooms = rc == 0 ? list_rooms(k, loads, n, &need, rooms) : 0;
    for (size_t i = 0; i < n_rooms && i < TEXTS; i++) {
        bats_text_add(t, i == 0 ? "; free: " : "; ");
        put_room(t, &rooms[i], &need);
    }
    if (rc == 0 && kept.task > 0 &&
        bats_known_category(k, kept.task) == bats_known_category(k, number))
        bats_text_format(t, "; reserved on %s from %s%s", kept.machine,
                         bats_words_moment(kept.from).s,
                         kept.task == number ? "" : " for one like it");
    free(rooms);
    free(loads);
    return rc;
}
