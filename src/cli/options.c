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

#include "cli/cli.h"
#include "cli/options_value.h"
#include "cli/refused.h"
#include "input/workflow/workflow.h"
#include "run/launcher.h"
#include "util/similar.h"

/* upper limit of the options of a verb */
#define ROWS_MAX 128

/* The rows of `verb` as getopt_long wants them: rows[i] belongs to table[i]. If
 * `in_order`, the first argument ends the options. Returns their number. */
static int getopt_tables(enum bats_verb verb, bool in_order,
                         const struct bats_option **rows, struct option *table,
                         char *letters)
{
    int n = 0;

    if (in_order)
        *letters++ = '+';
    *letters++ = ':'; /* getopt then reports a missing argument as ':' */
    for (size_t i = 0; i < bats_options_n; i++) {
        const struct bats_option *o = &bats_options[i];
        if (!(o->verbs & 1u << verb))
            continue;
        assert(n < ROWS_MAX);
        rows[n] = o;
        table[n] = (struct option){
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
    table[n] = (struct option){0};
    *letters = '\0';
    return n;
}

/* Explains what is wrong with the option `word`, which getopt_long does not
 * do. It leaves the letter in optopt if the option was a letter. */
static int explain(enum bats_verb verb, const char *word,
                   const struct bats_option **rows, int n,
                   struct bats_error *err)
{
    int letter = optopt > 0 && optopt < 256 ? optopt : 0;
    int length = (int)strcspn(word, "=");
    bool runs = verb == BATS_VERB_RUN || verb == BATS_VERB_SAMPLE;
    if (runs && bats_refused_option(letter, word + 2, (size_t)length - 2, err))
        return BATS_EINPUT;
    if (letter != 0)
        return bats_error_set(err, BATS_EINPUT, "there is no option -%c",
                              letter);

    char matches[256] = "";
    int n_matches = 0;
    for (int i = 0; i < n; i++) {
        if (strncmp(rows[i]->name, word + 2, (size_t)length - 2) != 0)
            continue;
        bool exact = rows[i]->name[length - 2] == '\0';
        if (exact)
            n_matches = 0;
        size_t used = n_matches > 0 ? strlen(matches) : 0;
        snprintf(matches + used, sizeof matches - used, "%s--%s",
                 n_matches++ > 0 ? ", " : "", rows[i]->name);
        if (exact)
            break;
    }
    if (n_matches > 1)
        return bats_error_set(err, BATS_EINPUT, "%.*s may mean %s", length,
                              word, matches);
    if (n_matches == 1 && word[length] == '=')
        return bats_error_set(err, BATS_EINPUT, "%s takes no argument",
                              matches);
    struct bats_similar similar =
        bats_similar_to(word + 2, (size_t)length - 2);
    for (int i = 0; i < n; i++)
        bats_similar_try(&similar, rows[i]->name);
    bool found = similar.name != NULL;
    return bats_error_set(err, BATS_EINPUT, "there is no option %.*s%s%s%s",
                          length, word, found ? "; did you mean --" : "",
                          found ? similar.name : "", found ? "?" : "");
}

/* -n: the number of values for a task. */
static int read_max_args(struct bats_settings *settings,
                         struct bats_error *err)
{
    char *end;
    if (settings->max_args == NULL)
        return 0;
    unsigned long n = strtoul(settings->max_args, &end, 10);
    if (!isdigit((unsigned char)*settings->max_args) || *end != '\0' ||
        n > UINT32_MAX)
        return bats_error_set(err, BATS_EINPUT,
                              "-n takes the number of values for a task, not "
                              "'%s'; a dry run is --dry-run",
                              settings->max_args);
    settings->sweep.per_task = n;
    settings->sweep.without = n == 0;
    return 0;
}

/* Standard input may have something to read. (Launchers give rank 0 a pipe in
 * any case.) */
static bool has_input(void)
{
    struct stat st;
    return fstat(STDIN_FILENO, &st) == 0 &&
           (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode) ||
            S_ISSOCK(st.st_mode));
}

/* The first word of `text` is a program in PATH, or a function that bash has
 * exported. */
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

/* The arguments are a command, and the lines of standard input its values, as
 * for GNU parallel. What is the name of a file may be a bag; a mistyped one is
 * no program. */
static bool is_filter(enum bats_verb verb, int argc, char **argv)
{
    const struct bats_option *rows[ROWS_MAX];
    struct option table[ROWS_MAX + 1];
    char letters[2 * ROWS_MAX + 3];
    int c;
    if ((verb != BATS_VERB_RUN && verb != BATS_VERB_SAMPLE) || !has_input())
        return false;
    int n = getopt_tables(verb, true, rows, table, letters);
    optind = 0;
    opterr = 0;
    while ((c = getopt_long(argc, argv, letters, table, NULL)) != -1)
        for (int i = 0; i < n; i++)
            if ((c == table[i].val || c == rows[i]->letter) &&
                rows[i]->kind == BATS_OPTION_SOURCE)
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

/* The arguments are a command and its values. One that is called as a verb is
 * meant as such, if there is no `--` before it. */
static int read_sweep(int n, char **words, struct bats_settings *settings,
                      struct bats_error *err)
{
    enum bats_verb verb;
    if (n > 0 && strcmp(words[-1], "--") != 0 &&
        bats_verb_find(words[0], &verb) &&
        (verb == BATS_VERB_RUN || verb == BATS_VERB_SAMPLE))
        return bats_error_set(err, BATS_EINPUT,
                              "a verb comes before the options: 'bats-mpi %s "
                              "OPTION...'; for a command of this name write "
                              "'-- %s'",
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
    /* As for GNU parallel, whose lines are commands then. */
    static char *input[] = {"-"};
    if (n == 0 && (verb == BATS_VERB_RUN || verb == BATS_VERB_SAMPLE) &&
        has_input() && bats_launcher_ranks() == 0) {
        words = input;
        n = 1;
    }
    int rc = bats_verb_check(verb, n, words, err);
    if (rc != 0)
        return rc;
    for (int i = 0; i < n; i++)
        settings->words[i] = words[i];
    if (verb == BATS_VERB_RUN || verb == BATS_VERB_SAMPLE ||
        verb == BATS_VERB_ALLOC)
        settings->bag = words[0];
    if (verb == BATS_VERB_OUTPUT)
        settings->run = words[0];
    return 0;
}

/* Options that exclude or need each other. */
static int check_together(enum bats_verb verb,
                          const struct bats_settings *settings,
                          struct bats_error *err)
{
    if (settings->clusters != NULL && settings->machine != NULL)
        return bats_error_set(err, BATS_EINPUT,
                              "--machine and --clusters exclude each other: "
                              "the clusters file says what a machine is");
    if (settings->minimize != NULL && settings->deadline.text == NULL &&
        strcmp(settings->minimize, "cost") == 0 && verb != BATS_VERB_SIMULATE)
        return bats_error_set(err, BATS_EINPUT,
                              "--minimize cost needs --deadline");
    if (settings->budget_text != NULL && verb != BATS_VERB_PLAN &&
        settings->profile == NULL)
        return bats_error_set(
            err, BATS_EINPUT,
            "%s %s: what the cheapest and the fastest schedule cost is not "
            "known yet; 'bats-mpi sample' finds out, and 'run --profile' "
            "continues from there",
            settings->budget_from, settings->budget_text);
    if (verb == BATS_VERB_ALLOC && settings->partition == NULL)
        return bats_error_set(err, BATS_EINPUT,
                              "--partition is missing: where to buy jobs");
    if (settings->nodes == 0 || settings->slots == 0 ||
        settings->max_jobs == 0 || settings->max_jobs > 1000 ||
        settings->port > 65535)
        return bats_error_set(err, BATS_EINPUT,
                              "--nodes, --slots, --max-jobs (at most 1000) or "
                              "--port: out of range");
    if (settings->nice > 19)
        return bats_error_set(err, BATS_EINPUT, "--nice takes 0 to 19");
    if (settings->delay > 0 &&
        (settings->rules.timeout > 0 || settings->rules.timeout_median > 0))
        return bats_error_set(err, BATS_EINPUT,
                              "--delay and --timeout exclude each other");
    if (settings->workdir != NULL && access(settings->workdir, X_OK) != 0)
        return bats_error_set(err, BATS_EINPUT, "--wd %s: %s",
                              settings->workdir, strerror(errno));
    if (settings->shuffle && settings->order != NULL &&
        strcmp(settings->order, "file") == 0)
        return bats_error_set(err, BATS_EINPUT,
                              "--shuf and --order file exclude each other");
    if (settings->keep_order &&
        (settings->results != NULL ||
         (settings->output != NULL && strcmp(settings->output, "lines") != 0)))
        return bats_error_set(err, BATS_EINPUT,
                              "--keep-order is for output that is shown: not "
                              "with --results or --output");
    if (settings->results != NULL && settings->output != NULL)
        return bats_error_set(err, BATS_EINPUT,
                              "--results and --output exclude each other");
    return 0;
}

bool bats_settings_is_plain(const struct bats_settings *settings)
{
    return settings->budget == BATS_UNLIMITED &&
           settings->budget_text == NULL && settings->deadline.text == NULL &&
           settings->choose == NULL && settings->profile == NULL &&
           settings->save == NULL && settings->clusters == NULL &&
           settings->welcome == NULL && settings->partition == NULL;
}

bool bats_settings_is_local(const struct bats_settings *settings)
{
    return settings->workers != NULL && !settings->verbose &&
           bats_settings_is_plain(settings);
}

bool bats_settings_thrifty(const struct bats_settings *settings)
{
    return settings->deadline.text != NULL &&
           (settings->minimize == NULL ||
            strcmp(settings->minimize, "cost") == 0);
}

bool bats_settings_go_on(const struct bats_settings *settings)
{
    return settings->profile != NULL &&
           strcmp(settings->policy, "expert") != 0;
}

static struct bats_settings defaults(void)
{
    return (struct bats_settings){
        .budget = BATS_UNLIMITED,
        .policy = "bats",
        .tail = bats_tail_name(BATS_TAIL_DEFAULT),
        .bind = "core",
        .grace = 5 * BATS_SECOND,
        .silence = 60 * BATS_SECOND,
        .nodes = 1,
        .slots = 1,
        .max_jobs = 8,
        .poll = 10 * BATS_SECOND,
        .time_scale = 1,
        .sync = BATS_SECOND / 10,
        .sync_events = 1000,
        .retries = 1,
    };
}

int bats_options_parse(enum bats_verb verb, int argc, char **argv,
                       struct bats_settings *settings, struct bats_error *err)
{
    const struct bats_option *rows[ROWS_MAX];
    struct option table[ROWS_MAX + 1];
    char letters[2 * ROWS_MAX + 3];
    bool divided = (verb == BATS_VERB_RUN || verb == BATS_VERB_SAMPLE) &&
                   bats_sweep_is((const char *const *)argv, (size_t)argc);
    bool filter = !divided && is_filter(verb, argc, argv);
    divided |= filter;
    int n = getopt_tables(verb, divided, rows, table, letters);
    int rc, c;

    *settings = defaults();
    const char *budget = getenv("BATS_BUDGET");
    struct bats_error why = {0};
    bool bad_environment =
        budget != NULL &&
        bats_option_budget(verb == BATS_VERB_PLAN || verb == BATS_VERB_FRONTIER
                               ? BATS_OPTION_MONEY
                               : BATS_OPTION_BUDGET,
                           budget, settings, &why) != 0;
    settings->budget_from = budget != NULL ? "BATS_BUDGET" : NULL;

    optind = 0; /* start afresh */
    opterr = 0;
    while ((c = getopt_long(argc, argv, letters, table, NULL)) != -1) {
        const struct bats_option *row = NULL;
        if (c == '?')
            return explain(verb, argv[optind - 1], rows, n, err);
        int which = c == ':' ? optopt : c;
        for (int i = 0; i < n; i++)
            if (which == table[i].val || which == rows[i]->letter)
                row = rows[i];
        if (c == ':')
            return bats_error_set(err, BATS_EINPUT, "--%s needs %s", row->name,
                                  row->argument);
        rc = bats_option_store(row, optarg, settings, err);
        if (rc != 0)
            return rc;
        if (settings->help)
            return 0;
        if (row->offset == offsetof(struct bats_settings, budget)) {
            bad_environment = false;
            settings->budget_from = "--budget";
        }
    }
    if (bad_environment)
        return bats_error_set(err, BATS_EINPUT, "BATS_BUDGET: %s", why.text);
    rc = read_max_args(settings, err);
    if (rc < 0)
        return rc;
    if (filter)
        settings->source[settings->sweep.n_sources++] =
            (struct bats_source){BATS_SOURCE_LINES, "-"};
    if (divided || settings->sweep.n_sources > 0)
        rc = read_sweep(argc - optind, argv + optind, settings, err);
    else if (settings->sweep.colsep || settings->header ||
             settings->sweep.quote || settings->sweep.link ||
             settings->sweep.null || settings->max_args)
        return bats_error_set(err, BATS_EINPUT,
                              "--colsep, --header, --quote, --link, --null "
                              "and -n are for sweeps: add a command and '::: "
                              "VALUE...' or ':::: FILE' (-: standard input)");
    else
        rc = read_words(verb, argc - optind, argv + optind, settings, err);
    return rc == 0 ? check_together(verb, settings, err) : rc;
}

int bats_options_complain(enum bats_verb verb, const struct bats_error *err)
{
    fprintf(stderr,
            "bats-mpi: %s\n"
            "Try 'bats-mpi %s --help'.\n",
            err->text, bats_verb_name(verb));
    return BATS_EXIT_USAGE;
}
