/*
 * open: run --open, a bag that is filled while it runs.
 * Layer: cli. Used by request.
 */
#ifndef BATS_CLI_OPEN_H
#define BATS_CLI_OPEN_H

#include "cli/options.h"
#include "run/run.h"

struct bats_open_bag {
    struct bats_run_open is;
    char **given; /* of tasks that the record has */
    size_t n, room;
};

/* Before workers are forked: BATS_SOCKET, for them and the driver. */
int bats_open_bag_announce(const struct bats_settings *set,
                           struct bats_error *err);

/* The bag, with the tasks of the sessions that the run resumes. */
int bats_open_bag_load(const struct bats_settings *set,
                       struct bats_bagfile **bag, struct bats_open_bag *open,
                       struct bats_error *err);
void bats_open_bag_release(struct bats_open_bag *open);

#endif
