#include "bats/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "util/encode.h"

int bats_error_set(struct bats_error *err, int code, const char *format, ...)
{
    if (!err)
        return code;
    err->code = code;
    char raw[sizeof err->text] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    /* Sentences quote untrusted text. */
    bats_encode(BATS_ENCODE_TERMINAL, err->text, sizeof err->text, raw);
    return code;
}
