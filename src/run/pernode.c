#include "run/pernode.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec/process/environment.h"
#include "run/clock.h"

#define RETRY_US 50000 /* between two attempts at a lock */

enum phase {
    OUTSIDE, /* waits for the rank that runs START */
    STARTS,  /* runs START */
    INSIDE,
    STOPS, /* runs STOP */
    GONE
};

/* The file has the number of the rank that has run START; nothing before that;
 * STOPPED once STOP has been run. Then the file is unlinked. */
#define STOPPED "stopped"

struct bats_pernode {
    char path[PATH_MAX];
    int fd; /* -1: not open */
    enum phase phase;
    uint32_t number;
    struct bats_text commands[2]; /* of START and STOP, each with its NUL */
    size_t at;                  /* offset of the command that is due or runs */
    struct bats_text variables; /* with DISBATCH_ENGINE_RANK */
};

static bool name_file(char path[PATH_MAX], const char *run_id)
{
    const char *directory = getenv("TMPDIR");
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof host - 1);
    int n = snprintf(path, PATH_MAX, "%s/bats-mpi-%s-%s",
                     directory != NULL && *directory ? directory : "/tmp",
                     run_id, host);
    return n < PATH_MAX;
}

int bats_pernode_create(const struct bats_setup *setup,
                        const struct bats_text *variables,
                        struct bats_pernode **node, struct bats_error *err)
{
    struct bats_pernode *p = calloc(1, sizeof *p);
    if (p == NULL)
        return bats_no_memory(err);
    p->fd = -1;
    p->number = setup->number;
    bats_text_put(&p->commands[0], setup->start, setup->n_start);
    bats_text_put(&p->commands[1], setup->stop, setup->n_stop);
    bats_text_put(&p->variables, variables->bytes, variables->n);
    int rc = bats_text_check(&p->commands[0], err);
    if (rc == 0)
        rc = bats_text_check(&p->commands[1], err);
    if (rc == 0 && !name_file(p->path, setup->run_id))
        rc = bats_refuse(err, "TMPDIR is too long");
    if (rc < 0)
        bats_pernode_destroy(p);
    else
        *node = p;
    return rc;
}

static void close_file(struct bats_pernode *node)
{
    if (node->fd >= 0)
        close(node->fd);
    node->fd = -1;
}

void bats_pernode_destroy(struct bats_pernode *node)
{
    if (node == NULL)
        return;
    close_file(node);
    bats_text_release(&node->commands[0]);
    bats_text_release(&node->commands[1]);
    bats_text_release(&node->variables);
    free(node);
}

uint32_t bats_pernode_number(const struct bats_pernode *node)
{
    return node->number;
}

/* ---- the file ---- */

/* Sets the lock of this open file, or removes it. A write lock becomes a read
 * lock without a gap. False, with errno: others hold a lock. */
static bool lock(const struct bats_pernode *node, short type)
{
    struct flock flock = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(node->fd, F_OFD_SETLK, &flock) == 0;
}

static bool write_text(const struct bats_pernode *node, const char *text)
{
    return pwrite(node->fd, text, strlen(text), 0) == (ssize_t)strlen(text);
}

static int complain(const struct bats_pernode *node, struct bats_error *err)
{
    return bats_error_set(err, BATS_ESYS, "%s, for PERENGINE: %s", node->path,
                          strerror(errno));
}

/* Opens the file; the first rank makes it. Everybody may write to the
 * directory, so only a file of this user is accepted. If the file has just
 * been removed, fd stays negative. */
static int open_file(struct bats_pernode *node, struct bats_error *err)
{
    struct stat st;
    int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    node->fd = open(node->path, flags | O_CREAT | O_EXCL, 0600);
    if (node->fd >= 0)
        return 0;
    if (errno == EEXIST)
        node->fd = open(node->path, flags);
    if (node->fd < 0)
        return errno == ENOENT ? 0 : complain(node, err);
    if (fstat(node->fd, &st) != 0)
        return complain(node, err);
    if (S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink < 2 &&
        (st.st_mode & 077) == 0)
        return 0;
    close_file(node);
    return bats_error_set(err, BATS_ESYS,
                          "%s, for PERENGINE: this is not a file of this run: "
                          "another user has made it",
                          node->path);
}

