/*
 * terminal: whether a person watches standard error, and the width of the
 * screen.
 *
 * Layer: report. mpirun gives every process pipes and copies their contents to
 * its own terminal, so rank 0 looks at the parent's descriptor if the parent
 * is mpirun. srun starts tasks from a daemon that has no terminal, so the user
 * must ask for progress (--progress).
 */
#ifndef BATS_TERMINAL_H
#define BATS_TERMINAL_H

/* Opens the terminal behind descriptor `fd` (1 or 2) of this process; -1
 * without one, or if it cannot redraw a line. The caller closes it. */
int bats_terminal_open(int fd);

/* Columns of the terminal; 80 if unknown or `terminal` is -1. */
int bats_terminal_columns(int terminal);

/* The same for the terminal behind `fd`. */
int bats_terminal_width(int fd);

#endif
