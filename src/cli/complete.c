#include "cli/help.h"

#include <string.h>

static const struct {
    const char *shell, *script;
} scripts[] = {
    {"bash", "_bats_mpi() {\n"
             "    local IFS=$'\\n' word=${COMP_WORDS[COMP_CWORD]}\n"
             "    COMPREPLY=($(bats-mpi --complete"
             " \"${COMP_WORDS[@]:1:COMP_CWORD}\" | cut -f1))\n"
             "    [ ${#COMPREPLY[@]} -gt 0 ] ||\n"
             "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
             "}\n"
             "complete -o filenames -F _bats_mpi bats-mpi\n"},
    {"zsh", "#compdef bats-mpi\n"
            "_bats_mpi() {\n"
            "    local -a found\n"
            "    found=(\"${(@f)$(bats-mpi --complete"
            " \"${(@)words[2,CURRENT]}\")}\")\n"
            "    found=(${found//:/\\\\:})\n"
            "    found=(${found/$'\\t'/:})\n"
            "    if (( $#found )); then\n"
            "        _describe bats-mpi found\n"
            "    else\n"
            "        _files\n"
            "    fi\n"
            "}\n"
            "if [ \"$funcstack[1]\" = _bats-mpi ]; then\n"
            "    _bats_mpi\n"
            "else\n"
            "    compdef _bats_mpi bats-mpi\n"
            "fi\n"},
    {"fish", "complete -c bats-mpi -a '(bats-mpi --complete"
             " (commandline -opc)[2..-1] (commandline -ct))'\n"},
};

bool bats_complete_script(FILE *out, const char *shell)
{
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (strcmp(scripts[i].shell, shell) == 0) {
            fputs(scripts[i].script, out);
            return true;
        }
    return false;
}

/* Prints the word if it begins with `begin`. */
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
                      bats_options[i].help);
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