/* Tries to enter. */
static int knock(struct bats_pernode *node, struct bats_error *err)
{
    char text[20] = "";
    int rc = node->fd < 0 ? open_file(node, err) : 0;
    if (rc < 0 || node->fd < 0)
        return rc;
    bool alone = lock(node, F_WRLCK);
    if (!alone && errno != EAGAIN && errno != EACCES)
        return complain(node, err);
    if (!alone && !lock(node, F_RDLCK))
        return 0;
    if (pread(node->fd, text, sizeof text - 1, 0) < 0)
        return complain(node, err);
    /* The file is no longer in use. Digits of a longer number may follow. */
    if (strncmp(text, STOPPED, strlen(STOPPED)) == 0) {
        close_file(node);
        return 0;
    }
    if (*text == '\0') {
        node->phase = alone ? STARTS : OUTSIDE;
        return alone || lock(node, F_UNLCK) ? 0 : complain(node, err);
    }
    node->number = (uint32_t)strtoul(text, NULL, 10);
    node->phase = INSIDE;
    return lock(node, F_RDLCK) ? 0 : complain(node, err);
}

/* ---- commands ---- */

static const char *due(const struct bats_pernode *node)
{
    const struct bats_text *all = &node->commands[node->phase == STOPS];
    return node->at < all->n ? all->bytes + node->at : NULL;
}

/* Runs what is due for up to `timeout_us`. 1: one command has ended, see *end;
 * 0: not yet. */
static int run(struct bats_pernode *node, struct bats_runner *runner,
               int64_t timeout_us, struct bats_runner_result *end,
               struct bats_error *err)
{
    size_t common = node->variables.n;
    int rc = 0;
    if (!bats_runner_busy(runner)) {
        bats_text_format(&node->variables,
                         "DISBATCH_ENGINE_RANK=%" PRIu32 "%c", node->number,
                         '\0');
        const char **environment = bats_environment_list(&node->variables);
        struct bats_runner_task task = {.command = due(node),
                                        .is_aside = true,
                                        .environment = environment};
        rc = environment != NULL ? bats_runner_start(runner, &task, err)
                                 : bats_no_memory(err);
        free(environment);
        bats_text_cut(&node->variables, common);
    }
    return rc < 0 ? rc : bats_runner_poll(runner, timeout_us, end, err);
}

int bats_pernode_enter(struct bats_pernode *node, struct bats_runner *runner,
                       int64_t timeout_us, struct bats_error *err)
{
    struct bats_runner_result end;
    int rc = node->phase == OUTSIDE ? knock(node, err) : 0;
    if (rc == 0 && node->phase == OUTSIDE)
        bats_clock_sleep(timeout_us < RETRY_US ? timeout_us : RETRY_US);
    if (rc < 0 || node->phase != STARTS)
        return rc < 0 ? rc : node->phase == INSIDE;
    if (due(node) != NULL) {
        rc = run(node, runner, timeout_us, &end, err);
        if (rc <= 0)
            return rc;
        if (end.cancelled) /* the run is ending */
            return 0;
        if (end.usage.exit_status != 0)
            return bats_error_set(
                err, BATS_ESYS,
                "'#DISBATCH PERENGINE START %.200s' has failed, exit %d",
                due(node), end.usage.exit_status);
        node->at += strlen(due(node)) + 1;
        return 0;
    }
    char text[20];
    snprintf(text, sizeof text, "%" PRIu32, node->number);
    if (!write_text(node, text) || !lock(node, F_RDLCK))
        return complain(node, err);
    node->phase = INSIDE;
    return 1;
}

/* Leaves; the last rank runs STOP. The read lock goes first, or two that leave
 * at the same time would each think that the other stays. */
static void leave(struct bats_pernode *node)
{
    bool was_inside = node->phase == INSIDE;
    bool is_last = node->phase == STARTS ||
                   (was_inside && lock(node, F_UNLCK) && lock(node, F_WRLCK));
    node->phase = is_last ? STOPS : GONE;
    node->at = 0;
}

bool bats_pernode_leave(struct bats_pernode *node, struct bats_runner *runner,
                        int64_t timeout_us)
{
    struct bats_runner_result end;
    struct bats_error why;
    if (node->phase < STOPS)
        leave(node);
    if (node->phase == GONE)
        return true;
    if (due(node) != NULL) {
        int rc = run(node, runner, timeout_us, &end, &why);
        if (rc == 0)
            return false;
        if (rc < 0)
            dprintf(STDERR_FILENO, "bats-mpi: PERENGINE STOP: %s\n", why.text);
        else if (end.usage.exit_status != 0)
            dprintf(STDERR_FILENO,
                    "bats-mpi: '#DISBATCH PERENGINE STOP %s' has failed, exit "
                    "%d\n",
                    due(node), end.usage.exit_status);
        node->at += strlen(due(node)) + 1;
        return false;
    }
    if (write_text(node, STOPPED))
        unlink(node->path);
    close_file(node);
    node->phase = GONE;
    return true;
}
