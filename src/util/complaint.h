/*
 * complaint: what a failed task wrote last on standard error, and which
 * failures are alike.
 *
 * Layer: util. Used by exec (which keeps the last bytes), by the record (which
 * keeps one failure of each kind) and by report (which counts kinds). Two
 * failures are of the same kind if they have the same exit status and signal,
 * and their last lines are equal without the words that contain a digit:
 * numbers, addresses and names of temporary files differ from task to task.
 */
#ifndef BATS_COMPLAINT_H
#define BATS_COMPLAINT_H

#include <stddef.h>
#include <stdint.h>

#define BATS_COMPLAINT_BYTES 4096 /* bytes kept per failure */
#define BATS_COMPLAINT_LINE 256   /* room for a line, with the NUL */

/* Copies the last line of the n bytes that is not blank, without surrounding
 * blanks; "" if there is none. A long line is cut. NUL becomes a blank.
 * Returns `line`. */
const char *bats_complaint_line(char line[BATS_COMPLAINT_LINE],
                                const char *bytes, size_t n);

/* Writes `line` with '#' for each run of letters and digits that holds a digit.
 * Returns `kind`. */
const char *bats_complaint_kind(char kind[BATS_COMPLAINT_LINE],
                                const char *line);

/* FNV-1a, 64 bits, of the exit status, the signal, a host (may be NULL) and
 * the kind of the last line. */
uint64_t bats_complaint_key(int exit_status, int signal, const char *host,
                            const char *bytes, size_t n);

#endif
