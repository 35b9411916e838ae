/*
 * planfile: plan files, in which the users of Nimrod write their sweeps.
 *
 * Layer: input, used by sweep.c. Sources: Buyya et al., "Scheduling parameter
 * sweep applications on global Grids", figure 9, and the grammar of the later
 * Nimrod/G. src/doc/sweeps.md describes the language.
 *
 * The parameters become axes. The commands of nodestart and of main become a
 * shell script, the same for all points: values are variables of the task, and
 * the commands are functions of the shell (plan.sh). Its directory on the node
 * is temporary, `node:`; the directory of the run is `root:`.
 */
#ifndef BATS_SWEEP_PLANFILE_H
#define BATS_SWEEP_PLANFILE_H

#include "input/sweep/points.h"

/* Reads the plan in `text`, which messages call `name`. Adds axes to `points`,
 * which stays open, and the script to `script`. BATS_EINPUT: "name:line:
 * expected ..., found ..."; BATS_ENOMEM. */
int bats_planfile_read(const char *name, const char *text,
                       struct bats_points *points, struct bats_text *script,
                       struct bats_error *err);

/* True if `text` is a shell script with lines "#BATS parameter ...": it begins
 * with "#!", and has at least one such line. */
bool bats_planfile_in_script(const char *text);

/* Reads these lines; errors as above. */
int bats_planfile_read_script(const char *name, const char *text,
                              struct bats_points *points,
                              struct bats_error *err);

#endif
