#include "exec/process/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- lines that need no shell ---- */

static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "abcdefghijklmnopqrstuvwxyz"
                            "0123456789_./:=,+@%-";
static const char blank[] = " \t";

/* Words that dash and bash execute or interpret themselves, except `true` and
 * `false`, whose programs do the same. */
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

/* ---- processes ---- */

/* Opens /dev/null as a descriptor above 2. Missing standard descriptors of
 * this process are filled, so that no pipe gets their numbers. */
static int open_null(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= 2);
    return fd;
}

int bats_spawner_init(struct bats_spawner *spawner, const char *workdir,
                      struct bats_error *err)
{
    sigset_t all, none;
    spawner->workdir = NULL;
    spawner->null = open_null();
    if (spawner->null < 0)
        return bats_error_set(err, BATS_ESYS, "cannot open /dev/null: %s",
                              strerror(errno));
    if (workdir != NULL && (spawner->workdir = strdup(workdir)) == NULL)
        return bats_no_memory(err);
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&spawner->attributes);
    posix_spawnattr_setsigdefault(&spawner->attributes, &all);
    posix_spawnattr_setsigmask(&spawner->attributes, &none);
    posix_spawnattr_setpgroup(&spawner->attributes, 0);
    posix_spawnattr_setflags(&spawner->attributes, POSIX_SPAWN_SETSIGDEF |
                                                       POSIX_SPAWN_SETSIGMASK |
                                                       POSIX_SPAWN_SETPGROUP);
    return 0;
}

void bats_spawner_release(struct bats_spawner *spawner)
{
    if (spawner->null < 0)
        return;
    free(spawner->workdir);
    spawner->workdir = NULL;
    close(spawner->null);
    posix_spawnattr_destroy(&spawner->attributes);
    spawner->null = -1;
}

/* Returns 0 or an errno. */
static int add_actions(posix_spawn_file_actions_t *actions,
                       const struct bats_spawner *spawner, const int fds[2])
{
    int code = posix_spawn_file_actions_adddup2(actions, spawner->null, 0);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(actions, fds[0], 1);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(actions, fds[1], 2);
    if (code == 0)
        code = posix_spawn_file_actions_addclosefrom_np(actions, 3);
    if (code == 0 && spawner->workdir != NULL)
        code = posix_spawn_file_actions_addchdir_np(actions, spawner->workdir);
    return code;
}

/* True if the environment has exported functions, which only bash can call. */
static bool has_functions(char *const *environment)
{
    static const char prefix[] = "BASH_FUNC_";
    for (; *environment != NULL; environment++)
        if (strncmp(*environment, prefix, sizeof prefix - 1) == 0)
            return true;
    return false;
}

int bats_spawner_run(const struct bats_spawner *spawner, const char *line,
                     char **environment, const int fds[2], pid_t *pid)
{
    bool bash = has_functions(environment);
    char *shell[] = {bash ? "bash" : "sh", "-c", "--", (char *)line, NULL};
    char **argv = bash ? NULL : bats_command_split(line);
    posix_spawn_file_actions_t actions;

    posix_spawn_file_actions_init(&actions);
    int code = add_actions(&actions, spawner, fds);
    bool started = false;
    if (code == 0 && argv)
        started = posix_spawnp(pid, argv[0], &actions, &spawner->attributes,
                               argv, environment) == 0;
    if (code == 0 && !started)
        code = posix_spawn(pid, bash ? "/bin/bash" : "/bin/sh", &actions,
                           &spawner->attributes, shell, environment);
    posix_spawn_file_actions_destroy(&actions);
    free(argv);
    return code;
}
