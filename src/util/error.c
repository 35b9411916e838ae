#include "bats/error.h"

#include <stdarg.h>
#include <stdio.h>

int bats_error_set(struct bats_error *err, int code, const char *format, ...)
{
    if (!err)
        return code;
    err->code = code;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (n < 0)
        err->text[0] = '\0';

    /* Sentences quote the user's files: whatever is in there, the sentence
     * stays one line and sends nothing strange to a terminal. */
    for (char *c = err->text; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    }
    return code;
}
