#include "exec/output/results.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Creates the directory and missing parents, like mkdir -p. Modifies `path`
 * temporarily. */
static int make_directory(char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return 0;
    char *slash = strrchr(path, '/');
    if (errno != ENOENT || !slash || slash == path)
        return -1;
    *slash = '\0';
    int failed = make_directory(path);
    *slash = '/';
    if (failed || (mkdir(path, 0777) < 0 && errno != EEXIST))
        return -1;
    return 0;
}

static int open_new(const char *path)
{
    return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

static const char *const names[] = {"stdout", "stderr"};

static int name_directory(char path[PATH_MAX], const char *dir,
                          const char *own, uint32_t task,
                          struct bats_error *err)
{
    int n = own != NULL ? snprintf(path, PATH_MAX, "%s", own)
                        : snprintf(path, PATH_MAX, "%s/%llu", dir,
                                   (unsigned long long)task + 1);
    if (n < 0 || (size_t)n + sizeof "/stdout.4294967295" > PATH_MAX)
        return bats_error_set(err, BATS_ESYS,
                              "%.200s...: the name of the directory for "
                              "results is too long",
                              own != NULL ? own : dir);
    return n;
}

static void name_file(char path[PATH_MAX], int n, int i, uint32_t apart)
{
    if (apart == 0)
        snprintf(path + n, (size_t)(PATH_MAX - n), "/%s", names[i]);
    else
        snprintf(path + n, (size_t)(PATH_MAX - n), "/%s.%llu", names[i],
                 (unsigned long long)apart);
}

int bats_results_open(const char *dir, const char *own, uint32_t task,
                      uint32_t apart, int fds[2], struct bats_error *err)
{
    char path[PATH_MAX];
    int n = name_directory(path, dir, own, task, err);

    if (n < 0)
        return n;
    if (make_directory(path) < 0)
        return bats_error_set(err, BATS_ESYS,
                              "%s: cannot create this directory for the "
                              "output of a task: %s",
                              path, strerror(errno));
    for (int i = 0; i < 2; i++) {
        name_file(path, n, i, apart);
        fds[i] = open_new(path);
        if (fds[i] < 0) {
            int code = errno;
            if (i == 1)
                close(fds[0]);
            return bats_error_set(err, BATS_ESYS,
                                  "%s: cannot create this file for the "
                                  "output of a task: %s",
                                  path, strerror(code));
        }
    }
    return 0;
}

int bats_results_settle(const char *dir, uint32_t task, uint32_t apart,
                        bool is_result, struct bats_error *err)
{
    char from[PATH_MAX], to[PATH_MAX];
    int n = name_directory(from, dir, NULL, task, err);

    if (n < 0)
        return n;
    memcpy(to, from, (size_t)n + 1);
    for (int i = 0; i < 2; i++) {
        name_file(from, n, i, apart);
        name_file(to, n, i, 0);
        if ((is_result ? rename(from, to) : unlink(from)) != 0 &&
            errno != ENOENT) /* a built-in task has no files */
            return bats_error_set(err, BATS_ESYS, "%s: cannot %s: %s", from,
                                  is_result ? "take the place of the output "
                                              "of another replica"
                                            : "remove the output of a replica",
                                  strerror(errno));
    }
    return 0;
}

int bats_results_make_parent(const char *path, struct bats_error *err)
{
    char dir[PATH_MAX];
    const char *slash = strrchr(path, '/');

    if (!slash || slash == path)
        return 0;
    if ((size_t)snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path) <
            sizeof dir &&
        make_directory(dir) == 0)
        return 0;
    return bats_error_set(err, BATS_ESYS,
                          "%.300s: cannot create this directory for the "
                          "output of tasks: %s",
                          dir, strerror(errno));
}
