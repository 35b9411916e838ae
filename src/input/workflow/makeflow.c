/*
 * makeflow: the classic language of Makeflow (https://cctools.readthedocs.io).
 *
 *     NAME=value        also +=, with $NAME, ${NAME} or $(NAME) of others, or
 *                       of the environment
 *     export NAME       or export NAME=value: for the environment of tasks
 *     CATEGORY="merge"  the category of the rules below; without it, a rule
 *                       has the category of its program
 *     out.a out.b: in.a in.b prog
 *     <TAB>prog in.a in.b > out.a
 *
 * Lines between the two lines of a rule apply to that rule only:
 *
 *     out: in
 *     @BATCH_OPTIONS=-p long      or CORES=4, or .MAKEFLOW MEMORY 1024
 *     <TAB>prog in >out
 *
 * A backslash joins lines, # begins a comment outside of commands, and '...'
 * or "..." keeps blanks in names. In a command, names that the file sets are
 * replaced outside of '...'; the rest is left to the shell. LOCAL before a
 * command, which makes Makeflow run it locally, has no effect: all tasks run
 * on machines of the run. CORES, GPUS and MEMORY (MB) are the needs of each
 * rule of the current category, from here on; before any category, of all
 * categories without their own. BATCH_OPTIONS, DISK and .SIZE are read, but
 * have no effect. Refused: rules that run another makeflow; files with other
 * names on the machine (a->b); a line that its variables make longer than
 * LINE_MOST; a file that they make longer than ALL_MOST.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/textfile.h"
#include "input/workflow/workflow.h"
#include "util/grow.h"

#define BLANKS " \t"
#define LINE_MOST ((size_t)1 << 20) /* longest command or value, bytes */
#define ALL_MOST ((size_t)1 << 30)

struct variable {
    char *value; /* NULL: not set */
    bool is_exported;
    bool
        is_of_rule; /* the current rule has set it for itself; before, it was */
    char *before;
};

struct reader {
    struct bats_workflow *w;
    struct bats_names names; /* names of the variables, by number */
    struct variable *variables;
    size_t room;
    bool is_any_of_rule;   /* some variable is_of_rule */
    uint32_t line, rule;   /* current line; line of a rule without its command
                            * yet, or 0 */
    struct bats_text head; /* first line of that rule */
    struct bats_text out;  /* result of the last expansion */
    struct bats_text command;
    size_t expanded; /* bytes of all expansions */
    struct bats_error *err;
};

static int complain(struct reader *r, uint32_t line, const char *what,
                    const char *name)
{
    return bats_error_at(r->err, r->w->path, line, "%s%.60s%s", what, name,
                         *name != '\0' ? "'" : "");
}

/* ---- variables ---- */

static bool is_name(char c, bool first)
{
    return isalpha((unsigned char)c) || c == '_' ||
           (!first && isdigit((unsigned char)c));
}

static size_t name_length(const char *text)
{
    size_t n = 0;
    while (is_name(text[n], n == 0))
        n++;
    return n;
}

/* NULL: there is no such variable. */
static const struct variable *look_up(const struct reader *r, const char *name)
{
    uint32_t number = bats_names_find(&r->names, name);
    return number == BATS_NO_NAME ? NULL : &r->variables[number];
}

/* The value; NULL: not set. */
static const char *value_of(const struct reader *r, const char *name)
{
    const struct variable *variable = look_up(r, name);
    return variable ? variable->value : NULL;
}

/* Adds the variable, without a value if it is new. NULL: no memory. */
static struct variable *find_variable(struct reader *r, const char *name)
{
    bool is_new;
    if (!bats_grow(&r->variables, &r->room, r->names.n + 1,
                   sizeof *r->variables))
        return NULL;
    uint32_t number = bats_names_add(&r->names, name, &is_new);
    if (number == BATS_NO_NAME)
        return NULL;
    if (is_new)
        r->variables[number] = (struct variable){0};
    return &r->variables[number];
}

/* Reads "$NAME", "${NAME}" or "$(NAME)" at `text`. Returns its length; 0: none
 * of these. */
