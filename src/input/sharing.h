/*
 * sharing: which tasks of a bag belong to which workflow, and what each
 * workflow may spend (bats/purse.h).
 *
 * Layer: input, used by the bag. A line "#BATS workflow NAME [budget=AMOUNT]
 * [deadline=DURATION] [begin=DURATION]" begins a workflow: the tasks below
 * belong to it, up to the next such line. Tasks before the first one are
 * "others", without a limit.
 */
#ifndef BATS_SHARING_H
#define BATS_SHARING_H

#include "bats/error.h"
#include "bats/purse.h"

struct bats_sharing {
    struct bats_purse *list; /* owns the names */
    uint32_t n;
    size_t room;
    uint32_t *first; /* by workflow: its first task */
    size_t first_room;
    uint16_t *of; /* by task, set by bats_sharing_finish */
};

/* `text` is the rest of the line after "#BATS workflow " and blanks; `n_tasks`
 * tasks are above it. BATS_EINPUT, which does not name the line;
 * BATS_ENOMEM. */
int bats_sharing_note(struct bats_sharing *sharing, const char *text,
                      uint32_t n_tasks, struct bats_error *err);

/* The same in two steps: begins a workflow with this name of `n` bytes at task
 * `n_tasks`; and sets one of its options. */
int bats_sharing_begin(struct bats_sharing *sharing, const char *name,
                       size_t n, uint32_t n_tasks, struct bats_error *err);
int bats_sharing_option(struct bats_sharing *sharing, const char *word,
                        struct bats_error *err);

/* Call after the last line. BATS_ENOMEM. */
int bats_sharing_finish(struct bats_sharing *sharing, uint32_t n_tasks,
                        struct bats_error *err);
void bats_sharing_release(struct bats_sharing *sharing);

#endif
