/*
 * slurm_options: options of sbatch that a run cannot have its jobs submitted
 * with.
 *
 * Layer: site, private to slurm_jobs.c.
 *
 * Options that only say what a job needs, when it may start or who pays are
 * passed on. Not looked for: an option of two words whose second one begins
 * with a dash, and the name of a script.
 */
#ifndef BATS_SITE_SLURM_OPTIONS_H
#define BATS_SITE_SLURM_OPTIONS_H

/* Why this word of a command line is refused; NULL: it is not. */
const char *bats_slurm_refuses(const char *word);

#endif
