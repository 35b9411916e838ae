#include "input/sweep/planfile.h"

#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/textfile.h"
#include "util/asset.h"
#include "util/grow.h"
#include "util/hash.h"

/* How the script begins, and its functions, each below those that call it and
 * after an empty line. Descriptors 3 and 4 are the task's own output; the trap
 * removes the directory when the shell ends, also after a signal. */
BATS_ASSET(plan_sh, "input/sweep/plan.sh");

#define BLANKS " \t\r\f"
#define ROWS_MAX (UINT32_MAX - 1)
#define POINTS_MOST 10000000 /* values kept one by one */

enum task { NODESTART, MAIN, OTHER, TASKS };

struct plan {
    struct bats_points *points;
    struct bats_text line; /* the current line, and those it continues */
    char *bytes;           /* room for the words of a statement */
    const char **words;    /* NULL follows the last one */
    size_t bytes_room, n_words, words_room;
    const char **at;               /* the current word */
    struct bats_text *task;        /* the current task's, or NULL */
    struct bats_text tasks[TASKS]; /* their commands */
};

/* ---- words ---- */

/* Writes the next word, without its quotation marks, and a NUL to *to.
 * NULL: the statement ends. BATS_EINPUT in *rc: a quote is not closed. */
static const char *next_word(const char **at, char **to, int *rc,
                             struct bats_error *err)
{
    const char *from = *at + strspn(*at, BLANKS), *word = *to;
    char quote = '\0';
    *at = from;
    if (*from == '\0' || strchr(";#", *from) || strncmp(from, "//", 2) == 0)
        return NULL;
    for (; *from != '\0' && (quote != '\0' || !strchr(BLANKS ";", *from));
         from++)
        if (quote == '\0' && strchr("'\"", *from))
            quote = *from;
        else if (*from == quote && quote != '\0')
            quote = '\0';
        else if (quote == '"' && *from == '\\' &&
                 (from[1] == '"' || from[1] == '\\'))
            *(*to)++ = *++from;
        else
            *(*to)++ = *from;
    *(*to)++ = '\0';
    *at = from;
    *rc = quote == '\0' ? 0 : bats_refuse(err, "a quote is not closed");
    return *rc == 0 ? word : NULL;
}

/* Reads the words of the statement at *at. */
static int read_words(struct plan *p, const char **at, struct bats_error *err)
{
    const char *word;
    char *to;
    int rc = 0;
    p->n_words = 0;
    /* A word is no longer than it is written, but for its NUL. */
    if (!bats_grow(&p->bytes, &p->bytes_room, 2 * strlen(*at) + 2, 1))
        return bats_no_memory(err);
    to = p->bytes;
    do {
        if (!bats_grow(&p->words, &p->words_room, p->n_words + 1,
                       sizeof *p->words))
            return bats_no_memory(err);
        p->words[p->n_words++] = word = next_word(at, &to, &rc, err);
    } while (word);
    p->at = p->words;
    return rc;
}

static bool is(const struct plan *p, const char *word)
{
    return *p->at && strcmp(*p->at, word) == 0;
}

/* Skips the current word if it is this one. */
static bool skip(struct plan *p, const char *word)
{
    bool is_there = is(p, word);
    p->at += is_there;
    return is_there;
}

static int expected(const struct plan *p, const char *what,
                    struct bats_error *err)
{
    return *p->at
               ? bats_refuse(err, "expected %s, found '%.60s'", what, *p->at)
               : bats_refuse(
                     err, "expected %s, found the end of the statement", what);
}

/*
 * The values of a parameter:
 *
 *     [label "TEXT"] [integer|float|text|files]
 *         [default] VALUE...
 *       | range from A to B [step S | points N]
 *       | random from A to B [points N]
 *       | select anyof|oneof VALUE... [default VALUE...]
 *
 * A range includes B if a step meets it; the default step is 1. Random values
 * depend only on the parameter's name, so that they are the same when the plan
 * is read again. A selection gives its default values or, without them, all
 * (anyof) or the first (oneof). Files are names or patterns; every match is a
 * value, in alphabetical order.
 */

enum type { INTEGER, FLOAT, TEXT, FILES, ANY };

static bool is_integer(const char *word)
{
    word += *word == '-' || *word == '+';
    size_t n = strspn(word, "0123456789");
    return n > 0 && n <= 15 && word[n] == '\0';
}

