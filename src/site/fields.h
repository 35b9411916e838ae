/*
 * fields: reads what scontrol -o prints: "Key=value" with blanks between, a
 * line per thing.
 *
 * Layer: site, private to it.
 */
#ifndef BATS_SITE_FIELDS_H
#define BATS_SITE_FIELDS_H

#include <stddef.h>

/* Behind the next " key=" in [at, end), or NULL. */
const char *bats_field_find(const char *at, const char *end, const char *key);

/* The value at `at` (NULL: none), up to a blank; "" for none, as Slurm writes
 * that, and for what is too long for `size`. */
void bats_field_copy(const char *at, char *value, size_t size);

/* Both. */
void bats_field_get(const char *at, const char *end, const char *key,
                    char *value, size_t size);

const char *bats_field_line_end(const char *line);

#endif