static size_t read_reference(const char *text, char *name, size_t size)
{
    char close = text[1] == '{' ? '}' : text[1] == '(' ? ')' : '\0';
    const char *begin = text + 1 + (close != '\0');
    size_t n = name_length(begin);
    if (n == 0 || n >= size || (close != '\0' && begin[n] != close))
        return 0;
    memcpy(name, begin, n);
    name[n] = '\0';
    return (size_t)(begin - text) + n + (close != '\0');
}

/* Limits expansion: variables may hold others, and double with every line. */
static int limit(struct reader *r, size_t length)
{
    r->expanded += length;
    return length > LINE_MOST ? complain(r, r->line,
                                         "this is longer than 1 MiB with the "
                                         "values of its variables",
                                         "")
           : r->expanded > ALL_MOST
               ? complain(r, r->line,
                          "up to here, variables make this file "
                          "longer than 1 GiB",
                          "")
               : 0;
}

/* Expands into r->out. Unknown names in a command stay. */
static int expand(struct reader *r, const char *text, bool is_command)
{
    bool in_quotes = false;
    char name[200];
    bats_text_cut(&r->out, 0);
    bats_text_add(&r->out, "");
    while (*text != '\0' && r->out.n <= LINE_MOST) {
        size_t n = *text == '$' && !in_quotes
                       ? read_reference(text, name, sizeof name)
                       : 0;
        const char *value = n > 0 ? value_of(r, name) : NULL;
        if (n > 0 && !value && !is_command)
            value = getenv(name);
        if (n > 0 && !value && !is_command)
            return complain(r, r->line, "nothing sets the variable '", name);
        if (value) {
            bats_text_add(&r->out, value);
            text += n;
            continue;
        }
        if (is_command && *text == '\'')
            in_quotes = !in_quotes;
        if (is_command && *text == '\\' && !in_quotes && text[1] != '\0')
            bats_text_put(&r->out, text++, 1);
        bats_text_put(&r->out, text++, 1);
    }
    int rc = bats_text_check(&r->out, r->err);
    return rc < 0 ? rc : limit(r, r->out.n);
}

/* Trims blanks at both ends, and then quotation marks around the whole. */
static char *trim(char *text)
{
    text = bats_text_trim(text, BLANKS);
    size_t n = strlen(text);
    if (n >= 2 && strchr("'\"", text[0]) && text[n - 1] == text[0]) {
        text[n - 1] = '\0';
        text++;
    }
    return text;
}

static int set_value(struct reader *r, const char *name, const char *value,
                     bool adds)
{
    struct variable *v = find_variable(r, name);
    if (!v)
        return bats_no_memory(r->err);
    adds = adds && v->value;
    int rc = limit(r, (adds ? strlen(v->value) + 1 : 0) + strlen(value));
    char *new = NULL;
    if (rc < 0)
        return rc;
    if (asprintf(&new, "%s%s%s", adds ? v->value : "", adds ? " " : "",
                 value) < 0)
        return bats_no_memory(r->err);
    if (r->rule > 0 && !v->is_of_rule) {
        v->before = v->value;
        r->is_any_of_rule = v->is_of_rule = true;
    } else {
        free(v->value);
    }
    v->value = new;
    return 0;
}

/* Resources that rules and categories may request. */
static const char *const resources[] = {"CORES", "GPUS", "MEMORY"};
#define RESOURCES 3
static const uint64_t most_of[RESOURCES] = {BATS_CORES_MOST, BATS_GPUS_MOST,
                                            INT64_MAX / 1024};

/* The reserved name of the variable for a resource of a category. "": of all
 * categories. */
static const char *name_resource(const char *resource, const char *category,
                                 char name[120])
{
    snprintf(name, 120, "%s %.100s", resource, category);
    return name;
}

