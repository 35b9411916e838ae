#include "exec/output/outdir.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/output/outfile.h"
#include "util/grow.h"

#define PREFIX "stream-"
#define SUFFIX ".index"
#define PIECE ((size_t)64 * 1024) /* bytes passed on at once */

static void complain(const struct bats_outdir *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void complain(const struct bats_outdir *d, const char *format, ...)
{
    char text[600];
    va_list args;
    if (!d->complain)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    d->complain(d->context, text);
}

static FILE *open_file(const struct bats_outdir *d, const char *name,
                       const char *suffix, struct bats_error *err)
{
    char path[PATH_MAX];
    FILE *file = NULL;
    errno = ENAMETOOLONG;
    if ((size_t)snprintf(path, sizeof path, "%s/%s%s", d->dir, name, suffix) <
        sizeof path)
        file = fopen(path, "re");
    if (!file)
        bats_error_set(err, BATS_ESYS, "%.200s/%.100s%s: %s", d->dir, name,
                       suffix, strerror(errno));
    return file;
}

/* ---- the files ---- */

static int is_index(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name), suffix = strlen(SUFFIX);
    return n > strlen(PREFIX) + suffix &&
           strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 &&
           strcmp(entry->d_name + n - suffix, SUFFIX) == 0;
}

bool bats_outdir_in_use(const char *dir)
{
    struct dirent **list = NULL;
    int n = scandir(dir, &list, is_index, NULL);
    for (int i = 0; i < n; i++)
        free(list[i]);
    free(list);
    return n > 0;
}

/* Lists the files. Names begin with the time of the run, so sorting them sorts
 * the runs. */
static int list_files(struct bats_outdir *d, struct bats_error *err)
{
    int n = scandir(d->dir, &d->files, is_index, alphasort);
    if (n < 0 && errno != ENOENT)
        return bats_error_set(err, BATS_EINPUT, "%.300s: %s", d->dir,
                              strerror(errno));
    if (n <= 0)
        return bats_error_set(err, BATS_EINPUT,
                              "%.300s: there is no output of a run here "
                              "(of 'bats-mpi run --output stream')",
                              d->dir);
    for (int i = 0; i < n; i++) {
        char *name = d->files[i]->d_name;
        name[strlen(name) - strlen(SUFFIX)] = '\0';
    }
    d->n_files = (size_t)n;
    return 0;
}

/* Compares the part of a name that identifies the run: "stream-RUN-RANK". */
static bool same_run(const struct bats_outdir *d, uint32_t a, uint32_t b)
{
    const char *x = d->files[a]->d_name, *y = d->files[b]->d_name;
    const char *x_end = strrchr(x, '-'), *y_end = strrchr(y, '-');
    return x_end - x == y_end - y && strncmp(x, y, (size_t)(x_end - x)) == 0;
}

/* ---- the indexes ---- */

static bool parse_line(const char *line, struct bats_outdir_entry *e,
                       int *stopped)
{
    unsigned task, attempt;
    int used = 0;
    int n = sscanf(line,
                   "%u %u %d %d %d %" SCNd64 " %" SCNd64 " %" SCNd64
                   " %" SCNd64 "%n",
                   &task, &attempt, stopped, &e->exit_status, &e->signal,
                   &e->begin, &e->end, &e->written[0], &e->written[1], &used);
    e->task = task - 1;
    e->attempt = attempt;
    return n == 9 && strcmp(line + used, "\n") == 0 && task > 0 &&
           e->begin >= 0 && e->end >= e->begin;
}

static int add(struct bats_outdir *d, const struct bats_outdir_entry *entry,
               struct bats_error *err)
{
    if (!bats_grow(&d->entries, &d->capacity, d->n + 1, sizeof *d->entries))
        return bats_no_memory(err);
    d->entries[d->n++] = *entry;
    return 0;
}

/* Removes an attempt that does not count. It was added recently, so the search
 * goes backwards. */
static void disown(struct bats_outdir *d,
                   const struct bats_outdir_entry *entry)
{
    for (size_t i = d->n; i-- > 0 && d->entries[i].file == entry->file;) {
        if (d->entries[i].task != entry->task ||
            d->entries[i].attempt != entry->attempt)
            continue;
        memmove(d->entries + i, d->entries + i + 1,
                (--d->n - i) * sizeof *d->entries);
        return;
    }
}

static int read_index(struct bats_outdir *d, uint32_t file,
                      struct bats_error *err)
{
    FILE *in = open_file(d, d->files[file]->d_name, SUFFIX, err);
    struct bats_outdir_entry entry = {.file = file};
    char line[256];
    int stopped, rc = 0;
    if (!in)
        return BATS_ESYS;
    if (!fgets(line, sizeof line, in) ||
        strcmp(line, BATS_OUTFILE_FIRST) != 0) {
        complain(d,
                 "%.200s/%.100s" SUFFIX " is not an index that this version "
                 "can read; its tasks are left out",
                 d->dir, d->files[file]->d_name);
        fclose(in);
        return 0;
    }
    for (uint64_t number = 2; rc == 0 && fgets(line, sizeof line, in);
         number++) {
        if (!strchr(line, '\n'))
            complain(d,
                     "%.200s/%.100s" SUFFIX ":%" PRIu64
                     ": the last line is cut short and left out: its writer "
                     "was stopped there, or is just writing",
                     d->dir, d->files[file]->d_name, number);
        else if (!parse_line(line, &entry, &stopped))
            complain(d,
                     "%.200s/%.100s" SUFFIX ":%" PRIu64
                     ": this line is garbled and left out",
                     d->dir, d->files[file]->d_name, number);
        else if (!stopped)
            rc = add(d, &entry, err);
        else if (stopped == BATS_OUTFILE_DISOWNED)
            disown(d, &entry);
    }
    fclose(in);
    return rc;
}

