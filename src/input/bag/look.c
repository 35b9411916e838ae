#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/bag/state.h"
#include "input/sweep/sweep.h"
#include "input/workflow/workflow.h"
#include "util/grow.h"

uint32_t bats_bagfile_count(const struct bats_bagfile *bag)
{
    return bag->n_tasks;
}

const char *bats_bagfile_name(const struct bats_bagfile *bag)
{
    return bag->name;
}

const struct bats_graph *bats_bagfile_graph(const struct bats_bagfile *bag)
{
    if (bag->workflow)
        return &bag->workflow->graph;
    return bag->graph.n_nodes > 0 ? &bag->graph : NULL;
}

const struct bats_purse *bats_bagfile_purses(const struct bats_bagfile *bag,
                                             const uint16_t **of, uint32_t *n)
{
    *n = bag->sharing.n;
    *of = bag->sharing.of;
    return bag->sharing.list;
}

void bats_bagfile_set_charged(struct bats_bagfile *bag, uint32_t workflow,
                              bats_money charged)
{
    bag->sharing.list[workflow].charged = charged;
}

const uint16_t *bats_bagfile_categories(const struct bats_bagfile *bag,
                                        uint32_t *n)
{
    const struct bats_workflow *w = bag->workflow;
    *n = w && w->category ? (uint32_t)w->categories.n : 0;
    return *n > 0 ? w->category : NULL;
}

const char *const *bats_bagfile_category_names(const struct bats_bagfile *bag)
{
    return bag->workflow ? bag->workflow->category_names : NULL;
}

const struct bats_workflow *
bats_bagfile_workflow(const struct bats_bagfile *bag)
{
    return bag->workflow;
}

uint32_t bats_bagfile_dangling(const struct bats_bagfile *bag)
{
    return bag->dangling;
}

const char *bats_bagfile_per_engine(const struct bats_bagfile *bag, bool stop,
                                    size_t *n)
{
    *n = bag->per_engine[stop].n;
    return bag->per_engine[stop].text;
}

bool bats_bagfile_is_disbatch(const struct bats_bagfile *bag)
{
    return bag->is_disbatch;
}

int bats_bagfile_hash(const struct bats_bagfile *bag, uint64_t *hash,
                      struct bats_error *err)
{
    char *command = NULL;
    size_t size = 0;
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (uint32_t i = 0; i < bats_bagfile_count(bag); i++) {
        ptrdiff_t n = bats_bagfile_command(bag, i, &command, &size);
        if (n < 0) {
            free(command);
            return bats_error_set(err, (int)n, "no memory for a command");
        }
        for (ptrdiff_t k = 0; k <= n; k++)
            sum = (sum ^ (unsigned char)command[k]) * UINT64_C(0x100000001b3);
    }
    free(command);
    *hash = sum;
    return 0;
}

/* The group of task i: the last one that begins at or before it. */
static const struct group *find_group(const struct bats_bagfile *bag,
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

static uint32_t entry_of(const struct group *group, uint32_t i)
{
    return group->entry + (group->repeated ? 0 : i - group->first);
}

bool bats_bagfile_is_once(const struct bats_bagfile *bag, uint32_t i)
{
    if (bag->sweep != NULL)
        return bats_sweep_is_once(bag->sweep);
    if (bag->workflow != NULL)
        return false;
    return find_group(bag, i)->once;
}

int64_t bats_bagfile_memory_kib(const struct bats_bagfile *bag, uint32_t i)
{
    if (bag->sweep != NULL)
        return 0;
    return bag->workflow != NULL ? bag->workflow->tasks[i].memory_kib
                                 : find_group(bag, i)->memory_kib;
}

uint32_t bats_bagfile_line(const struct bats_bagfile *bag, uint32_t i)
{
    if (bag->sweep != NULL)
        return 0;
    if (bag->workflow != NULL)
        return bag->workflow->tasks[i].line;
    return bag->line[entry_of(find_group(bag, i), i)];
}

ptrdiff_t bats_bagfile_command(const struct bats_bagfile *bag, uint32_t i,
                               char **text, size_t *size)
{
    return bats_bagfile_command_for(bag, i, 0, text, size);
}

ptrdiff_t bats_bagfile_command_for(const struct bats_bagfile *bag, uint32_t i,
                                   uint32_t slot, char **text, size_t *size)
{
    if (bag->sweep != NULL)
        return bats_sweep_command(bag->sweep, i, slot, text, size);
    if (bag->workflow != NULL)
        return bats_workflow_command(bag->workflow, i, text, size);
    const struct group *group = find_group(bag, i);
    const char *prefix = bag->text + group->prefix;
    const char *command = bag->text + bag->offset[entry_of(group, i)];
    const char *suffix = bag->text + group->suffix;

    /* The index reaches the environment through the shell, before the command,
     * so that only a command has to travel to a worker. Built-in tasks have no
     * environment. */
    char index[64] = "";
    if (group->repeated && *(*prefix ? prefix : command) != '@')
        snprintf(index, sizeof index,
                 "export DISBATCH_REPEAT_INDEX=%" PRIu64 "; ",
                 group->start + (i - group->first) * group->step);

    size_t length =
        strlen(index) + strlen(prefix) + strlen(command) + strlen(suffix);
    if (!bats_grow(text, size, length + 1, 1))
        return BATS_ENOMEM;
    stpcpy(stpcpy(stpcpy(stpcpy(*text, index), prefix), command), suffix);
    return (ptrdiff_t)length;
}

ptrdiff_t bats_bagfile_variables(const struct bats_bagfile *bag, uint32_t i,
                                 char **text, size_t *size)
{
    return bag->sweep != NULL ? bats_sweep_variables(bag->sweep, i, text, size)
                              : 0;
}
