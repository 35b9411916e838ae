/*
 * options_value: the value of one option, from text to its place in struct
 * bats_settings.
 *
 * Layer: cli. Used by options, for the command line and BATS_BUDGET.
 */
#ifndef BATS_OPTIONS_VALUE_H
#define BATS_OPTIONS_VALUE_H

#include "cli/options.h"

/* Puts `text`, which has to outlive *settings, where `option` is kept; a flag
 * has no text. BATS_EINPUT: it is not such a value; the sentence names the
 * option. */
int bats_option_store(const struct bats_option *option, const char *text,
                      struct bats_settings *settings, struct bats_error *err);

/* The same for a budget, without a name in the sentence. Only
 * BATS_OPTION_BUDGET may be the account's: a plan belongs to no job. */
int bats_option_budget(enum bats_option_kind kind, const char *text,
                       struct bats_settings *settings, struct bats_error *err);

#endif
