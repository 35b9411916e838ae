/* report_fixture: the platform of the tests of reports and progress. */
#ifndef BATS_REPORT_FIXTURE_H
#define BATS_REPORT_FIXTURE_H

#include "report/report.h"

/* 2 slow machines of 1 slot, 2 fast ones of 4 slots. */
static struct bats_machine_spec machines[] = {{0, 1}, {0, 1}, {1, 4}, {1, 4}};

static struct bats_platform platform = {
    .clusters = {{"slow", 3 * BATS_UNIT, 2}, {"fast", 12500000, 2}},
    .speed = {1, 1},
    .n_clusters = 2,
    .machines = machines,
    .n_machines = 4,
    .window = BATS_HOUR,
    .currency = "SU",
};

#endif
