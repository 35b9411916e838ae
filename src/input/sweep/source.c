#include "input/sweep/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

#define BLANKS " \t\r\f"

void bats_source_release(struct bats_source *s)
{
    free(s->word);
    free(s->warnings);
    s->word = s->warnings = NULL;
}

/* ---- messages ---- */

/* "name:line:column: " */
static void say_where(const struct bats_source *s, const char *at, char *text,
                      size_t size)
{
    size_t line = 1, column = 1;
    for (const char *c = s->text; c < at; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    snprintf(text, size, "%.200s:%zu:%zu: ", s->name, line, column);
}

int bats_source_refuse(const struct bats_source *s, const char *format, ...)
{
    char where[300], sentence[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    say_where(s, s->token.at, where, sizeof where);
    return bats_error_set(s->err, BATS_EINPUT, "%s%s", where, sentence);
}

int bats_source_expected(const struct bats_source *s, const char *what)
{
    if (s->token.kind == BATS_TOKEN_EOF)
        return bats_source_refuse(s, "expected %s, found the end of the file",
                                  what);
    if (s->token.kind == BATS_TOKEN_END)
        return bats_source_refuse(
            s, "expected %s, found the end of the statement", what);
    return bats_source_refuse(s, "expected %s, found '%.60s'", what,
                              s->token.value);
}

int bats_source_warn(struct bats_source *s, const char *at, const char *format,
                     ...)
{
    char where[300], sentence[300], *all;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    say_where(s, at, where, sizeof where);
    if (asprintf(&all, "%s%s%s\n", s->warnings != NULL ? s->warnings : "",
                 where, sentence) < 0)
        return bats_error_set(s->err, BATS_ENOMEM, "out of memory");
    free(s->warnings);
    s->warnings = all;
    return 0;
}

/* ---- comments ---- */

static size_t newline_at(const char *at)
{
    return at[0] == '\n' ? 1 : at[0] == '\r' && at[1] == '\n' ? 2 : 0;
}

/* The end of the comment that begins here, or NULL. */
static const char *skip_comment(struct bats_source *s, bool hash)
{
    const char *at = s->at;
    if ((hash && at[0] == '#') || (at[0] == '/' && at[1] == '/'))
        return at + strcspn(at, "\n");
    if (at[0] != '/' || at[1] != '*')
        return NULL;
    const char *end = strstr(at + 2, "*/");
    if (end == NULL)
        s->open = at;
    return end != NULL ? end + 2 : at + strlen(at);
}

static void skip_blanks(struct bats_source *s)
{
    for (;;) {
        s->at += strspn(s->at, BLANKS);
        const char *comment = skip_comment(s, true);
        size_t newline = *s->at == '\\' ? newline_at(s->at + 1) : 0;
        if (comment == NULL && newline == 0)
            return;
        s->at = comment != NULL ? comment : s->at + 1 + newline;
    }
}

/* ---- words ---- */

static int no_memory(const struct bats_source *s)
{
    return bats_error_set(s->err, BATS_ENOMEM, "out of memory");
}

static int put(struct bats_source *s, size_t *n, char c)
{
    if (!bats_grow(&s->word, &s->word_room, *n + 2, 1))
        return no_memory(s);
    s->word[(*n)++] = c;
    s->word[*n] = '\0';
    return 0;
}

/* Reads an escape of C after its backslash; a NUL stays as it is written. */
static char read_escape(struct bats_source *s)
{
    static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
    char digits[4] = "";
    const char *known = strchr(from, *s->at);
    size_t n;
    if (known != NULL && *s->at != '\0') {
        s->at++;
        return to[known - from];
    }
    n = strspn(s->at, "01234567");
    n = n < 3 ? n : 3;
    if (n > 0 && *s->at != '0') {
        memcpy(digits, s->at, n);
        s->at += n;
        return (char)strtol(digits, NULL, 8);
    }
    n = *s->at == 'x' ? strspn(s->at + 1, "0123456789abcdefABCDEF") : 0;
    n = n < 2 ? n : 2;
    memcpy(digits, s->at + 1, n);
    if (n > 0 && strtol(digits, NULL, 16) > 0) {
        s->at += 1 + n;
        return (char)strtol(digits, NULL, 16);
    }
    return *s->at++;
}

static int read_quoted(struct bats_source *s, size_t *n)
{
    char quote = *s->at++;
    int rc = 0;
    while (rc == 0 && *s->at != quote) {
        if (*s->at == '\0' || *s->at == '\n')
            return bats_source_refuse(s, "this quote is not closed");
        char c = *s->at++;
        if (c == '\\' && quote == '"' && *s->at != '\0' && *s->at != '\n')
            c = read_escape(s);
        rc = put(s, n, c);
    }
    s->at += rc == 0;
    return rc;
}

static int read_word(struct bats_source *s)
{
    size_t n = 0;
    int rc = bats_grow(&s->word, &s->word_room, 1, 1) ? 0 : no_memory(s);
    if (rc == 0)
        *s->word = '\0';
    while (rc == 0 && *s->at != '\0' && strchr(BLANKS "\n;", *s->at) == NULL) {
        if (*s->at == '\\' && newline_at(s->at + 1) > 0)
            break;
        rc = *s->at == '"' || *s->at == '\'' ? read_quoted(s, &n)
                                             : put(s, &n, *s->at++);
    }
    s->token.value = s->word;
    return rc;
}

int bats_source_next(struct bats_source *s)
{
    skip_blanks(s);
    s->token = (struct bats_token){.at = s->at};
    if (*s->at == '\0' && s->open != NULL) {
        s->token.at = s->open;
        return bats_source_refuse(s, "this comment is not closed");
    }
    if (*s->at == '\0') {
        s->token.kind = BATS_TOKEN_EOF;
        return 0;
    }
    if (*s->at == '\n' || *s->at == ';') {
        s->at++;
        s->token.kind = BATS_TOKEN_END;
        return 0;
    }
    s->token.kind =
        *s->at == '"' || *s->at == '\'' ? BATS_TOKEN_STRING : BATS_TOKEN_WORD;
    return read_word(s);
}

/* ---- lines for a shell ---- */

/* Removes blanks and one semicolon at the end. */
static void trim(char *word, size_t n)
{
    while (n > 0 && strchr(BLANKS, word[n - 1]) != NULL)
        n--;
    if (n > 0 && word[n - 1] == ';' && (n < 2 || word[n - 2] != ';'))
        n--;
    word[n] = '\0';
}

int bats_source_rest(struct bats_source *s)
{
    size_t n = 0;
    char quote = '\0';
    int rc = bats_grow(&s->word, &s->word_room, 1, 1) ? 0 : no_memory(s);
    skip_blanks(s);
    s->token = (struct bats_token){.kind = BATS_TOKEN_STRING, .at = s->at};
    while (rc == 0 && *s->at != '\0' && *s->at != '\n') {
        bool begins = n == 0 || strchr(BLANKS, s->word[n - 1]) != NULL;
        const char *comment =
            quote == '\0' && begins ? skip_comment(s, false) : NULL;
        size_t newline = *s->at == '\\' ? newline_at(s->at + 1) : 0;
        if (comment != NULL) {
            s->at = comment;
        } else if (newline > 0) {
            s->at += 1 + newline;
            rc = put(s, &n, ' ');
        } else {
            if (*s->at == quote)
                quote = '\0';
            else if (quote == '\0' && (*s->at == '"' || *s->at == '\''))
                quote = *s->at;
            rc = put(s, &n, *s->at++);
        }
    }
    s->at += *s->at == '\n';
    if (rc < 0)
        return rc;
    trim(s->word, n);
    s->token.value = s->word;
    if (s->word[0] == '\0')
        s->token.kind = BATS_TOKEN_END;
    return 0;
}

bool bats_source_is(const struct bats_source *s, const char *word)
{
    return s->token.kind == BATS_TOKEN_WORD &&
           strcmp(s->token.value, word) == 0;
}

bool bats_source_ends(const struct bats_source *s)
{
    return s->token.kind == BATS_TOKEN_END || s->token.kind == BATS_TOKEN_EOF;
}

int bats_source_expect(struct bats_source *s, const char *word)
{
    char what[40];
    int rc = bats_source_next(s);
    snprintf(what, sizeof what, "'%s'", word);
    return rc < 0 || bats_source_is(s, word) ? rc
                                             : bats_source_expected(s, what);
}
