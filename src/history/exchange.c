#include "history/exchange.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/hash.h"
#include "util/json.h"

#define FIELDS_MAX 128 /* most fields of a line of sacct */

/* ---- export ---- */

int bats_history_export(FILE *out, const struct bats_past *past,
                        struct bats_error *err)
{
    for (size_t i = 0; i < past->n_rows; i++) {
        const struct bats_past_row *r = &past->rows[i];
        const struct bats_past_place *p = &past->places[r->place];
        const struct bats_moments *m = &r->moments;
        json_t *o = json_pack(
            "{ss sI sI sI ss ss ss ss sI sf sf sf sf sf sf sf}", "run",
            r->name, "ended_s", (json_int_t)r->ended_s, "month",
            (json_int_t)r->month, "bags", (json_int_t)r->bags, "kind",
            past->kinds[r->kind], "cluster", p->name, "site", p->site,
            "hardware", p->hardware, "tasks", (json_int_t)m->tasks, "sum_s",
            m->sum, "squares", m->squares, "log_sum", m->log_sum,
            "log_squares", m->log_squares, "p10_s", m->p10, "p50_s", m->p50,
            "p90_s", m->p90);
        if (o == NULL)
            return bats_no_memory(err);
        char *sweep = r->sweep != NULL ? bats_past_sweep_text(r->sweep) : NULL;
        if (sweep != NULL)
            json_object_set_new(o, "sweep", json_string(sweep));
        free(sweep);
        json_dumpf(o, out, BATS_JSON_SAFE | JSON_REAL_PRECISION(12));
        putc('\n', out);
        json_decref(o);
    }
    return 0;
}

/* ---- import: the file ---- */

/* A file being read by lines, which end with NULs. */
struct text {
    const char *path, *cluster;
    char *bytes;
    size_t n;
    char name[BATS_PAST_RUN]; /* of the run */
    int64_t ended_s;          /* of the last task */
    struct bats_task_kinds kinds;
    struct bats_past_place *places;
    uint32_t n_places;
    struct bats_gather gather;
};

static int load(struct text *t, struct bats_error *err)
{
    size_t room = 0;
    FILE *in = fopen(t->path, "re");
    if (in == NULL)
        return bats_error_set(err, BATS_EINPUT, "%s: %s", t->path,
                              strerror(errno));
    ssize_t n = getdelim(&t->bytes, &room, '\0', in);
    int why = errno;
    bool is_bad = ferror(in) != 0;
    fclose(in);
    if (is_bad)
        return bats_error_set(err, BATS_EINPUT, "%s: %s", t->path,
                              strerror(why));
    if (n < 0)
        return bats_error_set(err, BATS_EINPUT, "%s is empty", t->path);
    t->n = (size_t)n;
    snprintf(t->name, sizeof t->name, "file %016" PRIx64,
             bats_hash(BATS_HASH, t->bytes, t->n));
    for (size_t i = 0; i < t->n; i++)
        if (t->bytes[i] == '\n')
            t->bytes[i] = '\0';
    return 0;
}

static const char *next_line(const struct text *t, const char *line)
{
    const char *next = line + strlen(line) + 1;
    return next < t->bytes + t->n ? next : NULL;
}

/* Number of the place; UINT32_MAX: out of memory. */
static uint32_t place_of(struct text *t, const char *name)
{
    struct bats_past_place place = {.name = ""};
    snprintf(place.name, sizeof place.name, "%s", name);
    for (uint32_t i = 0; i < t->n_places; i++)
        if (strcmp(t->places[i].name, place.name) == 0)
            return i;
    struct bats_past_place *more =
        realloc(t->places, (t->n_places + (size_t)1) * sizeof *more);
    if (more == NULL)
        return UINT32_MAX;
    t->places = more;
    t->places[t->n_places] = place;
    return t->n_places++;
}

static int note(struct text *t, uint32_t kind, const char *cluster,
                double seconds, int64_t ended_s, struct bats_error *err)
{
    uint32_t place = place_of(t, cluster);
    if (kind == BATS_NO_KIND || place == UINT32_MAX ||
        bats_gather_note(&t->gather, kind, place, seconds) < 0)
        return bats_no_memory(err);
    t->ended_s = ended_s > t->ended_s ? ended_s : t->ended_s;
    return 0;
}

/* ---- import: a joblog ---- */

static const char joblog_head[] = "Seq\tHost\tStarttime\tJobRuntime\t";

struct job {
    char host[256];
    double start_s, seconds;
    const char *command;
};

/* False: not the line of a done task. */
static bool read_job(const char *line, struct job *job)
{
    long status, signal;
    int n = 0;
    if (sscanf(line, "%*d\t%255[^\t]\t%lf\t%lf\t%*s\t%*s\t%ld\t%ld\t%n",
               job->host, &job->start_s, &job->seconds, &status, &signal,
               &n) < 5 ||
        n == 0)
        return false;
    job->command = line + n;
    return status == 0 && signal == 0 && job->seconds > 0;
}

