#include "input/sweep/plantask.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE "\"$bats_node\""
#define ROOT "\"$bats_root\""

/* The trap removes the files when the shell ends, also after a signal.
 * Descriptors 3 and 4 are the task's own output. */
static const char prologue[] =
    "bats_root=$PWD; "
    "bats_node=$(mktemp -d \"${TMPDIR:-/tmp}/bats-XXXXXX\") || exit 1\n"
    "trap 'cd / && rm -rf " NODE "' EXIT; trap 'exit 143' HUP INT TERM\n"
    "exec 3>&1 4>&2; cd " NODE " || exit 1\n";

struct planner {
    struct bats_source *s;
    const struct bats_points *points;
    size_t n_values;
    struct bats_template *script; /* of the current task, */
    struct bats_text *text;       /* and its text */
    bool ignores;                 /* onerror */
    bool has[2];                  /* nodestart, main */
};

bool bats_plantask_is_number(const char *word)
{
    return strcmp(word, BATS_PLANTASK_JOBNAME) == 0 ||
           strcmp(word, "jobindex") == 0 ||
           strcmp(word, "nimrod_jobname") == 0 ||
           strcmp(word, "nimrod_jobindex") == 0;
}

/* ---- values ---- */

/* Finds the value of this name; false if there is none. */
static bool find_value(const struct planner *p, const char *name, size_t n,
                       size_t *value)
{
    char word[64];
    for (size_t k = 0; k < p->n_values; k++) {
        const char *known = bats_points_name(p->points, k);
        *value = k;
        if (known != NULL && strlen(known) == n &&
            strncmp(known, name, n) == 0)
            return true;
    }
    *value = BATS_TEMPLATE_NUMBER;
    if (n >= sizeof word)
        return false;
    memcpy(word, name, n);
    word[n] = '\0';
    return bats_plantask_is_number(word);
}

/* Reads "$name" or "${name}" at `at`. Returns its length in bytes, or 0. */
static size_t read_reference(const char *at, const char **name, size_t *n)
{
    bool braces = at[0] == '$' && at[1] == '{';
    *name = at + 1 + braces;
    if (at[0] != '$' || (!isalpha((unsigned char)**name) && **name != '_'))
        return 0;
    for (*n = 0; isalnum((unsigned char)(*name)[*n]) || (*name)[*n] == '_';)
        ++*n;
    if (braces && (*name)[*n] != '}')
        return 0;
    return (size_t)(*name - at) + *n + braces;
}

/* How text that is not a value is written for the shell. In a PATH, patterns
 * stay patterns. */
enum literal { RAW, WORD, PATH };

static void add_literal(struct planner *p, const char *text, size_t n,
                        enum literal form)
{
    if (form == RAW) {
        bats_text_put(p->text, text, n);
        return;
    }
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && (form == WORD || strchr("*?[]", text[end]) == NULL))
            end++;
        if (end > i)
            bats_template_quote(p->text, text + i, end - i);
        if (end < n)
            bats_text_put(p->text, text + end, 1);
        i = end + (end < n);
    }
}

/* Leaves an unknown name to the shell. */
static void add_unknown(struct planner *p, const char *name, size_t n,
                        enum literal form)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(n < 63 ? n : 63), name);
    bats_text_add(p->text, form == RAW ? "${" : "\"${");
    bats_text_put(p->text, name, n);
    bats_text_add(p->text, form == RAW ? "}" : "}\"");
    if (getenv(word) == NULL)
        bats_source_warn(p->s, p->s->token.at,
                         "no parameter is called '%s': it is left to the "
                         "shell",
                         word);
}

static void add_text(struct planner *p, const char *text, enum literal form)
{
    size_t at = 0, from = 0;
    if (*text == '\0' && form != RAW)
        bats_text_add(p->text, "''");
    while (text[at] != '\0') {
        const char *name;
        size_t length, value;
        size_t n = read_reference(text + at, &name, &length);
        if (n == 0) {
            bool escaped =
                form == RAW && text[at] == '\\' && text[at + 1] != '\0';
            at += escaped ? 2 : 1;
            continue;
        }
        if (at > from)
            add_literal(p, text + from, at - from, form);
        if (find_value(p, name, length, &value))
            bats_template_value(p->script, value,
                                form == RAW ? BATS_TEMPLATE_RAW
                                            : BATS_TEMPLATE_WORD);
        else
            add_unknown(p, name, length, form);
        from = at += n;
    }
    if (at > from)
        add_literal(p, text + from, at - from, form);
}

/* ---- commands ---- */

/* Begins a command, which runs in its own subshell, in this directory. */
static void begin_command(struct planner *p, const char *place,
                          const char *first)
{
    bats_text_format(p->text, "(cd %s && %s", place, first);
}

static void end_command(struct planner *p)
{
    bats_text_add(p->text, p->ignores ? ") || :\n" : ") || exit\n");
}