/* Reads the current word; *is_real: it is not an integer. */
static int read_number(struct plan *p, enum type type, bool *is_real,
                       double *number, struct bats_error *err)
{
    const char *word = *p->at ? *p->at : "";
    char *end;
    *number = strtod(word, &end);
    if (end == word || *end != '\0' || !isfinite(*number) ||
        word[strspn(word, "0123456789+-.eE")] != '\0')
        return expected(p, "a number", err);
    if (type == INTEGER && !is_integer(word))
        return expected(p, "an integer", err);
    *is_real |= !is_integer(word);
    p->at++;
    return 0;
}

/* A number uniform in [0, 1). */
static double draw(uint64_t *state)
{
    uint64_t z = bats_mix(*state);
    *state += BATS_MIX_STEP;
    return (double)(z >> 11) * 0x1p-53;
}

/* Adds n values that are equally far from each other or, with the name of the
 * parameter, drawn. Integers are rounded, and then each is added once. */
static void add_points(struct bats_axis *axis, double from, double width,
                       double n, bool is_real, const char *drawn)
{
    uint64_t state = drawn ? bats_hash_text(BATS_HASH, drawn) : 0;
    int64_t last = 0;
    for (double i = 0; i < n && !axis->text.failed; i++) {
        char text[BATS_SPAN_TEXT];
        double part = drawn ? draw(&state) : n > 1 ? i / (n - 1) : 0;
        int64_t whole = drawn ? (int64_t)(from + floor(part * (width + 1)))
                              : llround(from + part * width);
        if (is_real)
            snprintf(text, sizeof text, "%.12g", from + part * width);
        else
            snprintf(text, sizeof text, "%" PRId64, whole);
        if (is_real || drawn || i == 0 || whole != last)
            bats_axis_add(axis, text);
        last = whole;
    }
}

/* drawn: the name of a random parameter; NULL: a range. */
static int read_range(struct plan *p, struct bats_axis *axis, enum type type,
                      const char *drawn, struct bats_error *err)
{
    double from = 0, to = 0, step = 1, points = drawn ? 1 : 0;
    bool is_real = type == FLOAT, unused = false;
    int rc = skip(p, "from") ? read_number(p, type, &is_real, &from, err)
                             : expected(p, "'from'", err);
    if (rc == 0)
        rc = skip(p, "to") ? read_number(p, type, &is_real, &to, err)
                           : expected(p, "'to'", err);
    if (rc == 0 && skip(p, "points"))
        rc = read_number(p, INTEGER, &unused, &points, err);
    else if (rc == 0 && !drawn && skip(p, "step"))
        rc = read_number(p, type, &is_real, &step, err);
    if (rc == 0 && *p->at)
        rc = expected(p, "step, points or the end of the statement", err);
    if (rc < 0)
        return rc;
    double width = to - from;
    /* with a margin, for steps such as 0.1 */
    double n = points > 0 ? points : floor(width / step + 1e-9) + 1;
    if (!(width >= 0 && isfinite(width) && step > 0 && points >= 0))
        return bats_refuse(err, "the range ends before it begins, or has no "
                                "step above 0");
    if (!(n <= (points > 0 ? POINTS_MOST : ROWS_MAX)))
        return bats_refuse(err, "this range has too many values");
    if (points > 0)
        add_points(axis, from, width, n, is_real, drawn);
    else
        bats_axis_add_span(
            axis, (struct bats_row_span){.n = (uint64_t)n,
                                         .is_real = is_real,
                                         .from = from,
                                         .by = step,
                                         .first = is_real ? 0 : (int64_t)from,
                                         .step = is_real ? 0 : (int64_t)step});
    return 0;
}

static int add_files(struct bats_axis *axis, const char *pattern,
                     struct bats_error *err)
{
    glob_t found;
    int bad = glob(pattern, 0, NULL, &found);
    if (bad == GLOB_NOMATCH)
        return bats_refuse(err, "no file matches '%.100s'", pattern);
    if (bad != 0)
        return bats_no_memory(err);
    for (size_t i = 0; i < found.gl_pathc; i++)
        bats_axis_add(axis, found.gl_pathv[i]);
    globfree(&found);
    return 0;
}

