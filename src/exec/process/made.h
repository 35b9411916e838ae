/*
 * made: whether a rule of a workflow has made its files.
 *
 * Layer: exec. Used by runner. The process that has run the rule looks, so
 * that a file system of several nodes shows what the rule saw.
 */
#ifndef BATS_MADE_H
#define BATS_MADE_H

#include <stddef.h>

/* Returns the exit status of a rule that ended with `status` and had to make
 * these files, each with its NUL, n bytes in all: 1 if it ended with 0 and one
 * is missing, as a line at `fd` says. If it failed, the files are removed: half a file would look like a whole one to the next
 * run. With status 85 they stay, as its saved state may be in there. */
int bats_made_check(const char *outputs, size_t n, int status, int fd);

#endif