static void expect_end(struct planner *p)
{
    bats_source_end(p->s, "the end of the command");
}

/* Takes "node:" or "root:" from the beginning of a path. */
static const char *read_place(const char *path, const char **rest,
                              const char *otherwise)
{
    bool node = strncmp(path, "node:", 5) == 0;
    bool root = strncmp(path, "root:", 5) == 0;
    *rest = path + (node || root ? 5 : 0);
    return node ? NODE : root ? ROOT : otherwise;
}

static void read_path(struct planner *p, const char *what)
{
    bats_source_next(p->s);
    if (bats_source_ends(p->s))
        bats_source_expected(p->s, what);
}

/* Reads a path to write to, in this place unless it is absolute. */
static void read_target(struct planner *p, const char *what,
                        const char *otherwise)
{
    const char *rest;
    read_path(p, what);
    const char *place = read_place(p->s->token.value, &rest, otherwise);
    if (*rest != '/')
        bats_text_format(p->text, "%s/", place);
    add_text(p, rest, WORD);
}

static void read_copy(struct planner *p)
{
    const char *rest;
    read_path(p, "the file to copy");
    begin_command(p, read_place(p->s->token.value, &rest, ROOT), "cp -r -- ");
    add_text(p, rest, PATH);
    bats_text_add(p->text, " ");
    read_target(p, "where to copy it", ROOT);
    end_command(p);
    expect_end(p);
}

/* Reads a line for the shell: the rest of this line, or a single text. */
static void read_line(struct planner *p, const char *place)
{
    struct bats_source *s = p->s;
    const char *before = s->at;
    bool is_text = bats_source_next(s) == BATS_TOKEN_STRING;
    if (is_text) {
        bats_source_next(s);
        is_text = bats_source_ends(s);
    }
    if (s->rc < 0)
        return;
    s->at = before;
    if (is_text)
        bats_source_next(s);
    else
        bats_source_rest(s);
    if (bats_source_ends(s))
        bats_source_expected(s, "a command");
    begin_command(p, place, "{\n");
    add_text(p, s->token.value, RAW);
    bats_text_add(p->text, "\n}");
    end_command(p);
    if (is_text)
        expect_end(p);
}

/* exec PROGRAM ARGUMENT...; for lexec and lpexec the program's argument 0
 * follows the program. */
static void read_exec(struct planner *p, bool has_name)
{
    read_path(p, "a program");
    begin_command(p, NODE, "exec ");
    add_text(p, p->s->token.value, WORD);
    if (has_name)
        read_path(p, "the name of the program");
    while (bats_source_next(p->s), !bats_source_ends(p->s)) {
        bats_text_add(p->text, " ");
        add_text(p, p->s->token.value, WORD);
    }
    end_command(p);
}

static void add_substitution(struct planner *p, const char *name, size_t value)
{
    for (int i = 0; i < 2; i++) {
        bats_text_format(
            p->text, i == 0 ? " -e 's/\\${%s}/" : " -e 's/\\$%s\\b/", name);
        bats_template_value(p->script, value, BATS_TEMPLATE_SED);
        bats_text_add(p->text, "/g'");
    }
}

/* substitute SKELETON FILE: replaces the names of values in the skeleton. */
static void read_substitute(struct planner *p, const char *place)
{
    const char *rest;
    read_path(p, "the file in which to substitute");
    begin_command(p, read_place(p->s->token.value, &rest, place), "sed");
    for (size_t k = 0; k < p->n_values; k++)
        add_substitution(p, bats_points_name(p->points, k), k);
    add_substitution(p, BATS_PLANTASK_JOBNAME, BATS_TEMPLATE_NUMBER);
    add_substitution(p, "jobindex", BATS_TEMPLATE_NUMBER);
    bats_text_add(p->text, " <");
    add_text(p, rest, WORD);
    bats_text_add(p->text, " >");
    read_target(p, "the file to write", place);
    end_command(p);
    expect_end(p);
}

/* redirect stdout|stderr off | [append] to FILE */
static void read_redirect(struct planner *p)
{
    struct bats_source *s = p->s;
    bats_source_next(s);
    bool is_error = bats_source_is(s, "stderr");
    if (!is_error && !bats_source_is(s, "stdout"))
        bats_source_expected(s, "stdout or stderr");
    bats_text_add(p->text, is_error ? "exec 2>" : "exec 1>");
    bats_source_next(s);
    if (bats_source_is(s, "off")) {
        bats_text_add(p->text, is_error ? "&4\n" : "&3\n");
        expect_end(p);
        return;
    }
    if (bats_source_is(s, "append")) {
        bats_text_add(p->text, ">");
        bats_source_next(s);
    }
    if (!bats_source_is(s, "to"))
        bats_source_expected(s, "off, to or append to");
    read_target(p, "a file", NODE);
    bats_text_add(p->text, "\n");
    expect_end(p);
}