/* Reads values up to the end of the statement, the word `default`, or `most`
 * of them. */
static int read_values(struct plan *p, struct bats_axis *axis, enum type type,
                       size_t most, struct bats_error *err)
{
    int rc = *p->at ? 0 : expected(p, "a value", err);
    for (; rc == 0 && *p->at && !is(p, "default") && axis->n_rows < most;) {
        const char *word = *p->at;
        double number;
        bool unused = false;
        if (type == INTEGER || type == FLOAT) {
            rc = read_number(p, type, &unused, &number, err);
            p->at -= rc == 0;
        }
        if (rc == 0 && type == FILES)
            rc = add_files(axis, word, err);
        else if (rc == 0)
            bats_axis_add(axis, word);
        p->at++;
    }
    return rc;
}

static int read_selection(struct plan *p, struct bats_axis *axis,
                          enum type type, struct bats_error *err)
{
    bool is_one = is(p, "oneof");
    if (!is_one && !is(p, "anyof"))
        return expected(p, "anyof or oneof", err);
    for (const char **word = ++p->at; *word; word++)
        if (strcmp(*word, "default") == 0)
            p->at = word + 1;
    return read_values(p, axis, type, is_one ? 1 : ROWS_MAX, err);
}

static int read_domain(struct plan *p, struct bats_axis *axis,
                       const char *name, struct bats_error *err)
{
    static const char *const types[] = {"integer", "float", "text", "files"};
    enum type type = INTEGER;
    if (skip(p, "label") && *p->at)
        p->at++;
    while (type < ANY && !skip(p, types[type]))
        type++;
    bool is_random = is(p, "random");
    if ((is_random || is(p, "range")) && type != TEXT && type != FILES) {
        p->at++;
        return read_range(p, axis, type, is_random ? name : NULL, err);
    }
    if (skip(p, "select"))
        return read_selection(p, axis, type, err);
    skip(p, "default");
    return read_values(p, axis, type, ROWS_MAX, err);
}

static int read_parameter(struct plan *p, struct bats_error *err)
{
    const char *name = *p->at;
    if (!name || !bats_text_is_name(name))
        return expected(p, "the name of a parameter", err);
    bool is_known =
        strcmp(name, "jobname") == 0 || strcmp(name, "jobindex") == 0;
    for (size_t k = 0; k < p->points->n_axes; k++)
        is_known |=
            bats_axis_has_name(&p->points->axes[k], name, strlen(name));
    if (is_known)
        return bats_refuse(err, "there is already a '%.60s'", name);
    struct bats_axis *axis = bats_points_axis(p->points);
    if (!axis)
        return bats_no_memory(err);
    bats_axis_add_name(axis, name, strlen(name));
    p->at++;
    return axis->text.failed ? bats_no_memory(err)
                             : read_domain(p, axis, name, err);
}

/* ---- tasks ---- */

/* The commands of a task, as the script has them. */
static const struct command {
    const char *word, *shell; /* a function, or a directory for a LINE */
    size_t least, most;       /* arguments; 0: a line for the shell */
} commands[] = {
    {"copy", "bats_copy", 2, 2},
    {"exec", "bats_exec", 1, SIZE_MAX},
    {"substitute", "bats_substitute \"$bats_root\"", 2, 2},
    {"root:substitute", "bats_substitute \"$bats_root\"", 2, 2},
    {"node:substitute", "bats_substitute \"$bats_node\"", 2, 2},
    {"redirect", "bats_redirect", 2, 4},
    {"onerror", "bats_onerror", 1, 1},
    {"shexec", "$bats_node", 0, 0},
    {"node:execute", "$bats_node", 0, 0},
    {"execute", "$bats_root", 0, 0},
    {"root:execute", "$bats_root", 0, 0},
};

/* Adds the word for the shell, which replaces the names of values in it. */
static void add_word(struct bats_text *text, const char *word)
{
    bats_text_add(text, " \"");
    for (; *word != '\0'; word++) {
        char next[2] = {word[1]};
        bool is_value =
            *word == '$' && (*next == '{' || bats_text_is_name(next));
        if (strchr("\"\\`$", *word) && !is_value)
            bats_text_add(text, "\\");
        bats_text_put(text, word, 1);
    }
    bats_text_add(text, "\"");
}

