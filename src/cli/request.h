/*
 * request: a run as requested by the user. Loads the files that the options
 * name, and translates options and files for the layer run.
 *
 * Layer: cli. Used by the verbs run, alloc and sample.
 */
#ifndef BATS_REQUEST_H
#define BATS_REQUEST_H

#include <stdint.h>

#include "cli/options.h"
#include "cli/profiling.h"
#include "input/bagfile.h"
#include "input/profile.h"
#include "run/joining.h"
#include "run/run.h"

/* ---- run --open: a bag that is filled during the run ---- */

struct bats_open_bag {
    struct bats_run_open is;
    char **given; /* recorded submissions of its tasks */
    size_t n, room;
};

/* Call before workers are forked: sets BATS_SOCKET, for them and the
 * driver. */
int bats_open_bag_announce(const struct bats_settings *set,
                           struct bats_error *err);

/* ---- run --welcome: the job side of a run whose worker jobs somebody else
 * starts ----
 *
 * Nothing is bought. Up to `max` machines of each cluster in the clusters file
 * may join; a machine is one rank. A rank that joins gets the next free machine
 * of a cluster whose partition it is in, else of a cluster without a partition.
 * A machine that has left does not come back. A run with a budget charges
 * windows as always. */
struct bats_welcome {
    const struct bats_clusters_file *file;
    bool *taken; /* by machine */
    struct bats_platform platform;
    const struct bats_machine_spec *machines; /* the platform's; the run owns
                                               * them from its start */
    struct bats_joining joining;              /* for the run */
};

/* ---- the request ---- */

/* `options` point into the other members: do not move it. */
struct bats_request {
    struct bats_open_bag open; /* for --open */
    struct bats_run_options options;
    struct bats_choosing choosing;
    struct bats_bagfile *bag;
    struct bats_clusters_file *clusters; /* NULL: the clusters found */
    struct bats_profile profile;         /* with --profile; or, with the */
    struct bats_welcome welcome;         /* with --welcome */
    struct bats_label *tag, *results;    /* for --tagstring, --results */
    uint8_t *once;                       /* by task: never replicate it */
    char *output_dir;                    /* for --output stream; else NULL */
    json_t *settings;                    /* for the record; may grow */
    char *settings_text;                 /* the same as text, for the
                                          * options */
};

/* Sets the policy in `set`, unless the user has. Unless quiet, warns on
 * standard error of likely mistakes. An error ends the program, but leaves
 * *request, which is all zero before, to be released. */
void bats_request_init(struct bats_request *request, enum bats_verb verb,
                       struct bats_settings *set);
void bats_request_release(struct bats_request *request);

/* Copies the present settings into `options`. BATS_ENOMEM. */
int bats_request_settle(struct bats_request *request, struct bats_error *err);

/* Makes the bag of a command and its values. */
struct bats_bagfile *bats_request_sweep(const struct bats_settings *set);

#endif
