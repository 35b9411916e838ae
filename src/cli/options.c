#include "cli/options.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bats/tail.h"
#include "cli/cli.h"
#include "input/workflow/workflow.h"
#include "run/launcher.h"
#include "util/similar.h"
#include "util/text.h"

/* The n rows of a verb for getopt_long: rows[i] belongs to table[i]. */
struct tables {
    const struct bats_option *rows[BATS_OPTIONS_MAX];
    struct option table[BATS_OPTIONS_MAX + 1];
    char letters[2 * BATS_OPTIONS_MAX + 3];
    int n;
};

/* in_order: the first argument ends the options. */
static void set_tables(struct tables *t, enum bats_verb verb, bool in_order)
{
    char *letters = t->letters;
    int n = 0;
    assert(bats_options_n <= BATS_OPTIONS_MAX);
    if (in_order)
        *letters++ = '+';
    *letters++ = ':'; /* getopt then reports a missing argument as ':' */
    for (size_t i = 0; i < bats_options_n; i++) {
        const struct bats_option *o = &bats_options[i];
        if (!(o->verbs & 1u << verb))
            continue;
        t->rows[n] = o;
        t->table[n] = (struct option){
            .name = o->name,
            .has_arg = o->argument != NULL ? required_argument : no_argument,
            .val = 256 + n,
        };
        n++;
        if (o->letter == 0)
            continue;
        *letters++ = o->letter;
        if (o->argument != NULL)
            *letters++ = ':';
    }
    t->table[n] = (struct option){0};
    *letters = '\0';
    t->n = n;
}

/* The next option as from getopt_long: -1 after the last one. *row is its row,
 * unless it is unknown ('?'). */
static int next_option(const struct tables *t, int argc, char **argv,
                       const struct bats_option **row)
{
    int c = getopt_long(argc, argv, t->letters, t->table, NULL);
    int which = c == ':' ? optopt : c;
    for (int i = 0; i < t->n; i++)
        if (which == t->table[i].val || which == t->rows[i]->letter)
            *row = t->rows[i];
    return c;
}

static void start_afresh(void)
{
    optind = 0;
    opterr = 0;
}

/* Explains what is wrong with the option `word`, which getopt_long does not.
 * For an unknown letter, see optopt. */
static int explain(enum bats_verb verb, const char *word,
                   const struct tables *t, struct bats_error *err)
{
    const struct bats_option *const *rows = t->rows;
    int letter = optopt > 0 && optopt < 256 ? optopt : 0;
    int length = (int)strcspn(word, "=");
    if (bats_verb_runs(verb) &&
        bats_refused_option(letter, word + 2, (size_t)length - 2, err))
        return BATS_EINPUT;
    if (letter != 0)
        return bats_refuse(err, "there is no option -%c", letter);
    char matches[256] = "";
    int n_matches = 0;
    for (int i = 0; i < t->n; i++) {
        if (strncmp(rows[i]->name, word + 2, (size_t)length - 2) != 0)
            continue;
        bool exact = rows[i]->name[length - 2] == '\0';
        if (exact || n_matches == 0)
            n_matches = matches[0] = 0;
        bats_append(matches, sizeof matches, "%s--%s",
                    n_matches++ > 0 ? ", " : "", rows[i]->name);
        if (exact)
            break;
    }
    if (n_matches > 1)
        return bats_refuse(err, "%.*s may mean %s", length, word, matches);
    if (n_matches == 1 && word[length] == '=')
        return bats_refuse(err, "%s takes no argument", matches);
    struct bats_similar similar =
        bats_similar_to(word + 2, (size_t)length - 2);
    for (int i = 0; i < t->n; i++)
        bats_similar_try(&similar, rows[i]->name);
    bool found = similar.name != NULL;
    return bats_refuse(err, "there is no option %.*s%s%s%s", length, word,
                       found ? "; did you mean --" : "",
                       found ? similar.name : "", found ? "?" : "");
}

static int read_max_args(struct bats_settings *settings,
                         struct bats_error *err)
{
    char *end;
    if (settings->max_args == NULL)
        return 0;
    unsigned long n = strtoul(settings->max_args, &end, 10);
    if (!isdigit((unsigned char)*settings->max_args) || *end != '\0' ||
        n > UINT32_MAX)
        return bats_refuse(err,
                           "-n takes the number of values for a task, not "
                           "'%s'; a dry run is --dry-run",
                           settings->max_args);
    settings->sweep.per_task = n;
    settings->sweep.without = n == 0;
    return 0;
}

