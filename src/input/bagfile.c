#include "input/bagfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "input/dependencies.h"
#include "input/sharing.h"
#include "input/sweep/planfile.h"
#include "input/sweep/sweep.h"
#include "input/textfile.h"
#include "input/workflow/workflow.h"
#include "util/grow.h"

#define BLANKS " \t"
#define TASKS_MAX (UINT32_MAX - 1)

/*
 * The tasks from `first` on that share prefix, suffix and origin: either plain
 * lines, each with its entry in the tables, or the n repetitions of one
 * directive, which are not expanded. So a bag costs its text, 12 bytes a line,
 * and next to nothing for any number of repetitions.
 */
struct group {
    uint32_t first;
    bool repeated;
    bool once;
    uint32_t entry; /* of the first task; of all, if repeated */
    uint64_t start, step;
    size_t prefix, suffix; /* offsets into the text */
};

struct bats_bagfile {
    char *name;
    char *text;     /* the file, every line ended by a NUL */
    size_t *offset; /* by entry: offset of its command in the text */
    uint32_t *line; /* by entry */
    size_t n_entries, entries_room;
    struct group *groups;
    size_t n_groups, groups_room;
    uint32_t n_tasks;
    bool is_disbatch;
    struct {
        char *text; /* commands, each with its NUL */
        size_t n, room;
    } per_engine[2]; /* START, STOP */
    uint32_t dangling;
    struct bats_graph graph;  /* without nodes if nobody waits */
    struct bats_sharing sharing;
    struct bats_sweep *sweep; /* instead of all of these; or NULL */
    struct bats_workflow *workflow; /* likewise */
};

/* The properties of the next task, while the file is read. */
struct scan {
    struct bats_bagfile *bag;
    struct bats_dependencies *waits; /* NULL: no line was of these */
    size_t prefix, suffix; /* offsets of the prefix and suffix in force */
    bool new_group;
    bool once; /* @once is on the present line */
    uint32_t line;
    char *command; /* room for one command */
    size_t command_size;
    struct bats_error *err;
};

static int no_memory(struct bats_error *err)
{
    return bats_error_set(err, BATS_ENOMEM, "out of memory for the bag");
}

/* ---- tasks ---- */

static int add_entry(struct scan *scan, size_t offset)
{
    struct bats_bagfile *bag = scan->bag;
    size_t lines_room = bag->entries_room;
    if (!bats_grow(&bag->line, &lines_room, bag->n_entries + 1,
                   sizeof *bag->line) ||
        !bats_grow(&bag->offset, &bag->entries_room, bag->n_entries + 1,
                   sizeof *bag->offset))
        return no_memory(scan->err);
    bag->offset[bag->n_entries] = offset;
    bag->line[bag->n_entries] = scan->line;
    bag->n_entries++;
    return 0;
}

static int add_group(struct scan *scan, struct group group)
{
    struct bats_bagfile *bag = scan->bag;
    if (!bats_grow(&bag->groups, &bag->groups_room, bag->n_groups + 1,
                   sizeof *bag->groups))
        return no_memory(scan->err);
    group.first = bag->n_tasks;
    group.entry = (uint32_t)bag->n_entries;
    group.prefix = scan->prefix;
    group.suffix = scan->suffix;
    group.once = scan->once;
    bag->groups[bag->n_groups++] = group;
    return 0;
}

/* A mistake in a built-in task is reported now, not when the task starts. */
static int check_builtin(struct scan *scan, uint32_t task, size_t offset)
{
    const struct bats_bagfile *bag = scan->bag;
    bool written = bag->text[offset] == '@';
    if (!written && bag->text[scan->prefix] != '@')
        return 0;
    ptrdiff_t length =
        bats_bagfile_command(bag, task, &scan->command, &scan->command_size);
    if (length < 0)
        return no_memory(scan->err);
    bool is_builtin;
    bats_time duration;
    struct bats_error why;
    if (bats_builtin_parse(scan->command, &is_builtin, &duration, &why))
        return bats_error_set(scan->err, why.code, "%s:%" PRIu32 ": %s",
                              bag->name, scan->line, why.text);
    if (written && !is_builtin)
        return bats_error_set(scan->err, BATS_EINPUT,
                              "%s:%" PRIu32 ": a built-in task cannot follow "
                              "the PREFIX '%.60s'",
                              bag->name, scan->line, bag->text + scan->prefix);
    return 0;
}

