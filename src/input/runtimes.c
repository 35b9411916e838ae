#include "input/runtimes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/textfile.h"

#define BLANKS " \t\r\n"
#define SWF_COLUMNS 18

enum form { UNKNOWN, PLAIN, JOBLOG, SWF };

struct reader {
    enum form form;
    bats_time **runtimes;
    size_t *n;
    struct bats_error *err;
};

#define FAIL(r, ...) bats_refuse((r)->err, __VA_ARGS__)

int bats_runtimes_add(bats_time **runtimes, size_t *n, bats_time runtime,
                      struct bats_error *err)
{
    if ((*n & (*n - 1)) == 0) { /* full if n is a power of two, or 0 */
        size_t capacity = *n > 0 ? 2 * *n : 1;
        bats_time *more = realloc(*runtimes, capacity * sizeof *more);
        if (!more)
            return bats_no_memory(err);
        *runtimes = more;
    }
    (*runtimes)[(*n)++] = runtime;
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

static int read_plain(struct reader *r, char *line)
{
    bats_time runtime;
    char *end = line + strlen(line);
    line += strspn(line, BLANKS);
    while (end > line && strchr(BLANKS, end[-1]))
        *--end = '\0';
    int rc = bats_duration_parse(line, &runtime, r->err);
    if (rc < 0)
        return rc;
    if (runtime == 0)
        return FAIL(r, "a runtime of 0");
    return bats_runtimes_add(r->runtimes, r->n, runtime, r->err);
}

/* Reads the seconds at the start of `text`; false if there is no number. */
static bool read_seconds(const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    return end > text && isfinite(*seconds) &&
           fabs(*seconds) < (double)(INT64_MAX / 2 / BATS_SECOND);
}

static int add_seconds(struct reader *r, double seconds)
{
    bats_time runtime = (bats_time)(seconds * (double)BATS_SECOND + 0.5);
    return runtime > 0 ? bats_runtimes_add(r->runtimes, r->n, runtime, r->err)
                       : 0;
}

/* Seq Host Starttime JobRuntime Send Receive Exitval Signal Command */
static int read_joblog(struct reader *r, char *line)
{
    const char *column[8] = {line};
    double seconds;
    for (int i = 1; i < 8; i++) {
        const char *tab = strchr(column[i - 1], '\t');
        if (!tab)
            return FAIL(r, "not a line of a joblog: fewer than 8 columns");
        column[i] = tab + 1;
    }
    if (!read_seconds(column[3], &seconds))
        return FAIL(r, "'%.20s' is not a JobRuntime", column[3]);
    bool ok =
        strtol(column[6], NULL, 10) == 0 && strtol(column[7], NULL, 10) == 0;
    return ok ? add_seconds(r, seconds) : 0;
}

static int read_swf(struct reader *r, char *line)
{
    double seconds;
    for (int i = 1; i < 4; i++) {
        line += strspn(line, BLANKS);
        line += strcspn(line, BLANKS);
    }
    if (!read_seconds(line, &seconds))
        return FAIL(r, "no run time in column 4");
    return add_seconds(r, seconds);
}

static int read_line(void *context, char *line, struct bats_error *err)
{
    struct reader *r = context;
    r->err = err;
    const char *first = line + strspn(line, BLANKS);
    if (*first == '\0' || *first == '#' || *first == ';')
        return 0;
    if (r->form == UNKNOWN) {
        r->form = form_of(line);
        if (r->form == JOBLOG)
            return 0;
    }
    return r->form == PLAIN    ? read_plain(r, line)
           : r->form == JOBLOG ? read_joblog(r, line)
                               : read_swf(r, line);
}

int bats_runtimes_read(const char *path, bats_time **runtimes, size_t *n,
                       struct bats_error *err)
{
    struct reader r = {.runtimes = runtimes, .n = n};
    *runtimes = NULL;
    *n = 0;
    int rc = bats_textfile_lines(path, read_line, &r, err);
    if (rc == 0 && *n == 0)
        rc = bats_error_at(err, path, 0, "no runtime in it");
    if (rc < 0) {
        free(*runtimes);
        *runtimes = NULL;
    }
    return rc;
}
