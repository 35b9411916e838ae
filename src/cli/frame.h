/*
 * frame: carries out a verb.
 *
 * Layer: cli. Used by main.
 */
#ifndef BATS_CLI_FRAME_H
#define BATS_CLI_FRAME_H

#include "bats/error.h"
#include "cli/verbs.h"

/* Reads the options, answers --help and carries the verb out. argv[0] is
 * ignored. Reports errors, also those of standard output; returns the exit
 * code. */
int bats_verb_carry_out(enum bats_verb verb, int argc, char **argv);

struct bats_settings;
struct bats_view;

/*
 * The parts of a verb, called once its options are read. `start` starts the
 * ranks itself, and reports *usage, the mistake in the options (code 0: none);
 * it returns the exit code. The others return 0, an error, or above 0 an exit
 * code if everything is said. `check` finds mistakes in the options, and may
 * complete them; `act` does the work; `show` writes the answer from the record
 * that the first argument names.
 */
typedef int bats_verb_start(enum bats_verb verb, struct bats_settings *set,
                            int argc, char **argv, struct bats_error *usage);
typedef int bats_verb_check(struct bats_settings *set, struct bats_error *err);
typedef int bats_verb_act(const struct bats_settings *set,
                          struct bats_error *err);
typedef int bats_verb_show(struct bats_view *view,
                           const struct bats_settings *set,
                           struct bats_error *err);

bats_verb_start cmd_run, cmd_clusters, cmd_worker;
bats_verb_check cmd_history_check, cmd_output_check, cmd_plan_check,
    cmd_record_check;
bats_verb_act cmd_frontier, cmd_history, cmd_output, cmd_plan, cmd_record,
    cmd_simulate, cmd_top;
bats_verb_show cmd_export, cmd_log, cmd_report, cmd_sizes, cmd_status,
    cmd_tasks, cmd_why;

#endif
