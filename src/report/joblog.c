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

/* "a": the lines stay until it begins */
int bats_joblog_create(const char *path, struct bats_joblog **log,
                       struct bats_error *err)
{
    return open_file(path, "ae", log, err);
}

void bats_joblog_begin(struct bats_joblog *log)
{
    int file = fileno(log->file);
    if (log->file != stdout && ftruncate(file, 0) != 0)
        (void)lseek(file, 0, SEEK_SET); /* a device */
    fputs(head, log->file);
    fflush(log->file);
}

bool bats_joblog_is_file(const struct bats_joblog *log)
{
    return log->file != stdout;
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
