#include "report/joblog.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bats_joblog {
    FILE *file;
    const char *path;
};

int bats_joblog_create(const char *path, struct bats_joblog **log,
                       struct bats_error *err)
{
    struct bats_joblog *l = malloc(sizeof *l);
    if (l == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    l->path = path;
    l->file = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (l->file == NULL) {
        free(l);
        return bats_error_set(err, BATS_EINPUT, "%s: %s", path,
                              strerror(errno));
    }
    fputs("Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal"
          "\tCommand\n",
          l->file);
    fflush(l->file);
    *log = l;
    return 0;
}

int bats_joblog_write(struct bats_joblog *log,
                      const struct bats_joblog_entry *e,
                      struct bats_error *err)
{
    int64_t start_ms = (e->start_us + 500) / 1000;
    fprintf(log->file,
            "%" PRIu64 "\t%s\t%" PRId64 ".%03d\t%10.3f\t0\t%" PRIu64
            "\t%d\t%d\t%s\n",
            (uint64_t)e->task + 1, e->host, start_ms / 1000,
            (int)(start_ms % 1000), (double)e->wall_us / 1e6, e->stdout_bytes,
            e->signal != 0 && e->exit_status > 0 ? 0 : e->exit_status,
            e->signal, e->command);
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
