/* frontier: the verb frontier. Which strategies of the policy expert nothing
 * beats in makespan and cost; runs nothing. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/jobs.h"
#include "cli/options.h"
#include "cli/pools_source.h"
#include "report/table.h"
#include "report/words.h"
#include "util/expression.h"
#include "util/json.h"

#define PLAYS 100
#define ROWS 120 /* of a table */

/* Best for what; more than one may be the same candidate. */
enum mark {
    MARK_CHEAPEST,
    MARK_FASTEST,
    MARK_PRODUCT,
    MARK_BUDGET,
    MARK_DEADLINE,
    MARK_UTILITY,
    MARKS
};

static const char *const mark_names[MARKS] = {
    "cheapest", "fastest",  "makespan x cost",
    "budget",   "deadline", "utility"};

struct frontier {
    const struct bats_settings *set;
    struct bats_pools pools;
    struct bats_plays *plays;
    uint32_t n_plays;
    struct bats_candidate *list;
    size_t n, n_grid; /* the static ones follow the grid */
    size_t best[MARKS]; /* n: none */
    atomic_size_t next;
    atomic_int failed;
    struct bats_error *err;
};

/* ---- playing ---- */

static int add_static(struct frontier *f, struct bats_error *err)
{
    struct bats_error why;
    static const char *const names[] = {"AR",  "TRR",   "TR",
                                        "AUR", "CNinf", "CN1T0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct bats_strategy s;
        bats_strategy_parse(names[i], &s, NULL);
        if (f->pools.model.n_reliable > 0 || !bats_strategy_needs_reliable(&s))
            f->list[f->n++].strategy = s;
    }
    if (f->set->strategy != NULL &&
        bats_strategy_parse(f->set->strategy, &f->list[f->n++].strategy,
                            &why) < 0)
        return bats_error_set(err, BATS_EINPUT, "--strategy: %s", why.text);
    return 0;
}

static void *work(void *context)
{
    struct frontier *f = context;
    struct bats_error err;
    size_t i;
    while ((i = atomic_fetch_add(&f->next, 1)) < f->n)
        if (bats_candidate_play(f->plays, f->n_plays, &f->list[i], &err) < 0 &&
            atomic_exchange(&f->failed, 1) == 0)
            *f->err = err;
    return NULL;
}

static int play_all(struct frontier *f, struct bats_error *err)
{
    pthread_t threads[64];
    unsigned n = bats_jobs_count(f->set->jobs), started = 0;
    f->err = err;
    while (started + 1 < n && started < 64 &&
           pthread_create(&threads[started], NULL, work, f) == 0)
        started++;
    work(f);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return f->failed ? err->code : 0;
}

/* ---- choosing ---- */

static int value_of(const struct frontier *f, const struct bats_candidate *c,
                    enum mark mark, double *value, struct bats_error *err)
{
    const struct bats_play *p = &c->mean;
    static const char *const names[] = {"makespan", "tail", "cost",
                                        "task_cost"};
    const double values[] = {p->makespan / 1e6, p->tail / 1e6,
                             p->cost / (double)BATS_UNIT,
                             p->cost / (double)BATS_UNIT /
                                 f->pools.model.n_tasks};
    *value = mark == MARK_CHEAPEST || mark == MARK_DEADLINE ? p->cost
             : mark == MARK_PRODUCT ? p->makespan * p->cost
                                    : p->makespan;
    if (mark == MARK_BUDGET && p->cost > (double)f->set->budget)
        *value = INFINITY;
    if (mark == MARK_DEADLINE &&
        p->makespan > (double)f->set->deadline.duration)
        *value = INFINITY;
    return mark == MARK_UTILITY
               ? bats_expression_value(f->set->utility, names, values, 4,
                                       value, err)
               : 0;
}

static bool is_asked(const struct frontier *f, enum mark mark)
{
    return mark == MARK_BUDGET     ? f->set->budget != BATS_UNLIMITED
           : mark == MARK_DEADLINE ? f->set->deadline.text != NULL
           : mark == MARK_UTILITY  ? f->set->utility != NULL
                                   : true;
}

static int choose(struct frontier *f, struct bats_error *err)
{
    for (enum mark mark = 0; mark < MARKS; mark++) {
        double least = INFINITY;
        f->best[mark] = f->n;
        for (size_t i = 0; is_asked(f, mark) && i < f->n_grid; i++) {
            double value;
            struct bats_error why;
            if (value_of(f, &f->list[i], mark, &value, &why) < 0)
                return bats_error_set(err, BATS_EINPUT, "--utility: %s",
                                      why.text);
            if (value < least && (f->list[i].is_efficient ||
                                  mark == MARK_UTILITY)) {
                least = value;
                f->best[mark] = i;
            }
        }
    }
    return 0;
}