/* ---- the attempts that count ---- */

static bool failed(const struct bats_outdir_entry *e)
{
    return e->exit_status != 0 || e->signal != 0;
}

static int by_task(const void *a, const void *b)
{
    const struct bats_outdir_entry *x = a, *y = b;
    return (x->task > y->task) - (x->task < y->task);
}

static bool counts_more(const struct bats_outdir *d,
                        const struct bats_outdir_entry *a,
                        const struct bats_outdir_entry *b)
{
    if (!same_run(d, a->file, b->file))
        return a->file > b->file;
    if (failed(a) != failed(b))
        return failed(b);
    return a->attempt > b->attempt;
}

static void keep_what_counts(struct bats_outdir *d)
{
    size_t kept = 0;
    if (d->n > 0)
        qsort(d->entries, d->n, sizeof *d->entries, by_task);
    for (size_t i = 0; i < d->n; i++) {
        struct bats_outdir_entry *e = &d->entries[i];
        if (kept == 0 || d->entries[kept - 1].task != e->task)
            d->entries[kept++] = *e;
        else if (counts_more(d, e, &d->entries[kept - 1]))
            d->entries[kept - 1] = *e;
    }
    d->n = kept;
}

int bats_outdir_open(struct bats_outdir *outdir, const char *dir,
                     struct bats_error *err)
{
    struct bats_outdir *d = outdir;
    *d = (struct bats_outdir){.complain = d->complain, .context = d->context};
    d->dir = strdup(dir);
    int rc = d->dir ? list_files(d, err) : bats_no_memory(err);
    for (uint32_t i = 0; rc == 0 && i < d->n_files; i++)
        rc = read_index(d, i, err);
    if (rc < 0) {
        bats_outdir_release(d);
        return rc;
    }
    keep_what_counts(d);
    return 0;
}

void bats_outdir_release(struct bats_outdir *outdir)
{
    for (size_t i = 0; i < outdir->n_files; i++)
        free(outdir->files[i]);
    free(outdir->files);
    free(outdir->entries);
    free(outdir->dir);
    *outdir = (struct bats_outdir){0};
}

size_t bats_outdir_from(const struct bats_outdir *outdir, uint32_t task)
{
    size_t low = 0, high = outdir->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (outdir->entries[middle].task < task)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- the chunks ---- */

struct chunk {
    unsigned task;
    unsigned attempt;
    unsigned stream;
    unsigned length;
};

static bool read_head(FILE *in, struct chunk *c)
{
    char head[BATS_OUTFILE_HEAD + 1], again[BATS_OUTFILE_HEAD + 24];
    if (fread(head, 1, BATS_OUTFILE_HEAD, in) != BATS_OUTFILE_HEAD)
        return false;
    head[BATS_OUTFILE_HEAD] = '\0';
    if (sscanf(head, "#bats %u %u %u %u\n", &c->task, &c->attempt, &c->stream,
               &c->length) != 4)
        return false;
    snprintf(again, sizeof again, BATS_OUTFILE_CHUNK, c->task, c->attempt,
             c->stream, c->length);
    return strcmp(head, again) == 0;
}

/* Passes on `length` bytes. Returns 1 if some are missing. */
static int hand_over(FILE *in, size_t length, bool *stop,
                     bool (*take)(void *context, const char *bytes, size_t n),
                     void *context)
{
    char piece[PIECE];
    while (length > 0 && !*stop) {
        size_t n = fread(piece, 1, length < PIECE ? length : PIECE, in);
        if (n == 0)
            return 1;
        *stop = !take(context, piece, n);
        length -= n;
    }
    return 0;
}

/* Returns 1 if the bytes between begin and end are damaged. */
static int
read_chunks(FILE *in, const struct bats_outdir_entry *entry, int stream,
            bool (*take)(void *context, const char *bytes, size_t n),
            void *context)
{
    int64_t at = entry->begin;
    bool stop = false;
    struct chunk c;
    if (fseeko(in, at, SEEK_SET) != 0)
        return 1;
    for (; at < entry->end && !stop; at += BATS_OUTFILE_HEAD + c.length) {
        if (!read_head(in, &c) || c.task != entry->task + 1 ||
            c.attempt != entry->attempt ||
            c.length > entry->end - at - BATS_OUTFILE_HEAD)
            return 1;
        if (c.stream != (unsigned)stream
                ? fseeko(in, c.length, SEEK_CUR) != 0
                : hand_over(in, c.length, &stop, take, context))
            return 1;
    }
    return 0;
}

int bats_outdir_read(const struct bats_outdir *outdir,
                     const struct bats_outdir_entry *entry, int stream,
                     bool (*take)(void *context, const char *bytes, size_t n),
                     void *context, struct bats_error *err)
{
    if (entry->begin == entry->end)
        return 0;
    FILE *in =
        open_file(outdir, outdir->files[entry->file]->d_name, ".out", err);
    if (!in)
        return BATS_ESYS;
    int rc = read_chunks(in, entry, stream, take, context);
    if (rc > 0)
        complain(outdir,
                 "%.200s/%.100s.out: the output of task %" PRIu64
                 " is damaged or incomplete",
                 outdir->dir, outdir->files[entry->file]->d_name,
                 (uint64_t)entry->task + 1);
    fclose(in);
    return rc;
}