/* Adds the tasks of one line: `n` of them, with the command at `offset`. */
static int add_tasks(struct scan *scan, size_t offset, uint64_t n,
                     const struct group *repeated)
{
    struct bats_bagfile *bag = scan->bag;
    if (n > TASKS_MAX - bag->n_tasks)
        return bats_error_set(scan->err, BATS_EINPUT,
                              "%s:%" PRIu32 ": more than %" PRIu32
                              " tasks in one bag",
                              bag->name, scan->line, TASKS_MAX);
    int code = 0;
    if (repeated || scan->new_group ||
        bag->groups[bag->n_groups - 1].once != scan->once)
        code = add_group(scan, repeated ? *repeated : (struct group){0});
    if (!code)
        code = add_entry(scan, offset);
    if (code)
        return code;
    scan->new_group = repeated != NULL;
    uint32_t first = bag->n_tasks;
    bag->n_tasks += (uint32_t)n;
    if (scan->waits)
        bats_dependencies_take(scan->waits, first, (uint32_t)n);
    return check_builtin(scan, first, offset);
}

/* Notes the first plain command that ends with an unquoted backslash. */
static void note_backslash(struct scan *scan, const char *command)
{
    const char *end = command + strlen(command), *at = end;
    while (at > command && at[-1] == '\\')
        at--;
    if ((end - at) % 2 == 1 && scan->bag->dangling == 0 &&
        scan->bag->text[scan->suffix] == '\0')
        scan->bag->dangling = scan->line;
}

/* Skips "@once", if the command begins with it. */
static int read_once(struct scan *scan, const char **command)
{
    static const char word[] = "@once";
    const char *after = *command + strlen(word);
    scan->once = strncmp(*command, word, strlen(word)) == 0 &&
                 (*after == '\0' || strchr(BLANKS, *after));
    if (scan->once)
        *command = after + strspn(after, BLANKS);
    if (scan->once && **command == '\0')
        return bats_error_set(scan->err, BATS_EINPUT,
                              "%s:%" PRIu32 ": @once without a command",
                              scan->bag->name, scan->line);
    return 0;
}

/* ---- disBatch's directives ---- */

/* Reads a number at *text and skips it and the blanks after it. */
static bool read_number(const char **text, uint64_t *number)
{
    size_t digits = strspn(*text, "0123456789");
    char after = (*text)[digits];
    if (digits == 0 || digits > 18 || (after && !strchr(BLANKS, after)))
        return false;
    *number = strtoull(*text, NULL, 10);
    *text += digits;
    *text += strspn(*text, BLANKS);
    return true;
}

/* Skips `word` and the blanks after it if it stands at *text. */
static bool read_word(const char **text, const char *word)
{
    size_t n = strlen(word);
    if (strncasecmp(*text, word, n) != 0 ||
        ((*text)[n] && !strchr(BLANKS, (*text)[n])))
        return false;
    *text += n;
    *text += strspn(*text, BLANKS);
    return true;
}

/* Parses "n [start s] [step t] [command]". */
static int repeat(struct scan *scan, const char *text)
{
    struct bats_bagfile *bag = scan->bag;
    struct group group = {.repeated = true, .start = 0, .step = 1};
    uint64_t n, last;
    if (!read_number(&text, &n) || n == 0 ||
        (read_word(&text, "start") && !read_number(&text, &group.start)) ||
        (read_word(&text, "step") && !read_number(&text, &group.step)))
        return bats_error_set(scan->err, BATS_EINPUT,
                              "%s:%" PRIu32 ": not of the form '#DISBATCH "
                              "REPEAT n [start s] [step t] command'",
                              bag->name, scan->line);
    if (__builtin_mul_overflow(n - 1, group.step, &last) ||
        __builtin_add_overflow(last, group.start, &last) || last > INT64_MAX)
        return bats_error_set(scan->err, BATS_EINPUT,
                              "%s:%" PRIu32 ": the last DISBATCH_REPEAT_INDEX "
                              "is too large",
                              bag->name, scan->line);
    if (!*text && !bag->text[scan->prefix] && !bag->text[scan->suffix])
        return bats_error_set(scan->err, BATS_EINPUT,
                              "%s:%" PRIu32 ": nothing to repeat: no command, "
                              "PREFIX or SUFFIX",
                              bag->name, scan->line);
    int code = read_once(scan, &text);
    return code ? code
                : add_tasks(scan, (size_t)(text - bag->text), n, &group);
}