static const char *marks_of(const struct frontier *f, size_t i, char *text,
                            size_t size)
{
    text[0] = '\0';
    for (enum mark mark = 0; mark < MARKS; mark++)
        if (f->best[mark] == i) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                     mark_names[mark]);
        }
    return text;
}

/* ---- showing ---- */

static int by_makespan(const void *left, const void *right)
{
    const struct bats_candidate *a = *(struct bats_candidate *const *)left;
    const struct bats_candidate *b = *(struct bats_candidate *const *)right;
    return a->mean.makespan < b->mean.makespan ? -1
                                               : a->mean.makespan >
                                                     b->mean.makespan;
}

static void set_row(struct bats_table *t, size_t row, const struct frontier *f,
                    const struct bats_candidate *c)
{
    char text[BATS_STRATEGY_TEXT], marks[128];
    const double unit = (double)BATS_UNIT;
    bats_table_set(t, row, 0, "%s", bats_strategy_format(text, &c->strategy));
    bats_table_set(t, row, 1, "%s",
                   bats_words_makespan(text, c->mean.makespan));
    bats_table_set(t, row, 2, "%s",
                   bats_words_makespan(text, c->margin.makespan));
    bats_table_set(t, row, 3, "%.2f", c->mean.cost / unit);
    bats_table_set(t, row, 4, "%.2f", c->margin.cost / unit);
    bats_table_set(t, row, 5, "%.3g",
                   c->mean.cost / unit / f->pools.model.n_tasks);
    bats_table_set(t, row, 6, "%.1f", c->mean.sent_reliable);
    bats_table_set(t, row, 7, "%s",
                   marks_of(f, (size_t)(c - f->list), marks, sizeof marks));
}

static void print_head(const struct frontier *f)
{
    const struct bats_plays_model *m = &f->pools.model;
    char tasks[BATS_UNITS_TEXT], text[BATS_UNITS_TEXT];
    double mean = 0;
    for (size_t i = 0; i < m->n_times; i++)
        mean += (double)m->unreliable[i] / (double)m->n_times;
    bats_words_line(stdout,
                    "%s: %s; %u unreliable slots, of which %.1f %% answer, "
                    "after %s on average; %u reliable ones; %zu strategies, "
                    "%u plays of each",
                    f->set->words[0],
                    bats_words_count(tasks, sizeof tasks, m->n_tasks, "task"),
                    m->n_unreliable, 100 * m->gamma,
                    bats_words_makespan(text, mean), m->n_reliable, f->n,
                    f->n_plays);
    putchar('\n');
}

static void print_table(struct frontier *f)
{
    static const char *const head[] = {"strategy", "makespan", "+-",
                                       "cost",     "+-",       "/task",
                                       "reliable", "best for"};
    static struct bats_table table;
    struct bats_candidate *sorted[BATS_CANDIDATES_MAX + 8];
    size_t n = 0, row = 1;
    for (size_t i = 0; i < f->n_grid; i++)
        if (f->list[i].is_efficient || f->best[MARK_UTILITY] == i)
            sorted[n++] = &f->list[i];
    qsort(sorted, n, sizeof *sorted, by_makespan);
    table = (struct bats_table){.n_rows = 0};
    bats_table_head(&table, head, sizeof head / sizeof *head);
    for (size_t i = 0; i < n && row < ROWS; i++)
        set_row(&table, row++, f, sorted[i]);
    for (size_t i = f->n_grid; i < f->n; i++)
        set_row(&table, row++, f, &f->list[i]);
    print_head(f);
    bats_table_print(stdout, &table);
    fputs("\nThe efficient strategies, the fastest first, then the static ones. "
          "+-: half the\n95 % interval of the mean. reliable: instances sent "
          "to that pool, mean.\n",
          stdout);
    for (enum mark mark = MARK_BUDGET; mark < MARKS; mark++)
        if (is_asked(f, mark) && f->best[mark] == f->n)
            printf("No strategy is within the %s.\n", mark_names[mark]);
}

static void print_csv(const struct frontier *f)
{
    puts("strategy,makespan_s,makespan_margin_s,tail_s,cost,cost_margin,"
         "task_cost,sent_reliable,used_reliable,longest_queue,efficient,best");
    for (size_t i = 0; i < f->n; i++) {
        const struct bats_candidate *c = &f->list[i];
        char text[BATS_STRATEGY_TEXT], marks[128];
        const double unit = (double)BATS_UNIT;
        printf("\"%s\",%.3f,%.3f,%.3f,%.6f,%.6f,%.6f,%.2f,%.2f,%.2f,%d,\"%s\"\n",
               bats_strategy_format(text, &c->strategy),
               c->mean.makespan / 1e6, c->margin.makespan / 1e6,
               c->mean.tail / 1e6, c->mean.cost / unit, c->margin.cost / unit,
               c->mean.cost / unit / f->pools.model.n_tasks,
               c->mean.sent_reliable, c->mean.used_reliable,
               c->mean.longest_queue, c->is_efficient,
               marks_of(f, i, marks, sizeof marks));
    }
}

