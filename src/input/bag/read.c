/* read: a bag from its text, with the directives in it. See state.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "input/bag/state.h"
#include "input/dependencies.h"
#include "util/grow.h"

#define TASKS_MAX (UINT32_MAX - 1)

/* ---- tasks ---- */

static int add_group(struct scan *scan, struct bats_bag_group group)
{
    struct bats_bagfile *bag = scan->bag;
    if (!bats_grow(&bag->groups, &bag->groups_room, bag->n_groups + 1,
                   sizeof *bag->groups))
        return bats_no_memory(scan->err);
    group.first = bag->n_tasks;
    group.entry = (uint32_t)bag->n_entries;
    group.prefix = scan->prefix;
    group.suffix = scan->suffix;
    group.once = scan->once;
    group.traits = scan->traits;
    bag->groups[bag->n_groups++] = group;
    return 0;
}

/* Reports a mistake in a built-in task now, not when the task starts. */
static int check_builtin(struct scan *scan, uint32_t task, size_t offset)
{
    const struct bats_bagfile *bag = scan->bag;
    bool written = bag->text[offset] == '@';
    if (!written && bag->text[scan->prefix] != '@')
        return 0;
    if (bats_bagfile_command(bag, task, &scan->command) < 0)
        return bats_no_memory(scan->err);
    bool is_builtin;
    bats_time duration;
    int rc = bats_builtin_parse(scan->command.bytes, &is_builtin, &duration,
                                scan->err);
    if (rc < 0)
        return bats_error_prefix(scan->err, rc, "%s:%" PRIu32 ": ", bag->name,
                                 scan->line);
    if (written && !is_builtin)
        return FAIL(scan, "a built-in task cannot follow the PREFIX '%.60s'",
                    bag->text + scan->prefix);
    return 0;
}

/* Adds the `n` tasks of one line, with the command at `offset`. `repeated`:
 * the group of tasks made by REPEAT, else NULL. */
static int add_tasks(struct scan *scan, size_t offset, uint64_t n,
                     const struct bats_bag_group *repeated)
{
    struct bats_bagfile *bag = scan->bag;
    if (n > TASKS_MAX - bag->n_tasks)
        return FAIL(scan, "more than %" PRIu32 " tasks in one bag", TASKS_MAX);
    int code = 0;
    if (repeated || scan->new_group ||
        bag->groups[bag->n_groups - 1].once != scan->once)
        code =
            add_group(scan, repeated ? *repeated : (struct bats_bag_group){0});
    if (!code)
        code = bats_bag_add_entry(bag, offset, scan->line, scan->err);
    if (code)
        return code;
    scan->new_group = repeated != NULL;
    uint32_t first = bag->n_tasks;
    bag->n_tasks += (uint32_t)n;
    if (scan->waits)
        bats_dependencies_take(scan->waits, first, (uint32_t)n);
    return check_builtin(scan, first, offset);
}

/* Skips "@once" if the command begins with it. */
static int read_once(struct scan *scan, const char **command)
{
    scan->once = bats_text_skip_word(command, "@once", BLANKS);
    return scan->once && **command == '\0'
               ? FAIL(scan, "@once without a command")
               : 0;
}

/* ---- disBatch's directives ---- */

/* Reads a number at *text, and skips it and following blanks. */
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

/* Skips `word` and following blanks if *text begins with it. */
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
    struct bats_bag_group group = {.repeated = true, .start = 0, .step = 1};
    uint64_t n, last;
    if (!read_number(&text, &n) || n == 0 ||
        (read_word(&text, "start") && !read_number(&text, &group.start)) ||
        (read_word(&text, "step") && !read_number(&text, &group.step)))
        return FAIL(
            scan,
            "not of the form '#DISBATCH REPEAT n [start s] [step t] command'");
    if (__builtin_mul_overflow(n - 1, group.step, &last) ||
        __builtin_add_overflow(last, group.start, &last) || last > INT64_MAX)
        return FAIL(scan, "the last DISBATCH_REPEAT_INDEX is too large");
    if (!*text && !bag->text[scan->prefix] && !bag->text[scan->suffix])
        return FAIL(scan, "nothing to repeat: no command, PREFIX or SUFFIX");
    int code = read_once(scan, &text);
    return code ? code
                : add_tasks(scan, (size_t)(text - bag->text), n, &group);
}

/* Returns the dependencies of the bag, and creates them if needed. */
static struct bats_dependencies *dependencies(struct scan *scan)
{
    if (!scan->waits)
        scan->waits = bats_dependencies_create(scan->bag);
    return scan->waits;
}

