#include "exec/process/family.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/grow.h"
#include "util/text.h"

/* ---- all processes of the node ---- */

struct process {
    pid_t pid, parent;
};

struct list {
    struct process *of; /* by pid, ascending */
    size_t n, room;
};

/* Opens a file such as /proc/17/stat. */
static FILE *open_of(pid_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return fopen(path, "re");
}

/* The parent of a process; -1: it is gone. */
static pid_t parent_of(pid_t pid)
{
    char stat[512];
    int parent = -1;
    FILE *in = open_of(pid, "stat");
    if (in == NULL)
        return -1;
    stat[fread(stat, 1, sizeof stat - 1, in)] = '\0';
    fclose(in);
    /* "pid (name) state parent ...": the name may contain anything. */
    const char *end = strrchr(stat, ')');
    return end != NULL && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent
                                                                   : -1;
}

static int by_pid(const void *a, const void *b)
{
    const struct process *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* False, with errno: /proc cannot be read, or memory is short. The kernel's own
 * list of children (/proc/PID/task/TID/children) is not built into every
 * kernel. */
static bool list_processes(struct list *list)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    bool fits = true;
    list->n = 0;
    while (proc != NULL && fits && (entry = readdir(proc)) != NULL) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        pid_t parent = pid > 0 ? parent_of(pid) : -1;
        if (parent < 0)
            continue;
        fits =
            bats_grow(&list->of, &list->room, list->n + 1, sizeof *list->of);
        if (fits)
            list->of[list->n++] = (struct process){pid, parent};
    }
    if (list->n > 0)
        qsort(list->of, list->n, sizeof *list->of, by_pid);
    if (proc != NULL)
        closedir(proc);
    return proc != NULL && fits;
}

/* ---- the guard ---- */

/* Runs the guard. It uses only system calls, because other threads may have
 * held locks when it was cloned. It keeps no descriptor but the pipe: a
 * launcher that waits for the end of our output would otherwise wait for the
 * guard, too. */
static void watch(int end, const volatile pid_t *group)
{
    char byte;
    dup2(end, 0);
    close_range(1, UINT_MAX, 0);
    setsid();
    prctl(PR_SET_NAME, "bats-guard");
    while (read(0, &byte, 1) < 0 && errno == EINTR)
        ;
    if (*group > 0)
        kill(-*group, SIGKILL);
    _exit(0);
}

static bool start_guard(struct bats_family *family)
{
    int ends[2];
    sigset_t all, before;
    void *page = mmap(NULL, sizeof *family->group, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return false;
    family->group = page;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    family->alive = ends[1];
    /* Not fork(): a plain wait ignores a child without an exit signal, so that
     * checking for "no children" stays cheap, and MPI's fork handlers must not
     * run here. The guard keeps all signals blocked. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    family->guard = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, 0);
    if (family->guard == 0)
        watch(ends[0], family->group);
    sigprocmask(SIG_SETMASK, &before, NULL);
    int code = errno;
    close(ends[0]);
    errno = code;
    return family->guard > 0;
}

void bats_family_guard(struct bats_family *family, pid_t group)
{
    *(volatile pid_t *)family->group = group;
}

/* ---- lines that need no shell ---- */

static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "abcdefghijklmnopqrstuvwxyz"
                            "0123456789_./:=,+@%-";
static const char blank[] = " \t";

/* Words that dash and bash execute or interpret themselves, except `true` and
 * `false`, whose programs do the same. */
static const char shell_words[] =
    " . : alias bg bind break builtin caller case cd chdir command compgen "
    "complete continue coproc declare dirs disown do done echo elif else "
    "enable esac eval exec exit export fc fg fi for function getopts hash "
    "help history if in jobs kill let local logout mapfile popd printf "
    "pushd pwd read readarray readonly return select set shift shopt "
    "source suspend test then time times trap type typeset ulimit umask "
    "unalias unset until wait while ";

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
    if (strchr(argv[0], '=') != NULL ||
        bats_text_lists(shell_words, argv[0])) {
        free(argv);
        return NULL;
    }
    return argv;
}

/* ---- starting a task ---- */

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

/* False, with errno: there is no /dev/null, or memory is short. */
static bool prepare(struct bats_family *family, const char *workdir)
{
    sigset_t all, none;
    family->null = open_null();
    if (family->null < 0 ||
        (workdir != NULL && (family->workdir = strdup(workdir)) == NULL))
        return false;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&family->attributes, &all);
    posix_spawnattr_setsigmask(&family->attributes, &none);
    posix_spawnattr_setpgroup(&family->attributes, 0);
    posix_spawnattr_setflags(&family->attributes, POSIX_SPAWN_SETSIGDEF |
                                                      POSIX_SPAWN_SETSIGMASK |
                                                      POSIX_SPAWN_SETPGROUP);
    return true;
}

