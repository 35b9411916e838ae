#include "cli/help.h"

#include <assert.h>
#include <string.h>

#include "cli/cli.h"
#include "report/words.h"
#include "util/asset.h"

BATS_ASSET(verbs, "cli/verbs.txt");
BATS_ASSET(options, "cli/options.txt");
BATS_ASSET(man, "doc/man.roff");

#define WIDTH 80
#define COLUMN 26 /* column where the text of an option begins */

static const char *const groups[BATS_GROUPS] = {
    [BATS_GROUP_PLAN] = "The bag",
    [BATS_GROUP_SWEEP] = "Sweeps",
    [BATS_GROUP_SELECT] = "Which tasks",
    [BATS_GROUP_TASKS] = "What is shown",
    [BATS_GROUP_MONEY] = "Money and machines",
    [BATS_GROUP_RUN] = "Running tasks",
    [BATS_GROUP_FAULT] = "When things go wrong",
    [BATS_GROUP_OUTPUT] = "Output",
    [BATS_GROUP_PAPERS] = "Other policies and tails, most of them from papers",
};

static const struct {
    const char *command;
    const char *says;
} examples[] = {
    {"bats-mpi -j 8 bag.txt",
     "run every line of bag.txt with 8 workers on this machine"},
    {"srun -n 256 bats-mpi bag.txt",
     "the same, with 255 workers in a Slurm job"},
    {"srun -n 65 bats-mpi bag.txt --clusters clusters.ini --budget 600",
     "the same, on machines with different charges, for at most 600"},
    {"srun -n 256 bats-mpi bag.txt --output stream",
     "keep the output of all tasks, in two files per worker"},
    {"bats-mpi alloc bag.txt -p slow,fast --budget 600",
     "buy machines from Slurm as jobs, for at most 600 in all"},
    {"bats-mpi output bag.txt --failed --stderr",
     "print what the failed tasks wrote to standard error"},
    {"bats-mpi plan --tasks 1000 --runtime slow=15m,fast=4m -c clusters.ini",
     "show which machines to hold, and what they cost"},
    {"bats-mpi tasks --failed bag.txt",
     "list the tasks that failed, even while the run goes on"},
};

static const struct {
    const char *code;
    const char *meaning;
} exits[] = {
    {"0", "all tasks done"},
    {"1", "some tasks failed (or enough of them for --halt)"},
    {"2", "usage or bad input; nothing was run"},
    {"3", "the system failed"},
    {"4", "budget exhausted, tasks are left"},
    {"5",
     "time limit, SIGUSR1, or no task can meet the deadline; some are left"},
    {"130, 143", "stopped in order by SIGINT, SIGTERM"},
};

static const char failures[] =
    "A task that exits with status 85 has saved its state: it is run again and "
    "has not failed. If it does so within 10 seconds, it waits before it is "
    "run again, longer each time; at the sixth time in a row it has failed. A "
    "task whose machine is lost is run again, too. After SIGUSR1, rank 0 "
    "starts no more tasks, and ends the run when the running ones have ended "
    "(exit code 5).";

#define N(array) (sizeof(array) / sizeof *(array))

/* The text from `at` to `end`, valid until the next call. */
static char *copy(const char *at, const char *end)
{
    static char text[2048];
    snprintf(text, sizeof text, "%.*s", (int)(end - at), at);
    return text;
}

static const char *one_line(char *text)
{
    for (char *c = text; *c != '\0'; c++)
        *c = *c == '\n' ? ' ' : *c;
    return text;
}

/* The synopsis of a verb in verbs.txt, or what the verb does, as one line. */
static const char *text_of(enum bats_verb verb, bool is_synopsis)
{
    char head[32];
    snprintf(head, sizeof head, "= %s\n", bats_verbs[verb].name);
    const char *at = strstr(verbs.begin, head) + strlen(head);
    const char *end = strstr(at, "\n\n");
    return is_synopsis ? copy(at, end)
                       : one_line(copy(end + 2, strstr(end, "\n=")));
}

