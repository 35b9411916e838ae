#include "util/hostlist.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

#define DIGITS "0123456789"
#define NAME_CHARACTERS                                                       \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "-_."

/* A name being expanded. */
struct expansion {
    struct bats_hostlist *list;
    size_t room; /* bytes allocated for it */
    char name[BATS_HOST_NAME];
    struct bats_error *err;
};

static int malformed(struct expansion *x, const char *why, const char *at)
{
    return bats_refuse(
        x->err,
        "not a list of hosts such as slow[1-4,7],login1: %s at '%.40s'", why,
        at);
}

static int add_name(struct expansion *x, size_t length)
{
    struct bats_hostlist *list = x->list;
    if (list->n == BATS_HOSTS_MAX)
        return bats_refuse(x->err, "a list of more than %d hosts",
                           BATS_HOSTS_MAX);
    if (!bats_grow(&list->names, &x->room, list->n + 1, sizeof *list->names))
        return bats_no_memory(x->err);
    list->names[list->n] = strndup(x->name, length);
    if (!list->names[list->n])
        return bats_no_memory(x->err);
    list->n++;
    return 0;
}

static int expand_from(struct expansion *x, size_t length, const char *rest);

/* Expands the group after the '[' at `group`: every number, each followed by
 * the text after the group. */
static int expand_group(struct expansion *x, size_t length, const char *group)
{
    size_t group_length = strspn(group, DIGITS "-,");
    if (group[group_length] != ']')
        return malformed(x, "an odd bracket", group - 1);
    const char *after = group + group_length + 1;
    for (;; group++) {
        unsigned long range[2] = {0, 0};
        size_t width = 0;
        for (int end = 0; end < 2; end++) {
            size_t digits = strspn(group, DIGITS);
            if (digits == 0 || digits > 9)
                return malformed(x, "an odd number", group);
            if (end == 0)
                width = digits;
            range[end] = strtoul(group, NULL, 10);
            group += digits;
            if (end == 0 && *group != '-')
                range[++end] = range[0];
            else if (end == 0)
                group++;
        }
        if (range[1] < range[0])
            return malformed(x, "a range that goes down", group);
        for (unsigned long i = range[0]; i <= range[1]; i++) {
            int n = snprintf(x->name + length, sizeof x->name - length,
                             "%0*lu", (int)width, i);
            if (length + (size_t)n >= sizeof x->name)
                return malformed(x, "too long a name", x->name);
            int code = expand_from(x, length + (size_t)n, after);
            if (code)
                return code;
        }
        if (*group == ']')
            return 0;
        if (*group != ',')
            return malformed(x, "an odd range", group);
    }
}

/* Adds all names that begin with the first `length` bytes of x->name and
 * continue with `rest`, up to the next comma. */
static int expand_from(struct expansion *x, size_t length, const char *rest)
{
    size_t plain = strspn(rest, NAME_CHARACTERS);
    if (length + plain >= sizeof x->name)
        return malformed(x, "too long a name", rest);
    memcpy(x->name + length, rest, plain);
    length += plain;
    rest += plain;
    if (*rest == '[')
        return expand_group(x, length, rest + 1);
    const char *end = rest + strspn(rest, " \t");
    if (*end != ',' && *end != '\0')
        return malformed(x, "an odd character", end);
    if (length == 0)
        return malformed(x, "a name is missing", rest);
    return add_name(x, length);
}

/* Returns the text after the comma that ends the name at `text`, or NULL if it
 * is the last one. */
