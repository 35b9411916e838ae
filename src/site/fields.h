/*
 * fields: parses the output of scontrol -o: "Key=value" separated by blanks,
 * one line per item.
 * Layer: site, private to it.
 */
#ifndef BATS_SITE_FIELDS_H
#define BATS_SITE_FIELDS_H

#include <stddef.h>

/* The text after the next " key=" in [at, end), or NULL. */
const char *bats_field_find(const char *at, const char *end, const char *key);

/* Copies the value at `at` (NULL: none), up to a blank; "" for none, as Slurm
 * writes it, and for a value too long for `size`. */
void bats_field_copy(const char *at, char *value, size_t size);

/* Both. */
void bats_field_get(const char *at, const char *end, const char *key,
                    char *value, size_t size);

const char *bats_field_line_end(const char *line);

#endif
