#include "input/inifile.h"

#include <ini.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"

struct state {
    const char *path;
    const struct bats_inifile_reader *reader;
    void *context;
    struct bats_error *err;
    FILE *in;
    int code;      /* code of the first mistake */
    unsigned line; /* present line, from 1 */
    bool in_section;
    bool continues; /* the line continues the previous value */
    char *text;     /* the line as read */
    size_t text_size;
};

int bats_inifile_yes(const char *value, bool *yes, struct bats_error *err)
{
    *yes = strcmp(value, "yes") == 0;
    return *yes || strcmp(value, "no") == 0
               ? 0
               : bats_error_set(err, BATS_EINPUT,
                                "'%.60s' is neither yes nor no", value);
}

int bats_inifile_once(const char *path, unsigned line, const char *key,
                      unsigned *first, struct bats_error *err)
{
    if (*first > 0)
        return bats_error_at(err, path, line, "'%s' is already on line %u",
                             key, *first);
    *first = line;
    return 0;
}

#define FAIL(s, ...)                                                          \
    ((s)->code = bats_error_at((s)->err, (s)->path, (s)->line, __VA_ARGS__))

/* `text` is a line that begins with '['. */
static int open_section(struct state *s, char *text)
{
    char *end = strchr(text, ']');
    if (!end || end[1 + strspn(end + 1, BLANKS)])
        return FAIL(s, "not a section of the form [NAME]");
    do
        *end-- = '\0';
    while (strchr(BLANKS, *end));
    char *word = text + 1 + strspn(text + 1, BLANKS);
    char *name = word + strcspn(word, BLANKS);
    if (*name) {
        *name++ = '\0';
        name += strspn(name, BLANKS);
    }
    s->in_section = true;
    return s->code = s->reader->section(s->context, s->line, word, name);
}

/* inih's handler: returns 1 on success. */
static int handle(void *user, const char *section, const char *key,
                  const char *value)
{
    struct state *s = user;
    (void)section; /* cut short by inih */
    if (s->code)
        return 0;
    if (!s->in_section)
        FAIL(s, "'%.60s' stands in front of the first section", key);
    else
        s->code = (s->continues ? s->reader->more : s->reader->key)(
            s->context, s->line, key, value);
    return s->code == 0;
}

/* inih's reader: the next line, cleaned, into `line` of `size` bytes. */
static char *read_line(char *line, int size, void *user)
{
    struct state *s = user;
    if (s->code)
        return NULL;
    ssize_t length = getline(&s->text, &s->text_size, s->in);
    if (length < 0)
        return NULL;
    s->line++;
    if (strlen(s->text) != (size_t)length)
        return FAIL(s, "a NUL byte; is this a text file?"), NULL;

    char *text = s->text;
    if (s->line == 1 && strncmp(text, "\xEF\xBB\xBF", 3) == 0)
        text += 3; /* a byte order mark */
    for (char *c = text; (c = strpbrk(c, "#;")); c++) {
        if (c == text || strchr(BLANKS, c[-1])) {
            *c = '\0';
            break;
        }
    }
    /* inih takes an indented line as a continuation; here one with a key is
     * not. */
    char *first = text + strspn(text, BLANKS);
    s->continues = first > text && *first != '[' && !strpbrk(first, "=:");
    if (!s->continues)
        text = first;
    if (strlen(text) >= (size_t)size)
        return FAIL(s,
                    "longer than %d characters; a list may continue in "
                    "indented lines",
                    size - 1),
               NULL;
    strcpy(line, text);
    if (*first == '[' && open_section(s, first))
        return NULL;
    return line;
}

static void read_stream(struct state *s)
{
    int bad_line = ini_parse_stream(read_line, s, handle, s);
    if (s->code) /* the message of the reader or handler is more specific */
        return;
    if (bad_line) {
        s->line = bad_line > 0 ? (unsigned)bad_line : s->line;
        FAIL(s, "neither [SECTION] nor key = value");
    } else if (ferror(s->in)) {
        s->code = bats_error_file(s->err, s->path);
    }
}

int bats_inifile_read(const char *path, const char *text,
                      const struct bats_inifile_reader *reader, void *context,
                      unsigned *lines, struct bats_error *err)
{
    struct state s = {.path = path,
                      .reader = reader,
                      .context = context,
                      .err = err,
                      .in = text ? fmemopen((char *)text, strlen(text), "r")
                                 : fopen(path, "re")};
    if (!s.in)
        return bats_error_file(err, path);
    read_stream(&s);
    fclose(s.in);
    free(s.text);
    *lines = s.line;
    return s.code;
}
