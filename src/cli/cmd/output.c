/* output: the verb output. Prints the output of the tasks of a run with
 * --output stream. Needs no MPI, only the files. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/look.h"
#include "exec/output/outdir.h"
#include "report/words.h"

struct printer {
    const struct bats_settings *set;
    struct bats_outdir outdir;
    uint64_t task; /* number of the task being printed, as people see it */
    bool in_line;  /* --tag: the last line is incomplete */
    bool lacking;  /* something requested is missing or damaged */
};

static void complain(void *context, const char *sentence)
{
    bats_tell("%s", sentence);
}

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

static bool has_failed(const struct bats_outdir_entry *entry)
{
    return entry->exit_status != 0 || entry->signal != 0;
}

static void print_failure(const struct bats_outdir_entry *entry)
{
    fflush(stdout);
    bats_tell("task %" PRIu64 ": %s, %" PRId64
              " bytes on standard output, %" PRId64 " on standard error",
              (uint64_t)entry->task + 1,
              bats_words_end(entry->exit_status, entry->signal).s,
              entry->written[0], entry->written[1]);
}

static void print_task(struct printer *p,
                       const struct bats_outdir_entry *entry)
{
    if (p->set->failed) {
        if (!has_failed(entry))
            return;
        print_failure(entry);
    }
    p->task = (uint64_t)entry->task + 1;
    int rc = bats_must(bats_outdir_read(&p->outdir, entry, p->set->err ? 2 : 1,
                                        write_out, p, &bats_why));
    if (p->in_line)
        putchar('\n');
    p->in_line = false;
    p->lacking |= rc > 0;
    if (ferror(stdout))
        bats_must(bats_flush(&bats_why));
}

/* ---- which tasks ---- */

/* Prints the tasks first to last, numbered from 1. */
static void print_range(struct printer *p, uint64_t first, uint64_t last)
{
    size_t n = 0;
    size_t from = bats_outdir_from(&p->outdir, (uint32_t)(first - 1));
    for (size_t i = from; i < p->outdir.n; i++, n++) {
        if (p->outdir.entries[i].task > last - 1)
            break;
        print_task(p, &p->outdir.entries[i]);
    }
    if (n > last - first)
        return;
    p->lacking = true;
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
    if (rc == 0 && set->all && (set->failed || set->n_task > 0))
        rc = bats_refuse(err, "--all excludes --task and --failed");
    return rc;
}

int cmd_output(const struct bats_settings *set)
{
    struct printer p = {.set = set, .outdir.complain = complain};
    char *dir = bats_place_find(set->words[0]);
    bats_must(bats_outdir_open(&p.outdir, dir, &bats_why));
    free(dir);
    for (size_t i = 0; i < set->n_task; i++)
        each_range(&p, set->task[i], NULL);
    for (size_t i = 0; set->n_task == 0 && i < p.outdir.n; i++)
        print_task(&p, &p.outdir.entries[i]);
    bats_outdir_release(&p.outdir);
    return p.lacking ? BATS_EXIT_FAILED : 0;
}
