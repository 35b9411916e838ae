/*
 * plantask: the tasks of a plan file, as a shell script.
 *
 * Layer: input, private to plan files. The script of a job makes a directory,
 * runs the commands of nodestart and of main in it, and removes it. In Nimrod,
 * nodestart runs once on a node and main in a copy of its directory; here it
 * runs for every job, with the same result.
 */
#ifndef BATS_SWEEP_PLANTASK_H
#define BATS_SWEEP_PLANTASK_H

#include "input/sweep/points.h"
#include "input/sweep/source.h"
#include "input/sweep/template.h"

#define BATS_PLANTASK_JOBNAME "jobname"

/* True if the word stands for the number of the job: jobname, jobindex or, as
 * some write them, nimrod_jobname and nimrod_jobindex. */
bool bats_plantask_is_number(const char *word);

/* Reads the tasks in `source`, from its position on, and skips everything
 * else. `points` has the names of the values. */
void bats_plantask_read(struct bats_source *source,
                        const struct bats_points *points,
                        struct bats_template *script);

#endif
