#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "input/bag/state.h"
#include "util/grow.h"

#define TASKS_MAX (UINT32_MAX - 1)

static int add_entry(struct scan *scan, size_t offset)
{
    struct bats_bagfile *bag = scan->bag;
    size_t lines_room = bag->entries_room;
    if (!bats_grow(&bag->line, &lines_room, bag->n_entries + 1,
                   sizeof *bag->line) ||
        !bats_grow(&bag->offset, &bag->entries_room, bag->n_entries + 1,
                   sizeof *bag->offset))
        return bats_no_memory(scan->err);
    bag->offset[bag->n_entries] = offset;
    bag->line[bag->n_entries] = scan->line;
    bag->n_entries++;
    return 0;
}

static int add_group(struct scan *scan, struct bats_bag_group group)
{
    struct bats_bagfile *bag = scan->bag;
    if (!bats_grow(&bag->groups, &bag->groups_room, bag->n_groups + 1,
                   sizeof *bag->groups))
        return bats_no_memory(scan->err);
    group.first = bag->n_tasks;
    group.entry = (uint32_t)bag->n_entries;
    group.prefix = scan->prefix;
    group.suffix = scan->suffix;
    group.once = scan->once;
    group.traits = scan->traits;
    bag->groups[bag->n_groups++] = group;
    return 0;
}

/* Reports a mistake in a built-in task now, not when the task starts. */
static int check_builtin(struct scan *scan, uint32_t task, size_t offset)
{
    const struct bats_bagfile *bag = scan->bag;
    bool written = bag->text[offset] == '@';
    if (!written && bag->text[scan->prefix] != '@')
        return 0;
    if (bats_bagfile_command(bag, task, &scan->command) < 0)
        return bats_no_memory(scan->err);
    bool is_builtin;
    bats_time duration;
    int rc = bats_builtin_parse(scan->command.bytes, &is_builtin, &duration,
                                scan->err);
    if (rc < 0)
        return bats_error_prefix(scan->err, rc, "%s:%" PRIu32 ": ", bag->name,
                                 scan->line);
    if (written && !is_builtin)
        return FAIL(scan, "a built-in task cannot follow the PREFIX '%.60s'",
                    bag->text + scan->prefix);
    return 0;
}

int bats_bag_add_tasks(struct scan *scan, size_t offset, uint64_t n,
                       const struct bats_bag_group *repeated)
{
    struct bats_bagfile *bag = scan->bag;
    if (n > TASKS_MAX - bag->n_tasks)
        return FAIL(scan, "more than %" PRIu32 " tasks in one bag", TASKS_MAX);
    int code = 0;
    if (repeated || scan->new_group ||
        bag->groups[bag->n_groups - 1].once != scan->once)
        code =
            add_group(scan, repeated ? *repeated : (struct bats_bag_group){0});
    if (!code)
        code = add_entry(scan, offset);
    if (code)
        return code;
    scan->new_group = repeated != NULL;
    uint32_t first = bag->n_tasks;
    bag->n_tasks += (uint32_t)n;
    if (scan->waits)
        bats_dependencies_take(scan->waits, first, (uint32_t)n);
    return check_builtin(scan, first, offset);
}

int bats_bag_read_once(struct scan *scan, const char **command)
{
    static const char word[] = "@once";
    const char *after = *command + strlen(word);
    scan->once = strncmp(*command, word, strlen(word)) == 0 &&
                 (*after == '\0' || strchr(BLANKS, *after));
    if (scan->once)
        *command = after + strspn(after, BLANKS);
    if (scan->once && **command == '\0')
        return FAIL(scan, "@once without a command");
    return 0;
}
