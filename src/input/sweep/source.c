#include "input/sweep/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\f"

void bats_source_release(struct bats_source *s)
{
    bats_text_release(&s->word);
    bats_text_release(&s->warnings);
}

/* ---- messages ---- */

/* Writes "name:line:column: ". */
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

/* Puts the source at its end, because of this error. */
static void stop(struct bats_source *s, int rc)
{
    if (rc == 0)
        return;
    s->rc = rc;
    s->at += strlen(s->at);
    s->token.kind = BATS_TOKEN_EOF;
    s->token.value = "";
}

void bats_source_check(struct bats_source *s, bool has_memory)
{
    if (s->rc == 0 && !has_memory)
        stop(s, bats_no_memory(s->err));
}

void bats_source_refuse(struct bats_source *s, const char *format, ...)
{
    char where[300], sentence[300];
    va_list arguments;
    if (s->rc < 0)
        return;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    say_where(s, s->token.at, where, sizeof where);
    stop(s, bats_refuse(s->err, "%s%s", where, sentence));
}

void bats_source_expected(struct bats_source *s, const char *what)
{
    if (s->token.kind == BATS_TOKEN_EOF)
        bats_source_refuse(s, "expected %s, found the end of the file", what);
    else if (s->token.kind == BATS_TOKEN_END)
        bats_source_refuse(s, "expected %s, found the end of the statement",
                           what);
    else
        bats_source_refuse(s, "expected %s, found '%.60s'", what,
                           s->token.value);
}

void bats_source_warn(struct bats_source *s, const char *at,
                      const char *format, ...)
{
    char where[300], sentence[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    say_where(s, at, where, sizeof where);
    bats_text_format(&s->warnings, "%s%s\n", where, sentence);
    bats_source_check(s, !s->warnings.failed);
}

/* ---- comments ---- */

static size_t newline_at(const char *at)
{
    return at[0] == '\n' ? 1 : at[0] == '\r' && at[1] == '\n' ? 2 : 0;
}

/* The end of the comment that begins at the current position, or NULL. */
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

/* Empties the word; its bytes are then not NULL. */
static void begin_word(struct bats_source *s)
{
    bats_text_cut(&s->word, 0);
    bats_text_add(&s->word, "");
}

static void end_word(struct bats_source *s)
{
    s->token.value = s->word.bytes;
    bats_source_check(s, !s->word.failed);
}

/* Reads an escape of C after its backslash; \0 stays as written. */
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

static void read_quoted(struct bats_source *s)
{
    char quote = *s->at++;
    while (*s->at != quote) {
        if (*s->at == '\0' || *s->at == '\n') {
            bats_source_refuse(s, "this quote is not closed");
            return;
        }
        char c = *s->at++;
        if (c == '\\' && quote == '"' && *s->at != '\0' && *s->at != '\n')
            c = read_escape(s);
        bats_text_put(&s->word, &c, 1);
    }
    s->at++;
}

static void read_word(struct bats_source *s)
{
    begin_word(s);
    while (*s->at != '\0' && strchr(BLANKS "\n;", *s->at) == NULL) {
        if (*s->at == '\\' && newline_at(s->at + 1) > 0)
            break;
        if (*s->at == '"' || *s->at == '\'')
            read_quoted(s);
        else
            bats_text_put(&s->word, s->at++, 1);
    }
    if (s->rc == 0)
        end_word(s);
}

enum bats_token_kind bats_source_next(struct bats_source *s)
{
    if (s->rc < 0)
        return BATS_TOKEN_EOF;
    skip_blanks(s);
    s->token = (struct bats_token){.at = s->at, .value = ""};
    if (*s->at == '\0' && s->open != NULL) {
        s->token.at = s->open;
        bats_source_refuse(s, "this comment is not closed");
    } else if (*s->at == '\0') {
        s->token.kind = BATS_TOKEN_EOF;
    } else if (*s->at == '\n' || *s->at == ';') {
        s->at++;
        s->token.kind = BATS_TOKEN_END;
    } else {
        s->token.kind = *s->at == '"' || *s->at == '\'' ? BATS_TOKEN_STRING
                                                        : BATS_TOKEN_WORD;
        read_word(s);
    }
    return s->token.kind;
}

/* ---- lines for a shell ---- */

/* Removes surrounding blanks and one semicolon at the end. */
static void trim(char *word, size_t n)
{
    while (n > 0 && strchr(BLANKS, word[n - 1]) != NULL)
        n--;
    if (n > 0 && word[n - 1] == ';' && (n < 2 || word[n - 2] != ';'))
        n--;
    word[n] = '\0';
}

void bats_source_rest(struct bats_source *s)
{
    char quote = '\0';
    if (s->rc < 0)
        return;
    begin_word(s);
    skip_blanks(s);
    s->token = (struct bats_token){.kind = BATS_TOKEN_STRING, .at = s->at};
    while (*s->at != '\0' && *s->at != '\n') {
        size_t n = s->word.n;
        bool begins = n == 0 || strchr(BLANKS, s->word.bytes[n - 1]) != NULL;
        const char *comment =
            quote == '\0' && begins ? skip_comment(s, false) : NULL;
        size_t newline = *s->at == '\\' ? newline_at(s->at + 1) : 0;
        if (comment != NULL) {
            s->at = comment;
        } else if (newline > 0) {
            s->at += 1 + newline;
            bats_text_add(&s->word, " ");
        } else {
            if (*s->at == quote)
                quote = '\0';
            else if (quote == '\0' && (*s->at == '"' || *s->at == '\''))
                quote = *s->at;
            bats_text_put(&s->word, s->at++, 1);
        }
    }
    s->at += *s->at == '\n';
    if (!s->word.failed)
        trim(s->word.bytes, s->word.n);
    if (!s->word.failed && s->word.bytes[0] == '\0')
        s->token.kind = BATS_TOKEN_END;
    end_word(s);
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

void bats_source_expect(struct bats_source *s, const char *word)
{
    char what[40];
    bats_source_next(s);
    snprintf(what, sizeof what, "'%s'", word);
    if (!bats_source_is(s, word))
        bats_source_expected(s, what);
}

void bats_source_end(struct bats_source *s, const char *what)
{
    bats_source_next(s);
    if (!bats_source_ends(s))
        bats_source_expected(s, what);
}
