#include <stdlib.h>
#include <string.h>

#include "input/bag/state.h"

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

/* The text after the mark if the line begins with it, else NULL. */
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
        int code = bats_bag_read_once(scan, &text);
        note_backslash(scan, text);
        size_t offset = (size_t)(text - scan->bag->text);
        return code ? code : bats_bag_add_tasks(scan, offset, 1, NULL);
    }
    const char *after = behind(text, "#DISBATCH");
    if (after)
        return bats_bag_disbatch(scan, after);
    after = behind(text, "#HQ");
    if (after)
        return bats_bag_hyperqueue(scan, after);
    after = behind(text, "#BATS");
    return after ? bats_bag_statement(scan, after) : 0;
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
