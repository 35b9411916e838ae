#include "exec/process/command.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "abcdefghijklmnopqrstuvwxyz"
                            "0123456789_./:=,+@%-";
static const char blank[] = " \t";

/* Words that dash and bash execute or interpret themselves. `true` and `false`
 * are left out, because the programs do the same. */
static const char *const shell_words[] = {
    ".",       ":",        "alias",    "bg",     "bind",      "break",
    "builtin", "caller",   "case",     "cd",     "chdir",     "command",
    "compgen", "complete", "continue", "coproc", "declare",   "dirs",
    "disown",  "do",       "done",     "echo",   "elif",      "else",
    "enable",  "esac",     "eval",     "exec",   "exit",      "export",
    "fc",      "fg",       "fi",       "for",    "function",  "getopts",
    "hash",    "help",     "history",  "if",     "in",        "jobs",
    "kill",    "let",      "local",    "logout", "mapfile",   "popd",
    "printf",  "pushd",    "pwd",      "read",   "readarray", "readonly",
    "return",  "select",   "set",      "shift",  "shopt",     "source",
    "suspend", "test",     "then",     "time",   "times",     "trap",
    "type",    "typeset",  "ulimit",   "umask",  "unalias",   "unset",
    "until",   "wait",     "while"};

static bool for_shell(const char *word)
{
    if (strchr(word, '='))
        return true;
    for (size_t i = 0; i < sizeof shell_words / sizeof *shell_words; i++)
        if (strcmp(word, shell_words[i]) == 0)
            return true;
    return false;
}

char **bats_command_split(const char *line)
{
    size_t n = strlen(line);
    size_t words = n / 2 + 2; /* upper limit, with the NULL */

    line += strspn(line, blank);
    if (!*line)
        return NULL;
    for (const char *s = line; *s;) {
        s += strspn(s, plain);
        if (*s && !strchr(blank, *s))
            return NULL;
        s += strspn(s, blank);
    }

    char **argv = malloc(words * sizeof *argv + n + 1);
    if (!argv)
        return NULL;
    char *text = (char *)(argv + words);
    char *rest;
    size_t i = 0;
    strcpy(text, line);
    for (char *word = strtok_r(text, blank, &rest); word;
         word = strtok_r(NULL, blank, &rest))
        argv[i++] = word;
    argv[i] = NULL;
    if (for_shell(argv[0])) {
        free(argv);
        return NULL;
    }
    return argv;
}
