/*
 * planfile: plan files, in which the users of Nimrod write their sweeps.
 *
 * Layer: input, used by sweep.c. Sources: Buyya et al., "Scheduling parameter
 * sweep applications on global Grids", figure 9, for the first dialect
 * (execute, substitute; statements may end with a semicolon), and the grammar
 * of the later Nimrod/G for the second one (exec, shexec, redirect, onerror,
 * variables and jobs). Both may be mixed. src/doc/sweeps.md describes the
 * language.
 *
 * The parameters become axes. The commands of the task main, after those of
 * nodestart, become a shell script. Its directory on the node is temporary,
 * `node:`; the directory of the run is `root:`.
 */
#ifndef BATS_SWEEP_PLANFILE_H
#define BATS_SWEEP_PLANFILE_H

#include "input/sweep/points.h"
#include "input/sweep/template.h"

/* Reads the plan in `text`, which messages call `name`. *warnings: lines about
 * likely mistakes, to be freed, or NULL. Adds axes to `points`, which stays
 * open. BATS_EINPUT: "name:line:column: expected ..., found ...";
 * BATS_ENOMEM. */
int bats_planfile_read(const char *name, const char *text,
                       struct bats_points *points,
                       struct bats_template *script, char **warnings,
                       struct bats_error *err);

/* True if `text` is a shell script with lines "#BATS parameter ...": it begins
 * with "#!", and has at least one such line. */
bool bats_planfile_in_script(const char *text);

/* Reads these lines; errors as above. */
int bats_planfile_read_script(const char *name, const char *text,
                              struct bats_points *points,
                              struct bats_error *err);

#endif