/* Reads a line for the shell: the rest of this line, or a single text. */
static int read_line_of_shell(struct plan *p, const struct command *c,
                              const char **at, struct bats_error *err)
{
    const char *line = *at + strspn(*at, BLANKS), *end = *at;
    bool is_text = *line != '\0' && strchr("'\"", *line) &&
                   read_words(p, &end, NULL) == 0 && p->n_words == 2;
    size_t n = strlen(line);
    while (n > 0 && strchr(BLANKS ";", line[n - 1]))
        n--;
    if (n == 0)
        return bats_refuse(err, "expected a command after '%s'", c->word);
    bats_text_format(p->task, "(cd \"%s\" && {\n", c->shell);
    if (is_text)
        bats_text_add(p->task, p->words[0]);
    else
        bats_text_put(p->task, line, n);
    bats_text_add(p->task, "\n}) || bats_ended\n");
    *at = is_text ? end : line + strlen(line);
    return 0;
}

/* Reads the command whose first word has been read. */
static int read_command(struct plan *p, const char *word, const char **at,
                        struct bats_error *err)
{
    const struct command *c = commands,
                         *none = c + sizeof commands / sizeof *c;
    while (c < none && strcmp(c->word, word) != 0)
        c++;
    if (c == none)
        return bats_refuse(err,
                           "expected copy, execute, exec, shexec, substitute, "
                           "redirect, onerror or endtask, found '%.60s'",
                           word);
    if (p->task == &p->tasks[OTHER])
        return bats_refuse(err, "only the tasks main and nodestart may have "
                                "commands");
    if (c->least == 0)
        return read_line_of_shell(p, c, at, err);
    int rc = read_words(p, at, err);
    if (rc < 0)
        return rc;
    if (p->n_words - 1 < c->least || p->n_words - 1 > c->most)
        return bats_refuse(err, "'%s' has too few words, or too many",
                           c->word);
    bats_text_add(p->task, c->shell);
    for (; *p->at; p->at++)
        add_word(p->task, *p->at);
    bats_text_add(p->task, " || bats_ended\n");
    return 0;
}

/* An empty task of another name, as in figure 9 of the paper, needs no end. */
static int begin_task(struct plan *p, struct bats_error *err)
{
    enum task task = is(p, "main")        ? MAIN
                     : is(p, "nodestart") ? NODESTART
                                          : OTHER;
    if (p->task && p->task != &p->tasks[OTHER])
        return bats_refuse(err, "the task before has no 'endtask'");
    if (!*p->at)
        return expected(p, "main or nodestart", err);
    p->task = &p->tasks[task];
    if (task != OTHER && p->task->bytes)
        return bats_refuse(err, "there is already a task '%s'", *p->at);
    bats_text_add(p->task, "");
    return 0;
}

/* ---- statements ---- */

static int read_statement(struct plan *p, const char **at,
                          struct bats_error *err)
{
    char word[80];
    size_t n = strcspn(*at, BLANKS ";");
    snprintf(word, sizeof word, "%.*s", n < 80 ? (int)n : 79, *at);
    bool is_task = strcmp(word, "task") == 0;
    bool is_end = p->task && strcmp(word, "endtask") == 0;
    *at += n;
    if (p->task && !is_task && !is_end)
        return read_command(p, word, at, err);
    if (!is_task && !is_end && strcmp(word, "parameter") != 0)
        return bats_refuse(err, "expected parameter or task, found '%.60s'",
                           word);
    int rc = read_words(p, at, err);
    if (rc < 0)
        return rc;
    if (is_end)
        p->task = NULL;
    return is_end ? 0 : is_task ? begin_task(p, err) : read_parameter(p, err);
}

static int read_line(void *context, char *line, struct bats_error *err)
{
    struct plan *p = context;
    size_t n = strlen(line);
    bool goes_on = n > 0 && line[n - 1] == '\\';
    bats_text_put(&p->line, line, n - goes_on);
    if (goes_on)
        bats_text_add(&p->line, " ");
    int rc = bats_text_check(&p->line, err);
    for (const char *at = p->line.bytes; rc == 0 && !goes_on;) {
        at += strspn(at, BLANKS ";");
        if (*at == '\0' || *at == '#' || strncmp(at, "//", 2) == 0)
            break;
        rc = read_statement(p, &at, err);
    }
    if (!goes_on)
        bats_text_cut(&p->line, 0);
    return rc;
}

