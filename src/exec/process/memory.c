#include "exec/process/memory.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/grow.h"

struct process {
    pid_t pid, parent;
};

struct list {
    struct process *of; /* by pid, ascending */
    size_t n, room;
};

/* The parent of a process; -1: it is gone. */
static pid_t read_parent(pid_t pid)
{
    char path[40], stat[512];
    int parent = -1;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return -1;
    size_t n = fread(stat, 1, sizeof stat - 1, in);
    fclose(in);
    stat[n] = '\0';
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

static void list_processes(struct list *list)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    while (proc != NULL && (entry = readdir(proc)) != NULL) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        pid_t parent = pid > 0 ? read_parent(pid) : -1;
        if (parent >= 0 &&
            bats_grow(&list->of, &list->room, list->n + 1, sizeof *list->of))
            list->of[list->n++] = (struct process){pid, parent};
    }
    if (proc != NULL)
        closedir(proc);
    if (list->n > 0)
        qsort(list->of, list->n, sizeof *list->of, by_pid);
}

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

static int64_t read_rss_kib(pid_t pid)
{
    char path[40];
    long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *in = fopen(path, "re");
    if (in != NULL && fscanf(in, "%*d %ld", &pages) != 1)
        pages = 0;
    if (in != NULL)
        fclose(in);
    return (int64_t)pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* The proportional set of the process; its resident set if the kernel does not
 * tell. */
static int64_t read_pss_kib(pid_t pid)
{
    char path[48], line[128];
    int64_t kib = -1;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    FILE *in = fopen(path, "re");
    while (in != NULL && kib < 0 && fgets(line, sizeof line, in) != NULL)
        sscanf(line, "Pss: %" SCNd64, &kib);
    if (in != NULL)
        fclose(in);
    return kib >= 0 ? kib : read_rss_kib(pid);
}

int64_t bats_memory_of_task(const struct bats_family *family,
                            int64_t limit_kib)
{
    struct list list = {0};
    int64_t sum[2] = {0, 0};
    pid_t self = getpid();
    list_processes(&list);
    for (int k = 0; k < 2 && (k == 0 || sum[0] > limit_kib); k++)
        for (size_t i = 0; i < list.n; i++) {
            pid_t child = child_above(&list, &list.of[i], self);
            if (child > 0 && !bats_family_is_stranger(family, child))
                sum[k] += k == 0 ? read_rss_kib(list.of[i].pid)
                                 : read_pss_kib(list.of[i].pid);
        }
    free(list.of);
    return sum[0] > limit_kib ? sum[1] : sum[0];
}

int64_t bats_memory_oom_kills(const char *path)
{
    char line[128];
    int64_t n = 0;
    FILE *in = fopen(path, "re");
    while (in != NULL && fgets(line, sizeof line, in) != NULL)
        if (sscanf(line, "oom_kill %" SCNd64, &n) == 1)
            break;
    if (in != NULL)
        fclose(in);
    return n;
}
