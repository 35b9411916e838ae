/*
 * hostlist: the host names in a list as Slurm writes it.
 * Layer: util. Used wherever hosts are listed: clusters files (input), the
 * hosts of a Slurm job (site). "slow[1-4,7],login1" is slow1 to slow4, slow7
 * and login1. Leading zeros of the first number of a range are kept
 * ("n[001-010]"), a name may have several groups ("r[1-2]n[1-3]"), and blanks
 * may surround the commas between names.
 * Model: Slurm's manual, "hostlist expressions", with its limit of 65,536
 * names. Invariants: names are sorted by strcmp() and distinct.
 */
#ifndef BATS_HOSTLIST_H
#define BATS_HOSTLIST_H

#include <stddef.h>

#include "bats/error.h"

#define BATS_HOST_NAME 256 /* longest name of a host, with the NUL */
#define BATS_HOSTS_MAX 65536

struct bats_hostlist {
    char **names; /* n of them, each its own allocation */
    size_t n;
};

/*
 * Fills `list`, which the caller releases. BATS_EINPUT if `text` is not such a
 * list, names a host twice or has too many hosts; the sentence does not name
 * the file.
 */
int bats_hostlist_expand(const char *text, struct bats_hostlist *list,
                         struct bats_error *err);
void bats_hostlist_release(struct bats_hostlist *list);

/* Index of `host` in the list: as given, else without its domain; -1: neither
 * is in the list. */
ptrdiff_t bats_hostlist_find(const struct bats_hostlist *list,
                             const char *host);

/*
 * The reverse: turns the `n` names, in any order and possibly repeated, into a
 * list for bats_hostlist_expand, with numbers at the end of names folded into
 * ranges. In one block for free(); NULL: out of memory.
 */
char *bats_hostlist_fold(const char *const *names, size_t n);

#endif
