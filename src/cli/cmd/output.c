/* output: the verb output. Prints the output of the tasks of a run with
 * --output stream. The record says where it is. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/look.h"
#include "exec/output/outfile.h"
#include "report/words.h"

struct printer {
    const struct bats_settings *set;
    const char *record;               /* its path, resolved */
    struct bats_view_output *outputs; /* n, by number of the task */
    size_t n;
    uint64_t task; /* number of the task being printed, as people see it */
    bool in_line;  /* --tag: the last line is incomplete */
    int code;      /* something requested is missing or damaged */
};

/* ---- one task ---- */

static void write_tagged(struct printer *p, const char *bytes, size_t n)
{
    while (n > 0) {
        const char *newline = memchr(bytes, '\n', n);
        size_t part = newline != NULL ? (size_t)(newline - bytes) + 1 : n;
        if (!p->in_line)
            printf("%" PRIu64 "\t", p->task);
        fwrite(bytes, 1, part, stdout);
        p->in_line = newline == NULL;
        bytes += part;
        n -= part;
    }
}

static bool write_out(void *context, const char *bytes, size_t n)
{
    struct printer *p = context;
    if (p->set->tag)
        write_tagged(p, bytes, n);
    else
        fwrite(bytes, 1, n, stdout);
    return !ferror(stdout);
}

static void print_failure(const struct bats_view_output *o)
{
    fflush(stdout);
    bats_tell("task %" PRId64 ": %s, %" PRId64
              " bytes on standard output, %" PRId64 " on standard error",
              o->task, bats_words_end(o->exit_status, o->signal).s,
              o->out_bytes, o->err_bytes);
}

static void print_task(struct printer *p, const struct bats_view_output *o)
{
    char path[2 * PATH_MAX];
    if (p->set->failed && o->exit_status == 0 && o->signal == 0)
        return;
    if (p->set->failed)
        print_failure(o);
    p->task = (uint64_t)o->task;
    bats_place_of_stream(path, sizeof path, p->record, o);
    const struct bats_outfile_place place = {path, (uint32_t)(o->task - 1),
                                             o->attempt, o->begin, o->end};
    int rc = bats_outfile_read(&place, p->set->err ? 2 : 1, write_out, p,
                               &bats_why);
    if (p->in_line)
        putchar('\n');
    p->in_line = false;
    if (rc != 0) {
        int code = rc < 0 ? bats_exit_of(rc) : BATS_EXIT_FAILED;
        p->code = code > p->code ? code : p->code;
        bats_tell("%s: the output of task %" PRId64 " is %s",
                  rc < 0 ? bats_why.text : path, o->task,
                  rc < 0 ? "lost" : "damaged or incomplete");
    }
    if (ferror(stdout))
        bats_must(bats_flush(&bats_why));
}

/* ---- which tasks ---- */

static void print_range(struct printer *p, uint64_t first, uint64_t last)
{
    size_t low = 0, high = p->n, n = 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        bool is_before = (uint64_t)p->outputs[middle].task < first;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    for (; low < p->n && (uint64_t)p->outputs[low].task <= last; low++, n++)
        print_task(p, &p->outputs[low]);
    if (n > last - first)
        return;
    p->code = p->code > 0 ? p->code : BATS_EXIT_FAILED;
    if (first == last)
        bats_tell("there is no result of task %" PRIu64 "", first);
    else
        bats_tell("there is no result of %" PRIu64 " of the tasks %" PRIu64
                  "-%" PRIu64 "",
                  last - first + 1 - n, first, last);
}

static bool read_number(const char **at, uint64_t *number)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    *number = strtoull(*at, &end, 10);
    *at = end;
    return *number > 0 && *number <= UINT32_MAX;
}

/* Reads "7" or "7,10-12". If `p` is NULL, only checks it. */
static int each_range(struct printer *p, const char *list,
                      struct bats_error *err)
{
    const char *at = list;
    uint64_t first, last;
    for (;; at++) {
        if (!read_number(&at, &first))
            break;
        last = first;
        if (*at == '-' && (at++, !read_number(&at, &last) || last < first))
            break;
        if (*at != ',' && *at != '\0')
            break;
        if (p != NULL)
            print_range(p, first, last);
        if (*at == '\0')
            return 0;
    }
    return bats_refuse(
        err, "--task: '%s' is not a list of task numbers such as 7,10-12",
        list);
}

int cmd_output_check(struct bats_settings *set, struct bats_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < set->n_task; i++)
        rc = each_range(NULL, set->task[i], err);
    return rc;
}

int cmd_output(const struct bats_settings *set)
{
    char record[PATH_MAX], real[PATH_MAX];
    struct printer p = {.set = set, .record = real};
    struct bats_texts texts = {0};
    struct bats_view *view;
    bats_look_find(set->words[0], record, sizeof record);
    bats_must(bats_view_open(record, &view, &bats_why));
    bats_must(bats_view_outputs(view, &p.outputs, &p.n, &texts, &bats_why));
    bats_view_close(view);
    if (p.n == 0)
        bats_die(BATS_EINPUT,
                 "%s: no task has output of 'bats-mpi run --output stream'",
                 record);
    bats_must(bats_place_resolve(record, real, &bats_why));
    for (size_t i = 0; i < set->n_task; i++)
        each_range(&p, set->task[i], NULL);
    for (size_t i = 0; set->n_task == 0 && i < p.n; i++)
        print_task(&p, &p.outputs[i]);
    bats_texts_release(&texts);
    free(p.outputs);
    return p.code;
}