/* The parameters of a line "#BATS parameter ...", or NULL. */
static const char *parameter_line(const char *line)
{
    static const char mark[] = "#BATS", word[] = "parameter";
    size_t n = strlen(mark);
    if (strncmp(line, mark, n) != 0 || (line[n] != ' ' && line[n] != '\t'))
        return NULL;
    line += n + strspn(line + n, " \t");
    return strncmp(line, word, strlen(word)) == 0 ? line : NULL;
}

static int read_line_of_script(void *context, char *line,
                               struct bats_error *err)
{
    const char *from = parameter_line(line);
    return from ? read_line(context, line + (from - line), err) : 0;
}

static int read_all(struct plan *p, const char *name, const char *text,
                    bool is_script, struct bats_error *err)
{
    char end[] = "";
    int rc = bats_textfile_lines(
        name, text, is_script ? read_line_of_script : read_line, p, err);
    if (rc == 0) /* of a last line that is continued */
        rc = bats_error_prefix(err, read_line(p, end, err), "%s: ", name);
    if (rc == 0 && p->points->n_axes == 0)
        rc = bats_error_at(err, name, 0, "there is no parameter");
    bats_text_release(&p->line);
    free(p->bytes);
    free(p->words);
    return rc;
}

/* Adds the beginning, and the functions that the commands of the body use. */
static void add_functions(struct bats_text *script, const char *body)
{
    const char *at = plan_sh.begin, *end;
    for (; *at != '\0' && !script->failed; at = end) {
        char name[20];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "("), at);
        end = strstr(at, "\n\n");
        end = end != NULL ? end + 2 : plan_sh.end;
        if (at == plan_sh.begin || strstr(body, name) != NULL ||
            strstr(script->bytes, name) != NULL)
            bats_text_put(script, at, (size_t)(end - at));
    }
}

/* Only who uses the number of the task depends on it. */
static void write_script(const struct plan *p, struct bats_text *script)
{
    struct bats_text body = {0};
    if (p->tasks[NODESTART].bytes)
        bats_text_add(&body, p->tasks[NODESTART].bytes);
    bats_text_add(&body, "exec 1>&3 2>&4; bats_ignores=\n");
    bats_text_add(&body, p->tasks[MAIN].bytes);
    if (!body.failed &&
        (strstr(body.bytes, "jobname") || strstr(body.bytes, "jobindex") ||
         strstr(body.bytes, "bats_substitute"))) {
        bats_text_add(script, "jobname=$BATS_TASK_ID jobindex=$BATS_TASK_ID\n"
                              "bats_names='jobname jobindex");
        for (size_t k = 0; k < p->points->n_axes; k++)
            bats_text_format(script, " %s", p->points->axes[k].names[0]);
        bats_text_add(script, "'\n");
    }
    script->failed |= body.failed;
    if (!script->failed)
        add_functions(script, body.bytes);
    bats_text_put(script, body.bytes, body.n);
    bats_text_release(&body);
}

int bats_planfile_read(const char *name, const char *text,
                       struct bats_points *points, struct bats_text *script,
                       struct bats_error *err)
{
    struct plan p = {.points = points};
    int rc = read_all(&p, name, text, false, err);
    if (rc == 0 && p.task)
        rc = bats_error_at(err, name, 0, "the last task has no 'endtask'");
    if (rc == 0 && !p.tasks[MAIN].bytes)
        rc = bats_error_at(err, name, 0, "there is no task main");
    if (rc == 0)
        write_script(&p, script);
    for (int i = 0; i < TASKS; i++) {
        script->failed |= p.tasks[i].failed;
        bats_text_release(&p.tasks[i]);
    }
    return rc < 0 ? rc : bats_text_check(script, err);
}

/* ---- scripts with parameters ---- */

bool bats_planfile_in_script(const char *text)
{
    if (strncmp(text, "#!", 2) != 0)
        return false;
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (parameter_line(line) != NULL)
            return true;
    }
    return false;
}

int bats_planfile_read_script(const char *name, const char *text,
                              struct bats_points *points,
                              struct bats_error *err)
{
    struct plan p = {.points = points};
    return read_all(&p, name, text, true, err);
}
