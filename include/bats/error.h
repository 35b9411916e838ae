/*
 * error: a failure as a code and one sentence for people.
 *
 * Layer: util. Used by every module: functions that can fail return 0 or a
 * negative enum bats_errcode and take a struct bats_error as last parameter.
 * On failure they change nothing else.
 */
#ifndef BATS_ERROR_H
#define BATS_ERROR_H

#include <stdint.h>

enum bats_errcode {
    BATS_OK = 0,
    BATS_EINPUT = -1,    /* the user's input is wrong (exit code 2) */
    BATS_ENOMEM = -2,    /* out of memory */
    BATS_EOVERFLOW = -3, /* time or money does not fit 64 bits */
    BATS_ESTATE = -4,    /* an event that cannot happen in this state */
    BATS_EPROTO = -5,    /* a malformed message */
    BATS_ESYS = -6,      /* the operating system or a library failed */
    BATS_EBUDGET = -7,   /* no schedule fits the budget (exit code 4) */
    BATS_EDEADLINE = -8  /* no schedule ends by the deadline (exit code 5) */
};

/* Filled in on failure. `text` is one sentence without a final newline; for
 * wrong input it begins with "file:line: ". */
struct bats_error {
    int code;
    char text[512];
};

/*
 * Records `code` and the formatted sentence in `err` (which may be NULL) and
 * returns `code`, so that a failing function can `return bats_error_set(...)`.
 */
int bats_error_set(struct bats_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for wrong user input. */
#define bats_refuse(err, ...) bats_error_set(err, BATS_EINPUT, __VA_ARGS__)

/* The same with BATS_EINPUT, and "file:line: " before the sentence; "file: "
 * if the line is 0. A very long name is truncated. */
int bats_error_at(struct bats_error *err, const char *file, uint64_t line,
                  const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* BATS_EINPUT, with "file: " and the sentence for errno. */
int bats_error_file(struct bats_error *err, const char *file);

/* Prefixes the sentence in `err` (may be NULL), set by a function that
 * returned `code`, with text that names the wrong input, and returns
 * BATS_EINPUT. If `code` is 0 or BATS_ENOMEM, changes nothing and returns
 * it. */
int bats_error_prefix(struct bats_error *err, int code, const char *format,
                      ...) __attribute__((format(printf, 3, 4)));

/* BATS_ENOMEM, "out of memory". */
int bats_no_memory(struct bats_error *err);

#endif