static int assign(struct reader *r, const char *name, const char *text,
                  bool adds)
{
    char of_category[120];
    uint64_t number;
    int rc = expand(r, text, false);
    const char *category = value_of(r, "CATEGORY");
    const char *value = rc == 0 ? trim(r->out.bytes) : NULL;
    for (int i = 0; rc == 0 && i < RESOURCES; i++) {
        if (strcmp(name, resources[i]) != 0)
            continue;
        if (*value != '\0' && (bats_count_parse(value, &number, NULL) < 0 ||
                               number > most_of[i]))
            return complain(r, r->line,
                            i == 2   ? "MEMORY is not a number of MB: '"
                            : i == 1 ? "GPUS is not a number up to 64: '"
                                     : "CORES is not a number up to 4096: '",
                            value);
        if (r->rule == 0)
            rc = set_value(
                r, name_resource(name, category ? category : "", of_category),
                value, false);
    }
    return rc == 0 ? set_value(r, name, value, adds) : rc;
}

/* Ends a rule: restores the variables that it has set for itself. */
static void restore(struct reader *r)
{
    for (size_t i = 0; r->is_any_of_rule && i < r->names.n; i++) {
        struct variable *v = &r->variables[i];
        if (!v->is_of_rule)
            continue;
        free(v->value);
        v->value = v->before;
        v->is_of_rule = false;
    }
    r->is_any_of_rule = false;
}

/* The length of the name if the line is "NAME=value" or "NAME+=value"; else
 * 0. */
static size_t assigned(const char *line)
{
    size_t n = name_length(line);
    const char *after = line + n + strspn(line + n, BLANKS);
    return *after == '=' || (after[0] == '+' && after[1] == '=') ? n : 0;
}

/* Reads such a line; *is_one: it is one. */
static int read_assignment(struct reader *r, const char *line, bool *is_one)
{
    char name[200];
    size_t n = assigned(line);
    *is_one = n > 0 && n < sizeof name;
    if (!*is_one)
        return 0;
    memcpy(name, line, n);
    name[n] = '\0';
    line += n + strspn(line + n, BLANKS);
    bool adds = *line == '+';
    return assign(r, name, line + 1 + adds, adds);
}

static int read_export(struct reader *r, char *text)
{
    bool is_one = false;
    text += strspn(text, BLANKS);
    int rc = read_assignment(r, text, &is_one);
    size_t n = name_length(text);
    if (n == 0)
        return complain(r, r->line, "export without the name of a variable",
                        "");
    while (rc == 0 && n > 0) {
        char after = text[n];
        text[n] = '\0';
        struct variable *variable = find_variable(r, text);
        if (!variable)
            return bats_no_memory(r->err);
        variable->is_exported = true;
        text[n] = after;
        if (is_one)
            break;
        text += n + strspn(text + n, BLANKS);
        n = name_length(text);
    }
    return rc;
}

/* ---- rules ---- */

/* Cuts the next word off *text, without quotation marks; NULL at the end. */
static char *next_word(char **text)
{
    char *from = *text + strspn(*text, BLANKS), *to = from, *word = from;
    char quote = '\0';
    if (*from == '\0')
        return NULL;
    for (; *from != '\0' && (quote != '\0' || !strchr(BLANKS, *from)); from++)
        if (quote == '\0' && strchr("'\"", *from))
            quote = *from;
        else if (*from == quote && quote != '\0')
            quote = '\0';
        else
            *to++ = *from;
    *text = from + (*from != '\0');
    *to = '\0';
    return word;
}

static int use_files(struct reader *r, char *list, bool writes)
{
    char *word;
    while ((word = next_word(&list)) != NULL) {
        if (strstr(word, "->"))
            return complain(
                r, r->rule,
                "a file cannot have another name on the machine: '", word);
        bats_workflow_use(r->w, word, writes);
    }
    return 0;
}

/* Adds the exported variables to the command. */
static void add_exports(struct reader *r)
{
    for (uint32_t i = 0; i < r->names.n; i++) {
        const struct variable *v = &r->variables[i];
        if (!v->is_exported || !v->value)
            continue;
        bats_text_format(&r->command,
                         "export %s=", bats_names_text(&r->names, i));
        bats_text_encode(&r->command, BATS_ENCODE_QUOTED, v->value);
        bats_text_add(&r->command, "; ");
    }
}

