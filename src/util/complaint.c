#include "util/complaint.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "util/hash.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

static bool is_blank(char c)
{
    return c == '\0' || isspace((unsigned char)c);
}

const char *bats_complaint_line(char line[BATS_COMPLAINT_LINE],
                                const char *bytes, size_t n)
{
    size_t begin, room = BATS_COMPLAINT_LINE - 1;
    while (n > 0 && is_blank(bytes[n - 1]))
        n--;
    for (begin = n;
         begin > 0 && bytes[begin - 1] != '\n' && bytes[begin - 1] != '\r';)
        begin--;
    while (begin < n && is_blank(bytes[begin]))
        begin++;
    n = n - begin < room ? n - begin : room;
    for (size_t i = 0; i < n; i++)
        line[i] = bytes[begin + i] == '\0' ? ' ' : bytes[begin + i];
    line[n] = '\0';
    return line;
}

const char *bats_complaint_kind(char kind[BATS_COMPLAINT_LINE],
                                const char *line)
{
    char *to = kind;
    while (*line != '\0') {
        size_t n = strspn(line, LETTERS DIGITS);
        if (strcspn(line, DIGITS) < n) {
            *to++ = '#';
        } else {
            n += n == 0;
            to = mempcpy(to, line, n);
        }
        line += n;
    }
    *to = '\0';
    return kind;
}

uint64_t bats_complaint_key(int exit_status, int signal, const char *host,
                            const char *bytes, size_t n)
{
    char line[BATS_COMPLAINT_LINE], kind[BATS_COMPLAINT_LINE];
    int ends[] = {exit_status, signal};
    uint64_t hash = bats_hash(BATS_HASH, ends, sizeof ends);
    if (host != NULL)
        hash = bats_hash_text(hash, host);
    bats_complaint_kind(kind, bats_complaint_line(line, bytes, n));
    return bats_hash(hash, kind, strlen(kind));
}