/* The help of an option from options.txt: a phrase without a final stop, valid
 * until the next call. */
static const char *help_of(const struct bats_option *option)
{
    const char *at = options.begin;
    for (const struct bats_option *o = bats_options; o < option; o++)
        at = strstr(at, "\n=") + 1;
    assert(strncmp(at + 2, option->name, strlen(option->name)) == 0);
    at = strchr(at, '\n') + 1;
    return one_line(copy(at, strstr(at, "\n=")));
}

/* Writes "  -b, --budget AMOUNT" into `text`. */
static void option_head(char *text, size_t size, const struct bats_option *o)
{
    char letter[8] = "    ";
    if (o->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(text, size, "  %s--%s%s%s", letter, o->name,
             o->argument != NULL ? " " : "",
             o->argument != NULL ? o->argument : "");
}

/* A long choice continues in a second line. Returns the width of the last
 * line. */
static int print_head(FILE *out, const char *head)
{
    int length = (int)strlen(head), cut = WIDTH;
    if (length <= WIDTH)
        return fprintf(out, "%s", head);
    while (head[cut - 1] != '|')
        cut--;
    fprintf(out, "%.*s\n", cut, head);
    return fprintf(out, "%*s%s", COLUMN / 2, "", head + cut);
}

static void print_option(FILE *out, const struct bats_option *o)
{
    char head[160]; /* long enough for a whole choice */
    option_head(head, sizeof head, o);
    int used = print_head(out, head);
    if (used + 2 > COLUMN) {
        putc('\n', out);
        used = 0;
    }
    fprintf(out, "%*s", COLUMN - used, "");
    bats_words_wrap(out, help_of(o), COLUMN, COLUMN, WIDTH);
}

static void print_exits(FILE *out)
{
    fputs("\nExit codes:\n", out);
    for (size_t i = 0; i < N(exits); i++)
        fprintf(out, "  %-9s %s\n", exits[i].code, exits[i].meaning);
}

void bats_help_program(FILE *out)
{
    fputs("Usage: bats-mpi [OPTION...] BAG\n"
          "       bats-mpi VERB [OPTION...] ...\n"
          "       bats-mpi --help | --version\n\n",
          out);
    bats_words_wrap(out,
                    "Runs a bag of independent tasks on MPI ranks within a "
                    "budget: it learns how fast each cluster of machines "
                    "is, buys the windows that finish the bag soonest for "
                    "the money, and reports at the end what it cost.",
                    0, 0, WIDTH);
    fputs("\nVerbs:\n", out);
    for (int v = 0; v < BATS_VERBS; v++)
        fprintf(out, "  %-8s  %s\n", bats_verbs[v].name,
                bats_verbs[v].purpose);
    fputs("\nExamples:\n", out);
    for (size_t i = 0; i < N(examples); i++)
        fprintf(out, "  %s\n      %s\n", examples[i].command,
                examples[i].says);
    print_exits(out);
    fputs("\n'bats-mpi VERB --help' lists the options of a verb.\n", out);
}

void bats_help_verb(FILE *out, enum bats_verb verb)
{
    fprintf(out, "Usage: %s\n\n", text_of(verb, true));
    bats_words_wrap(out, text_of(verb, false), 0, 0, WIDTH);
    for (int g = 0; g < BATS_GROUPS; g++) {
        bool first = true;
        for (size_t i = 0; i < bats_options_n; i++) {
            const struct bats_option *o = &bats_options[i];
            if ((int)o->group != g || !(o->verbs & 1u << verb))
                continue;
            if (first)
                fprintf(out, "\n%s:\n", groups[g]);
            first = false;
            print_option(out, o);
        }
    }
    fputs("\nDurations: 90 (seconds), 15m, 1h30m, 1-12:00:00. Amounts: "
          "600, 0.085.\n",
          out);
    if (verb == BATS_VERB_RUN) {
        putc('\n', out);
        bats_words_wrap(out, failures, 0, 0, WIDTH);
        fputs("\nExamples:\n", out);
        for (size_t i = 0; i < 2; i++)
            fprintf(out, "  %s\n", examples[i].command);
        print_exits(out);
    }
}

void bats_help_version(FILE *out, const char *library)
{
    fprintf(out,
            "bats-mpi " BATS_VERSION "\n"
            "%s\n"
            "Licence GPL-3.0-or-later: free software, without any warranty.\n",
            library);
}

/* ---- the man page ---- */

/* Writes text for roff: '-' is a minus only after a backslash, and a line must
 * not begin with a dot or a quote. */
static void roff(FILE *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text != '\0'; text++) {
        if (*text == '-' || *text == '\\')
            putc('\\', out);
        putc(*text == '\\' ? 'e' : *text, out);
    }
}

