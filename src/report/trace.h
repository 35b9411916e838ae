/*
 * trace: the life of a run, event by event, for people.
 * Layer: report. Used by cli to show a simulated run. Prints one line for each
 * event of a machine or a task and for every decision, with the time and the
 * amount charged so far.
 */
#ifndef BATS_TRACE_H
#define BATS_TRACE_H

#include <stdio.h>

#include "bats/lease.h"
#include "input/platform.h"

struct bats_command;
struct bats_event;
struct bats_sched;

struct bats_trace {
    FILE *out;
    const struct bats_platform *platform;
    struct bats_lease_terms terms;
    bats_money charged;
    size_t n_decisions; /* decisions shown so far */
};

/* For a watch of the simulator; trace: a struct bats_trace, whose charged and
 * n_decisions start as 0. */
void bats_trace_event(void *trace, bats_time now,
                      const struct bats_event *event);
void bats_trace_command(void *trace, bats_time now,
                        const struct bats_command *command);

/* Prints the decisions made since the last call. */
void bats_trace_decisions(void *trace, const struct bats_sched *sched);

#endif