/* The dependencies of the bag: a bag without any has none of this. */
static struct bats_dependencies *dependencies(struct scan *scan)
{
    if (!scan->waits)
        scan->waits = bats_dependencies_create(scan->bag->name);
    return scan->waits;
}

/* `text` follows "BARRIER". */
static int barrier(struct scan *scan, const char *text)
{
    bool check = read_word(&text, "CHECK");
    if (*text)
        return bats_error_set(scan->err, BATS_EINPUT,
                              "%s:%" PRIu32 ": not of the form '#DISBATCH "
                              "BARRIER [CHECK]'",
                              scan->bag->name, scan->line);
    return dependencies(scan)
               ? bats_dependencies_barrier(scan->waits, scan->bag->n_tasks,
                                           !check, scan->err)
               : no_memory(scan->err);
}

/* `text` follows "PERENGINE". */
static int per_engine(struct scan *scan, const char *text)
{
    struct bats_bagfile *bag = scan->bag;
    bool stop = !read_word(&text, "START");
    if ((stop && !read_word(&text, "STOP")) || *text == '\0')
        return bats_error_set(scan->err, BATS_EINPUT,
                              "%s:%" PRIu32 ": not of the form '#DISBATCH "
                              "PERENGINE START|STOP command'",
                              bag->name, scan->line);
    if (bag->n_tasks > 0)
        return bats_error_set(scan->err, BATS_EINPUT,
                              "%s:%" PRIu32 ": '#DISBATCH PERENGINE' has to "
                              "come before all tasks",
                              bag->name, scan->line);
    const char *prefix = bag->text + scan->prefix;
    const char *suffix = bag->text + scan->suffix;
    if (*(*prefix ? prefix : text) == '@')
        return bats_error_set(scan->err, BATS_EINPUT,
                              "%s:%" PRIu32 ": PERENGINE takes no built-in "
                              "task",
                              bag->name, scan->line);
    char **to = &bag->per_engine[stop].text;
    size_t n = bag->per_engine[stop].n;
    size_t length = strlen(prefix) + strlen(text) + strlen(suffix);
    if (!bats_grow(to, &bag->per_engine[stop].room, n + length + 1, 1))
        return no_memory(scan->err);
    stpcpy(stpcpy(stpcpy(*to + n, prefix), text), suffix);
    bag->per_engine[stop].n = n + length + 1;
    return 0;
}

/* `text` follows "#DISBATCH". */
static int directive(struct scan *scan, const char *text)
{
    struct bats_bagfile *bag = scan->bag;
    bag->is_disbatch = true;
    text += strspn(text, BLANKS);
    const char *word = text;
    int n = (int)strcspn(word, BLANKS);
    bool prefix = read_word(&text, "PREFIX");
    if (prefix || read_word(&text, "SUFFIX")) {
        /* One blank ends the word; further blanks belong to the text. */
        text = word + n + (word[n] != '\0');
        *(prefix ? &scan->prefix : &scan->suffix) = (size_t)(text - bag->text);
        scan->new_group = true;
        return 0;
    }
    if (read_word(&text, "REPEAT"))
        return repeat(scan, text);
    if (read_word(&text, "BARRIER"))
        return barrier(scan, text);
    if (read_word(&text, "PERENGINE"))
        return per_engine(scan, text);
    return bats_error_set(scan->err, BATS_EINPUT,
                          "%s:%" PRIu32 ": unknown directive '#DISBATCH "
                          "%.*s'; known are PREFIX, SUFFIX, REPEAT, "
                          "BARRIER and PERENGINE",
                          bag->name, scan->line, n < 40 ? n : 40, word);
}

/* ---- directives of our own ---- */

/* `text` follows "#BATS". */
static int statement(struct scan *scan, const char *text)
{
    struct bats_bagfile *bag = scan->bag;
    text += strspn(text, BLANKS);
    size_t length = strcspn(text, BLANKS);
    if (read_word(&text, "workflow"))
        return bats_sharing_note(&bag->sharing, text, bag->n_tasks, bag->name,
                                 scan->line, scan->err);
    if (!read_word(&text, "task"))
        return bats_error_set(scan->err, BATS_EINPUT,
                              "%s:%" PRIu32 ": unknown directive '#BATS "
                              "%.*s'; known are task and workflow",
                              bag->name, scan->line,
                              length < 40 ? (int)length : 40, text);
    return dependencies(scan) ? bats_dependencies_note(scan->waits, text,
                                                       scan->line, scan->err)
                              : no_memory(scan->err);
}