static void roff_line(FILE *out, const char *before, const char *text)
{
    fputs(before, out);
    roff(out, text);
    putc('\n', out);
}

static void roff_options(FILE *out, enum bats_verb verb)
{
    for (size_t i = 0; i < bats_options_n; i++) {
        const struct bats_option *o = &bats_options[i];
        if (!(o->verbs & 1u << verb))
            continue;
        fputs(".TP\n.B ", out);
        if (o->letter != 0)
            fprintf(out, "\\-%c, ", o->letter);
        roff(out, "--");
        roff(out, o->name);
        if (o->argument != NULL)
            fprintf(out, " \\fI%s\\fR", o->argument);
        putc('\n', out);
        roff_line(out, "", help_of(o));
    }
}

void bats_help_man_verb(FILE *out, enum bats_verb verb)
{
    const struct bats_verb_row *v = &bats_verbs[verb];
    fprintf(out,
            ".TH BATS\\-MPI\\-%s 1 \"\" \"bats\\-mpi " BATS_VERSION
            "\"\n.SH NAME\nbats\\-mpi\\-%s \\- ",
            v->name, v->name);
    roff_line(out, "", v->purpose);
    roff_line(out, ".SH SYNOPSIS\n", text_of(verb, true));
    roff_line(out, ".SH DESCRIPTION\n", text_of(verb, false));
    fputs(".SH OPTIONS\n", out);
    roff_options(out, verb);
    fputs(".SH SEE ALSO\n.BR bats\\-mpi (1)\n", out);
}

void bats_help_man(FILE *out)
{
    fputs(".TH BATS\\-MPI 1 \"\" \"bats\\-mpi " BATS_VERSION "\"\n"
          ".SH NAME\n"
          "bats\\-mpi \\- run a bag of tasks on MPI ranks within a budget\n"
          ".SH SYNOPSIS\n",
          out);
    for (int v = 0; v < BATS_VERBS; v++)
        roff_line(out, v == 0 ? "" : ".br\n",
                  text_of((enum bats_verb)v, true));
    fputs(".SH DESCRIPTION\n", out);
    for (int v = 0; v < BATS_VERBS; v++)
        roff_line(out, v == 0 ? "" : ".PP\n",
                  text_of((enum bats_verb)v, false));
    fputs(
        ".PP\n"
        "Everything that a batch job holds is billed until it is given back: "
        "all its machines work, and the budget is a deadline. Where charges "
        "are given per window, "
        "each machine is charged for every window that it enters. The "
        "budget is never exceeded: a machine whose next window it cannot pay "
        "is parked when the present one ends. The amount charged is shown "
        "beside the amount reserved, which a batch system bills for holding "
        "the whole allocation.\n",
        out);
    for (int v = 0; v < BATS_VERBS; v++) {
        fprintf(out, ".SH OPTIONS OF %s\n", bats_verbs[v].name);
        roff_options(out, (enum bats_verb)v);
    }
    bats_asset_write(out, &man);
    roff_line(out, "", failures);
    fputs(".SH ENVIRONMENT\n.TP\n.B BATS_BUDGET\n"
          "the budget if \\-\\-budget is not given: an amount or account\n"
          ".TP\n.B BATS_HISTORY\n"
          "the history if \\-\\-history is not given; empty: there is none\n",
          out);
    fputs(".SH EXIT STATUS\n", out);
    for (size_t i = 0; i < N(exits); i++) {
        roff_line(out, ".TP\n.B ", exits[i].code);
        roff_line(out, "", exits[i].meaning);
    }
    fputs(".SH EXAMPLES\n", out);
    for (size_t i = 0; i < N(examples); i++) {
        roff_line(out, ".TP\n.B ", examples[i].command);
        roff_line(out, "", examples[i].says);
    }
    fputs(".SH SEE ALSO\n.BR parallel (1),\n.BR srun (1),\n.BR mpirun (1)\n",
          out);
}

