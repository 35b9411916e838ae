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

static const char *find(const char *name)
{
    char head[32];
    snprintf(head, sizeof head, "= %s\n", name);
    return strstr(verbs.begin, head) + strlen(head);
}

/* A section of verbs.txt that is not of a verb. */
static char *section(const char *name)
{
    const char *at = find(name);
    return copy(at, strstr(at, "\n="));
}

/* The paragraphs of a verb in verbs.txt: a phrase, how it is called, and what it
 * does, as one line. */
enum part { PURPOSE, SYNOPSIS, DESCRIPTION };

static const char *text_of(enum bats_verb verb, enum part part)
{
    const char *at = find(bats_verbs[verb].name);
    for (unsigned i = 0; i < part; i++)
        at = strstr(at, "\n\n") + 2;
    return part == DESCRIPTION ? one_line(copy(at, strstr(at, "\n=")))
                               : copy(at, strstr(at, "\n\n"));
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

static void print_section(FILE *out, const char *name)
{
    fprintf(out, "\n%s:\n%s\n", name, section(name));
}

void bats_help_program(FILE *out)
{
    fputs("Usage: bats-mpi [OPTION...] BAG\n"
          "       bats-mpi VERB [OPTION...] ...\n"
          "       bats-mpi --help | --version\n\n",
          out);
    bats_words_wrap(out, one_line(section("Program")), 0, 0, WIDTH);
    fputs("\nVerbs:\n", out);
    for (int v = 0; v < BATS_VERBS; v++)
        fprintf(out, "  %-8s  %s\n", bats_verbs[v].name,
                text_of((enum bats_verb)v, PURPOSE));
    print_section(out, "Examples");
    print_section(out, "Exit codes");
    fputs("\n'bats-mpi VERB --help' lists the options of a verb.\n", out);
}

void bats_help_verb(FILE *out, enum bats_verb verb)
{
    fprintf(out, "Usage: %s\n\n", text_of(verb, SYNOPSIS));
    bats_words_wrap(out, text_of(verb, DESCRIPTION), 0, 0, WIDTH);
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
        bats_words_wrap(out, one_line(section("Failures")), 0, 0, WIDTH);
        print_section(out, "Examples");
        print_section(out, "Exit codes");
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
    roff_line(out, "", text_of(verb, PURPOSE));
    roff_line(out, ".SH SYNOPSIS\n", text_of(verb, SYNOPSIS));
    roff_line(out, ".SH DESCRIPTION\n", text_of(verb, DESCRIPTION));
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
                  text_of((enum bats_verb)v, SYNOPSIS));
    fputs(".SH DESCRIPTION\n", out);
    for (int v = 0; v < BATS_VERBS; v++)
        roff_line(out, v == 0 ? "" : ".PP\n",
                  text_of((enum bats_verb)v, DESCRIPTION));
    roff_line(out, ".PP\n", section("Money"));
    for (int v = 0; v < BATS_VERBS; v++) {
        fprintf(out, ".SH OPTIONS OF %s\n", bats_verbs[v].name);
        roff_options(out, (enum bats_verb)v);
    }
    bats_asset_write(out, &man);
    roff_line(out, "", section("Failures"));
    roff_line(out, ".SH EXIT STATUS\n.nf\n", section("Exit codes"));
    roff_line(out, ".fi\n.SH EXAMPLES\n.nf\n", section("Examples"));
    fputs(
        ".fi\n.SH SEE ALSO\n.BR parallel (1),\n.BR srun (1),\n.BR mpirun (1)\n",
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
            offer(out, begin, "", bats_verbs[v].name,
                  text_of((enum bats_verb)v, PURPOSE));
    if (n <= 1) {
        offer(out, begin, "", "help", "the options of a verb");
        offer(out, begin, "--", "help", "all verbs");
        offer(out, begin, "--", "version", "");
    }
    if (has_verb && verb == BATS_VERB_RECORD && n == 2)
        offer_choices(out, begin, "verify|recover");
}
