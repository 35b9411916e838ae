#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define RUN (1u << BATS_VERB_RUN)
#define PLAN (1u << BATS_VERB_PLAN)
#define AT(member) offsetof(struct bats_settings, member)

const struct bats_option bats_options[] = {
    {"tasks", 0, "N", BATS_OPTION_COUNT, AT(tasks), PLAN, BATS_GROUP_PLAN,
     "number of tasks in the bag"},
    {"runtime", 0, "LIST", BATS_OPTION_TEXT, AT(runtime), PLAN,
     BATS_GROUP_PLAN,
     "mean runtime of a task on each cluster, as in slow=15m,fast=3.75m"},
    {"clusters", 'c', "FILE", BATS_OPTION_FILE, AT(clusters), PLAN,
     BATS_GROUP_MONEY, "the clusters and what they charge"},
    {"clusters", 'c', "FILE", BATS_OPTION_FILE, AT(clusters), RUN,
     BATS_GROUP_MONEY,
     "the clusters and what they charge; without it, all ranks are one "
     "cluster that charges 1 per machine and window"},
    {"budget", 'b', "AMOUNT", BATS_OPTION_MONEY, AT(budget), RUN | PLAN,
     BATS_GROUP_MONEY,
     "never be charged more than AMOUNT (default: $BATS_BUDGET, else "
     "unlimited)"},
    {"window", 'w', "DURATION", BATS_OPTION_PERIOD, AT(window), RUN | PLAN,
     BATS_GROUP_MONEY,
     "length of a charged window (default: as the clusters file says, else "
     "60m)"},
    {"policy", 0, "bats|rr", BATS_OPTION_CHOICE, AT(policy), RUN,
     BATS_GROUP_MONEY,
     "bats: sample, then hold the fastest machines that the budget can pay; "
     "rr: use all machines for as long as it lasts (default: bats)"},
    {"monitor", 0, "DURATION", BATS_OPTION_PERIOD, AT(monitor), RUN,
     BATS_GROUP_MONEY,
     "check the plan against reality so often (default: a twelfth of the "
     "window)"},
    {"seed", 0, "N", BATS_OPTION_COUNT, AT(seed), RUN, BATS_GROUP_RUN,
     "seed of the order in which tasks are drawn (default: random; it is "
     "shown, so that a run can be repeated)"},
    {"master-works", 0, NULL, BATS_OPTION_FLAG, AT(master_works), RUN,
     BATS_GROUP_RUN, "let rank 0 run tasks too"},
    {"grace", 0, "DURATION", BATS_OPTION_DURATION, AT(grace), RUN,
     BATS_GROUP_RUN,
     "time between TERM and KILL for a task that has to stop (default: 5s)"},
    {"time-scale", 0, "S", BATS_OPTION_FACTOR, AT(time_scale), RUN,
     BATS_GROUP_RUN,
     "emulation: count each real second as S seconds (default: 1)"},
    {"dry-run", 'n', NULL, BATS_OPTION_FLAG, AT(dry_run), RUN, BATS_GROUP_RUN,
     "show what would be run, where and at what charge; start nothing"},
    {"tag", 0, NULL, BATS_OPTION_FLAG, AT(tag), RUN, BATS_GROUP_OUTPUT,
     "put the number of its task and a tab in front of each line of output"},
    {"results", 0, "DIR", BATS_OPTION_DIRECTORY, AT(results), RUN,
     BATS_GROUP_OUTPUT,
     "write output to DIR/<task>/stdout and stderr instead"},
    {"joblog", 0, "FILE", BATS_OPTION_FILE, AT(joblog), RUN, BATS_GROUP_OUTPUT,
     "log each task that ended, in GNU parallel's format"},
    {"json", 0, "FILE", BATS_OPTION_FILE, AT(json_file), RUN,
     BATS_GROUP_OUTPUT,
     "write the closing report as JSON too (-: standard output)"},
    {"json", 0, NULL, BATS_OPTION_FLAG, AT(json), PLAN, BATS_GROUP_OUTPUT,
     "answer in JSON"},
    {"progress", 0, NULL, BATS_OPTION_FLAG, AT(progress), RUN,
     BATS_GROUP_OUTPUT,
     "redraw one progress line even if no terminal is seen (under srun)"},
    {"quiet", 'q', NULL, BATS_OPTION_FLAG, AT(quiet), RUN, BATS_GROUP_OUTPUT,
     "no progress, no closing report: only errors"},
    {"help", 'h', NULL, BATS_OPTION_FLAG, AT(help), RUN | PLAN,
     BATS_GROUP_OUTPUT, "show this help"},
};

