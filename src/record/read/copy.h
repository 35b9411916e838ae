/*
 * copy: copies a record while its writer may be writing it.
 *
 * Layer: record, private to it. The original is only read, never locked and
 * never opened by SQLite, so that no writer is ever disturbed.
 *
 * The copy is consistent, because pages of the file change only at a
 * checkpoint, and during a checkpoint each of them is also in the log. So a
 * copy of the file and a later copy of the log belong together, unless the log
 * was restarted in between, which changes the salt in its header.
 */
#ifndef BATS_RECORD_COPY_H
#define BATS_RECORD_COPY_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "bats/error.h"

/* The state of a record's files. If it is unchanged after reading them, only
 * rows at the end of the log were added meanwhile. */
struct bats_copy_mark {
    unsigned char wal[32]; /* the head of the log, or zeros */
    bool has_wal, has_journal;
    off_t size; /* of the file */
    struct timespec time;
};

void bats_copy_mark(const char *path, struct bats_copy_mark *mark);

/*
 * Copies the record at `path` into a new directory below TMPDIR; *copy is the
 * copy's name. Open it and call bats_copy_remove at once, which removes its
 * name (the open copy stays readable). Until then a signal that ends the
 * process removes it, too. Only one copy exists at a time. BATS_EINPUT if there
 * is no file, or if bats_db_look refuses it; BATS_ESYS.
 */
int bats_copy_take(const char *path, const char **copy,
                   struct bats_error *err);
void bats_copy_remove(void);

#endif
