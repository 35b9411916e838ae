#include "input/runtimes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/textfile.h"
#include "util/grow.h"
#include "util/text.h"

#define BLANKS " \t\r\n"
#define SWF_COLUMNS 18

enum form { UNKNOWN, PLAIN, JOBLOG, SWF };

struct reader {
    enum form form;
    bats_time *list;
    size_t n, room;
};

/* Adds the runtime, unless it is 0. */
static int add(struct reader *r, bats_time runtime, struct bats_error *err)
{
    if (!bats_grow(&r->list, &r->room, r->n + 1, sizeof *r->list))
        return bats_no_memory(err);
    r->list[r->n] = runtime;
    r->n += runtime > 0;
    return 0;
}

static enum form form_of(const char *line)
{
    int columns = 0;
    if (strncmp(line, "Seq\tHost\tStarttime\tJobRuntime\t", 30) == 0)
        return JOBLOG;
    for (line += strspn(line, BLANKS); *line; line += strspn(line, BLANKS)) {
        columns++;
        line += strcspn(line, BLANKS);
    }
    return columns >= SWF_COLUMNS ? SWF : PLAIN;
}

static int read_plain(struct reader *r, char *line, struct bats_error *err)
{
    bats_time runtime;
    int rc = bats_duration_parse(bats_text_trim(line, BLANKS), &runtime, err);
    if (rc == 0 && runtime == 0)
        rc = bats_refuse(err, "a runtime of 0");
    return rc < 0 ? rc : add(r, runtime, err);
}

/* Reads the seconds at the start of `text`; false if there is no number. */
static bool read_seconds(const char *text, bats_time *time)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text ||
        !(fabs(seconds) < (double)(INT64_MAX / 2 / BATS_SECOND)))
        return false;
    *time = seconds > 0 ? (bats_time)(seconds * (double)BATS_SECOND + 0.5) : 0;
    return true;
}

/* Seq Host Starttime JobRuntime Send Receive Exitval Signal Command */
static int read_joblog(struct reader *r, const char *line,
                       struct bats_error *err)
{
    char seconds[32];
    long status, signal;
    bats_time runtime;
    if (sscanf(line, "%*[^\t] %*[^\t] %*s %31s %*s %*s %ld %ld", seconds,
               &status, &signal) != 3 ||
        !read_seconds(seconds, &runtime))
        return bats_refuse(err, "not a line of a joblog");
    return status == 0 && signal == 0 ? add(r, runtime, err) : 0;
}

static int read_swf(struct reader *r, const char *line, struct bats_error *err)
{
    char seconds[32];
    bats_time runtime;
    return sscanf(line, "%*s %*s %*s %31s", seconds) == 1 &&
                   read_seconds(seconds, &runtime)
               ? add(r, runtime, err)
               : bats_refuse(err, "no run time in column 4");
}

static int read_line(void *context, char *line, struct bats_error *err)
{
    struct reader *r = context;
    const char *first = line + strspn(line, BLANKS);
    if (*first == '\0' || *first == '#' || *first == ';')
        return 0;
    if (r->form == UNKNOWN && (r->form = form_of(line)) == JOBLOG)
        return 0;
    return r->form == PLAIN    ? read_plain(r, line, err)
           : r->form == JOBLOG ? read_joblog(r, line, err)
                               : read_swf(r, line, err);
}

int bats_runtimes_read(const char *path, bats_time **runtimes, size_t *n,
                       struct bats_error *err)
{
    struct reader r = {0};
    int rc = bats_textfile_lines(path, NULL, read_line, &r, err);
    if (rc == 0 && r.n == 0)
        rc = bats_error_at(err, path, 0, "no runtime in it");
    if (rc < 0) {
        free(r.list);
        r.list = NULL;
    }
    *runtimes = r.list;
    *n = r.n;
    return rc;
}
