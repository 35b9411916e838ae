#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int bats_exit_of(int code)
{
    switch (code) {
    case 0:
        return BATS_EXIT_OK;
    case BATS_EINPUT:
        return BATS_EXIT_USAGE;
    case BATS_EBUDGET:
        return BATS_EXIT_BUDGET;
    case BATS_EDEADLINE:
        return BATS_EXIT_DEADLINE;
    default:
        return BATS_EXIT_SYSTEM;
    }
}

void bats_say(const char *sentence)
{
    bats_tell("%s", sentence);
}

int bats_complain(const struct bats_error *err)
{
    bats_say(err->text);
    return bats_exit_of(err->code);
}

int bats_flush(struct bats_error *err)
{
    return fflush(stdout) == 0 && !ferror(stdout)
               ? 0
               : bats_error_set(err, BATS_ESYS, "standard output: %s",
                                strerror(errno));
}
