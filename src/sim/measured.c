#include "sim/measured.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "input/runtimes.h"
#include "record/read/view.h"

static bool is_record(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic] = "";
    FILE *in = fopen(path, "re");
    if (!in)
        return false;
    size_t n = fread(head, 1, sizeof head, in);
    fclose(in);
    return n == sizeof head && memcmp(head, magic, sizeof head) == 0;
}

static int read_record(const char *path, bats_time **runtimes, size_t *n,
                       struct bats_error *err)
{
    struct bats_view *view;
    *runtimes = NULL;
    *n = 0;
    int rc = bats_view_open(path, &view, err);
    if (rc < 0)
        return rc;
    rc = bats_view_runtimes(view, runtimes, n, err);
    bats_view_close(view);
    return rc == 0 && *n == 0
               ? bats_refuse(err, "%s: no task is done yet", path)
               : rc;
}

int bats_measured_read(const char *path, bats_time **runtimes, size_t *n,
                       struct bats_error *err)
{
    return is_record(path) ? read_record(path, runtimes, n, err)
                           : bats_runtimes_read(path, runtimes, n, err);
}
