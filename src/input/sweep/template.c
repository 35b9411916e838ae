#include "input/sweep/template.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

enum kind { BLANK, ALL, ONE, NUMBER, SLOT };
enum part { WHOLE, STEM, BASE, DIRECTORY, BASE_STEM };

static const struct {
    const char *suffix; /* suffixes of a replacement string; the longest
                         * first */
    enum part part;
} parts[] = {{"//}", DIRECTORY},
             {"/.}", BASE_STEM},
             {"/}", BASE},
             {".}", STEM},
             {"}", WHOLE}};

struct piece {
    size_t end; /* end of the text before it */
    enum kind kind;
    enum part part;
    int64_t position; /* ONE: from 1 on; negative: from the end */
};

struct bats_template {
    struct bats_text text; /* all constant text; `failed`: memory was short,
                            * also for the pieces */
    struct piece *pieces;
    size_t n, room;
    bool quotes_words, quotes_values;
};

/* ---- quoting ---- */

static bool is_plain(const char *bytes, size_t n)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.+/";
    for (size_t i = 0; i < n; i++)
        if (memchr(plain, bytes[i], sizeof plain - 1) == NULL)
            return false;
    return n > 0;
}

/* Writes no empty pair of single quotes at the ends. */
void bats_template_quote(struct bats_text *text, const char *bytes, size_t n)
{
    if (is_plain(bytes, n)) {
        bats_text_put(text, bytes, n);
        return;
    }
    if (n == 0)
        bats_text_add(text, "''");
    for (size_t i = 0; i < n;) {
        const char *quote = memchr(bytes + i, '\'', n - i);
        size_t end = quote != NULL ? (size_t)(quote - bytes) : n;
        if (end > i || (i > 0 && end < n)) {
            bats_text_add(text, "'");
            bats_text_put(text, bytes + i, end - i);
            bats_text_add(text, "'");
        }
        if (end < n)
            bats_text_add(text, "\"'\"");
        i = end + (end < n);
    }
}

/* ---- building ---- */

static void add(struct bats_template *t, struct piece piece)
{
    piece.end = t->text.n;
    if (bats_grow(&t->pieces, &t->room, t->n + 1, sizeof *t->pieces))
        t->pieces[t->n++] = piece;
    else
        t->text.failed = true;
}

struct bats_template *bats_template_new(void)
{
    struct bats_template *t = calloc(1, sizeof *t);
    if (t != NULL)
        bats_text_add(&t->text, "");
    return t;
}

struct bats_text *bats_template_text(struct bats_template *t)
{
    return &t->text;
}

/* ---- compiling ---- */

/* Reads the end of a replacement string. Returns its length in bytes, or 0. */
static size_t read_part(const char *at, enum part *part)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t n = strlen(parts[i].suffix);
        if (strncmp(at, parts[i].suffix, n) != 0)
            continue;
        *part = parts[i].part;
        return n;
    }
    return 0;
}

/* Reads "{2/.}" and similar strings. Perl's rules: blanks may follow the
 * number; 0 is not a number, but -0 is, of a value that does not exist. */
static size_t read_position(const char *at, struct piece *piece)
{
    const char *digits = at + 1 + (at[1] == '-');
    size_t n = strspn(digits, "0123456789");
    const char *rest = digits + n + strspn(digits + n, " \t\n\r\f\v");
    size_t suffix = n > 0 ? read_part(rest, &piece->part) : 0;
    if (suffix == 0)
        return 0;
    int64_t number = n > 9 ? INT32_MAX : atoll(digits);
    piece->kind = number == 0 && n == 1 && at[1] != '-' ? ALL : ONE;
    piece->position = at[1] == '-' ? -number : number;
    if (number == 0)
        piece->position = INT32_MAX;
    return (size_t)(rest - at) + suffix;
}

/* Reads "{name/.}" and similar strings. */
static size_t read_name(const char *at, const struct bats_points *points,
                        size_t width, struct piece *piece)
{
    for (size_t k = 0; k < width; k++) {
        const char *name = bats_points_name(points, k);
        size_t n = name != NULL ? strlen(name) : 0;
        if (n == 0 || strncmp(at + 1, name, n) != 0)
            continue;
        size_t suffix = read_part(at + 1 + n, &piece->part);
        if (suffix == 0)
            continue;
        piece->kind = ONE;
        piece->position = (int64_t)k + 1;
        return 1 + n + suffix;
    }
    return 0;
}

/* Length of the replacement string at `at` (a brace); 0: not a replacement
 * string. */
static size_t read_string(const char *at, const struct bats_points *points,
                          size_t width, struct piece *piece)
{
    size_t n = read_name(at, points, width, piece);
    if (n == 0)
        n = read_position(at, piece);
    if (n > 0)
        return n;
    if (strncmp(at, "{#}", 3) == 0 || strncmp(at, "{%}", 3) == 0) {
        piece->kind = at[1] == '#' ? NUMBER : SLOT;
        return 3;
    }
    n = read_part(at + 1, &piece->part);
    if (n == 0)
        return 0;
    piece->kind = ALL;
    return n + 1;
}

static void compile_word(struct bats_template *t, const char *at,
                         const struct bats_points *points, size_t width)
{
    while (*at != '\0') {
        struct piece piece = {0};
        size_t n = *at == '{' ? read_string(at, points, width, &piece) : 0;
        if (n > 0)
            add(t, piece);
        else
            bats_text_put(&t->text, at, 1);
        at += n > 0 ? n : 1;
    }
}

bool bats_template_varies(const struct bats_template *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->pieces[i].kind > BLANK)
            return true;
    return false;
}

