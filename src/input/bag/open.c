/* open: a bag to which tasks are added while it is run. */
#include <stdlib.h>
#include <string.h>

#include "input/bag/state.h"
#include "util/grow.h"

/* Linux's limit for the bytes of an argument (MAX_ARG_STRLEN) */
#define LONGEST 131071

int bats_bagfile_open(const char *name, uint32_t room,
                      struct bats_bagfile **bag, struct bats_error *err)
{
    struct bats_bagfile *b = calloc(1, sizeof *b);
    if (b) {
        b->name = strdup(name);
        b->text = calloc(1, 1); /* serves as empty prefix and suffix */
        b->groups = calloc(1, sizeof *b->groups);
    }
    if (!b || !b->name || !b->text || !b->groups) {
        bats_bagfile_destroy(b);
        return bats_no_memory(err);
    }
    b->n_groups = b->groups_room = 1;
    b->text_n = b->text_room = 1;
    b->room = room;
    *bag = b;
    return 0;
}

static int check(const struct bats_bagfile *bag, const char *command, size_t n,
                 struct bats_error *err)
{
    bool is_builtin;
    bats_time duration;
    if (bag->n_tasks >= bag->room)
        return bats_refuse(err, "the bag is full: it has %lu tasks",
                           (unsigned long)bag->room);
    if (command[strspn(command, BLANKS "\n")] == '\0')
        return bats_refuse(err, "the command is empty");
    if (n > LONGEST)
        return bats_refuse(err,
                           "the command has %zu bytes, and a process can be "
                           "given %d: put it into a file",
                           n, LONGEST);
    return bats_builtin_parse(command, &is_builtin, &duration, err);
}

int bats_bagfile_add(struct bats_bagfile *bag, const char *command,
                     struct bats_error *err)
{
    size_t n = strlen(command), lines_room = bag->entries_room;
    int code = check(bag, command, n, err);
    if (code)
        return code;
    if (!bats_grow(&bag->text, &bag->text_room, bag->text_n + n + 1, 1) ||
        !bats_grow(&bag->line, &lines_room, bag->n_entries + 1,
                   sizeof *bag->line) ||
        !bats_grow(&bag->offset, &bag->entries_room, bag->n_entries + 1,
                   sizeof *bag->offset))
        return bats_no_memory(err);
    memcpy(bag->text + bag->text_n, command, n + 1);
    bag->offset[bag->n_entries] = bag->text_n;
    bag->line[bag->n_entries] = ++bag->n_tasks;
    bag->n_entries++;
    bag->text_n += n + 1;
    return 0;
}
