/*
 * args: numbers on the command line of the example applications.
 *
 * Used by som.c and sarsa.c. A value that is not a number, or not in its
 * range, is the user's mistake: one sentence on standard error, exit 2.
 */
#ifndef APPS_ARGS_H
#define APPS_ARGS_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noreturn, format(printf, 2, 3))) static inline void
args_fail(const char *program, const char *format, ...)
{
    va_list ap;

    fprintf(stderr, "%s: ", program);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(2);
}

/* The number in `text`, low <= x <= high. */
static inline double args_real(const char *program, const char *option,
                               const char *text, double low, double high)
{
    char *end;
    double x;

    x = strtod(text, &end);
    if (end == text || *end != '\0' || !(x >= low && x <= high))
        args_fail(program, "--%s: \"%s\" is not a number from %g to %g",
                  option, text, low, high);
    return x;
}

/* The whole number in `text`, low <= n <= high. */
static inline long args_whole(const char *program, const char *option,
                              const char *text, long low, long high)
{
    char *end;
    long n;

    errno = 0;
    n = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || n < low || n > high)
        args_fail(program,
                  "--%s: \"%s\" is not a whole number from %ld to %ld", option,
                  text, low, high);
    return n;
}

#endif
