/* history: the verb history. Shows, removes, exports and imports runtimes of
 * earlier bags. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/frame.h"
#include "cli/look.h"
#include "cli/options.h"
#include "cli/past.h"
#include "history/exchange.h"
#include "report/words.h"

/* ---- list ---- */

/* A kind on a cluster, summed over all bags. */
struct sum {
    const char *kind, *cluster;
    int64_t bags, tasks, ended_s;
    double seconds, p10, p90; /* of the last bag */
};

static int by_name(const void *left, const void *right)
{
    const struct sum *a = left, *b = right;
    int order = strcmp(a->kind, b->kind);
    return order != 0 ? order : strcmp(a->cluster, b->cluster);
}

/* Merges clusters of one name. For free(). */
static struct sum *add_up(const struct bats_past *past, size_t *n)
{
    struct sum *sums = calloc(past->n_rows + 1, sizeof *sums);
    *n = 0;
    for (size_t i = 0; sums != NULL && i < past->n_rows; i++) {
        const struct bats_past_row *r = &past->rows[i];
        const char *kind = past->kinds[r->kind];
        const char *cluster = past->places[r->place].name;
        size_t k = 0;
        while (k < *n &&
               (sums[k].kind != kind || strcmp(sums[k].cluster, cluster) != 0))
            k++;
        *n += k == *n;
        sums[k].kind = kind;
        sums[k].cluster = cluster;
        sums[k].bags += r->bags;
        sums[k].tasks += r->moments.tasks;
        sums[k].ended_s = r->ended_s;
        sums[k].seconds = r->moments.sum / (double)r->moments.tasks;
        sums[k].p10 = r->moments.p10;
        sums[k].p90 = r->moments.p90;
    }
    if (sums != NULL)
        qsort(sums, *n, sizeof *sums, by_name);
    return sums;
}

static struct bats_phrase in_words(double seconds)
{
    return bats_words_makespan(seconds * (double)BATS_SECOND);
}

static void print_sum(const struct sum *s)
{
    char range[2 * sizeof(struct bats_phrase) + 8], day[16] = "";
    time_t at = (time_t)s->ended_s;
    struct tm tm;
    if (localtime_r(&at, &tm) != NULL)
        strftime(day, sizeof day, "%Y-%m-%d", &tm);
    snprintf(range, sizeof range, "%s to %s", in_words(s->p10).s,
             in_words(s->p90).s);
    printf("%-12s %6" PRId64 " %9" PRId64 "  %-10s %-10s %-20s  ", s->cluster,
           s->bags, s->tasks, day, in_words(s->seconds).s, range);
    bats_words_put(stdout, BATS_ENCODE_TERMINAL, s->kind);
    putchar('\n');
}

static int print_json(const struct sum *s, struct bats_error *err)
{
    return bats_look_json(
        json_pack("{ss ss sI sI sI sf sf sf}", "kind", s->kind, "cluster",
                  s->cluster, "bags", (json_int_t)s->bags, "tasks",
                  (json_int_t)s->tasks, "ended_s", (json_int_t)s->ended_s,
                  "mean_s", s->seconds, "p10_s", s->p10, "p90_s", s->p90),
        JSON_COMPACT, err);
}

static int list(const struct bats_settings *set, const struct bats_past *past,
                const char *path, struct bats_error *err)
{
    size_t n;
    int rc = 0;
    struct sum *sums = add_up(past, &n);
    if (sums == NULL)
        return bats_no_memory(err);
    if (n == 0 && !set->json)
        bats_words_line(stdout, "%s has no runtimes yet", path);
    else if (!set->json)
        puts("CLUSTER        BAGS     TASKS  LAST       MEAN       "
             "10 % TO 90 %          KIND");
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (set->json)
            rc = print_json(&sums[i], err);
        else
            print_sum(&sums[i]);
    free(sums);
    return rc;
}

/* ---- the others ---- */

static int show(const struct bats_settings *set, struct bats_store *store,
                const char *path, struct bats_error *err)
{
    struct bats_past past = {0};
    const char *what = set->words[0];
    int rc = store != NULL ? bats_store_read(store, &past, err) : 0;
    if (rc == 0 && what != NULL && strcmp(what, "export") == 0)
        rc = bats_history_export(stdout, &past, err);
    else if (rc == 0)
        rc = list(set, &past, path, err);
    bats_store_release(&past);
    return rc;
}

static int forget(struct bats_store *store, const char *path, const char *kind,
                  struct bats_error *err)
{
    bool is_all = strcmp(kind, "all") == 0;
    int rc = store != NULL
                 ? bats_store_forget(store, is_all ? NULL : kind, err)
                 : 0;
    if (rc == 0 && !is_all)
        return bats_refuse(err,
                           "%s knows no tasks of the kind '%s'; 'bats-mpi "
                           "history' lists the kinds",
                           path, kind);
    return rc < 0 ? rc : 0;
}

/* True for a file of SQLite, which must be a record. */
static bool is_database(const char *path)
{
    char head[16] = "";
    struct stat st;
    bool is_file = stat(path, &st) == 0 && S_ISREG(st.st_mode);
    FILE *in = is_file ? fopen(path, "re") : NULL;
    size_t n = in != NULL ? fread(head, 1, sizeof head, in) : 0;
    if (in != NULL)
        fclose(in);
    return n == sizeof head && memcmp(head, "SQLite format 3", 16) == 0;
}

static int import(const struct bats_settings *set, struct bats_store *store,
                  struct bats_error *err)
{
    char path[4096];
    bats_look_find(set->words[1], path, sizeof path);
    int rc = is_database(path)
                 ? bats_past_add_record(store, path, set->history != NULL, err)
                 : bats_history_import(store, path, set->cluster, err);
    if (rc >= 0)
        printf("%s added\n", bats_words_count((uint64_t)rc, "bag").s);
    return rc < 0 ? rc : 0;
}

int cmd_history_check(struct bats_settings *set, struct bats_error *err)
{
    const char *what = set->words[0], *of = set->words[1];
    bool lists = what == NULL || strcmp(what, "list") == 0 ||
                 strcmp(what, "export") == 0;
    bool needs = what != NULL &&
                 (strcmp(what, "forget") == 0 || strcmp(what, "import") == 0);
    if (!lists && !needs)
        return bats_refuse(
            err,
            "unknown 'history %s'; expected list, forget, export or import",
            what);
    if (lists && of != NULL)
        return bats_refuse(err, "'%s' is one argument too many", of);
    if (needs && of == NULL)
        return bats_refuse(err, "history %s needs %s", what,
                           *what == 'f' ? "a kind, or 'all'" : "a file");
    return 0;
}

int cmd_history(const struct bats_settings *set, struct bats_error *err)
{
    struct bats_store *store = NULL;
    const char *what = set->words[0];
    bool imports = what != NULL && strcmp(what, "import") == 0;
    char *path = bats_past_path(set);
    if (path == NULL)
        return bats_refuse(
            err, "there is no history: name one with --history FILE");
    int rc = bats_store_open(path, imports, &store, err);
    if (rc == 0 && imports)
        rc = import(set, store, err);
    else if (rc == 0 && what != NULL && strcmp(what, "forget") == 0)
        rc = forget(store, path, set->words[1], err);
    else if (rc == 0)
        rc = show(set, store, path, err);
    bats_store_close(store);
    free(path);
    return rc;
}