/* Numbered hosts form a cluster: cuts the number off. */
static void cut_number(char *host)
{
    size_t n = strcspn(host, ".");
    host[n] = '\0';
    while (n > 1 && isdigit((unsigned char)host[n - 1]))
        host[--n] = '\0';
    while (n > 1 && (host[n - 1] == '-' || host[n - 1] == '_'))
        host[--n] = '\0';
}

static int import_joblog(struct text *t, struct bats_error *err)
{
    struct job job;
    int rc = 0;
    for (const char *at = t->bytes; rc == 0 && at; at = next_line(t, at))
        if (read_job(at, &job) &&
            bats_task_kinds_see(&t->kinds, job.command) < 0)
            rc = bats_no_memory(err);
    for (const char *at = t->bytes; rc == 0 && at; at = next_line(t, at)) {
        if (!read_job(at, &job))
            continue;
        cut_number(job.host);
        rc = note(t, bats_task_kinds_number(&t->kinds, job.command),
                  t->cluster != NULL ? t->cluster : job.host, job.seconds,
                  (int64_t)(job.start_s + job.seconds), err);
    }
    return rc;
}

/* ---- import: sacct ---- */

/* Cuts a line at '|' in place. Returns the number of fields. */
static int cut_fields(char *line, char **fields)
{
    int n = 0;
    while (n < FIELDS_MAX && line != NULL) {
        fields[n++] = line;
        line = strchr(line, '|');
        if (line != NULL)
            *line++ = '\0';
    }
    return n;
}

static int64_t time_of(const char *text)
{
    struct tm tm = {.tm_isdst = -1};
    return strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) != NULL ? mktime(&tm) : 0;
}

enum { JOB, NAME, PARTITION, ELAPSED, STATE, END, COLUMNS };

static int take_job(struct text *t, char **fields, int n, const int *column,
                    struct bats_error *err)
{
    for (int i = 0; i < COLUMNS; i++)
        if (column[i] >= n)
            return 0;
    double seconds = strtod(fields[column[ELAPSED]], NULL);
    /* Steps belong to their job. */
    if (strchr(fields[column[JOB]], '.') != NULL || !(seconds > 0) ||
        strcmp(fields[column[STATE]], "COMPLETED") != 0)
        return 0;
    return note(t, bats_task_kinds_named(&t->kinds, fields[column[NAME]]),
                fields[column[PARTITION]], seconds,
                time_of(fields[column[END]]), err);
}

static int import_sacct(struct text *t, struct bats_error *err)
{
    static const char *const names[] = {"JobIDRaw",   "JobName", "Partition",
                                        "ElapsedRaw", "State",   "End"};
    char *fields[FIELDS_MAX];
    int column[COLUMNS], n = cut_fields(t->bytes, fields), rc = 0;
    char *end = t->bytes + t->n, *line = fields[n - 1];
    for (int i = 0; i < COLUMNS; i++) {
        column[i] = 0;
        while (column[i] < n && strcmp(fields[column[i]], names[i]) != 0)
            column[i]++;
        if (column[i] == n)
            return bats_error_set(err, BATS_EINPUT,
                                  "%s: there is no column %s: sacct -P -o "
                                  "JobIDRaw,JobName,Partition,ElapsedRaw,"
                                  "State,End",
                                  t->path, names[i]);
    }
    while (rc == 0 && (line += strlen(line) + 1) < end) {
        n = cut_fields(line, fields);
        rc = take_job(t, fields, n, column, err);
        line = fields[n - 1];
    }
    return rc;
}

/* ---- import ---- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* A joblog or the output of sacct is one run. */
static int import_run(struct text *t, struct bats_store *store,
                      struct bats_error *err)
{
    bool is_joblog = begins(t->bytes, joblog_head);
    int rc = is_joblog ? import_joblog(t, err) : import_sacct(t, err);
    if (rc == 0 && t->gather.n == 0)
        rc = bats_error_set(err, BATS_EINPUT, "%s: it has no done task",
                            t->path);
    return rc == 0 ? bats_store_add(store, t->name, t->ended_s, &t->kinds,
                                    t->places, &t->gather, err)
                   : rc;
}

int bats_history_import(struct bats_store *store, const char *path,
                        const char *cluster, struct bats_error *err)
{
    struct text t = {.path = path, .cluster = cluster};
    int rc = load(&t, err);
    if (rc == 0 && t.bytes[0] == '{')
        rc = bats_store_import(store, path, t.bytes, t.bytes + t.n, err);
    else if (rc == 0 && (begins(t.bytes, joblog_head) ||
                         strstr(t.bytes, "JobName") != NULL))
        rc = import_run(&t, store, err);
    else if (rc == 0)
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s is neither a record, nor a joblog, nor of "
                            "'history export' or sacct -P",
                            path);
    free(t.bytes);
    free(t.places);
    bats_task_kinds_release(&t.kinds);
    bats_gather_release(&t.gather);
    return rc;
}
