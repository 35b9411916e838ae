/*
 * textfile: a whole text file in memory, and files that are replaced whole.
 *
 * Layer: input. Used by the readers of bags, workflows, sweeps, plan files,
 * clusters files and scenarios, and by all that write files at the end.
 */
#ifndef BATS_TEXTFILE_H
#define BATS_TEXTFILE_H

#include <stddef.h>
#include <stdio.h>

#include "bats/error.h"

/* The name of the file in messages: "-" is "standard input". */
const char *bats_textfile_name(const char *path);

/* Reads the file at `path` ("-": standard input) into *text, for free(), with
 * a NUL after its *length bytes. BATS_EINPUT with "path: sentence" for an
 * unreadable file or a directory, "path:line: sentence" for a NUL byte. */
int bats_textfile_read(const char *path, char **text, size_t *length,
                       struct bats_error *err);

/* The same; the text may have NUL bytes. */
int bats_textfile_read_nul(const char *path, char **text, size_t *length,
                           struct bats_error *err);

/* Calls `take` for each line of `text` or, if that is NULL, of the file,
 * without its end, in a copy that it may change. Its errors get the prefix
 * "path:line: ". Other errors as of bats_textfile_read. */
int bats_textfile_lines(const char *path, const char *text,
                        int (*take)(void *context, char *line,
                                    struct bats_error *err),
                        void *context, struct bats_error *err);

/* Writes the file at `path` with `write`. A plain file is replaced once the new
 * one is on the disk, so that it is never incomplete; all else (a device, a
 * pipe, a link) is written to. BATS_EINPUT: it cannot be opened.
 * Without `write` it is only tried whether it could be. */
int bats_textfile_write(const char *path,
                        int (*write)(void *context, FILE *out,
                                     struct bats_error *err),
                        void *context, struct bats_error *err);

/* The path of a file named in the file at `from`: relative to the directory of
 * `from`; for free(). NULL: no memory. */
char *bats_textfile_beside(const char *from, const char *name);

#endif
