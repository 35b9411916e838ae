/*
 * submission: the request of a client to an open bag for a task (open.h).
 *
 * Layer: run. Used by open.c. A request is a JSON object with the fields of
 * src/doc/open.md. Those of `properties`, which Snakemake writes into its job
 * scripts, count where the client says nothing else.
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
    bool repeats;            /* the key is that of a task only until this has
                              * ended; one of an earlier session begins when
                              * somebody asks for it */
    const json_t *after; /* a list of numbers of tasks; NULL: none. It begins
                          * when they are done, */
    const json_t *after_any; /* and when these have ended, however */
    struct bats_need need;
};

/* Replaces the properties of the request by the fields that they stand for, and
 * reads all fields but the command. `usual` is what tasks need that do not say
 * it. BATS_EINPUT: a field is wrong. */
int bats_submission_read(json_t *request, const struct bats_need *usual,
                         struct bats_submission *submission,
                         struct bats_error *err);

/* The command, with the directory and the variables of the client, is added to
 * `command`. BATS_EINPUT: it is no text. */
int bats_submission_command(const json_t *request, struct bats_text *command,
                            struct bats_error *err);

/* The JSON that is recorded beside the command, for free(); NULL: nothing. *ok
 * is false if memory is short. bats_submission_read reads it again. */
char *bats_submission_given(const json_t *request, bool *ok);

#endif
