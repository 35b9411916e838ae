/*
 * command: tells a line that needs a shell from one that does not.
 *
 * Layer: exec. Used by runner. Model: a line is run directly if it consists
 * of plain words only (letters, digits and _ . / : = , + @ % -) with blanks
 * between them and the first one is neither an assignment nor a word that a
 * shell would act on itself. Nothing is lost by a "no": the shell runs it.
 */
#ifndef BATS_COMMAND_H
#define BATS_COMMAND_H

/*
 * The words of `line` as an argument vector in one block for free(), or NULL
 * if the line is to be given to a shell (or memory ran out, which the shell
 * may yet do without).
 */
char **bats_command_split(const char *line);

#endif
