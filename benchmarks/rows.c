/*
 * rows: what the run record does for each task, beside nothing else.
 *
 *   rows FILE TASKS GROUP
 *
 * Writes a record of TASKS tasks that take no time, with a commit after each
 * GROUP of them. For callgrind: what counts is bats_rows and all it calls.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bats/policy.h"
#include "bats/sched.h"
#include "record/write/record.h"

void bats_rows(struct bats_record *record, uint32_t tasks, uint32_t group);

static struct bats_error err;

static void must(int rc)
{
    if (rc < 0) {
        fprintf(stderr, "rows: %s\n", err.text);
        exit(1);
    }
}

/* As the master does it when a result comes and the next task goes. */
void bats_rows(struct bats_record *record, uint32_t tasks, uint32_t group)
{
    for (uint32_t task = 0; task < tasks; task++) {
        bats_time now = BATS_SECOND + 7 * (bats_time)task;
        struct bats_record_attempt attempt = {
            .task = task,
            .attempt = 1,
            .host = "node-0042",
            .usage.start_us = 1700000000000000 + now,
            .usage.wall_us = 3,
            .stream = -1,
        };
        struct bats_event done = {
            .type = BATS_EVENT_DONE, .task = task, .runtime = 3};
        struct bats_command run = {.type = BATS_COMMAND_RUN,
                                   .task = (task + 1) % tasks};
        must(bats_record_event(record, now, &done, &err));
        must(bats_record_attempt(record, now, &attempt, &err));
        must(bats_record_command(record, now, &run, &err));
        if (task % group == group - 1)
            must(bats_record_commit(record, &err));
    }
}

int main(int argc, char **argv)
{
    static const struct bats_cluster cluster = {.name = "all",
                                                .max = UINT32_MAX};
    static const struct bats_machine_spec machine = {.slots = 1};
    static const char *const hosts[] = {"node-0042"};
    struct bats_sched_options engine = {
        .policy = &bats_policy_rr,
        .budget = BATS_UNLIMITED,
        .window = BATS_HOUR,
        .clusters = &cluster,
        .n_clusters = 1,
        .machines = &machine,
        .n_machines = 1,
    };
    struct bats_record_session session = {
        .bag = "bag",
        .version = "0",
        .time_scale = 1,
        .engine = &engine,
        .hosts = hosts,
    };
    struct bats_record *record;
    uint32_t tasks = argc == 4 ? (uint32_t)atol(argv[2]) : 0;
    uint32_t group = argc == 4 ? (uint32_t)atol(argv[3]) : 0;

    if (group == 0) {
        fprintf(stderr, "usage: rows FILE TASKS GROUP\n");
        return 2;
    }
    must(bats_record_create(argv[1], &record, &err));
    for (uint32_t task = 0; task < tasks; task++)
        must(bats_record_task(record, task, task + 1, "@sleep 0", NULL, &err));
    must(bats_record_match(record, &err));
    must(bats_record_begin(record, &session, &err));
    bats_rows(record, tasks, group);
    must(bats_record_close(record, &err));
    return 0;
}