static uint32_t line_of(const void *bag, uint32_t task)
{
    return bats_bagfile_line(bag, task);
}

static int connect(struct scan *scan)
{
    struct bats_bagfile *bag = scan->bag;
    int rc = bats_sharing_finish(&bag->sharing, bag->n_tasks, scan->err);
    if (rc == 0 && scan->waits)
        rc = bats_dependencies_graph(scan->waits, bag->n_tasks, line_of, bag,
                                     &bag->graph, scan->err);
    else if (rc == 0 && bag->sharing.n > 0) /* the engine wants one */
        rc = bats_graph_init(&bag->graph, bag->n_tasks, bag->n_tasks, NULL, 0,
                             scan->err);
    return rc;
}

/* ---- a bag of a workflow ---- */

static int check_builtins(const struct bats_bagfile *bag,
                          struct bats_error *err)
{
    char *command = NULL;
    size_t size = 0;
    int code = 0;
    for (uint32_t i = 0; !code && i < bag->n_tasks; i++) {
        bool is_builtin;
        bats_time duration;
        struct bats_error why;
        if (bats_bagfile_command(bag, i, &command, &size) < 0)
            code = no_memory(err);
        else if (bats_builtin_parse(command, &is_builtin, &duration, &why))
            code = bats_error_set(err, why.code, "task %" PRIu64 ": %s",
                                  (uint64_t)i + 1, why.text);
    }
    free(command);
    return code;
}

/* To be run, all tasks need commands. */
static int load_workflow(const char *path, struct bats_workflow *w,
                         struct bats_error *err)
{
    char at[BATS_WORKFLOW_AT_SIZE], name[100];
    int code = bats_workflow_load(path, w, err);
    for (uint32_t i = 0; !code && i < w->n; i++)
        if (w->tasks[i].command == BATS_NO_COMMAND)
            return bats_error_set(
                err, BATS_EINPUT,
                "%s%s has no command: this workflow can only be simulated",
                bats_workflow_at(w, w->tasks[i].line, at),
                bats_workflow_name(w, i, name, sizeof name));
    return code;
}

static int read_workflow(struct bats_bagfile *b, struct bats_error *err)
{
    struct bats_workflow *w = b->workflow = calloc(1, sizeof *w);
    int code = w ? load_workflow(b->name, w, err) : no_memory(err);
    if (code)
        return code;
    b->n_tasks = w->n;
    return check_builtins(b, err);
}

/* Loads the workflow of this word, or reads an option of the one before. */
static int read_word_of_several(struct bats_bagfile *b, const char *word,
                                struct bats_workflow *parts, uint32_t *n_parts,
                                struct bats_error *err)
{
    struct bats_error why;
    bool is_file = bats_workflow_format(word) != BATS_WORKFLOW_NONE;
    int code = is_file ? bats_sharing_begin(&b->sharing, word, strlen(word),
                                            b->n_tasks, &why)
                       : bats_sharing_option(&b->sharing, word, &why);
    if (code)
        return bats_error_set(err, code, "%s: %s",
                              is_file ? word : parts[*n_parts - 1].path,
                              why.text);
    if (!is_file)
        return 0;
    struct bats_workflow *w = &parts[(*n_parts)++];
    code = load_workflow(word, w, err);
    b->n_tasks += w->n;
    return code;
}

/* "a.makeflow + b.dax" */
static char *join_names(const struct bats_workflow *parts, uint32_t n)
{
    char *text = NULL, *more;
    for (uint32_t i = 0; i < n; i++, text = more) {
        if (asprintf(&more, "%s%s%s", text ? text : "", text ? " + " : "",
                     parts[i].path) < 0)
            more = NULL;
        free(text);
        if (!more)
            return NULL;
    }
    return text;
}

static int read_several(struct bats_bagfile *b, const char *const *words,
                        size_t n_words, struct bats_workflow *parts,
                        uint32_t *n_parts, struct bats_error *err)
{
    int code = 0;
    for (size_t i = 0; !code && i < n_words; i++)
        code = read_word_of_several(b, words[i], parts, n_parts, err);
    if (code)
        return code;
    b->name = join_names(parts, *n_parts);
    b->workflow = calloc(1, sizeof *b->workflow);
    code = b->name && b->workflow
               ? bats_workflow_merge(b->name, parts, *n_parts, b->workflow,
                                     err)
               : no_memory(err);
    if (!code)
        code = bats_sharing_finish(&b->sharing, b->n_tasks, err);
    return code ? code : check_builtins(b, err);
}

