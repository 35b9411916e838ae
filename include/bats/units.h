/*
 * units: virtual time, money and bytes as 64-bit integers, and as text; other
 * numbers as text.
 * Layer: util. Virtual time is the scheduler's time: in a time-compressed run
 * it passes faster than the wall clock. Additions are checked; a sum that does
 * not fit is an error, never a wrap.
 */
#ifndef BATS_UNITS_H
#define BATS_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"

typedef int64_t bats_time;  /* microseconds of virtual time */
typedef int64_t bats_money; /* millionths of the currency unit */

#define BATS_SECOND ((bats_time)1000000)
#define BATS_MINUTE (60 * BATS_SECOND)
#define BATS_HOUR (60 * BATS_MINUTE)
#define BATS_NEVER INT64_MAX /* a time that never comes */
/* the sum of two such times never wraps */
#define BATS_LONGEST (INT64_MAX / 4)

#define BATS_UNIT ((bats_money)1000000) /* one unit of the currency */
#define BATS_UNLIMITED INT64_MAX        /* a budget without a limit */

/* Longest text of the format functions, with the final NUL. */
#define BATS_UNITS_TEXT 48

/* *sum = a + b; false (and *sum untouched) if it does not fit. */
bool bats_units_add(int64_t a, int64_t b, int64_t *sum);

/* *product = a * b; false (and *product untouched) if it does not fit. */
bool bats_units_multiply(int64_t a, int64_t b, int64_t *product);

/*
 * Reads a duration: seconds ("90", "0.25"), a sum of numbers with units
 * ("15m", "1h30m", "3.75m", "250ms"; units d h m s ms us, each at most once,
 * largest first) or Slurm's clock forms ("MM:SS", "HH:MM:SS", "D-HH",
 * "D-HH:MM", "D-HH:MM:SS"). Rounded to the nearest microsecond. Negative,
 * empty or anything else: BATS_EINPUT with a sentence that quotes the text.
 */
int bats_duration_parse(const char *text, bats_time *duration,
                        struct bats_error *err);

/* A duration above 0. */
int bats_period_parse(const char *text, bats_time *period,
                      struct bats_error *err);

/* Writes `duration` for people, two units at most: "4h40m", "15m", "3.2s",
 * "250ms"; BATS_NEVER is "never". The text fits BATS_UNITS_TEXT. Returns
 * `text`. */
const char *bats_duration_format(char text[BATS_UNITS_TEXT],
                                 bats_time duration);

/*
 * Reads a decimal amount of money ("3", "0.085", "1e3" is refused), at most
 * six digits after the point, not negative. BATS_EINPUT otherwise, or
 * BATS_EOVERFLOW.
 */
int bats_money_parse(const char *text, bats_money *amount,
                     struct bats_error *err);

/* Writes `amount` exactly, as a decimal without needless zeros ("2034",
 * "0.085"); BATS_UNLIMITED is "unlimited". Returns `text`. */
const char *bats_money_format(char text[BATS_UNITS_TEXT], bats_money amount);

/* Parses a number of bytes: a whole number, optionally followed by K, M or G
 * (1024, its square, its cube), above 0. BATS_EINPUT otherwise. */
int bats_size_parse(const char *text, int64_t *bytes, struct bats_error *err);

/* Writes `bytes` exactly, with the largest of these letters that leaves a
 * whole number ("10M", "1000"). Returns `text`. */
const char *bats_size_format(char text[BATS_UNITS_TEXT], int64_t bytes);

/* Reads a whole number in 0 .. 2^63 - 1 without a sign. BATS_EINPUT, or
 * BATS_EOVERFLOW. */
int bats_count_parse(const char *text, uint64_t *count,
                     struct bats_error *err);

/* Reads a whole number in least .. most. BATS_EINPUT otherwise. */
int bats_count_within(const char *text, uint32_t least, uint32_t most,
                      uint32_t *count, struct bats_error *err);

/* Reads a decimal number above 0 ("0.25", "1e3"). BATS_EINPUT otherwise. */
int bats_factor_parse(const char *text, double *factor,
                      struct bats_error *err);

/* Reads a percentage from 0% to 100%: "30%" is 0.3. False: not a
 * percentage. */
bool bats_share_parse(const char *text, double *share);

/* Parses "yes" or "no". BATS_EINPUT. */
int bats_yes_parse(const char *text, bool *yes, struct bats_error *err);

#endif
