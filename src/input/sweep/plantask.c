#include "input/sweep/plantask.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/sweep/text.h"

#define NODE "\"$bats_node\""
#define ROOT "\"$bats_root\""

/* Files go when the shell ends, also if it is told to; descriptors 3 and 4 are
 * the task's own output. */
static const char prologue[] =
    "bats_root=$PWD; "
    "bats_node=$(mktemp -d \"${TMPDIR:-/tmp}/bats-XXXXXX\") || exit 1\n"
    "trap 'cd / && rm -rf " NODE "' EXIT; trap 'exit 143' HUP INT TERM\n"
    "exec 3>&1 4>&2; cd " NODE " || exit 1\n";

struct planner {
    struct bats_source *s;
    const struct bats_points *points;
    size_t n_values;
    struct bats_script *script; /* of the present task */
    bool ignores;               /* onerror */
    bool has[2];                /* nodestart, main */
};

bool bats_plantask_is_number(const char *word)
{
    return strcmp(word, BATS_PLANTASK_JOBNAME) == 0 ||
           strcmp(word, "jobindex") == 0 ||
           strcmp(word, "nimrod_jobname") == 0 ||
           strcmp(word, "nimrod_jobindex") == 0;
}

/* ---- values ---- */

/* The value of this name; false: there is none. */
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
    *value = BATS_SCRIPT_NUMBER;
    if (n >= sizeof word)
        return false;
    memcpy(word, name, n);
    word[n] = '\0';
    return bats_plantask_is_number(word);
}

/* Reads "$name" or "${name}" at `at`: the number of its bytes, or 0. */
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

/* Text that is not a value, in the form that the shell needs. In a path,
 * patterns stay what they are. */
enum literal { RAW, WORD, PATH };

static void add_literal(struct planner *p, const char *text, size_t n,
                        enum literal form)
{
    char *quoted = NULL;
    size_t room = 0;
    struct bats_text out = {.bytes = &quoted, .room = &room, .ok = true};
    if (form == RAW) {
        bats_script_text(p->script, text, n);
        return;
    }
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && (form == WORD || strchr("*?[]", text[end]) == NULL))
            end++;
        if (end > i)
            bats_text_quote(&out, text + i, end - i);
        if (end < n)
            bats_text_put(&out, text + end, 1);
        i = end + (end < n);
    }
    if (quoted != NULL)
        bats_script_text(p->script, quoted, out.n);
    p->script->failed = p->script->failed || !out.ok;
    free(quoted);
}

/* A name that nobody has given a value is left to the shell. */
static int add_unknown(struct planner *p, const char *name, size_t n,
                       enum literal form)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(n < 63 ? n : 63), name);
    bats_script_add(p->script, form == RAW ? "${" : "\"${");
    bats_script_text(p->script, name, n);
    bats_script_add(p->script, form == RAW ? "}" : "}\"");
    if (getenv(word) != NULL)
        return 0;
    return bats_source_warn(p->s, p->s->token.at,
                            "no parameter is called '%s': it is left to the "
                            "shell",
                            word);
}

static int add_text(struct planner *p, const char *text, enum literal form)
{
    size_t at = 0, from = 0;
    int rc = 0;
    if (*text == '\0' && form != RAW)
        bats_script_add(p->script, "''");
    while (rc == 0 && text[at] != '\0') {
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
            bats_script_value(p->script, value,
                              form == RAW ? BATS_SCRIPT_RAW
                                          : BATS_SCRIPT_WORD);
        else
            rc = add_unknown(p, name, length, form);
        from = at += n;
    }
    if (at > from)
        add_literal(p, text + from, at - from, form);
    return rc;
}

/* ---- commands ---- */

static void end_command(struct planner *p)
{
    bats_script_add(p->script, p->ignores ? " || :\n" : " || exit\n");
}

