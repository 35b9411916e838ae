#include "cli/look.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "report/words.h"
#include "util/json.h"

size_t bats_look_bag(const char *record)
{
    size_t n = strlen(record), end = strlen(BATS_LOOK_SUFFIX);
    return n > end && strcmp(record + n - end, BATS_LOOK_SUFFIX) == 0 ? n - end
                                                                      : n;
}

const char *bats_look_find(const char *word, char *path, size_t size)
{
    if (snprintf(path, size, "%s" BATS_LOOK_SUFFIX, word) >= (int)size ||
        access(path, F_OK) != 0)
        snprintf(path, size, "%s", word);
    return path;
}

int bats_look_json(json_t *line, size_t flags, struct bats_error *err)
{
    int bad =
        line == NULL
            ? -1
            : json_dumpf(line, stdout,
                         flags | BATS_JSON_SAFE | JSON_REAL_PRECISION(15));

    if (line == NULL)
        return bats_no_memory(err);
    putchar('\n');
    json_decref(line);
    return bad == 0 ? bats_flush(err)
                    : bats_error_set(err, BATS_ESYS, "standard output: %s",
                                     strerror(errno));
}

int bats_look_write(const char *path,
                    int (*write)(void *context, FILE *out,
                                 struct bats_error *err),
                    void *context, struct bats_error *err)
{
    char next[4096];

    if (strcmp(path, "-") == 0)
        return write(context, stdout, err);
    if (snprintf(next, sizeof next, "%s.new", path) >= (int)sizeof next)
        return bats_refuse(err, "%s: the name is too long", path);
    FILE *out = fopen(next, "we");
    if (out == NULL)
        return bats_refuse(err, "%s: %s", path, strerror(errno));
    int rc = write(context, out, err);
    bool bad = ferror(out) != 0;
    if ((fclose(out) != 0 || bad) && rc == 0)
        rc = bats_error_set(err, BATS_ESYS, "%s: %s", path, strerror(errno));
    if (rc == 0 && rename(next, path) != 0)
        rc = bats_error_set(err, BATS_ESYS, "%s: %s", path, strerror(errno));
    if (rc < 0)
        unlink(next);
    return rc;
}

int64_t bats_look_left(const struct bats_view_status *status)
{
    return status->running + status->pending;
}

const char *bats_look_state(char *text, size_t size,
                            const struct bats_view_status *status)
{
    const char *word = status->finish;

    if (!status->is_over && status->is_live)
        word = status->ending ? "draining" : "running";
    else if (!status->is_over)
        word = "interrupted: the run ended without closing its record";
    if (strcmp(word, "all done") == 0 && status->failed > 0)
        snprintf(text, size, "done, %" PRId64 " failed", status->failed);
    else
        snprintf(text, size, "%s", word);
    return text;
}

int bats_look_causes(struct bats_view *view, struct bats_causes *causes,
                     struct bats_error *err)
{
    struct bats_view_task t;
    const char *text;
    size_t n;
    int rc =
        bats_view_tasks(view, "failed", 0, NULL, BATS_VIEW_BY_NUMBER, 0, err);

    while (rc == 0 && (rc = bats_view_next_task(view, &t, err)) > 0) {
        rc = bats_view_stderr(view, t.id, &text, &n, err);
        if (rc >= 0)
            bats_causes_add(causes, t.number, t.exit_status, t.signal, t.host,
                            text, n);
        rc = rc < 0 ? rc : 0;
    }
    bats_causes_sort(causes);
    return rc;
}