static const char *next_name(const char *text)
{
    for (int depth = 0; *text; text++) {
        if (*text == ',' && depth == 0)
            return text + 1;
        depth += (*text == '[') - (*text == ']');
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int bats_hostlist_expand(const char *text, struct bats_hostlist *list,
                         struct bats_error *err)
{
    *list = (struct bats_hostlist){0};
    struct expansion x = {.list = list, .err = err};
    int code = 0;
    for (; text && !code; text = next_name(text)) {
        text += strspn(text, " \t");
        code = expand_from(&x, 0, text);
    }
    if (!code) {
        qsort(list->names, list->n, sizeof *list->names, compare);
        for (size_t i = 1; i < list->n && !code; i++) {
            if (strcmp(list->names[i - 1], list->names[i]) == 0)
                code = bats_refuse(err, "host '%s' is named twice",
                                   list->names[i]);
        }
    }
    if (code)
        bats_hostlist_release(list);
    return code;
}

void bats_hostlist_release(struct bats_hostlist *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct bats_hostlist){0};
}

ptrdiff_t bats_hostlist_find(const struct bats_hostlist *list,
                             const char *host)
{
    char label[BATS_HOST_NAME];
    snprintf(label, sizeof label, "%.*s", (int)strcspn(host, "."), host);
    const char *forms[] = {host, label};
    for (int i = 0; i < 2 && list->n > 0; i++) {
        char **found = bsearch(&forms[i], list->names, list->n,
                               sizeof *list->names, compare);
        if (found)
            return found - list->names;
    }
    return -1;
}

/* ---- folding ---- */

/* A name, and the number at its end. */
struct numbered {
    const char *name;
    size_t stem; /* length of the part before the number; without a number, the
                  * whole length */
    unsigned long number;
};

static struct numbered take_apart(const char *name)
{
    size_t end = strlen(name), stem = end;
    while (stem > 0 && strchr(DIGITS, name[stem - 1]))
        stem--;
    if (end - stem > 9) /* more digits than bats_hostlist_expand accepts */
        stem = end;
    return (struct numbered){name, stem, strtoul(name + stem, NULL, 10)};
}

static bool same_stem(const struct numbered *a, const struct numbered *b)
{
    return a->stem == b->stem && strncmp(a->name, b->name, a->stem) == 0;
}

/* Compares by stem, number, width. */
static int compare_numbered(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    size_t stem = x->stem < y->stem ? x->stem : y->stem;
    int order = memcmp(x->name, y->name, stem);
    if (order == 0)
        order = (x->stem > y->stem) - (x->stem < y->stem);
    if (order == 0)
        order = (x->number > y->number) - (x->number < y->number);
    size_t width[] = {strlen(x->name), strlen(y->name)};
    return order ? order : (width[0] > width[1]) - (width[0] < width[1]);
}

/* True if a range that begins with `first` continues from `a` to `b`. */
static bool follows(const struct numbered *first, const struct numbered *a,
                    const struct numbered *b)
{
    char next[16];
    snprintf(next, sizeof next, "%0*lu",
             (int)strlen(first->name + first->stem), a->number + 1);
    return strcmp(next, b->name + b->stem) == 0;
}

/* Appends the numbers of the `n` names, which share a stem. */
static char *put_numbers(char *at, const struct numbered *names, size_t n)
{
    if (n > 1)
        *at++ = '[';
    for (size_t i = 0, last; i < n; i = last + 1) {
        last = i;
        while (last + 1 < n &&
               follows(&names[i], &names[last], &names[last + 1]))
            last++;
        at = stpcpy(at, names[i].name + names[i].stem);
        if (last > i) {
            *at++ = '-';
            at = stpcpy(at, names[last].name + names[last].stem);
        }
        *at++ = ',';
    }
    at[-1] = n > 1 ? ']' : '\0';
    return n > 1 ? at : at - 1;
}

char *bats_hostlist_fold(const char *const *names, size_t n)
{
    size_t room = 1, kept = 0;
    struct numbered *all = calloc(n + 1, sizeof *all);
    for (size_t i = 0; i < n && all; i++) {
        all[i] = take_apart(names[i]);
        room += strlen(names[i]) + 3; /* 3: brackets and a comma */
    }
    char *text = all ? malloc(room) : NULL;
    if (!text) {
        free(all);
        return NULL;
    }
    qsort(all, n, sizeof *all, compare_numbered);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || strcmp(all[kept - 1].name, all[i].name) != 0)
            all[kept++] = all[i];
    char *at = text;
    for (size_t i = 0, next; i < kept; i = next) {
        bool plain = !all[i].name[all[i].stem];
        next = i + 1;
        while (!plain && next < kept && same_stem(&all[i], &all[next]))
            next++;
        if (i > 0)
            *at++ = ',';
        at = mempcpy(at, all[i].name, all[i].stem);
        if (!plain)
            at = put_numbers(at, &all[i], next - i);
    }
    *at = '\0';
    free(all);
    return text;
}