/* ---- what a shell offers ---- */

BATS_ASSET(bash, "cli/complete.bash");
BATS_ASSET(zsh, "cli/complete.zsh");
BATS_ASSET(fish, "cli/complete.fish");

bool bats_complete_script(FILE *out, const char *shell)
{
    static const struct {
        const char *shell;
        const struct bats_asset *script;
    } scripts[] = {{"bash", &bash}, {"zsh", &zsh}, {"fish", &fish}};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (strcmp(scripts[i].shell, shell) == 0) {
            bats_asset_write(out, scripts[i].script);
            return true;
        }
    return false;
}

static void offer(FILE *out, const char *begin, const char *before,
                  const char *word, const char *meaning)
{
    char all[128];
    snprintf(all, sizeof all, "%s%s", before, word);
    if (strncmp(all, begin, strlen(begin)) == 0)
        fprintf(out, "%s\t%.60s\n", all, meaning);
}

/* The words of "a|b[:C]". */
static void offer_choices(FILE *out, const char *begin, const char *choices)
{
    char word[64];
    while (*choices != '\0') {
        size_t n = strcspn(choices, "|[");
        snprintf(word, sizeof word, "%.*s", (int)n, choices);
        offer(out, begin, "", word, "");
        choices += n;
        choices += *choices == '[' ? strcspn(choices, "]") + 1 : 0;
        choices += *choices == '|';
    }
}

/* The option that is this word, if it takes an argument; NULL: none. */
static const struct bats_option *option_of(const char *word,
                                           enum bats_verb verb)
{
    for (size_t i = 0; i < bats_options_n; i++) {
        const struct bats_option *o = &bats_options[i];
        const char letter[] = {'-', o->letter, '\0'};
        if (o->argument != NULL && (o->verbs & 1u << verb) &&
            ((strncmp(word, "--", 2) == 0 && strcmp(word + 2, o->name) == 0) ||
             (o->letter != 0 && strcmp(word, letter) == 0)))
            return o;
    }
    return NULL;
}

void bats_complete_words(FILE *out, int n, char **words)
{
    enum bats_verb verb = BATS_VERB_RUN;
    bool has_verb = n > 1 && bats_verb_find(words[0], &verb);
    const char *begin = n > 0 ? words[n - 1] : "";
    const struct bats_option *before =
        n > 1 ? option_of(words[n - 2], verb) : NULL;
    if (before != NULL) {
        if (before->kind == BATS_OPTION_CHOICE ||
            before->kind == BATS_OPTION_OUTPUT)
            offer_choices(out, begin, before->argument);
        return;
    }
    if (begin[0] == '-')
        for (size_t i = 0; i < bats_options_n; i++)
            if (bats_options[i].verbs & 1u << verb)
                offer(out, begin, "--", bats_options[i].name,
                      help_of(&bats_options[i]));
    if (n <= 1 || (n == 2 && strcmp(words[0], "help") == 0))
        for (int v = 0; v < BATS_VERBS; v++)
            offer(out, begin, "", bats_verbs[v].name, bats_verbs[v].purpose);
    if (n <= 1) {
        offer(out, begin, "", "help", "the options of a verb");
        offer(out, begin, "--", "help", "all verbs");
        offer(out, begin, "--", "version", "");
    }
    if (has_verb && verb == BATS_VERB_RECORD && n == 2)
        offer_choices(out, begin, "verify|recover");
}