const size_t bats_options_n = sizeof bats_options / sizeof bats_options[0];

/* More than any verb has. */
#define ROWS_MAX 64

static const struct {
    const char *name;
    const char *purpose;
} verbs[BATS_VERBS] = {
    [BATS_VERB_RUN] = {"run", "run a bag of tasks within a budget"},
    [BATS_VERB_PLAN] = {"plan", "how many machines a budget can pay, "
                                "without running anything"},
};

const char *bats_verb_name(enum bats_verb verb)
{
    return verbs[verb].name;
}

const char *bats_verb_purpose(enum bats_verb verb)
{
    return verbs[verb].purpose;
}

bool bats_verb_find(const char *word, enum bats_verb *verb)
{
    for (int i = 0; i < BATS_VERBS; i++) {
        if (strcmp(word, verbs[i].name) == 0) {
            *verb = (enum bats_verb)i;
            return true;
        }
    }
    return false;
}

static int parse_count(const char *text, uint64_t *count,
                       struct bats_error *err)
{
    errno = 0;
    unsigned long long n = strtoull(text, NULL, 10);
    /* strtoull forgives blanks, signs and what follows the number. */
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
        return bats_error_set(err, BATS_EINPUT, "'%s' is not a whole number",
                              text);
    if (errno != 0 || n > INT64_MAX)
        return bats_error_set(err, BATS_EINPUT, "%s is too large", text);
    *count = n;
    return 0;
}

static int parse_factor(const char *text, double *factor,
                        struct bats_error *err)
{
    char *end;
    double f = strtod(text, &end);
    if (text[0] == '\0' || text[strspn(text, "0123456789.eE+-")] != '\0' ||
        *end != '\0' || !isfinite(f) || f <= 0)
        return bats_error_set(err, BATS_EINPUT, "'%s' is not a number above 0",
                              text);
    *factor = f;
    return 0;
}

static int parse_budget(const char *text, bats_money *amount,
                        struct bats_error *err)
{
    if (strcmp(text, "unlimited") == 0) {
        *amount = BATS_UNLIMITED;
        return 0;
    }
    return bats_money_parse(text, amount, err);
}

static int parse_choice(const char *text, const char *choices,
                        const char **choice, struct bats_error *err)
{
    size_t n = strlen(text);
    for (const char *at = choices; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (n > 0 && strcspn(at, "|") == n && strncmp(at, text, n) == 0) {
            *choice = text;
            return 0;
        }
    }
    return bats_error_set(err, BATS_EINPUT, "'%s' is none of %s", text,
                          choices);
}

/* Puts the value `text` of `option` into its place. */
static int store(const struct bats_option *option, const char *text,
                 struct bats_settings *settings, struct bats_error *err)
{
    void *value = (char *)settings + option->offset;
    struct bats_error why = {0};
    int rc = 0;

    switch (option->kind) {
    case BATS_OPTION_FLAG:
        *(bool *)value = true;
        break;
    case BATS_OPTION_TEXT:
    case BATS_OPTION_FILE:
    case BATS_OPTION_DIRECTORY:
        if (text[0] == '\0')
            rc = bats_error_set(&why, BATS_EINPUT, "the argument is empty");
        *(const char **)value = text;
        break;
    case BATS_OPTION_CHOICE:
        rc = parse_choice(text, option->argument, value, &why);
        break;
    case BATS_OPTION_MONEY:
        rc = parse_budget(text, value, &why);
        break;
    case BATS_OPTION_DURATION:
    case BATS_OPTION_PERIOD:
        rc = bats_duration_parse(text, value, &why);
        if (rc == 0 && option->kind == BATS_OPTION_PERIOD &&
            *(bats_time *)value == 0)
            rc = bats_error_set(&why, BATS_EINPUT,
                                "it must be longer than nothing");
        break;
    case BATS_OPTION_COUNT:
        rc = parse_count(text, value, &why);
        break;
    case BATS_OPTION_FACTOR:
        rc = parse_factor(text, value, &why);
        break;
    }
    if (rc != 0)
        return bats_error_set(err, BATS_EINPUT, "--%s: %s", option->name,
                              why.text);
    if (option->offset == AT(seed))
        settings->seed_given = true;
    return 0;
}

