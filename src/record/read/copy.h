/*
 * copy: a copy of a record, which its writer may be writing just now.
 *
 * Layer: record, private to it. The original is only read, never locked and
 * never opened by SQLite, so that no writer is ever disturbed.
 *
 * Why the copy is sound: pages change in the file only at a checkpoint, and
 * while that lasts each of them is in the log as well. So a copy of the file
 * and, taken after it, of the log belong together if the log has not been
 * begun anew in between, which changes the salt in its head.
 */
#ifndef BATS_RECORD_COPY_H
#define BATS_RECORD_COPY_H

#include "bats/error.h"

/*
 * Copies the record at `path` into a directory of its own below TMPDIR; *copy
 * is the copy's name. bats_copy_remove takes the copy away (also while it is
 * open), and so does a signal that ends the process before. There is one copy
 * at a time. BATS_EINPUT for what bats_db_look refuses and where there is no
 * file; BATS_ESYS.
 */
int bats_copy_take(const char *path, const char **copy,
                   struct bats_error *err);
void bats_copy_remove(void);

#endif
