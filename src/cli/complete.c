#include "cli/help.h"
#include "util/asset.h"

#include <string.h>

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
                      bats_help_option(&bats_options[i]));
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
