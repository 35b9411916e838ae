#include "exec/process/cgroup.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/text.h"

#ifndef ROOT /* unless a test has its own */
#define ROOT "/sys/fs/cgroup"
#endif
#define OURS "/bats"

/* True if the file of the group took the number or word. */
static bool put(const char *group, const char *file, const char *word)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", group, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool took = fd >= 0 && write(fd, word, strlen(word)) > 0;
    if (fd >= 0)
        close(fd);
    return took;
}

static bool put_number(const char *group, const char *file, int64_t n)
{
    char word[24];
    snprintf(word, sizeof word, "%" PRId64, n);
    return put(group, file, word);
}

/* The group of this process, or that from which another worker has moved it,
 * if it belongs to the user. */
static bool find_own(char *group, size_t size)
{
    char line[2048];
    struct stat st;
    bool found = false;
    FILE *in = fopen("/proc/self/cgroup", "re");
    while (in != NULL && !found && fgets(line, sizeof line, in) != NULL)
        found = strncmp(line, "0::/", 4) == 0;
    if (in != NULL)
        fclose(in);
    if (!found || geteuid() == 0)
        return false;
    line[strcspn(line, "\n")] = '\0';
    if (bats_text_ends(line, OURS))
        line[strlen(line) - strlen(OURS)] = '\0';
    snprintf(group, size, "%s%s", ROOT, line + 3);
    return stat(group, &st) == 0 && st.st_uid == geteuid();
}

/* Moves all processes of the group, whose ranks may all do so at once. */
static void move_all(const char *group, const char *to)
{
    char path[4096];
    int64_t pid;
    snprintf(path, sizeof path, "%s/cgroup.procs", group);
    FILE *in = fopen(path, "re");
    while (in != NULL && fscanf(in, "%" SCNd64, &pid) == 1)
        put_number(to, "cgroup.procs", pid);
    if (in != NULL)
        fclose(in);
}

static void make(struct bats_cgroup *g)
{
    char own[3000], ours[3100];
    if (!find_own(own, sizeof own))
        return;
    snprintf(ours, sizeof ours, "%s/memory.max", own);
    if (access(ours, F_OK) != 0)
        return; /* it may limit nothing */
    snprintf(ours, sizeof ours, "%s" OURS, own);
    mkdir(ours, 0755);
    move_all(own, ours);
    if (!put(own, "cgroup.subtree_control", "+memory") ||
        asprintf(&g->tasks, "%s-%ld", ours, (long)getpid()) < 0)
        g->tasks = NULL;
    if (g->tasks != NULL && mkdir(g->tasks, 0755) == 0) {
        put(g->tasks, "memory.swap.max", "0");
        put(g->tasks, "memory.oom.group", "1");
    }
}

/* The shell enters before it starts anything. This process may not do that for
 * it: the kernel might kill both, and afterwards would be too late. */
char *bats_cgroup_enter(struct bats_cgroup *g, int64_t kib,
                        const char *command)
{
    char *line;
    if (!g->looked)
        make(g);
    g->looked = true;
    if (g->tasks == NULL || !put_number(g->tasks, "memory.max", kib * 1024) ||
        asprintf(&line, "{ echo $$ >'%s/cgroup.procs'; } 2>/dev/null\n%s",
                 g->tasks, command) < 0)
        return NULL;
    return line;
}

void bats_cgroup_release(struct bats_cgroup *g)
{
    if (g->tasks != NULL)
        rmdir(g->tasks);
    free(g->tasks);
}
