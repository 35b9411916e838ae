#include "report/joblog.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/encode.h"

struct bats_joblog {
    FILE *file;
    const char *path;
};

static const char head[] =
    "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal"
    "\tCommand\n";

static int open_file(const char *path, const char *mode,
                     struct bats_joblog **log, struct bats_error *err)
{
    struct bats_joblog *l = malloc(sizeof *l);
    if (l == NULL)
        return bats_no_memory(err);
    l->path = path;
    l->file = strcmp(path, "-") == 0 ? stdout : fopen(path, mode);
    if (l->file == NULL) {
        free(l);
        return bats_refuse(err, "%s: %s", path, strerror(errno));
    }
    *log = l;
    return 0;
}

/* "a": lines of earlier sessions may have to be kept */
int bats_joblog_create(const char *path, struct bats_joblog **log,
                       struct bats_error *err)
{
    return open_file(path, "ae", log, err);
}

static void begin(struct bats_joblog *log)
{
    int file = fileno(log->file);
    if (log->file != stdout && ftruncate(file, 0) != 0)
        (void)lseek(file, 0, SEEK_SET); /* a device */
    fputs(head, log->file);
    fflush(log->file);
}

int bats_joblog_open(const char *path, struct bats_joblog **log,
                     struct bats_error *err)
{
    char first[sizeof head];
    int rc = open_file(path, "a+e", log, err);
    if (rc < 0 || (*log)->file == stdout)
        return rc;
    rewind((*log)->file);
    if (fgets(first, sizeof first, (*log)->file) != NULL &&
        strcmp(first, head) != 0) {
        bats_joblog_destroy(*log);
        return bats_refuse(
            err, "%s: this is not a joblog; it is left unchanged", path);
    }
    return 0;
}

/* ---- the lines of earlier sessions ---- */

struct kept {
    uint32_t *now; /* by former index: current index; UINT32_MAX: none */
    uint64_t n_was;
    int64_t *last; /* by index: offset of its last line; -1: none */
};

static bool find_places(struct kept *k, const uint32_t *was, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (was[i] != UINT32_MAX && was[i] >= k->n_was)
            k->n_was = (uint64_t)was[i] + 1;
    k->now = malloc((size_t)k->n_was * sizeof *k->now + 1);
    k->last = malloc(n * sizeof *k->last + 1);
    if (k->now == NULL || k->last == NULL)
        return false;
    memset(k->now, 0xff, (size_t)k->n_was * sizeof *k->now);
    memset(k->last, 0xff, n * sizeof *k->last);
    for (uint32_t i = 0; i < n; i++)
        if (was[i] != UINT32_MAX)
            k->now[was[i]] = i;
    return true;
}

/* Goes through the complete lines of `from`. If `to` is NULL, finds the last
 * line of each task; else copies those lines. */
static bool pass(struct kept *k, FILE *from, FILE *to)
{
    char *line = NULL;
    size_t size = 0;
    int64_t at = 0;
    ssize_t n;
    rewind(from);
    for (; (n = getline(&line, &size, from)) > 0; at += n) {
        char *rest;
        uint64_t seq = strtoull(line, &rest, 10);
        if (line[n - 1] != '\n' || *rest != '\t' || seq == 0 ||
            seq > k->n_was || k->now[seq - 1] == UINT32_MAX)
            continue;
        uint32_t task = k->now[seq - 1];
        if (to == NULL)
            k->last[task] = at;
        else if (k->last[task] == at)
            fprintf(to, "%" PRIu64 "%s", (uint64_t)task + 1, rest);
    }
    free(line);
    return !ferror(from) && (to == NULL || fflush(to) == 0);
}

static int replace(struct bats_joblog *log, struct kept *k, const char *made,
                   struct bats_error *err)
{
    FILE *to = fopen(made, "we");
    if (to != NULL && fputs(head, to) >= 0 && pass(k, log->file, NULL) &&
        pass(k, log->file, to) && rename(made, log->path) == 0) {
        fclose(log->file);
        log->file = to;
        return 0;
    }
    bats_error_set(err, BATS_ESYS, "%s: %s", made, strerror(errno));
    if (to != NULL) {
        fclose(to);
        unlink(made);
    }
    return BATS_ESYS;
}

int bats_joblog_continue(struct bats_joblog *log, const uint32_t *was,
                         uint32_t n, struct bats_error *err)
{
    struct kept k = {0};
    char *made = NULL;
    int rc = 0;
    if (log->file == stdout || was == NULL)
        begin(log);
    else if (!find_places(&k, was, n) ||
             asprintf(&made, "%s.new", log->path) < 0)
        rc = bats_no_memory(err);
    else
        rc = replace(log, &k, made, err);
    free(k.now);
    free(k.last);
    free(made);
    return rc;
}

int bats_joblog_write(struct bats_joblog *log,
                      const struct bats_joblog_entry *e,
                      struct bats_error *err)
{
    int64_t start_ms = (e->start_us + 500) / 1000;
    int exit_status = e->exit_status < 0 ? -1
                      : e->signal != 0   ? 0
                                         : e->exit_status;
    char host[256];
    fprintf(log->file,
            "%" PRIu64 "\t%s\t%" PRId64 ".%03d\t%10.3f\t0\t%" PRIu64
            "\t%d\t%d\t%s\n",
            (uint64_t)e->task + 1,
            bats_encode_terminal(host, sizeof host, e->host), start_ms / 1000,
            (int)(start_ms % 1000), (double)e->wall_us / 1e6, e->stdout_bytes,
            exit_status, e->signal, e->command);
    if (fflush(log->file) != 0)
        return bats_error_set(err, BATS_ESYS, "%s: %s", log->path,
                              strerror(errno));
    return 0;
}

void bats_joblog_destroy(struct bats_joblog *log)
{
    if (log == NULL)
        return;
    if (log->file != stdout)
        fclose(log->file);
    free(log);
}