/* ---- loading ---- */

/* The text behind the mark, if the line begins with it. */
static const char *behind(const char *text, const char *mark)
{
    const char *after = text + strlen(mark);
    return strncmp(text, mark, strlen(mark)) == 0 &&
                   (*after == '\0' || strchr(BLANKS, *after))
               ? after
               : NULL;
}

static int scan_line(struct scan *scan, const char *text)
{
    text += strspn(text, BLANKS);
    if (*text == '\0')
        return 0;
    if (*text != '#') {
        int code = read_once(scan, &text);
        note_backslash(scan, text);
        return code ? code
                    : add_tasks(scan, (size_t)(text - scan->bag->text), 1,
                                NULL);
    }
    const char *after = behind(text, "#DISBATCH");
    if (after)
        return directive(scan, after);
    after = behind(text, "#BATS");
    return after ? statement(scan, after) : 0;
}

static int scan_text(struct bats_bagfile *bag, size_t length,
                     struct bats_error *err)
{
    /* The NUL after the text serves as the empty prefix and suffix. */
    struct scan scan = {.bag = bag,
                        .prefix = length,
                        .suffix = length,
                        .new_group = true,
                        .err = err};
    char *line = bag->text, *end = bag->text + length;
    if (strncmp(line, "\xEF\xBB\xBF", 3) == 0) /* a byte order mark */
        line += 3;
    int code = 0;
    while (line < end && !code) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        char *next = newline ? newline + 1 : end;
        if (scan.line == UINT32_MAX) {
            code = bats_error_set(err, BATS_EINPUT, "%s: too many lines",
                                  bag->name);
            break;
        }
        scan.line++;
        if (newline)
            *newline = '\0';
        else
            newline = end;
        if (newline > line && newline[-1] == '\r')
            newline[-1] = '\0';
        code = scan_line(&scan, line);
        line = next;
    }
    if (!code)
        code = connect(&scan);
    bats_dependencies_destroy(scan.waits);
    free(scan.command);
    return code;
}

/* ---- plan files ---- */

/* The command that runs the script `text`: its first line, without "#!". For
 * free(). */
static char *interpreter(const char *text)
{
    const char *begin = text + 2 + strspn(text + 2, BLANKS);
    size_t n = strcspn(begin, "\r\n");
    while (n > 0 && strchr(BLANKS, begin[n - 1]) != NULL)
        n--;
    return n > 0 ? strndup(begin, n) : strdup("/bin/sh");
}

static bool is_plan(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".pln") == 0;
}

/* Makes a sweep of the text. */
static int read_plan(struct bats_bagfile *bag, bool is_script,
                     struct bats_error *err)
{
    char *command = is_script ? interpreter(bag->text) : NULL;
    if (is_script && command == NULL)
        return no_memory(err);
    int code =
        bats_sweep_of_plan(bag->name, bag->text, command, &bag->sweep, err);
    free(command);
    free(bag->text);
    bag->text = NULL;
    if (!code)
        bag->n_tasks = bats_sweep_count(bag->sweep);
    return code;
}

static int read_bag(struct bats_bagfile *b, const char *path,
                    struct bats_error *err)
{
    size_t length = 0;
    int code = bats_textfile_read(path, &b->text, &length, err);
    bool is_script =
        !code && strcmp(path, "-") != 0 && bats_planfile_in_script(b->text);
    if (!code)
        code = is_script || is_plan(path) ? read_plan(b, is_script, err)
                                          : scan_text(b, length, err);
    if (!code && b->n_tasks == 0)
        code = bats_error_set(err, BATS_EINPUT, "%s: no task in this bag",
                              b->name);
    return code;
}

int bats_bagfile_load(const char *path, struct bats_bagfile **bag,
                      struct bats_error *err)
{
    struct bats_bagfile *b = calloc(1, sizeof *b);
    if (!b || !(b->name = strdup(bats_textfile_name(path)))) {
        bats_bagfile_destroy(b);
        return no_memory(err);
    }
    int code = bats_workflow_format(path) == BATS_WORKFLOW_NONE
                   ? read_bag(b, path, err)
                   : read_workflow(b, err);
    if (code)
        bats_bagfile_destroy(b);
    else
        *bag = b;
    return code;
}

