/*
 * client: what the parts of bats-submit share. connection.c speaks with the run
 * and ends the program with a sentence if that fails; script.c makes commands
 * of scripts.
 */
#ifndef BATS_CLIENT_H
#define BATS_CLIENT_H

#include <stdbool.h>

#include "util/text.h"

#define BATS_CLIENT_REFUSED 2
#define BATS_CLIENT_NO_RUN 3

/* Prints the sentence, and ends the program. */
void bats_client_die(int code, const char *format, const char *what)
    __attribute__((noreturn));

/* Connects to the socket at `path`; NULL: at BATS_SOCKET. */
void bats_client_join(const char *path);
void bats_client_say(const struct bats_text *text);

/* The next line, without its end. False: a signal came. */
bool bats_client_hear(struct bats_text *line);

/* Replaces `text`, a request, by its answer. A refusal ends the program. */
void bats_client_ask(struct bats_text *text);

/* Copies the output behind a line to where the task has written it. */
void bats_client_copy(long stream, long n);

/* The bytes of a file that begins with "#!", for free(); or NULL. */
char *bats_client_script(const char *path);

/* The properties of a job script of Snakemake; NULL: it is none. */
char *bats_client_properties(char *script);

/* The script as a command, for free(): its interpreter runs its text, for the
 * file may be gone when the task begins. The comments at its head are left out.
 * Jobs of Snakemake wait for the directory of their script. */
char *bats_client_command(char *script, int n, char **words,
                          bool is_snakemake);

#endif