static void read_onerror(struct planner *p)
{
    bats_source_next(p->s);
    p->ignores = bats_source_is(p->s, "ignore");
    if (!p->ignores && !bats_source_is(p->s, "fail"))
        bats_source_expected(p->s, "fail or ignore");
    expect_end(p);
}

static void read_command(struct planner *p)
{
    struct bats_source *s = p->s;
    if (bats_source_is(s, "copy"))
        read_copy(p);
    else if (bats_source_is(s, "exec"))
        read_exec(p, false);
    else if (bats_source_is(s, "lexec") || bats_source_is(s, "lpexec"))
        read_exec(p, true);
    else if (bats_source_is(s, "shexec") || bats_source_is(s, "node:execute"))
        read_line(p, NODE);
    else if (bats_source_is(s, "execute") || bats_source_is(s, "root:execute"))
        read_line(p, ROOT);
    else if (bats_source_is(s, "node:substitute"))
        read_substitute(p, NODE);
    else if (bats_source_is(s, "substitute") ||
             bats_source_is(s, "root:substitute"))
        read_substitute(p, ROOT);
    else if (bats_source_is(s, "redirect"))
        read_redirect(p);
    else if (bats_source_is(s, "onerror"))
        read_onerror(p);
    else
        bats_source_expected(s, "copy, execute, exec, shexec, substitute, "
                                "redirect, onerror or endtask");
}

/* ---- tasks ---- */

/* Reads up to endtask. An empty task of another name, as in figure 9 of the
 * paper, is left out with a warning. */
static void read_commands(struct planner *p, const char *name, bool is_known,
                          const char *at)
{
    struct bats_source *s = p->s;
    expect_end(p);
    for (;;) {
        enum bats_token_kind kind = bats_source_next(s);
        if (kind == BATS_TOKEN_END)
            continue;
        if (s->rc == 0 && !is_known && bats_source_is(s, "task")) {
            s->at = s->token.at;
            bats_source_warn(s, at, "the task '%s' is empty: it is left out",
                             name);
            return;
        }
        if (s->rc == 0 && !is_known) {
            s->token = (struct bats_token){
                .kind = BATS_TOKEN_WORD, .at = at, .value = name};
            bats_source_expected(s, "main or nodestart");
        }
        if (kind == BATS_TOKEN_EOF)
            bats_source_expected(s, "a command or endtask");
        if (s->rc < 0)
            return;
        if (bats_source_is(s, "endtask")) {
            expect_end(p);
            return;
        }
        read_command(p);
    }
}

static void read_task(struct planner *p, struct bats_template *scripts[2])
{
    struct bats_source *s = p->s;
    read_path(p, "main or nodestart");
    bool is_main = bats_source_is(s, "main");
    bool is_known = is_main || bats_source_is(s, "nodestart");
    if (is_known && p->has[is_main])
        bats_source_refuse(s, "there is already a task '%s'", s->token.value);
    char *name = s->rc == 0 ? strdup(s->token.value) : NULL;
    bats_source_check(s, name != NULL);
    p->has[is_main] = p->has[is_main] || is_known;
    p->ignores = false;
    p->script = scripts[is_main];
    p->text = bats_template_text(p->script);
    if (name != NULL)
        read_commands(p, name, is_known, s->token.at);
    free(name);
}

/* Skips the statement that begins with the current token. */
static void skip_statement(struct bats_source *s)
{
    bool jobs = bats_source_is(s, "jobs");
    while (s->token.kind != BATS_TOKEN_EOF &&
           (jobs ? !bats_source_is(s, "endjobs") : !bats_source_ends(s)))
        bats_source_next(s);
}

void bats_plantask_read(struct bats_source *source,
                        const struct bats_points *points,
                        struct bats_template *script)
{
    struct bats_template *scripts[] = {bats_template_new(),
                                       bats_template_new()};
    struct bats_text *text = bats_template_text(script);
    struct planner p = {.s = source, .points = points};
    bats_source_check(source, scripts[0] != NULL && scripts[1] != NULL);
    while (bats_points_name(points, p.n_values) != NULL)
        p.n_values++;
    while (bats_source_next(source) != BATS_TOKEN_EOF)
        if (bats_source_is(source, "task"))
            read_task(&p, scripts);
        else
            skip_statement(source);
    if (!p.has[1])
        bats_source_expected(source, "the task main");
    if (source->rc == 0) {
        bats_text_add(text, prologue);
        bats_template_append(script, scripts[0]);
        bats_text_add(text, "exec 1>&3 2>&4\n");
        bats_template_append(script, scripts[1]);
        bats_source_check(source, !text->failed);
    }
    for (int i = 0; i < 2; i++)
        bats_template_destroy(scripts[i]);
}