/* The category of a rule: CATEGORY if set, else the program. */
static void find_category(const struct reader *r, const char *command,
                          char *category, size_t size)
{
    const char *given = value_of(r, "CATEGORY");
    if (given && *given != '\0')
        snprintf(category, size, "%s", given);
    else
        bats_workflow_program(command, category, size);
}

/* The amount of a resource that the current rule requests, itself or by its
 * category; 0: unspecified. */
static uint64_t asked(const struct reader *r, const char *resource)
{
    char name[120];
    uint64_t number = 0;
    const char *category = value_of(r, "CATEGORY");
    const struct variable *own = look_up(r, resource);
    const char *value =
        own && own->is_of_rule
            ? own->value
            : value_of(
                  r, name_resource(resource, category ? category : "", name));
    if (!value)
        value = value_of(r, name_resource(resource, "", name));
    if (value)
        bats_count_parse(value, &number, NULL);
    return number;
}

static struct bats_need need_of(const struct reader *r)
{
    return (struct bats_need){.cores = (uint32_t)asked(r, resources[0]),
                              .gpus = (uint32_t)asked(r, resources[1]),
                              .memory_kib =
                                  (int64_t)asked(r, resources[2]) * 1024};
}

/* Reads the command of the rule whose first line is r->head. */
static int read_command(struct reader *r, const char *text)
{
    char category[100];
    text += strspn(text, BLANKS);
    while (bats_text_skip_word(&text, "LOCAL", BLANKS))
        ;
    if (bats_text_skip_word(&text, "MAKEFLOW", BLANKS))
        return complain(r, r->line,
                        "a rule that runs another makeflow is not supported",
                        "");
    bats_text_cut(&r->command, 0);
    int rc = expand(r, text, true);
    if (rc == 0) {
        add_exports(r);
        bats_text_put(&r->command, r->out.bytes, r->out.n);
        rc = bats_text_check(&r->command, r->err);
    }
    if (rc == 0)
        rc = limit(r, r->command.n);
    if (rc < 0)
        return rc;
    find_category(r, r->out.bytes, category, sizeof category);
    rc = bats_workflow_add(r->w, NULL, r->command.bytes, -1, category, r->rule,
                           r->err);
    if (rc == 0)
        r->w->tasks[r->w->n - 1].need = need_of(r);
    uint32_t line = r->line;
    r->line = r->rule;
    if (rc == 0)
        rc = expand(r, r->head.bytes, false);
    r->line = line;
    if (rc < 0)
        return rc;
    char *colon = strchr(r->out.bytes, ':');
    if (!colon) /* it came from a variable's name */
        return complain(r, r->rule, "a rule without a ':'", "");
    *colon = '\0';
    size_t n_uses = r->w->n_uses;
    rc = use_files(r, r->out.bytes, true);
    bool makes_none = r->w->n_uses == n_uses && !r->w->text.failed;
    if (rc == 0)
        rc = use_files(r, colon + 1, false);
    if (rc == 0 && makes_none)
        rc = complain(r, r->rule, "this rule makes no file", "");
    r->rule = 0;
    restore(r);
    return rc;
}

static int begin_rule(struct reader *r, const char *line)
{
    bats_text_cut(&r->head, 0);
    r->rule = r->line;
    bats_text_add(&r->head, line);
    return bats_text_check(&r->head, r->err);
}

/* ---- lines ---- */

/* Cuts the line where a comment begins. */
static void cut_comment(char *line)
{
    char quote = '\0';
    for (; *line != '\0'; line++) {
        if (quote == '\0' && *line == '#') {
            *line = '\0';
            return;
        }
        if (quote == '\0' && strchr("'\"", *line))
            quote = *line;
        else if (*line == quote)
            quote = '\0';
    }
}

static bool is_directive(const char *line)
{
    return line[0] == '.' && isupper((unsigned char)line[1]);
}