/* Returns 0 or an errno. */
static int add_actions(posix_spawn_file_actions_t *actions,
                       const struct bats_family *family, const int fds[2])
{
    int code = posix_spawn_file_actions_adddup2(actions, family->null, 0);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(actions, fds[0], 1);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(actions, fds[1], 2);
    if (code == 0)
        code = posix_spawn_file_actions_addclosefrom_np(actions, 3);
    if (code == 0 && family->workdir != NULL)
        code = posix_spawn_file_actions_addchdir_np(actions, family->workdir);
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

int bats_family_run(const struct bats_family *family, const char *line,
                    char **environment, const int fds[2], pid_t *pid)
{
    bool bash = has_functions(environment);
    char *shell[] = {bash ? "bash" : "sh", "-c", "--", (char *)line, NULL};
    char **argv = bash ? NULL : bats_command_split(line);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    int code = add_actions(&actions, family, fds);
    bool started = false;
    if (code == 0 && argv)
        started = posix_spawnp(pid, argv[0], &actions, &family->attributes,
                               argv, environment) == 0;
    if (code == 0 && !started)
        code = posix_spawn(pid, bash ? "/bin/bash" : "/bin/sh", &actions,
                           &family->attributes, shell, environment);
    posix_spawn_file_actions_destroy(&actions);
    free(argv);
    return code;
}

/* ---- children ---- */

/* The child belongs to no task and is never touched. BATS_ENOMEM. */
static int spare(struct bats_family *family, pid_t pid, struct bats_error *err)
{
    if (!bats_grow(&family->strangers, &family->capacity, family->n + 1,
                   sizeof *family->strangers))
        return bats_no_memory(err);
    family->strangers[family->n++] = pid;
    return 0;
}

static bool is_stranger(const struct bats_family *family, pid_t pid)
{
    for (size_t i = 0; i < family->n; i++)
        if (family->strangers[i] == pid)
            return true;
    return false;
}

/* True if this process has no children. Cheap, unlike reading /proc. */
static bool childless(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 &&
           errno == ECHILD;
}

int bats_family_init(struct bats_family *family, const char *workdir,
                     struct bats_error *err)
{
    struct list list = {0};
    *family = (struct bats_family){.null = -1, .alive = -1};
    posix_spawnattr_init(&family->attributes);
    if (!prepare(family, workdir))
        return bats_error_set(err, BATS_ESYS, "cannot open /dev/null: %s",
                              strerror(errno));
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!start_guard(family))
        return bats_error_set(err, BATS_ESYS,
                              "cannot start the guard process: %s",
                              strerror(errno));
    int rc = spare(family, family->guard, err);
    if (rc == 0 && !childless() && !list_processes(&list))
        rc = bats_error_set(err, BATS_ESYS, "cannot read /proc: %s",
                            strerror(errno));
    for (size_t i = 0; rc == 0 && i < list.n; i++)
        if (list.of[i].parent == getpid())
            rc = spare(family, list.of[i].pid, err);
    free(list.of);
    return rc;
}

void bats_family_release(struct bats_family *family)
{
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    if (family->alive >= 0)
        close(family->alive);
    if (family->guard > 0)
        while (waitpid(family->guard, NULL, __WALL) < 0 && errno == EINTR)
            ;
    if (family->group != NULL)
        munmap(family->group, sizeof *family->group);
    if (family->null >= 0)
        close(family->null);
    posix_spawnattr_destroy(&family->attributes);
    free(family->workdir);
    free(family->strangers);
    *family = (struct bats_family){.null = -1, .alive = -1};
}

pid_t bats_family_sweep(struct bats_family *family, bool force)
{
    struct list list = {0};
    pid_t alive = 0;
    bool reaped = true;
    /* The children of a process that ends become ours: look again after a
     * death. */
    while (reaped && alive == 0 && !childless() && list_processes(&list)) {
        reaped = false;
        for (size_t i = 0; i < list.n; i++) {
            pid_t pid = list.of[i].pid;
            if (list.of[i].parent != getpid() || is_stranger(family, pid))
                continue;
            if (force && kill(pid, SIGKILL) < 0 && errno == EPERM)
                spare(family, pid, NULL);
            else if (waitpid(pid, NULL, WNOHANG) == 0)
                alive = pid;
            else
                reaped = true;
        }
    }
    free(list.of);
    return alive;
}

/* ---- memory ---- */

/* The ancestor (or the process itself) whose parent is `self`; 0: none. */
static pid_t child_above(const struct list *list, const struct process *at,
                         pid_t self)
{
    while (at != NULL && at->parent != self) {
        const struct process above = {at->parent, 0};
        at = bsearch(&above, list->of, list->n, sizeof above, by_pid);
    }
    return at != NULL ? at->pid : 0;
}

/* The number in the first line of this format; -1: none. Closes the file. */
static int64_t find_number(FILE *in, const char *format)
{
    char line[128];
    int64_t n = -1;
    while (in != NULL && n < 0 && fgets(line, sizeof line, in) != NULL)
        sscanf(line, format, &n);
    if (in != NULL)
        fclose(in);
    return n;
}

static int64_t rss_kib(pid_t pid)
{
    int64_t pages = find_number(open_of(pid, "statm"), "%*d %" SCNd64);
    return pages > 0 ? pages * (sysconf(_SC_PAGESIZE) / 1024) : 0;
}

/* The proportional set of the process; its resident set if the kernel does not
 * tell. */
static int64_t pss_kib(pid_t pid)
{
    int64_t kib = find_number(open_of(pid, "smaps_rollup"), "Pss: %" SCNd64);
    return kib >= 0 ? kib : rss_kib(pid);
}

int64_t bats_family_memory(const struct bats_family *family, int64_t limit_kib)
{
    struct list list = {0};
    int64_t sum[2] = {0, 0};
    list_processes(&list);
    for (int k = 0; k < 2 && (k == 0 || sum[0] > limit_kib); k++)
        for (size_t i = 0; i < list.n; i++) {
            pid_t child = child_above(&list, &list.of[i], getpid());
            if (child > 0 && !is_stranger(family, child))
                sum[k] +=
                    k == 0 ? rss_kib(list.of[i].pid) : pss_kib(list.of[i].pid);
        }
    free(list.of);
    return sum[0] > limit_kib ? sum[1] : sum[0];
}

int64_t bats_family_oom_kills(const char *path)
{
    int64_t n = find_number(fopen(path, "re"), "oom_kill %" SCNd64);
    return n > 0 ? n : 0;
}
