/* refused: options that others have, and what to do instead. See options.h. */
#include "cli/options.h"

#include <string.h>

static const char inside[] = "say it in the command, which is a line of shell";
static const char files[] = "let the command read its part of a file";
static const char alloc[] =
    "start bats-mpi with srun or mpirun, or buy machines with 'bats-mpi "
    "alloc'";
static const char lists[] = "give each task N values with -n N";
static const char braces[] = "the replacement strings are {}, {1}, {name}, "
                             "{.}, {/}, {//}, {/.}, {#} and {%}";
static const char shown[] = "output is shown by whole lines, and with "
                            "--keep-order task by task";

static const struct {
    char letter;
    const char *name; /* NULL: no long name */
    const char *instead;
} table[] = {
    {0, "pipe", files},
    {0, "pipepart", files},
    {0, "pipe-part", files},
    {0, "spreadstdin", files},
    {0, "block", files},
    {0, "cat", files},
    {0, "fifo", files},
    {'X', NULL, lists},
    {'m', NULL, lists},
    {0, "xargs", lists},
    {'L', "max-lines", lists},
    {'l', NULL, lists},
    {'s', "max-chars", lists},
    {'S', "sshlogin", alloc},
    {0, "sshloginfile", alloc},
    {0, "slf", alloc},
    {0, "transferfile", alloc},
    {0, "return", alloc},
    {0, "cleanup", alloc},
    {0, "basefile", alloc},
    {0, "onall", alloc},
    {0, "nonall", alloc},
    {0, "plus", braces},
    {'I', NULL, braces},
    {'i', "replace", braces},
    {'U', NULL, braces},
    {0, "rpl", braces},
    {0, "parens", braces},
    {0, "trim", inside},
    {0, "tmux", "watch the run with 'bats-mpi top'"},
    {0, "tmuxpane", "watch the run with 'bats-mpi top'"},
    {0, "semaphore", "use flock"},
    {0, "sem", "use flock"},
    {0, "bg", "use the shell's &"},
    {0, "fg", "use flock"},
    {'P', "max-procs", "write -j N"},
    {'d', "delimiter", "end values by newlines, or by NULs with -0"},
    {'E', "eof", inside},
    {'r', "no-run-if-empty", "a run without values is refused in any case"},
    {'t', NULL, "--dry-run shows the commands"},
    {'p', "interactive", "--dry-run shows the commands"},
    {'u', "ungroup", shown},
    {0, "group", shown},
    {0, "line-buffer", shown},
    {0, "linebuffer", shown},
    {0, "lb", shown},
    {0, "xapply", "the name is --link"},
    {0, "load", "limit the workers with -j, or set --nice"},
    {0, "noswap", "set --memfree"},
    {0, "limit", "set --memfree"},
    {0, "skip-first-line", "take values from tail -n +2"},
    {0, "shebang", "write #BATS parameter lines into the script"},
    {0, "will-cite", "there is no such notice"},
    {0, "sqlmaster", "the record is a database: see --record"},
    {0, "sqlandworker", "the record is a database: see --record"},
};

int bats_refused_option(int letter, const char *name, size_t n,
                        struct bats_error *err)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *other = table[i].name != NULL ? table[i].name : "";
        char one[2] = {(char)letter, '\0'};
        if (letter != 0 ? table[i].letter == letter
                        : n == strlen(other) && strncmp(name, other, n) == 0)
            return bats_refuse(err, "there is no %s%s: %s",
                               letter != 0 ? "-" : "--",
                               letter != 0 ? one : other, table[i].instead);
    }
    return 0;
}

int bats_refused_words(const char *const *words, size_t n,
                       struct bats_error *err)
{
    for (size_t i = 0; i < n && strncmp(words[i], ":::", 3) != 0; i++) {
        const char *at = strstr(words[i], "{=");
        if (at != NULL && strstr(at, "=}") != NULL)
            return bats_refuse(err, "there are no Perl expressions {= =}: %s",
                               inside);
    }
    return 0;
}
