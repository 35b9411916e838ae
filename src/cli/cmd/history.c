/* history: the verb history. Shows, removes, exports and imports runtimes of
 * earlier bags. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/look.h"
#include "cli/past.h"
#include "history/exchange.h"
#include "report/words.h"

/* ---- list ---- */

static struct bats_phrase in_words(double seconds)
{
    return bats_words_makespan(seconds * (double)BATS_SECOND);
}

static void print_sum(const struct bats_past_sum *s)
{
    char range[2 * sizeof(struct bats_phrase) + 8], day[16] = "";
    time_t at = (time_t)s->ended_s;
    struct tm tm;
    if (localtime_r(&at, &tm) != NULL)
        strftime(day, sizeof day, "%Y-%m-%d", &tm);
    snprintf(range, sizeof range, "%s to %s", in_words(s->p10_s).s,
             in_words(s->p90_s).s);
    printf("%-12s %6" PRId64 " %9" PRId64 "  %-10s %-10s %-20s  ", s->cluster,
           s->bags, s->tasks, day, in_words(s->mean_s).s, range);
    bats_words_put(stdout, BATS_ENCODE_TERMINAL, s->kind);
    putchar('\n');
}

static void print_json(const struct bats_past_sum *s)
{
    bats_look_json(
        json_pack("{ss ss sI sI sI sf sf sf}", "kind", s->kind, "cluster",
                  s->cluster, "bags", (json_int_t)s->bags, "tasks",
                  (json_int_t)s->tasks, "ended_s", (json_int_t)s->ended_s,
                  "mean_s", s->mean_s, "p10_s", s->p10_s, "p90_s", s->p90_s),
        JSON_COMPACT);
}

static void list(const struct bats_settings *set, struct bats_store *store,
                 const char *path)
{
    struct bats_past_sum *sums = NULL;
    size_t n = 0;
    if (store != NULL)
        bats_must(bats_store_sums(store, &sums, &n, &bats_why));
    if (n == 0 && !set->json)
        bats_words_line(stdout, "%s has no runtimes yet", path);
    else if (!set->json)
        puts("CLUSTER        BAGS     TASKS  LAST       MEAN       "
             "10 % TO 90 %          KIND");
    for (size_t i = 0; i < n; i++)
        if (set->json)
            print_json(&sums[i]);
        else
            print_sum(&sums[i]);
    free(sums);
}

/* ---- the others ---- */

static void export(struct bats_store *store)
{
    struct bats_past past = {0};
    if (store != NULL)
        bats_must(bats_store_read(store, &past, &bats_why));
    bats_must(bats_history_export(stdout, &past, &bats_why));
    bats_store_release(&past);
}

static void forget(struct bats_store *store, const char *path,
                   const char *kind)
{
    bool is_all = strcmp(kind, "all") == 0;
    int rc = store != NULL ? bats_must(bats_store_forget(
                                 store, is_all ? NULL : kind, &bats_why))
                           : 0;
    if (rc == 0 && !is_all)
        bats_die(BATS_EINPUT,
                 "%s knows no tasks of the kind '%s'; 'bats-mpi history' "
                 "lists the kinds",
                 path, kind);
}

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

static void import(const struct bats_settings *set, struct bats_store *store)
{
    char path[4096];
    bats_look_find(set->words[1], path, sizeof path);
    int n = bats_must(
        is_database(path)
            ? bats_past_add_record(store, path, set->history != NULL,
                                   &bats_why)
            : bats_history_import(store, path, set->cluster, &bats_why));
    printf("%s added\n", bats_words_count((uint64_t)n, "bag").s);
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

int cmd_history(const struct bats_settings *set)
{
    struct bats_store *store = NULL;
    const char *what = set->words[0] != NULL ? set->words[0] : "list";
    bool imports = strcmp(what, "import") == 0;
    char *path = bats_past_path(set);
    if (path == NULL)
        bats_die(BATS_EINPUT,
                 "there is no history: name one with --history FILE");
    bats_must(bats_store_open(path, imports, &store, &bats_why));
    if (imports)
        import(set, store);
    else if (strcmp(what, "forget") == 0)
        forget(store, path, set->words[1]);
    else if (strcmp(what, "export") == 0)
        export(store);
    else
        list(set, store, path);
    bats_store_close(store);
    free(path);
    return 0;
}
