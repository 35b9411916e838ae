#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "input/bag/state.h"
#include "util/grow.h"

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
    int code = bats_bag_read_once(scan, &text);
    return code ? code
                : bats_bag_add_tasks(scan, (size_t)(text - bag->text), n,
                                     &group);
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
int bats_bag_disbatch(struct scan *scan, const char *text)
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

/* `text` follows "memory". */
static int memory(struct scan *scan, const char *text)
{
    char size[32];
    size_t n = strcspn(text, BLANKS);
    struct bats_error why;
    int64_t bytes;
    snprintf(size, sizeof size, "%.*s", n < 31 ? (int)n : 31, text);
    if (text[n + strspn(text + n, BLANKS)])
        return bats_error_set(scan->err, BATS_EINPUT,
                              "%s:%" PRIu32 ": not of the form '#BATS memory "
                              "SIZE'",
                              scan->bag->name, scan->line);
    if (bats_size_parse(size, &bytes, &why) < 0)
        return bats_error_set(scan->err, BATS_EINPUT,
                              "%s:%" PRIu32 ": #BATS memory: %s",
                              scan->bag->name, scan->line, why.text);
    scan->memory_kib = (bytes - 1) / 1024 + 1;
    scan->new_group = true;
    return 0;
}

/* `text` follows "#BATS". */
int bats_bag_statement(struct scan *scan, const char *text)
{
    struct bats_bagfile *bag = scan->bag;
    text += strspn(text, BLANKS);
    size_t length = strcspn(text, BLANKS);
    if (read_word(&text, "workflow"))
        return bats_sharing_note(&bag->sharing, text, bag->n_tasks, bag->name,
                                 scan->line, scan->err);
    if (read_word(&text, "memory"))
        return memory(scan, text);
    if (!read_word(&text, "task"))
        return bats_error_set(scan->err, BATS_EINPUT,
                              "%s:%" PRIu32 ": unknown directive '#BATS "
                              "%.*s'; known are task, workflow and memory",
                              bag->name, scan->line,
                              length < 40 ? (int)length : 40, text);
    return dependencies(scan) ? bats_dependencies_note(scan->waits, text,
                                                       scan->line, scan->err)
                              : no_memory(scan->err);
}
