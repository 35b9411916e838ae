#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bats_error bats_why;

static struct {
    int (*end)(void *context, int code);
    void *context;
} death;

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

void bats_at_death(int (*end)(void *context, int code), void *context)
{
    death.end = end;
    death.context = context;
}

int bats_must(int rc)
{
    if (rc < 0)
        bats_die(rc, "%s", bats_why.text);
    return rc;
}

void *bats_have(void *memory)
{
    if (memory == NULL)
        bats_must(bats_no_memory(&bats_why));
    return memory;
}

void bats_die(int code, const char *format, ...)
{
    char sentence[sizeof bats_why.text];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    fflush(stdout);
    bats_say(sentence);
    code = bats_exit_of(code);
    exit(death.end != NULL ? death.end(death.context, code) : code);
}
