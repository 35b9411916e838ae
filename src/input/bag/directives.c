#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "input/bag/state.h"

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
    int code = bats_bag_read_once(scan, &text);
    return code ? code
                : bats_bag_add_tasks(scan, (size_t)(text - bag->text), n,
                                     &group);
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
    return FAIL(
        scan,
        "unknown directive '#DISBATCH %.*s'; known are PREFIX, SUFFIX, REPEAT, BARRIER and PERENGINE",
        n < 40 ? n : 40, word);
}

/* ---- directives of our own ---- */

/* `text` follows "#BATS". */
int bats_bag_statement(struct scan *scan, const char *text)
{
    struct bats_bagfile *bag = scan->bag;
    text += strspn(text, BLANKS);
    size_t length = strcspn(text, BLANKS);
    if (read_word(&text, "workflow"))
        return bats_sharing_note(&bag->sharing, text, bag->n_tasks, bag->name,
                                 scan->line, scan->err);
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
