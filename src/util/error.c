#include "bats/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/encode.h"

/* longest file name shown, bytes: leaves room for the sentence */
#define FILE_SHOWN 250

/* Encodes the sentence: it may quote untrusted text. */
static int set(struct bats_error *err, int code, const char *prefix,
               const char *format, va_list args)
{
    if (!err)
        return code;
    char raw[sizeof err->text] = "";
    int n = snprintf(raw, sizeof raw, "%s", prefix);
    if (n < (int)sizeof raw)
        vsnprintf(raw + n, sizeof raw - (size_t)n, format, args);
    err->code = code;
    bats_encode(BATS_ENCODE_TERMINAL, err->text, sizeof err->text, raw);
    return code;
}

int bats_error_set(struct bats_error *err, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(err, code, "", format, args);
    va_end(args);
    return code;
}

int bats_error_at(struct bats_error *err, const char *file, uint64_t line,
                  const char *format, ...)
{
    char at[FILE_SHOWN + 30];
    va_list args;
    if (line > 0)
        snprintf(at, sizeof at, "%.*s:%" PRIu64 ": ", FILE_SHOWN, file, line);
    else
        snprintf(at, sizeof at, "%.*s: ", FILE_SHOWN, file);
    va_start(args, format);
    set(err, BATS_EINPUT, at, format, args);
    va_end(args);
    return BATS_EINPUT;
}

int bats_error_file(struct bats_error *err, const char *file)
{
    return bats_error_at(err, file, 0, "%s", strerror(errno));
}

int bats_error_prefix(struct bats_error *err, int code, const char *format,
                      ...)
{
    if (code == 0 || code == BATS_ENOMEM)
        return code;
    if (!err)
        return BATS_EINPUT;
    char sentence[sizeof err->text], prefix[sizeof err->text];
    va_list args;
    strcpy(sentence, err->text);
    va_start(args, format);
    vsnprintf(prefix, sizeof prefix, format, args);
    va_end(args);
    return bats_refuse(err, "%s%s", prefix, sentence);
}

int bats_no_memory(struct bats_error *err)
{
    return bats_error_set(err, BATS_ENOMEM, "out of memory");
}
