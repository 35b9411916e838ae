/*
 * open: run --open, a bag that is filled during the run.
 * Layer: cli. Used by request.
 */
#ifndef BATS_CLI_OPEN_H
#define BATS_CLI_OPEN_H

#include "cli/options.h"
#include "run/run.h"

struct bats_open_bag {
    struct bats_run_open is;
    char **given; /* recorded submissions of its tasks */
    size_t n, room;
};

/* Call before workers are forked: sets BATS_SOCKET, for them and the
 * driver. */
int bats_open_bag_announce(const struct bats_settings *set,
                           struct bats_error *err);

/* Makes the bag, with the tasks of the sessions that the run resumes. An error
 * ends the program. */
void bats_open_bag_load(const struct bats_settings *set,
                        struct bats_bagfile **bag, struct bats_open_bag *open);
void bats_open_bag_release(struct bats_open_bag *open);

#endif
