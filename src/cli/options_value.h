/*
 * options_value: the value of one option, from text to its place in struct
 * bats_settings.
 *
 * Layer: cli. Used by options, for the command line and BATS_BUDGET.
 */
#ifndef BATS_OPTIONS_VALUE_H
#define BATS_OPTIONS_VALUE_H

#include "cli/options.h"

/* Stores `text`, which must outlive *settings, where `option` keeps its value;
 * a flag has no text. BATS_EINPUT: an invalid value; the sentence names the
 * option. */
int bats_option_store(const struct bats_option *option, const char *text,
                      struct bats_settings *settings, struct bats_error *err);

/* The same for a budget, without a name in the sentence. Only
 * BATS_OPTION_BUDGET accepts "account": a plan belongs to no job. */
int bats_option_budget(enum bats_option_kind kind, const char *text,
                       struct bats_settings *settings, struct bats_error *err);

#endif
