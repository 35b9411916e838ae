/*
 * command: tells a line that needs a shell from one that does not.
 *
 * Layer: exec. Used by runner. Model: a line is run directly if it consists of
 * plain words only (letters, digits and _ . / : = , + @ % -) with blanks
 * between them and the first one is neither an assignment nor a word that a
 * shell would act on itself. A "no" is always safe: the shell runs the line.
 */
#ifndef BATS_COMMAND_H
#define BATS_COMMAND_H

/*
 * Splits `line` into an argument vector in one block for free(). NULL if a
 * shell has to run the line, or if memory is short, in which case the shell
 * may still succeed.
 */
char **bats_command_split(const char *line);

#endif
