/*
 * ask: runs a command of the batch system and returns its output.
 * Layer: site, private to it.
 */
#ifndef BATS_SITE_ASK_H
#define BATS_SITE_ASK_H

#include "bats/error.h"

/*
 * Runs argv (NULL-terminated, looked up in PATH) without standard input, with
 * `variable` ("NAME=value"; NULL: none) added to its environment, and returns
 * its standard output in one block for free(). BATS_EINPUT: there is no such
 * command; BATS_ESYS, with its first line of standard error if there is one: it
 * cannot be started, fails, or takes longer than ten seconds.
 */
int bats_ask(const char *const *argv, const char *variable, char **answer,
             struct bats_error *err);

#endif
