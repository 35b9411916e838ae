/*
 * parameters: the values of a sweep, for the table task.
 *
 * Layer: record, private to the writer. A task keeps its values as a JSON
 * object, in the order of the sweep. A value is a number there if it is one in
 * JSON and fits into 15 digits, so that SQL compares it as one; otherwise it
 * is a text. The view tasks has a column for every name that any session of
 * the record has used.
 */
#ifndef BATS_RECORD_PARAMETERS_H
#define BATS_RECORD_PARAMETERS_H

#include <stddef.h>

#include "record/db.h"

struct bats_parameters {
    char **keys; /* "name": with its colon, as JSON, owned */
    size_t n, room;
    char *text; /* the object built last */
    size_t text_room;
};

/* Sets the names of the values, in order, also in `db`, as
 * bats_record_parameters describes; in an open transaction. */
int bats_parameters_name(struct bats_parameters *parameters,
                         struct bats_db *db, const char *const *names,
                         size_t n, struct bats_error *err);

/* Writes the object of a task with these values; NULL: out of memory. */
const char *bats_parameters_text(struct bats_parameters *parameters,
                                 const char *const *values, size_t n);

void bats_parameters_release(struct bats_parameters *parameters);

#endif