/* The rows of `verb` as getopt_long wants them: a row of `rows` goes with the
 * entry of the same index in `table`. Returns how many there are. */
static int getopt_tables(enum bats_verb verb, const struct bats_option **rows,
                         struct option *table, char *letters)
{
    int n = 0;

    *letters++ = ':'; /* a missing argument is told apart */
    for (size_t i = 0; i < bats_options_n; i++) {
        const struct bats_option *o = &bats_options[i];
        if (!(o->verbs & 1u << verb))
            continue;
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

/* getopt_long does not say what is wrong with the option `word`. It leaves
 * the letter in optopt if the option was a letter. */
static int explain(const char *word, const struct bats_option **rows, int n,
                   struct bats_error *err)
{
    if (optopt > 0 && optopt < 256)
        return bats_error_set(err, BATS_EINPUT, "there is no option -%c",
                              optopt);

    int length = (int)strcspn(word, "=");
    char matches[256] = "";
    int n_matches = 0;
    for (int i = 0; i < n; i++) {
        if (strncmp(rows[i]->name, word + 2, (size_t)length - 2) != 0)
            continue;
        size_t used = strlen(matches);
        snprintf(matches + used, sizeof matches - used, "%s--%s",
                 n_matches++ > 0 ? ", " : "", rows[i]->name);
    }
    if (n_matches > 1)
        return bats_error_set(err, BATS_EINPUT, "%.*s may mean %s", length,
                              word, matches);
    if (n_matches == 1 && word[length] == '=')
        return bats_error_set(err, BATS_EINPUT, "%s takes no argument",
                              matches);
    return bats_error_set(err, BATS_EINPUT, "there is no option %.*s", length,
                          word);
}

static int read_arguments(enum bats_verb verb, int n, char **words,
                          struct bats_settings *settings,
                          struct bats_error *err)
{
    if (verb == BATS_VERB_RUN) {
        if (n == 0)
            return bats_error_set(err, BATS_EINPUT,
                                  "the bag of tasks is missing");
        settings->bag = *words++;
        n--;
    }
    if (n > 0)
        return bats_error_set(err, BATS_EINPUT,
                              "'%s' is one argument too many", *words);
    return 0;
}

int bats_options_parse(enum bats_verb verb, int argc, char **argv,
                       struct bats_settings *settings, struct bats_error *err)
{
    const struct bats_option *rows[ROWS_MAX];
    struct option table[ROWS_MAX + 1];
    char letters[2 * ROWS_MAX + 2];
    int n = getopt_tables(verb, rows, table, letters);
    int rc, c;

    *settings = (struct bats_settings){
        .budget = BATS_UNLIMITED,
        .policy = "bats",
        .grace = 5 * BATS_SECOND,
        .time_scale = 1,
    };
    const char *budget = getenv("BATS_BUDGET");
    struct bats_error why = {0};
    bool bad_environment =
        budget != NULL && parse_budget(budget, &settings->budget, &why) != 0;

    optind = 0; /* start afresh */
    opterr = 0;
    while ((c = getopt_long(argc, argv, letters, table, NULL)) != -1) {
        const struct bats_option *row = NULL;
        if (c == '?')
            return explain(argv[optind - 1], rows, n, err);
        int which = c == ':' ? optopt : c;
        for (int i = 0; i < n; i++)
            if (which == table[i].val || which == rows[i]->letter)
                row = rows[i];
        if (c == ':')
            return bats_error_set(err, BATS_EINPUT, "--%s needs %s", row->name,
                                  row->argument);
        rc = store(row, optarg, settings, err);
        if (rc != 0)
            return rc;
        if (settings->help)
            return 0;
        if (row->offset == AT(budget))
            bad_environment = false;
    }
    if (bad_environment)
        return bats_error_set(err, BATS_EINPUT, "BATS_BUDGET: %s", why.text);
    return read_arguments(verb, argc - optind, argv + optind, settings, err);
}

int bats_options_complain(enum bats_verb verb, const struct bats_error *err)
{
    fprintf(stderr,
            "bats-mpi: %s\n"
            "Try 'bats-mpi %s --help'.\n",
            err->text, bats_verb_name(verb));
    return BATS_EXIT_USAGE;
}