int bats_bagfile_load_several(const char *const *words, size_t n,
                              struct bats_bagfile **bag,
                              struct bats_error *err)
{
    struct bats_bagfile *b = calloc(1, sizeof *b);
    struct bats_workflow *parts = calloc(n, sizeof *parts);
    uint32_t n_parts = 0;
    int code = b && parts ? read_several(b, words, n, parts, &n_parts, err)
                          : no_memory(err);
    for (uint32_t i = 0; i < n_parts; i++)
        bats_workflow_release(&parts[i]);
    free(parts);
    if (code)
        bats_bagfile_destroy(b);
    else
        *bag = b;
    return code;
}

/* ---- a bag of a sweep ---- */

int bats_bagfile_of_sweep(struct bats_sweep *sweep, struct bats_bagfile **bag,
                          struct bats_error *err)
{
    struct bats_bagfile *b = calloc(1, sizeof *b);
    if (!b || !(b->name = strdup("sweep"))) {
        bats_sweep_destroy(sweep);
        bats_bagfile_destroy(b);
        return no_memory(err);
    }
    b->sweep = sweep;
    b->n_tasks = bats_sweep_count(sweep);
    int code = bats_sweep_may_be_builtin(sweep) ? check_builtins(b, err) : 0;
    if (code)
        bats_bagfile_destroy(b);
    else
        *bag = b;
    return code;
}

const struct bats_sweep *bats_bagfile_sweep(const struct bats_bagfile *bag)
{
    return bag->sweep;
}

void bats_bagfile_destroy(struct bats_bagfile *bag)
{
    if (!bag)
        return;
    bats_sweep_destroy(bag->sweep);
    if (bag->workflow)
        bats_workflow_release(bag->workflow);
    free(bag->workflow);
    bats_graph_release(&bag->graph);
    bats_sharing_release(&bag->sharing);
    free(bag->name);
    free(bag->text);
    free(bag->offset);
    free(bag->line);
    free(bag->groups);
    free(bag->per_engine[0].text);
    free(bag->per_engine[1].text);
    free(bag);
}

/* ---- looking ---- */

uint32_t bats_bagfile_count(const struct bats_bagfile *bag)
{
    return bag->n_tasks;
}

const char *bats_bagfile_name(const struct bats_bagfile *bag)
{
    return bag->name;
}

const struct bats_graph *bats_bagfile_graph(const struct bats_bagfile *bag)
{
    if (bag->workflow)
        return &bag->workflow->graph;
    return bag->graph.n_nodes > 0 ? &bag->graph : NULL;
}

struct bats_purse *bats_bagfile_purses(const struct bats_bagfile *bag,
                                       const uint16_t **of, uint32_t *n)
{
    *n = bag->sharing.n;
    *of = bag->sharing.of;
    return bag->sharing.list;
}

const uint16_t *bats_bagfile_categories(const struct bats_bagfile *bag,
                                        uint32_t *n)
{
    const struct bats_workflow *w = bag->workflow;
    *n = w && w->category ? (uint32_t)w->categories.n : 0;
    return *n > 0 ? w->category : NULL;
}

const char *const *bats_bagfile_category_names(const struct bats_bagfile *bag)
{
    return bag->workflow ? bag->workflow->category_names : NULL;
}

const struct bats_workflow *
bats_bagfile_workflow(const struct bats_bagfile *bag)
{
    return bag->workflow;
}

uint32_t bats_bagfile_dangling(const struct bats_bagfile *bag)
{
    return bag->dangling;
}

const char *bats_bagfile_per_engine(const struct bats_bagfile *bag, bool stop,
                                    size_t *n)
{
    *n = bag->per_engine[stop].n;
    return bag->per_engine[stop].text;
}

bool bats_bagfile_is_disbatch(const struct bats_bagfile *bag)
{
    return bag->is_disbatch;
}

int bats_bagfile_hash(const struct bats_bagfile *bag, uint64_t *hash,
                      struct bats_error *err)
{
    char *command = NULL;
    size_t size = 0;
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (uint32_t i = 0; i < bats_bagfile_count(bag); i++) {
        ptrdiff_t n = bats_bagfile_command(bag, i, &command, &size);
        if (n < 0) {
            free(command);
            return bats_error_set(err, (int)n, "no memory for a command");
        }
        for (ptrdiff_t k = 0; k <= n; k++)
            sum = (sum ^ (unsigned char)command[k]) * UINT64_C(0x100000001b3);
    }
    free(command);
    *hash = sum;
    return 0;
}

