#include "cli/look.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "exec/output/outfile.h"
#include "input/textfile.h"
#include "report/recorded.h"
#include "report/words.h"
#include "util/json.h"

#define KEY "output_dir" /* outputs.sql reads it */

size_t bats_look_bag(const char *record)
{
    size_t n = strlen(record), end = strlen(BATS_LOOK_SUFFIX);
    return n > end && strcmp(record + n - end, BATS_LOOK_SUFFIX) == 0 ? n - end
                                                                      : n;
}

const char *bats_look_find(const char *word, char *path, size_t size)
{
    if (snprintf(path, size, "%s" BATS_LOOK_SUFFIX, word) >= (int)size ||
        access(path, F_OK) != 0)
        snprintf(path, size, "%s", word);
    return path;
}

static int close_look(void *context, int code)
{
    struct bats_look *look = context;
    bats_view_close(look->view);
    json_decref(look->options);
    return code;
}

int bats_look_answer(int (*show)(struct bats_look *look),
                     const struct bats_settings *set)
{
    struct bats_look look = {.set = set};
    const char *word = set->words[0];
    int rc = bats_view_open(bats_look_find(word, look.path, sizeof look.path),
                            &look.view, &bats_why);
    if (rc == BATS_EINPUT && strcmp(look.path, word) == 0) {
        bats_say(bats_why.text);
        bats_die(rc, "there is no %s" BATS_LOOK_SUFFIX " either", word);
    }
    bats_must(rc);
    bats_at_death(close_look, &look);
    int code = show(&look);
    bats_at_death(NULL, NULL);
    return close_look(&look, code);
}

void bats_look_status(struct bats_look *l)
{
    bats_must(
        bats_recorded_status(l->view, &l->status, &l->options, &bats_why));
}

int64_t bats_look_left(const struct bats_view_status *status)
{
    return status->running + status->pending;
}

struct bats_phrase bats_look_state(const struct bats_view_status *status)
{
    struct bats_phrase state;
    const char *word = status->finish;
    if (!status->is_over && status->is_live)
        word = status->ending ? "draining" : "running";
    else if (!status->is_over)
        word = "interrupted: the run ended without closing its record";
    if (strcmp(word, "all done") == 0 && status->failed > 0)
        snprintf(state.s, sizeof state.s, "done, %" PRId64 " failed",
                 status->failed);
    else
        snprintf(state.s, sizeof state.s, "%s", word);
    return state;
}

struct bats_causes bats_look_causes(struct bats_view *view)
{
    struct bats_causes causes = {0};
    struct bats_view_task t;
    const char *text;
    size_t n;
    bats_must(bats_view_tasks(view, "failed", 0, NULL, BATS_VIEW_BY_NUMBER, 0,
                              &bats_why));
    while (bats_must(bats_view_next_task(view, &t, &bats_why)) > 0) {
        bats_must(bats_view_stderr(view, t.id, &text, &n, &bats_why));
        bats_causes_add(&causes, t.number, t.exit_status, t.signal, t.host,
                        text, n);
    }
    bats_causes_sort(&causes);
    return causes;
}

/* ---- writing ---- */

void bats_look_json(json_t *line, size_t flags)
{
    bats_have(line);
    if (json_dumpf(line, stdout,
                   flags | BATS_JSON_SAFE | JSON_REAL_PRECISION(15)) < 0)
        bats_die(BATS_ESYS, "standard output: %s", strerror(errno));
    putchar('\n');
    json_decref(line);
}

void bats_look_write(const char *path,
                     int (*write)(void *context, FILE *out,
                                  struct bats_error *err),
                     void *context)
{
    bats_must(strcmp(path, "-") == 0
                  ? write(context, stdout, &bats_why)
                  : bats_textfile_write(path, write, context, &bats_why));
}

/* ---- the directory with the output ---- */

char *bats_place_default(const char *bag)
{
    char *dir;
    if (asprintf(&dir, "%s.out", strcmp(bag, "-") == 0 ? "stdin" : bag) < 0)
        return NULL;
    return dir;
}

int bats_place_resolve(const char *name, char path[PATH_MAX],
                       struct bats_error *err)
{
    if (realpath(name, path) != NULL)
        return 0;
    return bats_error_set(err, BATS_ESYS, "%s: %s", name, strerror(errno));
}

/* The index of the file name in a resolved path. */
static size_t name_at(const char *path)
{
    return (size_t)(strrchr(path, '/') - path) + 1;
}

int bats_place_note(json_t *settings, const char *dir, const char *record,
                    struct bats_error *err)
{
    char place[PATH_MAX], beside[PATH_MAX];
    int rc = bats_place_resolve(dir, place, err);
    if (rc == 0)
        rc = bats_place_resolve(record, beside, err);
    if (rc < 0)
        return rc;
    size_t n = name_at(beside);
    const char *noted = strncmp(place, beside, n) == 0 ? place + n : place;
    return json_object_set_new(settings, KEY,
                               json_stringn_nocheck(noted, strlen(noted))) == 0
               ? 0
               : bats_no_memory(err);
}