/* True if standard input may have something to read. (Launchers give rank 0 a
 * pipe in any case.) */
static bool has_input(void)
{
    struct stat st;
    return fstat(STDIN_FILENO, &st) == 0 &&
           (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode) ||
            S_ISSOCK(st.st_mode));
}

/* True if the first word of `text` is a program in PATH, or a function that
 * bash has exported. */
static bool is_program(const char *text)
{
    char name[256], path[4096];
    int n = (int)strcspn(text, " \t");
    snprintf(name, sizeof name, "BASH_FUNC_%.*s%%%%", n, text);
    if (getenv(name) != NULL)
        return true;
    const char *dirs = memchr(text, '/', (size_t)n) != NULL ? "/"
                       : getenv("PATH") != NULL             ? getenv("PATH")
                                                            : "";
    for (size_t length; *dirs != '\0';
         dirs += length + (dirs[length] == ':')) {
        length = strcspn(dirs, ":");
        if (memchr(text, '/', (size_t)n) != NULL)
            snprintf(path, sizeof path, "%.*s", n, text);
        else
            snprintf(path, sizeof path, "%.*s/%.*s", (int)length, dirs, n,
                     text);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* True if the arguments are a command whose values are lines of standard
 * input, as in GNU parallel. An argument that names a file may be a bag; a
 * mistyped bag is not a program. */
static bool is_filter(enum bats_verb verb, int argc, char **argv)
{
    struct tables t;
    const struct bats_option *row = NULL;
    int c;
    if (!bats_verb_runs(verb) || !has_input())
        return false;
    set_tables(&t, verb, true);
    start_afresh();
    while ((c = next_option(&t, argc, argv, &row)) != -1)
        if (c != '?' && c != ':' && row->kind == BATS_OPTION_SOURCE)
            return false;
    if (optind >= argc)
        return false;
    for (int i = optind; i < argc; i++)
        if (strchr(argv[i], '{') != NULL && strchr(argv[i], '}') != NULL)
            return true;
    return strcmp(argv[optind - 1], "--") == 0 ||
           (bats_launcher_ranks() == 0 && access(argv[optind], F_OK) != 0 &&
            is_program(argv[optind]));
}

/* The arguments are a command and its values. A command with the name of a
 * verb needs `--` before it. */
static int read_sweep(int n, char **words, struct bats_settings *settings,
                      struct bats_error *err)
{
    enum bats_verb verb;
    if (n > 0 && strcmp(words[-1], "--") != 0 &&
        bats_verb_find(words[0], &verb) && bats_verb_runs(verb))
        return bats_refuse(
            err,
            "a verb comes before the options: 'bats-mpi %s OPTION...'; for a "
            "command of this name write '-- %s'",
            words[0], words[0]);
    settings->is_sweep = true;
    settings->sweep.sources = settings->source;
    settings->sweep.words = (const char *const *)words;
    settings->sweep.n_words = (size_t)n;
    settings->sweep.header = settings->header != NULL;
    settings->bag = "sweep";
    return bats_refused_words(settings->sweep.words, (size_t)n, err);
}

static int read_words(enum bats_verb verb, int n, char **words,
                      struct bats_settings *settings, struct bats_error *err)
{
    if (verb == BATS_VERB_RUN && n > 1 &&
        bats_workflow_format(words[0]) != BATS_WORKFLOW_NONE) {
        settings->files = (const char *const *)words;
        settings->n_files = (size_t)n;
        settings->bag = words[0];
        return 0;
    }
    /* Without arguments the lines are commands, as in GNU parallel. */
    static char *input[] = {"-"};
    if (n == 0 && bats_verb_runs(verb) && has_input() &&
        bats_launcher_ranks() == 0) {
        words = input;
        n = 1;
    }
    int rc = bats_verb_words(verb, n, words, err);
    if (rc == 0 && n == 1 && verb == BATS_VERB_RUN &&
        access(words[0], F_OK) != 0 && strcmp(words[0], "-") != 0 &&
        is_program(words[0]))
        rc = bats_refuse(err,
                         "there is no file '%.100s', and a command needs "
                         "values: after :::, or lines of standard input",
                         words[0]);
    if (rc != 0)
        return rc;
    for (int i = 0; i < n; i++)
        settings->words[i] = words[i];
    if (bats_verb_runs(verb) || verb == BATS_VERB_ALLOC)
        settings->bag = words[0];
    return 0;
}

static int check_together(enum bats_verb verb, const struct bats_settings *set,
                          struct bats_error *err)
{
    bool times_out = set->run.engine.rules.timeout > 0 ||
                     set->run.engine.rules.timeout_median > 0;
    bool ordered = set->order != NULL && strcmp(set->order, "random") != 0;
    bool by_cost = set->minimize != NULL && strcmp(set->minimize, "cost") == 0;
    bool is_shown = set->results == NULL &&
                    (set->output == NULL || strcmp(set->output, "lines") == 0);
    const struct {
        bool is_wrong;
        const char *why;
    } rules[] = {
        {set->clusters != NULL && set->run.machine != NULL,
         "--machine and --clusters exclude each other: the clusters file says "
         "what a machine is"},
        {by_cost && set->deadline.text == NULL && verb != BATS_VERB_SIMULATE &&
             verb != BATS_VERB_ALLOC,
         "--minimize cost needs --deadline"},
        {verb == BATS_VERB_ALLOC && set->partition == NULL,
         "--partition is missing: where to buy jobs"},
        {set->nodes == 0 || set->slots == 0 || set->max_jobs == 0 ||
             set->max_jobs > 1000 || set->port > 65535,
         "--nodes, --slots, --max-jobs (at most 1000) or --port: out of "
         "range"},
        {set->run.nice > 19, "--nice takes 0 to 19"},
        {set->run.delay_us > 0 && times_out,
         "--delay and --timeout exclude each other"},
        {set->shuffle && ordered,
         "--shuf excludes --order file and --order longest"},
        {set->keep_order && !is_shown,
         "--keep-order is for output that is shown: not with --results or "
         "--output"},
        {set->results != NULL && set->output != NULL,
         "--results and --output exclude each other"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].is_wrong)
            return bats_refuse(err, "%s", rules[i].why);
    if (set->budget_text != NULL && verb != BATS_VERB_PLAN &&
        set->profile == NULL)
        return bats_refuse(
            err,
            "%s %s: the costs of the cheapest and the fastest schedule are "
            "not known yet; 'bats-mpi sample' finds out, and 'run --profile' "
            "continues from there",
            set->budget_from, set->budget_text);
    if (set->run.workdir != NULL && access(set->run.workdir, X_OK) != 0)
        return bats_refuse(err, "--wd %s: %s", set->run.workdir,
                           strerror(errno));
    return 0;
}

bool bats_settings_is_plain(const struct bats_settings *settings)
{
    return settings->run.budget == BATS_UNLIMITED &&
           settings->budget_text == NULL && settings->deadline.text == NULL &&
           settings->choose == NULL && settings->profile == NULL &&
           settings->save == NULL;
}

bool bats_settings_is_local(const struct bats_settings *settings)
{
    return settings->workers != NULL && !settings->verbose &&
           settings->clusters == NULL && settings->welcome == NULL &&
           settings->partition == NULL && bats_settings_is_plain(settings);
}

bool bats_settings_thrifty(const struct bats_settings *settings)
{
    return settings->deadline.text != NULL &&
           (settings->minimize == NULL ||
            strcmp(settings->minimize, "cost") == 0);
}

static struct bats_settings defaults(void)
{
    return (struct bats_settings){
        .run = {.budget = BATS_UNLIMITED,
                .silence_us = 60 * BATS_SECOND,
                .time_scale = 1,
                .sync_us = BATS_SECOND / 10,
                .sync_events = 1000},
        .policy = "bats",
        .tail = bats_tail_name(BATS_TAIL_DEFAULT),
        .bind = "core",
        .grace = 5 * BATS_SECOND,
        .nodes = 1,
        .slots = 1,
        .max_jobs = 8,
        .poll = 10 * BATS_SECOND,
        .guarantee = "lease",
        .retries = 1,
    };
}

static int read_environment(enum bats_verb verb,
                            struct bats_settings *settings,
                            struct bats_error *err)
{
    struct bats_error why;
    const char *budget = getenv("BATS_BUDGET");
    bool is_amount = verb == BATS_VERB_PLAN || verb == BATS_VERB_FRONTIER;
    if (budget == NULL || settings->budget_from != NULL)
        return 0;
    settings->budget_from = "BATS_BUDGET";
    return bats_option_budget(is_amount ? BATS_OPTION_MONEY
                                        : BATS_OPTION_BUDGET,
                              budget, settings, &why) == 0
               ? 0
               : bats_refuse(err, "BATS_BUDGET: %s", why.text);
}

static int read_options(enum bats_verb verb, bool in_order, int argc,
                        char **argv, struct bats_settings *settings,
                        struct bats_error *err)
{
    struct tables t;
    const struct bats_option *row = NULL;
    int c, rc = 0;
    set_tables(&t, verb, in_order);
    start_afresh();
    while (rc == 0 && !settings->help &&
           (c = next_option(&t, argc, argv, &row)) != -1) {
        if (c == '?')
            return explain(verb, argv[optind - 1], &t, err);
        if (c == ':' && optopt == 'n') /* getopt was called for --dry-run */
            return bats_refuse(err, "-n needs N, the number of values for "
                                    "each task; --dry-run shows the commands");
        if (c == ':')
            return bats_refuse(err, "--%s needs %s", row->name, row->argument);
        rc = bats_option_store(row, optarg, settings, err);
    }
    if (rc < 0 || settings->help)
        return rc;
    rc = read_environment(verb, settings, err);
    return rc == 0 ? read_max_args(settings, err) : rc;
}

/* True if --open is among the options of a run. *n: the number of words before
 * `--`. */
static bool has_open(enum bats_verb verb, int argc, char **argv, int *n)
{
    bool is_open = false;
    for (*n = 1; *n < argc && strcmp(argv[*n], "--") != 0; ++*n)
        is_open |= strcmp(argv[*n], "--open") == 0;
    return is_open && (verb == BATS_VERB_RUN || verb == BATS_VERB_ALLOC);
}

/* With --open, BAG only names the record. */
static int read_open(int n, char **words, struct bats_settings *set,
                     struct bats_error *err)
{
    static const char *const others[] = {
        "dry-run", "no-record", "keep-order", "choose", "profile",
        "results", "tagstring", "order",      "shuf"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (bats_settings_given(set, others[i]))
            return bats_refuse(err, "--open and --%s exclude each other",
                               others[i]);
    if (strcmp(set->policy, "bats") != 0 && strcmp(set->policy, "rr") != 0)
        return bats_refuse(err, "--open is for the policies bats and rr");
    if (set->driver != NULL && set->idle > 0)
        return bats_refuse(err, "--idle is for --open without a driver");
    if (set->in_all >= UINT32_MAX / 2)
        return bats_refuse(err, "--expect is out of range");
    if (n > 1)
        return bats_refuse(err,
                           "'%s' is one argument too many: the driver "
                           "follows --",
                           words[1]);
    set->tail = bats_tail_name(BATS_TAIL_NONE);
    set->bag = n > 0 ? words[0] : "open";
    set->words[0] = set->bag;
    return 0;
}

int bats_options_parse(enum bats_verb verb, int argc, char **argv,
                       struct bats_settings *settings, struct bats_error *err)
{
    const struct bats_sweep_spec *sweep = &settings->sweep;
    int n_words;
    bool is_open = has_open(verb, argc, argv, &n_words);
    char **driver = is_open && n_words + 1 < argc ? argv + n_words + 1 : NULL;
    argc = driver != NULL ? n_words : argc;
    bool divided = bats_verb_runs(verb) && !is_open &&
                   bats_sweep_is((const char *const *)argv, (size_t)argc);
    bool filter = !divided && !is_open && is_filter(verb, argc, argv);
    *settings = defaults();
    settings->driver = driver;
    int rc = read_options(verb, divided || filter, argc, argv, settings, err);
    if (rc < 0 || settings->help)
        return rc;
    if ((settings->idle > 0 || settings->in_all > 0) && !settings->open)
        return bats_refuse(err, "--idle and --expect need --open");
    if (filter)
        settings->source[settings->sweep.n_sources++] =
            (struct bats_sweep_source){BATS_SOURCE_LINES, "-"};
    if (divided || sweep->n_sources > 0)
        rc = read_sweep(argc - optind, argv + optind, settings, err);
    else if (sweep->colsep || settings->header || sweep->quote ||
             sweep->link || sweep->null || settings->max_args)
        return bats_refuse(err,
                           "--colsep, --header, --quote, --link, --null and "
                           "-n are for sweeps: add a command and '::: "
                           "VALUE...' or ':::: FILE' (-: standard input)");
    else if (settings->open)
        rc = read_open(argc - optind, argv + optind, settings, err);
    else
        rc = read_words(verb, argc - optind, argv + optind, settings, err);
    return rc == 0 ? check_together(verb, settings, err) : rc;
}

int bats_options_complain(enum bats_verb verb, const struct bats_error *err)
{
    fprintf(stderr,
            "bats-mpi: %s\n"
            "Try 'bats-mpi %s --help'.\n",
            err->text, bats_verbs[verb].name);
    return BATS_EXIT_USAGE;
}
