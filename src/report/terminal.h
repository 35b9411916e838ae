/*
 * terminal: is a person watching standard error, and how wide is the screen?
 *
 * Layer: report. mpirun hands every process pipes and copies what comes out of
 * them to its own terminal, so rank 0 looks at the parent's descriptor if the
 * parent is mpirun. srun starts tasks from a daemon that has no terminal:
 * there the user says so (--progress).
 */
#ifndef BATS_TERMINAL_H
#define BATS_TERMINAL_H

/*
 * A descriptor of the terminal behind descriptor `fd` (1 or 2) of this
 * process, or -1 if there is none or it cannot redraw a line. The caller
 * closes it.
 */
int bats_terminal_open(int fd);

/* Its columns; 80 if that is not known or `terminal` is -1. */
int bats_terminal_columns(int terminal);

#endif