static int read_directive(struct reader *r, char *line)
{
    static const char *const names[] = {"CATEGORY", "CORES", "MEMORY",
                                        "DISK",     "SIZE",  "MODE"};
    const char *text = line;
    if (bats_text_skip_word(&text, ".SIZE", BLANKS))
        return 0;
    bool is_makeflow = bats_text_skip_word(&text, ".MAKEFLOW", BLANKS);
    for (size_t i = 0; is_makeflow && i < sizeof names / sizeof *names; i++)
        if (bats_text_skip_word(&text, names[i], BLANKS))
            return assign(r, names[i], text, false);
    return complain(r, r->line, "unknown directive '", line);
}

/* True for a line that begins with a tab, except the variable of a rule ("@").
 * A line that begins with a blank is a command, too, unless it is a variable
 * or outside of a rule. */
static bool is_command(const struct reader *r, const char *line)
{
    const char *text = line + strspn(line, BLANKS);
    if (text == line ||
        (r->rule > 0 && *text == '@' && assigned(text + 1) > 0))
        return false;
    return line[0] == '\t' || (r->rule > 0 && assigned(text) == 0);
}

static int read_line(struct reader *r, char *line)
{
    bool is_one, is_tabbed = is_command(r, line);
    char *begin = line + strspn(line, BLANKS);
    if (*begin == '\0' || *begin == '#')
        return 0;
    if (is_tabbed && r->rule > 0)
        return read_command(r, line);
    if (is_tabbed)
        return complain(r, r->line, "this command belongs to no rule: '",
                        begin);
    line = begin + (*begin == '@' && assigned(begin + 1) > 0);
    if (r->rule > 0 && !is_directive(line) && assigned(line) == 0)
        return complain(r, r->rule, "this rule has no command", "");
    cut_comment(line);
    if (is_directive(line))
        return read_directive(r, line);
    const char *text = line;
    if (bats_text_skip_word(&text, "export", BLANKS))
        return read_export(r, line + (text - line));
    int rc = read_assignment(r, line, &is_one);
    if (rc < 0 || is_one)
        return rc;
    if (!strchr(line, ':'))
        return complain(r, r->line, "neither a rule nor a variable: '", line);
    return begin_rule(r, line);
}

/* Joins lines that end with a backslash, in place. Returns the next line. */
static char *cut_line(char *line, char *end, uint32_t *n_lines)
{
    char *to = line, *from = line;
    *n_lines = 1;
    for (; from < end && *from != '\n'; from++) {
        bool crlf = from[0] == '\\' && from[1] == '\r' && from[2] == '\n';
        if (from[0] == '\\' && (from[1] == '\n' || crlf)) {
            from += 1 + crlf;
            ++*n_lines;
            *to++ = ' ';
            continue;
        }
        *to++ = *from;
    }
    if (to > line && to[-1] == '\r')
        to--;
    char *next = from < end ? from + 1 : end;
    *to = '\0';
    return next;
}

static int read_text(struct reader *r, char *text, size_t length)
{
    char *end = text + length;
    uint32_t n_lines = 0;
    int rc = 0;
    for (char *line = text; rc == 0 && line < end;) {
        uint32_t before = n_lines;
        r->line += before;
        if (r->line >= UINT32_MAX - 1)
            return complain(r, 0, "too many lines", "");
        char *next = cut_line(line, end, &n_lines);
        r->line += before == 0;
        rc = read_line(r, line);
        line = next;
    }
    if (rc == 0 && r->rule > 0)
        rc = complain(r, r->rule, "this rule has no command", "");
    return rc;
}

int bats_makeflow_read(struct bats_workflow *w, struct bats_error *err)
{
    struct reader r = {.w = w, .err = err};
    char *text = NULL;
    size_t length;
    int rc = bats_textfile_read(w->path, &text, &length, err);
    if (rc == 0)
        rc = read_text(&r, text, length);
    if (rc == 0)
        rc = bats_workflow_connect(w, err);
    restore(&r);
    for (size_t i = 0; i < r.names.n; i++)
        free(r.variables[i].value);
    bats_names_release(&r.names);
    free(r.variables);
    bats_text_release(&r.head);
    bats_text_release(&r.out);
    bats_text_release(&r.command);
    free(text);
    return rc;
}
