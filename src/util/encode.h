/*
 * encode: makes untrusted text safe for the place where it is written.
 *
 * Layer: util. Used by everything that writes: commands, names and reasons
 * come from bags, files, records, hosts and the command line, and may hold any
 * byte but NUL. Each place has one rule:
 *
 *   terminal  Printable UTF-8 stays. Control characters become \t \n \r \e
 *             or \xHH, byte by byte; so do bytes that are not UTF-8 and
 *             characters that change the direction of writing. The result is
 *             one line without escape sequences. Backslashes stay: people read
 *             the text, and nothing decodes it.
 *   unicode   Valid UTF-8, for JSON and other formats that require it. A byte B
 *             that is not UTF-8 becomes the character U+EF00 + B, one of U+EF80
 *             to U+EFFF (private use, as in MirBSD's OPTU-8/16). The bytes of
 *             such a character in the input are encoded the same way, so that
 *             bats_encode_undo_unicode restores any text.
 *   CSV       RFC 4180: in quotation marks if it holds one of them, a comma or
 *             an end of line. A text that a spreadsheet would take for a
 *             formula (it begins with = + - @, a tab or a carriage return, and
 *             is not a number) gets an apostrophe in front.
 *   shell     One word of bash, on one line and printable: bare if possible,
 *             else in '...', else in $'...' with the escapes of the terminal.
 *   quoted    One word of any shell, in '...', whatever is in it.
 *
 * Formats without quoting (values of a clusters file, lists of
 * hosts) take plain words only: see bats_encode_is_word.
 */
#ifndef BATS_ENCODE_H
#define BATS_ENCODE_H

#include <stdbool.h>
#include <stddef.h>

enum bats_encoding {
    BATS_ENCODE_TERMINAL,
    BATS_ENCODE_UNICODE,
    BATS_ENCODE_CSV,
    BATS_ENCODE_SHELL,
    BATS_ENCODE_QUOTED,
};

/*
 * Encodes `text` for the place `encoding` into `out`, which has room for
 * `size` bytes with the NUL (0: `out` may be NULL). A result that does not fit
 * is cut between two characters; text for a shell or CSV is then incomplete.
 * Returns the length of the whole result, without the NUL, as snprintf does.
 */
size_t bats_encode(enum bats_encoding encoding, char *out, size_t size,
                   const char *text);

/* The same for the terminal, for use as an argument of printf: returns
 * `out`. */
const char *bats_encode_terminal(char *out, size_t size, const char *text);

/* Restores in place the text that BATS_ENCODE_UNICODE has encoded. */
void bats_encode_undo_unicode(char *text);

/* True if `text` is not empty and consists of letters, digits and ._-+=:,@%/
 * only: it needs no quoting anywhere. */
bool bats_encode_is_word(const char *text);

#endif
