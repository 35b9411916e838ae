/* refused: options that others have, and what to do instead. See options.h. */
#include <string.h>

#include "cli/options.h"

/* The letters, and the names divided by blanks, of options with one answer. */
static const struct {
    const char *letters, *names, *instead;
} table[] = {
    {"", "pipe pipepart pipe-part spreadstdin block cat fifo",
     "let the command read its part of a file"},
    {"XmLls", "xargs max-lines max-chars",
     "give each task N values with -n N"},
    {"S",
     "sshlogin sshloginfile slf transferfile return cleanup basefile onall "
     "nonall",
     "start bats-mpi with srun or mpirun, or buy machines with 'bats-mpi "
     "alloc'"},
    {"IiU", "plus replace rpl parens",
     "the replacement strings are {}, {1}, {name}, {.}, {/}, {//}, {/.}, {#} "
     "and {%}"},
    {"E", "trim eof", "say it in the command, which is a line of shell"},
    {"", "tmux tmuxpane", "watch the run with 'bats-mpi top'"},
    {"", "semaphore sem fg", "use flock"},
    {"", "bg", "use the shell's &"},
    {"P", "max-procs", "write -j N"},
    {"d", "delimiter", "end values by newlines, or by NULs with -0"},
    {"r", "no-run-if-empty", "a run without values is refused in any case"},
    {"tp", "interactive", "--dry-run shows the commands"},
    {"u", "ungroup group line-buffer linebuffer lb",
     "output is shown by whole lines, and with --keep-order task by task"},
    {"", "xapply", "the name is --link"},
    {"", "load", "limit the workers with -j, or set --nice"},
    {"", "noswap limit", "set --memfree"},
    {"", "skip-first-line", "take values from tail -n +2"},
    {"", "shebang", "write #BATS parameter lines into the script"},
    {"", "will-cite", "there is no such notice"},
    {"", "sqlmaster sqlandworker", "the record is a database: see --record"},
};

static bool is_among(const char *names, const char *name, size_t n)
{
    for (size_t length; *names != '\0'; names += length) {
        names += *names == ' ';
        length = strcspn(names, " ");
        if (length == n && strncmp(names, name, n) == 0)
            return true;
    }
    return false;
}

int bats_refused_option(int letter, const char *name, size_t n,
                        struct bats_error *err)
{
    char one[2] = {(char)letter, '\0'};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (letter != 0 ? strchr(table[i].letters, letter) != NULL
                        : is_among(table[i].names, name, n))
            return bats_refuse(err, "there is no %s%.*s: %s",
                               letter != 0 ? "-" : "--",
                               letter != 0 ? 1 : (int)n,
                               letter != 0 ? one : name, table[i].instead);
    return 0;
}

int bats_refused_words(const char *const *words, size_t n,
                       struct bats_error *err)
{
    for (size_t i = 0; i < n && strncmp(words[i], ":::", 3) != 0; i++) {
        const char *at = strstr(words[i], "{=");
        if (at != NULL && strstr(at, "=}") != NULL)
            return bats_refuse(err, "there are no Perl expressions {= =}: say "
                                    "it in the command, which is a line of "
                                    "shell");
    }
    return 0;
}