static int print_json(const struct frontier *f, struct bats_error *err)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct bats_candidate *c = &f->list[i];
        char text[BATS_STRATEGY_TEXT], marks[128];
        const double unit = (double)BATS_UNIT;
        json_t *o = json_pack(
            "{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:b, s:s}",
            "strategy", bats_strategy_format(text, &c->strategy),
            "makespan_s", c->mean.makespan / 1e6, "makespan_margin_s",
            c->margin.makespan / 1e6, "tail_s", c->mean.tail / 1e6, "cost",
            c->mean.cost / unit, "cost_margin", c->margin.cost / unit,
            "sent_reliable", c->mean.sent_reliable, "used_reliable",
            c->mean.used_reliable, "longest_queue", c->mean.longest_queue,
            "efficient", c->is_efficient, "best",
            marks_of(f, i, marks, sizeof marks));
        if (!o)
            return bats_error_set(err, BATS_ENOMEM, "out of memory");
        json_dumpf(o, stdout, BATS_JSON_SAFE | JSON_REAL_PRECISION(15));
        json_decref(o);
        putchar('\n');
    }
    return 0;
}

/* ---- the verb ---- */

static int find(struct frontier *f, struct bats_error *err)
{
    const struct bats_plays_model *m = &f->pools.model;
    uint64_t seed = f->set->seed_given ? f->set->seed : 1;
    f->n_plays = f->set->plays > 0 ? (uint32_t)f->set->plays : PLAYS;
    f->list = calloc(BATS_CANDIDATES_MAX, sizeof *f->list);
    if (!f->list)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    int rc = bats_plays_create(m, f->n_plays, seed, &f->plays, err);
    if (rc < 0)
        return rc;
    f->n_grid = f->n =
        bats_candidates_grid(m->n_unreliable, m->n_reliable, f->list);
    rc = add_static(f, err);
    if (rc == 0)
        rc = play_all(f, err);
    if (rc < 0)
        return rc;
    bats_candidates_mark(f->list, f->n_grid);
    return choose(f, err);
}

static int frontier(const struct bats_settings *set, struct bats_error *err)
{
    struct frontier f = {.set = set};
    int rc = 0;
    if (set->deadline.text != NULL && set->deadline.duration == 0)
        return bats_error_set(err, BATS_EINPUT,
                              "--deadline: a frontier has no clock: give a "
                              "duration");
    rc = bats_pools_read(set->words[0], set->online, &f.pools, err);
    if (rc == 0 && set->save != NULL)
        rc = bats_pools_save(&f.pools, set->save, err);
    if (rc == 0)
        rc = find(&f, err);
    if (rc == 0 && set->csv)
        print_csv(&f);
    else if (rc == 0 && set->json)
        rc = print_json(&f, err);
    else if (rc == 0)
        print_table(&f);
    if (rc == 0 && (fflush(stdout) != 0 || ferror(stdout)))
        rc = bats_error_set(err, BATS_ESYS, "standard output: %s",
                            strerror(errno));
    if (rc == 0 && is_asked(&f, MARK_BUDGET) && f.best[MARK_BUDGET] == f.n)
        rc = bats_error_set(err, BATS_EBUDGET,
                            "no strategy is within the budget");
    if (rc == 0 && is_asked(&f, MARK_DEADLINE) &&
        f.best[MARK_DEADLINE] == f.n)
        rc = bats_error_set(err, BATS_EDEADLINE,
                            "no strategy is within the deadline");
    bats_plays_destroy(f.plays);
    bats_pools_release(&f.pools);
    free(f.list);
    return rc;
}

int cmd_frontier(int argc, char **argv)
{
    struct bats_settings set;
    struct bats_error err;

    if (bats_options_parse(BATS_VERB_FRONTIER, argc, argv, &set, &err) != 0)
        return bats_options_complain(BATS_VERB_FRONTIER, &err);
    if (set.help) {
        bats_help_verb(stdout, BATS_VERB_FRONTIER);
        return BATS_EXIT_OK;
    }
    return frontier(&set, &err) < 0 ? bats_complain(&err) : BATS_EXIT_OK;
}
