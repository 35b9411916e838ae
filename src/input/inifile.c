#include "input/inifile.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
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

int bats_inifile_fail(const char *path, unsigned line, struct bats_error *err,
                      const char *format, ...)
{
    char sentence[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return bats_error_set(err, BATS_EINPUT, "%s:%u: %s", path, line, sentence);
}

int bats_inifile_once(const char *path, unsigned line, const char *key,
                      unsigned *first, struct bats_error *err)
{
    if (*first > 0)
        return bats_inifile_fail(path, line, err, "'%s' is already on line %u",
                                 key, *first);
    *first = line;
    return 0;
}

#define FAIL(s, ...)                                                          \
    ((s)->code =                                                              \
         bats_inifile_fail((s)->path, (s)->line, (s)->err, __VA_ARGS__))

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
    /* To inih an indented line is a continuation; not here, if it has a
     * key. */
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
        s->code = bats_error_set(s->err, BATS_EINPUT, "%s: %s", s->path,
                                 strerror(errno));
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
        return bats_error_set(err, BATS_EINPUT, "%s: %s", path,
                              strerror(errno));
    read_stream(&s);
    fclose(s.in);
    free(s.text);
    *lines = s.line;
    return s.code;
}