/* The group of task i: the last one that begins at or before it. */
static const struct group *find_group(const struct bats_bagfile *bag,
                                      uint32_t i)
{
    size_t low = 0, high = bag->n_groups;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (bag->groups[middle].first <= i)
            low = middle;
        else
            high = middle;
    }
    return &bag->groups[low];
}

static uint32_t entry_of(const struct group *group, uint32_t i)
{
    return group->entry + (group->repeated ? 0 : i - group->first);
}

bool bats_bagfile_is_once(const struct bats_bagfile *bag, uint32_t i)
{
    if (bag->sweep != NULL)
        return bats_sweep_is_once(bag->sweep);
    if (bag->workflow != NULL)
        return false;
    return find_group(bag, i)->once;
}

uint32_t bats_bagfile_line(const struct bats_bagfile *bag, uint32_t i)
{
    if (bag->sweep != NULL)
        return 0;
    if (bag->workflow != NULL)
        return bag->workflow->tasks[i].line;
    return bag->line[entry_of(find_group(bag, i), i)];
}

ptrdiff_t bats_bagfile_command(const struct bats_bagfile *bag, uint32_t i,
                               char **text, size_t *size)
{
    return bats_bagfile_command_for(bag, i, 0, text, size);
}

ptrdiff_t bats_bagfile_command_for(const struct bats_bagfile *bag, uint32_t i,
                                   uint32_t slot, char **text, size_t *size)
{
    if (bag->sweep != NULL)
        return bats_sweep_command(bag->sweep, i, slot, text, size);
    if (bag->workflow != NULL)
        return bats_workflow_command(bag->workflow, i, text, size);
    const struct group *group = find_group(bag, i);
    const char *prefix = bag->text + group->prefix;
    const char *command = bag->text + bag->offset[entry_of(group, i)];
    const char *suffix = bag->text + group->suffix;

    /* The index reaches the environment through the shell, before the command,
     * so that only a command has to travel to a worker. Built-in tasks have no
     * environment. */
    char index[64] = "";
    if (group->repeated && *(*prefix ? prefix : command) != '@')
        snprintf(index, sizeof index,
                 "export DISBATCH_REPEAT_INDEX=%" PRIu64 "; ",
                 group->start + (i - group->first) * group->step);

    size_t length =
        strlen(index) + strlen(prefix) + strlen(command) + strlen(suffix);
    if (!bats_grow(text, size, length + 1, 1))
        return BATS_ENOMEM;
    stpcpy(stpcpy(stpcpy(stpcpy(*text, index), prefix), command), suffix);
    return (ptrdiff_t)length;
}

ptrdiff_t bats_bagfile_variables(const struct bats_bagfile *bag, uint32_t i,
                                 char **text, size_t *size)
{
    return bag->sweep != NULL ? bats_sweep_variables(bag->sweep, i, text, size)
                              : 0;
}

int bats_builtin_parse(const char *command, bool *is_builtin,
                       bats_time *duration, struct bats_error *err)
{
    static const char sleep_word[] = "@sleep";
    *is_builtin = false;
    if (*command != '@')
        return 0;
    size_t word = strcspn(command, BLANKS);
    if (word != strlen(sleep_word) || strncmp(command, sleep_word, word) != 0)
        return bats_error_set(err, BATS_EINPUT,
                              "unknown built-in task '%.*s'; expected "
                              "'@sleep DURATION' or '@once COMMAND'",
                              word < 60 ? (int)word : 60, command);

    const char *argument = command + word + strspn(command + word, BLANKS);
    size_t length = strlen(argument);
    while (length > 0 && strchr(BLANKS, argument[length - 1]))
        length--;
    char text[128];
    if (length >= sizeof text)
        return bats_error_set(err, BATS_EINPUT,
                              "@sleep: '%.60s...' is not a duration",
                              argument);
    memcpy(text, argument, length);
    text[length] = '\0';
    struct bats_error why;
    int code = bats_duration_parse(text, duration, &why);
    if (code)
        return bats_error_set(err, code, "@sleep: %s", why.text);
    *is_builtin = true;
    return 0;
}