static int expect_end(struct planner *p)
{
    int rc = bats_source_next(p->s);
    return rc < 0 || bats_source_ends(p->s)
               ? rc
               : bats_source_expected(p->s, "the end of the command");
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

static int read_path(struct planner *p, const char *what)
{
    int rc = bats_source_next(p->s);
    return rc == 0 && bats_source_ends(p->s) ? bats_source_expected(p->s, what)
                                             : rc;
}

/* A path to write to, unless it begins at the root. */
static int add_target(struct planner *p, const char *otherwise)
{
    const char *rest;
    const char *place = read_place(p->s->token.value, &rest, otherwise);
    if (*rest != '/') {
        bats_script_add(p->script, place);
        bats_script_add(p->script, "/");
    }
    return add_text(p, rest, WORD);
}

static int read_copy(struct planner *p)
{
    const char *rest;
    int rc = read_path(p, "the file to copy");
    if (rc < 0)
        return rc;
    const char *place = read_place(p->s->token.value, &rest, ROOT);
    bats_script_add(p->script, "(cd ");
    bats_script_add(p->script, place);
    bats_script_add(p->script, " && cp -r -- ");
    rc = add_text(p, rest, PATH);
    if (rc == 0)
        rc = read_path(p, "where to copy it");
    bats_script_add(p->script, " ");
    if (rc == 0)
        rc = add_target(p, ROOT);
    bats_script_add(p->script, ")");
    end_command(p);
    return rc < 0 ? rc : expect_end(p);
}

/* A line for the shell: the rest of this one, or the text that is all of it. */
static int read_line(struct planner *p, const char *place)
{
    const char *before = p->s->at;
    int rc = bats_source_next(p->s);
    bool whole = rc == 0 && p->s->token.kind == BATS_TOKEN_STRING;
    if (whole) {
        const char *after = p->s->at;
        struct bats_token token = p->s->token;
        char *text = strdup(token.value);
        if (text == NULL)
            return bats_error_set(p->s->err, BATS_ENOMEM, "out of memory");
        rc = bats_source_next(p->s);
        whole = rc == 0 && bats_source_ends(p->s);
        if (whole) {
            p->s->at = after;
            p->s->token = token;
            bats_script_add(p->script, "(cd ");
            bats_script_add(p->script, place);
            bats_script_add(p->script, " && {\n");
            rc = add_text(p, text, RAW);
        }
        free(text);
        if (whole && rc == 0) {
            bats_script_add(p->script, "\n})");
            end_command(p);
            return expect_end(p);
        }
    }
    if (rc < 0)
        return rc;
    p->s->at = before;
    rc = bats_source_rest(p->s);
    if (rc == 0 && bats_source_ends(p->s))
        rc = bats_source_expected(p->s, "a command");
    if (rc < 0)
        return rc;
    bats_script_add(p->script, "(cd ");
    bats_script_add(p->script, place);
    bats_script_add(p->script, " && {\n");
    rc = add_text(p, p->s->token.value, RAW);
    bats_script_add(p->script, "\n})");
    end_command(p);
    return rc;
}

/* exec PROGRAM ARGUMENT...; lexec and lpexec have the name that the program is
 * to see after the program. */
static int read_exec(struct planner *p, bool has_name)
{
    int rc = read_path(p, "a program");
    if (rc < 0)
        return rc;
    bats_script_add(p->script, "(cd " NODE " && exec ");
    rc = add_text(p, p->s->token.value, WORD);
    if (rc == 0 && has_name)
        rc = read_path(p, "the name of the program");
    while (rc == 0 && (rc = bats_source_next(p->s)) == 0 &&
           !bats_source_ends(p->s)) {
        bats_script_add(p->script, " ");
        rc = add_text(p, p->s->token.value, WORD);
    }
    bats_script_add(p->script, ")");
    end_command(p);
    return rc;
}

static void add_substitution(struct planner *p, const char *name, size_t value)
{
    static const char *const forms[][2] = {{"\\${", "}"}, {"\\$", "\\b"}};
    for (int i = 0; i < 2; i++) {
        bats_script_add(p->script, " -e 's/");
        bats_script_add(p->script, forms[i][0]);
        bats_script_add(p->script, name);
        bats_script_add(p->script, forms[i][1]);
        bats_script_add(p->script, "/");
        bats_script_value(p->script, value, BATS_SCRIPT_SED);
        bats_script_add(p->script, "/g'");
    }
}

/* substitute SKELETON FILE: the names of values in it are replaced. */
static int read_substitute(struct planner *p, const char *place)
{
    const char *rest;
    int rc = read_path(p, "the file in which to substitute");
    if (rc < 0)
        return rc;
    bats_script_add(p->script, "(cd ");
    bats_script_add(p->script, read_place(p->s->token.value, &rest, place));
    bats_script_add(p->script, " && sed");
    for (size_t k = 0; k < p->n_values; k++)
        add_substitution(p, bats_points_name(p->points, k), k);
    add_substitution(p, BATS_PLANTASK_JOBNAME, BATS_SCRIPT_NUMBER);
    add_substitution(p, "jobindex", BATS_SCRIPT_NUMBER);
    bats_script_add(p->script, " <");
    rc = add_text(p, rest, WORD);
    if (rc == 0)
        rc = read_path(p, "the file to write");
    bats_script_add(p->script, " >");
    if (rc == 0)
        rc = add_target(p, place);
    bats_script_add(p->script, ")");
    end_command(p);
    return rc < 0 ? rc : expect_end(p);
}

/* redirect stdout|stderr off | [append] to FILE */
static int read_redirect(struct planner *p)
{
    int rc = bats_source_next(p->s);
    if (rc < 0)
        return rc;
    bool is_error = bats_source_is(p->s, "stderr");
    if (!is_error && !bats_source_is(p->s, "stdout"))
        return bats_source_expected(p->s, "stdout or stderr");
    bats_script_add(p->script, is_error ? "exec 2>" : "exec 1>");
    rc = bats_source_next(p->s);
    if (rc == 0 && bats_source_is(p->s, "off")) {
        bats_script_add(p->script, is_error ? "&4\n" : "&3\n");
        return expect_end(p);
    }
    if (rc == 0 && bats_source_is(p->s, "append")) {
        bats_script_add(p->script, ">");
        rc = bats_source_next(p->s);
    }
    if (rc == 0 && !bats_source_is(p->s, "to"))
        rc = bats_source_expected(p->s, "off, to or append to");
    if (rc == 0)
        rc = read_path(p, "a file");
    if (rc == 0)
        rc = add_target(p, NODE);
    bats_script_add(p->script, "\n");
    return rc < 0 ? rc : expect_end(p);
}

static int read_onerror(struct planner *p)
{
    int rc = bats_source_next(p->s);
    if (rc < 0)
        return rc;
    p->ignores = bats_source_is(p->s, "ignore");
    if (!p->ignores && !bats_source_is(p->s, "fail"))
        return bats_source_expected(p->s, "fail or ignore");
    return expect_end(p);
}

static int read_command(struct planner *p)
{
    struct bats_source *s = p->s;
    if (bats_source_is(s, "copy"))
        return read_copy(p);
    if (bats_source_is(s, "exec"))
        return read_exec(p, false);
    if (bats_source_is(s, "lexec") || bats_source_is(s, "lpexec"))
        return read_exec(p, true);
    if (bats_source_is(s, "shexec") || bats_source_is(s, "node:execute"))
        return read_line(p, NODE);
    if (bats_source_is(s, "execute") || bats_source_is(s, "root:execute"))
        return read_line(p, ROOT);
    if (bats_source_is(s, "node:substitute"))
        return read_substitute(p, NODE);
    if (bats_source_is(s, "substitute") ||
        bats_source_is(s, "root:substitute"))
        return read_substitute(p, ROOT);
    if (bats_source_is(s, "redirect"))
        return read_redirect(p);
    if (bats_source_is(s, "onerror"))
        return read_onerror(p);
    return bats_source_expected(s, "copy, execute, exec, shexec, substitute, "
                                   "redirect, onerror or endtask");
}

/* ---- tasks ---- */

/* Reads up to endtask. A task of another name that nothing is in, as in figure
 * 9 of the paper, is a slip of the pen. */
static int read_commands(struct planner *p, const char *name, bool is_known,
                         const char *at)
{
    int rc = expect_end(p);
    while (rc == 0 && (rc = bats_source_next(p->s)) == 0) {
        if (p->s->token.kind == BATS_TOKEN_END)
            continue;
        if (!is_known && bats_source_is(p->s, "task")) {
            p->s->at = p->s->token.at;
            return bats_source_warn(p->s, at,
                                    "the task '%s' is empty: it is "
                                    "left out",
                                    name);
        }
        if (!is_known) {
            p->s->token = (struct bats_token){
                .kind = BATS_TOKEN_WORD, .at = at, .value = (char *)name};
            return bats_source_expected(p->s, "main or nodestart");
        }
        if (p->s->token.kind == BATS_TOKEN_EOF)
            return bats_source_expected(p->s, "a command or endtask");
        if (bats_source_is(p->s, "endtask"))
            return expect_end(p);
        rc = read_command(p);
    }
    return rc;
}

static int read_task(struct planner *p, struct bats_script scripts[2])
{
    int rc = read_path(p, "main or nodestart");
    if (rc < 0)
        return rc;
    bool is_main = bats_source_is(p->s, "main");
    bool is_known = is_main || bats_source_is(p->s, "nodestart");
    if (is_known && p->has[is_main])
        return bats_source_refuse(p->s, "there is a task '%s' already",
                                  p->s->token.value);
    char *name = strdup(p->s->token.value);
    if (name == NULL)
        return bats_error_set(p->s->err, BATS_ENOMEM, "out of memory");
    p->has[is_main] = p->has[is_main] || is_known;
    p->ignores = false;
    p->script = &scripts[is_main];
    rc = read_commands(p, name, is_known, p->s->token.at);
    free(name);
    return rc;
}

/* Skips the statement that the present token begins. */
static int skip_statement(struct planner *p)
{
    bool jobs = bats_source_is(p->s, "jobs");
    int rc = 0;
    while (rc == 0 && p->s->token.kind != BATS_TOKEN_EOF &&
           (jobs ? !bats_source_is(p->s, "endjobs") : !bats_source_ends(p->s)))
        rc = bats_source_next(p->s);
    return rc;
}

static int read_tasks(struct planner *p, struct bats_script scripts[2])
{
    int rc;
    while ((rc = bats_source_next(p->s)) == 0 &&
           p->s->token.kind != BATS_TOKEN_EOF) {
        rc = bats_source_is(p->s, "task") ? read_task(p, scripts)
                                          : skip_statement(p);
        if (rc < 0)
            return rc;
    }
    if (rc == 0 && !p->has[1])
        rc = bats_source_expected(p->s, "the task main");
    return rc;
}

int bats_plantask_read(struct bats_source *source,
                       const struct bats_points *points,
                       struct bats_script *script)
{
    struct bats_script scripts[2] = {{0}, {0}};
    struct planner p = {.s = source, .points = points};
    while (bats_points_name(points, p.n_values) != NULL)
        p.n_values++;
    int rc = read_tasks(&p, scripts);
    if (rc == 0) {
        bats_script_add(script, prologue);
        bats_script_append(script, &scripts[0]);
        bats_script_add(script, "exec 1>&3 2>&4\n");
        bats_script_append(script, &scripts[1]);
        if (script->failed)
            rc = bats_error_set(source->err, BATS_ENOMEM, "out of memory");
    }
    for (int i = 0; i < 2; i++)
        bats_script_release(&scripts[i]);
    return rc;
}