/* `text` follows "BARRIER". */
static int barrier(struct scan *scan, const char *text)
{
    bool check = read_word(&text, "CHECK");
    if (*text)
        return FAIL(scan, "not of the form '#DISBATCH BARRIER [CHECK]'");
    return dependencies(scan)
               ? bats_dependencies_barrier(scan->waits, scan->bag->n_tasks,
                                           !check, scan->err)
               : bats_no_memory(scan->err);
}

/* `text` follows "PERENGINE". */
static int per_engine(struct scan *scan, const char *text)
{
    struct bats_bagfile *bag = scan->bag;
    bool stop = !read_word(&text, "START");
    if ((stop && !read_word(&text, "STOP")) || *text == '\0')
        return FAIL(
            scan, "not of the form '#DISBATCH PERENGINE START|STOP command'");
    if (bag->n_tasks > 0)
        return FAIL(scan,
                    "'#DISBATCH PERENGINE' has to come before all tasks");
    const char *prefix = bag->text + scan->prefix;
    const char *suffix = bag->text + scan->suffix;
    if (*(*prefix ? prefix : text) == '@')
        return FAIL(scan, "PERENGINE takes no built-in task");
    bats_text_format(&bag->per_engine[stop], "%s%s%s%c", prefix, text, suffix,
                     '\0');
    return bats_text_check(&bag->per_engine[stop], scan->err);
}

/* `text` follows "#DISBATCH". */
static int disbatch(struct scan *scan, const char *text)
{
    scan->bag->is_disbatch = true;
    const char *word = text;
    int n = (int)strcspn(word, BLANKS);
    bool prefix = read_word(&text, "PREFIX");
    if (prefix || read_word(&text, "SUFFIX")) {
        /* One blank ends the word; further blanks belong to the text. */
        text = word + n + (word[n] != '\0');
        *(prefix ? &scan->prefix : &scan->suffix) =
            (size_t)(text - scan->bag->text);
        scan->new_group = true;
        return 0;
    }
    if (read_word(&text, "REPEAT"))
        return repeat(scan, text);
    if (read_word(&text, "BARRIER"))
        return barrier(scan, text);
    if (read_word(&text, "PERENGINE"))
        return per_engine(scan, text);
    return FAIL(
        scan,
        "unknown directive '#DISBATCH %.*s'; known are PREFIX, SUFFIX, REPEAT, BARRIER and PERENGINE",
        n < 40 ? n : 40, word);
}

/* ---- directives of our own ---- */

/* `text` follows "#BATS". */
static int statement(struct scan *scan, const char *text)
{
    struct bats_bagfile *bag = scan->bag;
    size_t length = strcspn(text, BLANKS);
    if (read_word(&text, "workflow"))
        return bats_error_prefix(
            scan->err,
            bats_sharing_note(&bag->sharing, text, bag->n_tasks, scan->err),
            "%s:%" PRIu32 ": ", bag->name, scan->line);
    if (bats_bag_is_trait(text))
        return bats_bag_trait(scan, text);
    if (!read_word(&text, "task"))
        return FAIL(
            scan,
            "unknown directive '#BATS %.*s'; known are task, workflow, class, cores, gpus, memory and time",
            length < 40 ? (int)length : 40, text);
    return dependencies(scan) ? bats_dependencies_note(scan->waits, text,
                                                       scan->line, scan->err)
                              : bats_no_memory(scan->err);
}

/* ---- lines ---- */

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

static int scan_line(struct scan *scan, const char *text)
{
    text += strspn(text, BLANKS);
    if (*text == '\0')
        return 0;
    if (bats_text_skip_word(&text, "#DISBATCH", BLANKS))
        return disbatch(scan, text);
    if (bats_text_skip_word(&text, "#HQ", BLANKS))
        return bats_bag_hyperqueue(scan, text);
    if (bats_text_skip_word(&text, "#BATS", BLANKS))
        return statement(scan, text);
    if (*text == '#')
        return 0;
    int code = read_once(scan, &text);
    note_backslash(scan, text);
    return code ? code
                : add_tasks(scan, (size_t)(text - scan->bag->text), 1, NULL);
}

static int connect(struct scan *scan)
{
    struct bats_bagfile *bag = scan->bag;
    int rc = bats_sharing_finish(&bag->sharing, bag->n_tasks, scan->err);
    if (rc == 0 && scan->waits)
        rc = bats_dependencies_graph(scan->waits, bag->n_tasks,
                                     &bag->own_graph, scan->err);
    else if (rc == 0 && bag->sharing.n > 0) /* the engine requires a graph */
        rc = bats_graph_init(&bag->own_graph, bag->n_tasks, bag->n_tasks, NULL,
                             0, scan->err);
    return rc;
}

int bats_bag_read_lines(struct bats_bagfile *bag, size_t length,
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
            code = bats_error_at(err, bag->name, 0, "too many lines");
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
    bats_text_release(&scan.command);
    return code;
}
