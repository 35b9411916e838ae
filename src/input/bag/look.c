/* look: what a bag says about its tasks. See bagfile.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input/bag/state.h"
#include "input/sweep/sweep.h"
#include "input/workflow/workflow.h"
#include "util/grow.h"
#include "util/hash.h"

int bats_bagfile_hash(const struct bats_bagfile *bag, uint64_t *hash,
                      struct bats_error *err)
{
    struct bats_text command = {0};
    uint64_t sum = BATS_HASH;
    ptrdiff_t n = 0;
    for (uint32_t i = 0; n >= 0 && i < bag->n_tasks; i++)
        if ((n = bats_bagfile_command(bag, i, &command)) >= 0)
            sum = bats_hash(sum, command.bytes, (size_t)n + 1);
    bats_text_release(&command);
    *hash = sum;
    return n < 0 ? bats_no_memory(err) : 0;
}

/* The group of task i: the last one that begins at or before i. */
static const struct bats_bag_group *find_group(const struct bats_bagfile *bag,
                                               uint32_t i)
{
    size_t low = 0, high = bag->n_groups;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (bag->groups[middle].first <= i)
            low = middle;
        else
            high = middle;
    }
    return &bag->groups[low];
}

static uint32_t entry_of(const struct bats_bag_group *group, uint32_t i)
{
    return group->entry + (group->repeated ? 0 : i - group->first);
}

bool bats_bagfile_is_once(const struct bats_bagfile *bag, uint32_t i)
{
    if (bag->sweep != NULL)
        return bag->sweep->is_once;
    if (bag->workflow != NULL)
        return false;
    return find_group(bag, i)->once;
}

/* NULL: this kind of bag has no traits. */
static const struct bats_bag_traits *
find_traits(const struct bats_bagfile *bag, uint32_t i)
{
    if (bag->own_traits != NULL)
        return &bag->own_traits[i];
    return bag->sweep == NULL && bag->workflow == NULL
               ? &find_group(bag, i)->traits
               : NULL;
}

void bats_bagfile_need(const struct bats_bagfile *bag, uint32_t i,
                       struct bats_need *need)
{
    const struct bats_bag_traits *traits = find_traits(bag, i);
    const struct bats_need *said =
        traits != NULL ? &traits->need
        : bag->workflow != NULL && !bag->workflow->is_measured
            ? &bag->workflow->tasks[i].need
            : NULL;
    if (said == NULL)
        return;
    if (said->cores > 0)
        need->cores = said->cores;
    if (said->memory_kib > 0)
        need->memory_kib = said->memory_kib;
    if (said->gpus > 0 || (traits != NULL && traits->says_gpus))
        need->gpus = said->gpus;
}

static void take_larger(struct bats_need *most, const struct bats_need *need)
{
    most->cores = need->cores > most->cores ? need->cores : most->cores;
    most->gpus = need->gpus > most->gpus ? need->gpus : most->gpus;
    if (need->memory_kib > most->memory_kib)
        most->memory_kib = need->memory_kib;
}

struct bats_need bats_bagfile_most(const struct bats_bagfile *bag)
{
    struct bats_need most = {0};
    for (size_t g = 0; g < bag->n_groups; g++)
        take_larger(&most, &bag->groups[g].traits.need);
    for (uint32_t i = 0; i < bag->n_tasks; i++)
        if (bag->workflow != NULL && !bag->workflow->is_measured)
            take_larger(&most, &bag->workflow->tasks[i].need);
        else if (bag->own_traits != NULL)
            take_larger(&most, &bag->own_traits[i].need);
    return most;
}

bats_time bats_bagfile_time(const struct bats_bagfile *bag, uint32_t i)
{
    struct bats_text command = {0};
    bool is_builtin = false;
    bats_time time = 0;
    if (bag->workflow != NULL) {
        time = bag->workflow->tasks[i].runtime;
        return time > 0 ? time : 0;
    }
    if (bats_bagfile_command(bag, i, &command) > 0 && *command.bytes == '@')
        (void)bats_builtin_parse(command.bytes, &is_builtin, &time, NULL);
    bats_text_release(&command);
    const struct bats_bag_traits *traits = find_traits(bag, i);
    return is_builtin ? time : traits != NULL ? traits->time : 0;
}

uint32_t bats_bagfile_line(const struct bats_bagfile *bag, uint32_t i)
{
    if (bag->sweep != NULL)
        return 0;
    if (bag->workflow != NULL)
        return bag->workflow->tasks[i].line;
    return bag->line[entry_of(find_group(bag, i), i)];
}

ptrdiff_t bats_bagfile_command_for(const struct bats_bagfile *bag, uint32_t i,
                                   uint32_t slot, struct bats_text *text)
{
    if (bag->sweep != NULL)
        return bats_sweep_command(bag->sweep, i, slot, text);
    bats_text_cut(text, 0);
    if (bag->workflow != NULL) {
        bats_text_add(text, bats_workflow_rule(bag->workflow, i));
        return bats_text_length(text);
    }
    const struct bats_bag_group *group = find_group(bag, i);
    const char *prefix = bag->text + group->prefix;
    const char *command = bag->text + bag->offset[entry_of(group, i)];
    /* The command exports the index, so that only a command has to travel to a
     * worker. Built-in tasks have no environment. */
    if (group->repeated && *(*prefix ? prefix : command) != '@')
        bats_text_format(text, "export DISBATCH_REPEAT_INDEX=%" PRIu64 "; ",
                         group->start + (i - group->first) * group->step);
    bats_text_add(text, prefix);
    bats_text_add(text, command);
    bats_text_add(text, bag->text + group->suffix);
    return bats_text_length(text);
}

ptrdiff_t bats_bagfile_variables(const struct bats_bagfile *bag, uint32_t i,
                                 struct bats_text *text)
{
    return bag->sweep != NULL ? bats_sweep_variables(bag->sweep, i, text) : 0;
}

/* ---- built-in tasks ---- */

int bats_builtin_parse(const char *command, bool *is_builtin,
                       bats_time *duration, struct bats_error *err)
{
    *is_builtin = false;
    if (*command != '@')
        return 0;
    size_t word = strcspn(command, BLANKS);
    if (word != 6 || strncmp(command, "@sleep", word) != 0)
        return bats_refuse(err,
                           "unknown built-in task '%.*s'; expected '@sleep "
                           "DURATION' or '@once COMMAND'",
                           word < 60 ? (int)word : 60, command);
    const char *argument = command + word + strspn(command + word, BLANKS);
    char text[128];
    if (snprintf(text, sizeof text, "%s", argument) >= (int)sizeof text)
        return bats_refuse(err, "@sleep: '%.60s...' is not a duration",
                           argument);
    int code =
        bats_duration_parse(bats_text_trim(text, BLANKS), duration, err);
    *is_builtin = code == 0;
    return bats_error_prefix(err, code, "@sleep: ");
}

int bats_bag_add_entry(struct bats_bagfile *bag, size_t offset, uint32_t line,
                       struct bats_error *err)
{
    size_t lines_room = bag->entries_room;
    if (!bats_grow(&bag->line, &lines_room, bag->n_entries + 1,
                   sizeof *bag->line) ||
        !bats_grow(&bag->offset, &bag->entries_room, bag->n_entries + 1,
                   sizeof *bag->offset))
        return bats_no_memory(err);
    bag->offset[bag->n_entries] = offset;
    bag->line[bag->n_entries++] = line;
    return 0;
}
