/*
 * submission: the request of a client to an open bag for a task (open.h).
 *
 * Layer: run. Used by open.c. A request is a JSON object with the fields of
 * src/doc/open.md. Snakemake's `properties`, from its job scripts, fill in the
 * fields that the client leaves out.
 */
#ifndef BATS_SUBMISSION_H
#define BATS_SUBMISSION_H

#include <jansson.h>
#include <stdbool.h>

#include "bats/need.h"
#include "bats/units.h"
#include "util/text.h"

struct bats_submission {
    const char *key, *class; /* of the request; NULL: none */
    bool repeats;            /* the key is valid only until its task has ended;
                              * a task of an earlier session begins when a
                              * client asks for it */
    const json_t *after; /* numbers of tasks to wait for; NULL: none. All must
                          * be done */
    const json_t *after_any; /* or, for these, have ended */
    struct bats_need need;
};

/* Replaces the properties of the request by the fields they stand for, and
 * reads all fields but the command. `usual`: default needs. BATS_EINPUT: a
 * field is wrong. */
int bats_submission_read(json_t *request, const struct bats_need *usual,
                         struct bats_submission *submission,
                         struct bats_error *err);

/* Appends the command to `command`, with the client's directory and variables.
 * BATS_EINPUT: it is not a text. */
int bats_submission_command(const json_t *request, struct bats_text *command,
                            struct bats_error *err);

/* The JSON to record beside the command, for free(); NULL: nothing. *ok is
 * false if memory is short. bats_submission_read reads it again. */
char *bats_submission_given(const json_t *request, bool *ok);

#endif
