#include "sim/measured.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Runtimes of the tasks done on a cluster. */
struct sum {
    double us;
    uint64_t n;
};

static size_t index_of(const struct bats_view_status *st, const char *cluster)
{
    size_t i = 0;
    while (i + 1 < st->n_clusters &&
           strcmp(st->clusters[i].name, cluster) != 0)
        i++;
    return i;
}

/* Adds the runtime of every done task to the sum of its cluster or, if there
 * is a `factor` per cluster, to the runtimes. */
static int visit(struct bats_view *view, const struct bats_view_status *st,
                 struct sum *sums, const double *factor, bats_time **runtimes,
                 size_t *n, struct bats_error *err)
{
    struct bats_view_task task;
    int rc =
        bats_view_tasks(view, "done", 0, NULL, BATS_VIEW_BY_NUMBER, 0, err);
    while (rc == 0 && (rc = bats_view_next_task(view, &task, err)) > 0) {
        size_t cluster = index_of(st, task.cluster);
        rc = 0;
        if (task.wall_us <= 0)
            continue;
        if (factor) {
            double us = (double)task.wall_us * factor[cluster] + 0.5;
            rc = bats_runtimes_add(runtimes, n, us < 1 ? 1 : (bats_time)us,
                                   err);
        } else {
            sums[cluster].us += (double)task.wall_us;
            sums[cluster].n++;
        }
    }
    return rc;
}

static int read_tasks(struct bats_view *view, bats_time **runtimes, size_t *n,
                      struct bats_error *err)
{
    struct bats_view_status st;
    struct sum sums[BATS_CLUSTERS_MAX] = {{0}};
    double factor[BATS_CLUSTERS_MAX], first = 0;
    int rc = bats_view_status(view, &st, err);
    if (rc == 0)
        rc = visit(view, &st, sums, NULL, NULL, NULL, err);
    for (size_t i = 0; rc == 0 && i < st.n_clusters; i++) {
        double mean = sums[i].n > 0 ? sums[i].us / (double)sums[i].n : 0;
        if (first <= 0)
            first = mean;
        factor[i] = st.time_scale * (mean > 0 ? first / mean : 1);
    }
    return rc < 0 ? rc : visit(view, &st, NULL, factor, runtimes, n, err);
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
    rc = read_tasks(view, runtimes, n, err);
    bats_view_close(view);
    if (rc == 0 && *n == 0)
        rc = bats_refuse(err, "%s: no task is done yet", path);
    if (rc < 0) {
        free(*runtimes);
        *runtimes = NULL;
    }
    return rc;
}

int bats_measured_read(const char *path, bats_time **runtimes, size_t *n,
                       struct bats_error *err)
{
    return is_record(path) ? read_record(path, runtimes, n, err)
                           : bats_runtimes_read(path, runtimes, n, err);
}