/* True if a replacement string is (part of) the command: only text without
 * blanks, newlines and '=' comes before it. */
static bool begins_command(const struct bats_template *t)
{
    if (t->n == 0 || t->pieces[0].kind == BLANK)
        return false;
    for (size_t k = 0; k < t->pieces[0].end; k++)
        if (strchr(" \t\n=", t->text.bytes[k]) != NULL)
            return false;
    return true;
}

struct bats_template *bats_template_create(const char *const *words, size_t n,
                                           const struct bats_points *points,
                                           enum bats_template_quoting quoting,
                                           bool append)
{
    struct bats_template *t = bats_template_new();
    size_t width = bats_points_width(points);
    if (t == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            add(t, (struct piece){.kind = BLANK});
        compile_word(t, words[i], points, width);
    }
    if (append && !bats_template_varies(t)) {
        if (n > 0)
            add(t, (struct piece){.kind = BLANK});
        add(t, (struct piece){.kind = ALL});
    }
    if (t->text.failed) {
        bats_template_destroy(t);
        return NULL;
    }
    t->quotes_words = quoting == BATS_QUOTE_WORDS;
    t->quotes_values = quoting == BATS_QUOTE_VALUES && !begins_command(t);
    return t;
}

void bats_template_destroy(struct bats_template *t)
{
    if (t == NULL)
        return;
    bats_text_release(&t->text);
    free(t->pieces);
    free(t);
}

/* ---- expanding ---- */

/* The length without the extension: up to the last dot, unless a slash follows
 * it. */
static size_t stem(const char *value, size_t n)
{
    size_t end = n;
    while (end > 0 && value[end - 1] != '.' && value[end - 1] != '/')
        end--;
    return end > 0 && value[end - 1] == '.' ? end - 1 : n;
}

static size_t strip_slashes(const char *value, size_t n)
{
    while (n > 1 && value[n - 1] == '/')
        n--;
    return n;
}

/* The directory as by dirname of Perl's File::Basename. Returns its length,
 * with "." for an empty one. */
static size_t directory(const char *value, size_t n)
{
    size_t base = n;
    while (base > 0 && value[base - 1] != '/')
        base--;
    bool ends_with_slash = base == n;
    size_t length = strip_slashes(value, base);
    if (!ends_with_slash || length == 0)
        return length;
    base = length;
    while (base > 0 && value[base - 1] != '/')
        base--;
    return strip_slashes(value, base);
}

static void put_value(struct bats_text *out, const char *value, enum part part,
                      bool quotes)
{
    size_t n = strlen(value);
    const char *slash = strrchr(value, '/');
    if ((part == BASE || part == BASE_STEM) && slash != NULL) {
        n -= (size_t)(slash + 1 - value);
        value = slash + 1;
    }
    if (part == STEM || part == BASE_STEM)
        n = stem(value, n);
    if (part == DIRECTORY) {
        n = directory(value, n);
        if (n == 0) {
            value = ".";
            n = 1;
        }
    }
    if (quotes)
        bats_template_quote(out, value, n);
    else
        bats_text_put(out, value, n);
}

/* Perl's rule for negative indices: a position before the first one counts
 * from the end once more. */
static const char *value_at(const struct bats_values *values, int64_t position)
{
    int64_t n = (int64_t)values->n;
    int64_t at = position > 0 ? position - 1 : n + position;
    if (at < 0)
        at += n;
    return at >= 0 && at < n ? values->item[at] : NULL;
}

/* Quotes the word that begins at `begin`. */
static void quote_word(struct bats_text *out, size_t begin)
{
    char *word = out->failed ? NULL : strdup(out->bytes + begin);
    out->failed = word == NULL;
    if (word == NULL)
        return;
    bats_text_cut(out, begin);
    bats_template_quote(out, word, strlen(word));
    free(word);
}

/* Ends a word and begins the next one. */
static size_t next_word(const struct bats_template *t, struct bats_text *out,
                        size_t begin)
{
    if (t->quotes_words)
        quote_word(out, begin);
    bats_text_put(out, " ", 1);
    return out->n;
}

ptrdiff_t bats_template_expand(const struct bats_template *t,
                               const struct bats_values *values,
                               uint64_t number, uint32_t slot,
                               struct bats_text *out)
{
    size_t begin = 0, at = 0; /* begin of the current word; position in the
                               * text */
    bats_text_cut(out, 0);
    bats_text_add(out, "");
    for (size_t i = 0; i < t->n; i++) {
        const struct piece *p = &t->pieces[i];
        const char *one;
        bats_text_put(out, t->text.bytes + at, p->end - at);
        at = p->end;
        switch (p->kind) {
        case BLANK:
            begin = next_word(t, out, begin);
            break;
        case ALL:
            for (size_t k = 0; k < values->n; k++) {
                if (k > 0)
                    begin = next_word(t, out, begin);
                put_value(out, values->item[k], p->part, t->quotes_values);
            }
            break;
        case ONE:
            one = value_at(values, p->position);
            if (one != NULL)
                put_value(out, one, p->part, t->quotes_values);
            break;
        case NUMBER:
            bats_text_format(out, "%" PRIu64, number);
            break;
        case SLOT:
            if (slot == 0)
                bats_text_add(out, "{%}");
            else
                bats_text_format(out, "%" PRIu32, slot);
            break;
        }
    }
    bats_text_put(out, t->text.bytes + at, t->text.n - at);
    if (t->quotes_words)
        quote_word(out, begin);
    return bats_text_length(out);
}