void bats_place_of_stream(char *path, size_t size, const char *record,
                          const struct bats_view_output *o)
{
    bool is_noted = o->dir[0] != '\0';
    size_t beside = o->dir[0] == '/' ? 0
                    : is_noted       ? name_at(record)
                                     : bats_look_bag(record);
    snprintf(path, size, "%.*s%s/" BATS_OUTFILE_NAME ".out", (int)beside,
             record, is_noted ? o->dir : ".out", o->run, o->stream);
}

/* ---- needs ---- */

int64_t *bats_known_expand(const json_t *list, int64_t n_tasks)
{
    if (!json_is_array(list) || n_tasks <= 0)
        return NULL;
    int64_t *values = bats_have(calloc((size_t)n_tasks, sizeof *values));
    int64_t task = 0;
    for (size_t i = 0; i + 1 < json_array_size(list); i += 2) {
        int64_t n = json_integer_value(json_array_get(list, i + 1));
        for (; n > 0 && task < n_tasks; n--)
            values[task++] = json_integer_value(json_array_get(list, i));
    }
    return values;
}

struct bats_known_needs bats_known_needs(const struct bats_look *look)
{
    bats_must(bats_view_needs(look->view, look->options, &bats_why));
    const json_t *engine = json_object_get(look->options, "engine");
    int64_t n = look->status.tasks;
    return (struct bats_known_needs){
        .list = json_object_get(engine, "needs"),
        .stocks = json_object_get(engine, "stocks"),
        .names = json_object_get(look->options, "categories"),
        .category =
            bats_known_expand(json_object_get(engine, "categories"), n),
        .n_tasks = n};
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
    const char *limit = json_string_value(json_array_get(row, 3));
    if (limit != NULL &&
        bats_duration_parse(limit, &need->limit, &bats_why) < 0)
        need->limit = 0;
    return row != NULL;
}

/* ---- what is free ---- */

/* Returns what is free on the machine of loads[*i], and moves *i beyond its
 * loads, which are ordered by machine. All zero: it cannot hold the task. */
static struct bats_stock free_of(const struct bats_known_needs *k,
                                 const struct bats_view_load *loads, size_t n,
                                 size_t *i, const struct bats_need *need)
{
    int64_t machine = loads[*i].machine;
    const json_t *row = json_array_get(k->stocks, (size_t)machine);
    int64_t nodes = number_at(row, 3) > 1 ? number_at(row, 3) : 1;
    struct bats_stock all = {.cores = (uint32_t)number_at(row, 0),
                             .gpus = (uint32_t)number_at(row, 1),
                             .memory_kib = number_at(row, 2),
                             .nodes = (uint32_t)nodes};
    struct bats_stock rest = {.cores = all.cores * (uint32_t)nodes,
                              .gpus = all.gpus * (uint32_t)nodes,
                              .memory_kib = all.memory_kib * nodes};
    for (; *i < n && loads[*i].machine == machine; ++*i) {
        struct bats_need taken;
        if (loads[*i].task == 0 || !bats_known_need(k, loads[*i].task, &taken))
            continue;
        rest.cores -= taken.cores;
        rest.gpus -= taken.gpus;
        rest.memory_kib -= taken.memory_kib;
    }
    return bats_need_room(&all, need) > 0 ? rest : (struct bats_stock){0};
}

static void put_room(struct bats_text *t, const struct bats_stock *room,
                     const struct bats_need *need, const char *machine)
{
    char memory[BATS_UNITS_TEXT];
    bats_text_format(t, "; free: %s", bats_words_count(room->cores, "core").s);
    if (need->gpus > 0)
        bats_text_format(t, ", %s", bats_words_count(room->gpus, "GPU").s);
    if (need->memory_kib > 0 && room->memory_kib > 0) {
        bats_size_format(memory, room->memory_kib / 1024 * 1024 * 1024);
        bats_text_format(t, ", %s", memory);
    }
    bats_text_format(t, " on %s", machine);
}

void bats_known_room(struct bats_view *view, const struct bats_known_needs *k,
                     int64_t number, struct bats_text *t)
{
    struct bats_view_load *loads = NULL;
    struct bats_view_reservation kept;
    struct bats_need need;
    struct bats_stock most = {0};
    const char *machine = NULL;
    size_t n;
    if (!bats_known_need(k, number, &need) || k->stocks == NULL)
        return;
    bats_must(bats_view_loads(view, &loads, &n, &bats_why));
    bats_must(bats_view_reservation(view, &kept, &bats_why));
    for (size_t i = 0, at = 0; i < n; at = i) {
        struct bats_stock room = free_of(k, loads, n, &i, &need);
        if (machine == NULL || room.cores > most.cores) {
            most = room;
            machine = loads[at].name;
        }
    }
    if (machine != NULL)
        put_room(t, &most, &need, machine);
    if (kept.task > 0 &&
        bats_known_category(k, kept.task) == bats_known_category(k, number))
        bats_text_format(t, "; reserved on %s from %s%s", kept.machine,
                         bats_words_moment(kept.from).s,
                         kept.task == number ? "" : " for one like it");
    free(loads);
}
