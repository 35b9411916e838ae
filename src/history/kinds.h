/*
 * kinds: groups tasks by command, for similar runtimes.
 *
 * Layer: history. Used by cli, for tasks without a category of their own. A
 * command's kind is its program, the next word if all the bag's commands of
 * the program share it (samtools sort), and the names of its options; an
 * interpreter's script counts as its program. Values and paths are excluded,
 * since kinds are kept in the history, which others may read.
 *
 *   cd /scratch; OMP_NUM_THREADS=4 python3 ~/fit.py --lr=0.1 -n 7 in.csv
 *       -> "python3 fit.py --lr -n"
 *
 *     struct bats_task_kinds kinds = {0};
 *     for each task: bats_task_kinds_see(&kinds, command);
 *     for each task: number = bats_task_kinds_number(&kinds, command);
 *     bats_task_kinds_release(&kinds);
 */
#ifndef BATS_HISTORY_KINDS_H
#define BATS_HISTORY_KINDS_H

#include <stddef.h>
#include <stdint.h>

#define BATS_KIND 160 /* bytes of a name, which is cut to fit */
#define BATS_NO_KIND UINT32_MAX

struct bats_task_kind {
    char name[BATS_KIND];
    uint32_t tasks; /* number of tasks */
};

struct bats_task_kinds {
    struct bats_task_kind *kind;
    size_t n, room;
    struct bats_kind_stem *stems; /* private: programs with their options */
    size_t n_stems, stems_room;
};

/* Notes a command of the bag. BATS_ENOMEM. */
int bats_task_kinds_see(struct bats_task_kinds *kinds, const char *command);

/* Number of the kind of a noted command; BATS_NO_KIND: out of memory. */
uint32_t bats_task_kinds_number(struct bats_task_kinds *kinds,
                                const char *command);

/* Number of the kind of this name; BATS_NO_KIND: out of memory. */
uint32_t bats_task_kinds_named(struct bats_task_kinds *kinds,
                               const char *name);

void bats_task_kinds_release(struct bats_task_kinds *kinds);

#endif
