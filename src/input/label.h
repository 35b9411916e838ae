/*
 * label: a text with replacement strings, as in --tagstring 'run {1}', filled
 * in for each task of a bag.
 *
 * Layer: input. Used by cli for --tagstring, and by the master for --results.
 * The strings are those of commands (sweep/template.h), except {%}; values are
 * not quoted. In a bag that is not a sweep, a task has one value: its command.
 */
#ifndef BATS_LABEL_H
#define BATS_LABEL_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"
#include "input/bagfile.h"

struct bats_label; /* opaque */

/* `bag` must outlive the label. BATS_EINPUT: {%}; BATS_ENOMEM. */
int bats_label_create(const char *text, const struct bats_bagfile *bag,
                      struct bats_label **label, struct bats_error *err);
void bats_label_destroy(struct bats_label *label);

/* True if the label has a replacement string. */
bool bats_label_varies(const struct bats_label *label);

/* The text for task i, valid until the next call; NULL: out of memory. */
const char *bats_label_of(struct bats_label *label, uint32_t i);

/* Checks texts that are names of directories: BATS_EINPUT if two tasks have
 * the same one, or a task has none. */
int bats_label_check_directories(struct bats_label *label,
                                 struct bats_error *err);

#endif
