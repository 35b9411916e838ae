#include "exec/output/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec/output/outfile.h"
#include "util/complaint.h"

#define FIRST_SIZE ((size_t)64 * 1024) /* capacity of a pipe */
#define KEPT BATS_COMPLAINT_BYTES
#define SPARE ((size_t)1) /* for a newline */

/* The pipe that carries standard output or error, and the bytes that are not
 * passed on yet. If complete lines are passed on, no newline is in the buffer
 * unless `blocked`. */
struct stream {
    int in;  /* read end, non-blocking; -1: closed */
    int out; /* write end, for the task */
    char *bytes;
    size_t n, capacity; /* the buffer is larger by SPARE */
    int64_t total;      /* bytes written by the task */
    bool blocked;       /* the taker said "not now" */
};

struct bats_outlet {
    const struct bats_runner_options *options; /* not owned */
    char *results_dir;
    struct bats_outfile *file;
    struct stream stream[2];
    int files[2];        /* of the task, closed at its end; or -1 */
    char last[2 * KEPT]; /* the last bytes on standard error, */
    size_t n_last;       /* perhaps more of them than are kept */
    uint32_t task;
    bool is_aside;           /* a command that is not a task: its output is not
                              * passed on */
    struct bats_error error; /* the first failure of this task, or code 0 */
};

/* ---- create and destroy ---- */

static bool make_stream(struct stream *s)
{
    s->in = s->out = -1;
    s->bytes = malloc(FIRST_SIZE + SPARE);
    s->capacity = FIRST_SIZE - 1;
    return s->bytes != NULL;
}

int bats_outlet_create(const struct bats_runner_options *options,
                       struct bats_outlet **outlet, struct bats_error *err)
{
    struct bats_outlet *o = calloc(1, sizeof *o);
    if (o == NULL)
        return bats_no_memory(err);
    o->options = options;
    o->files[0] = o->files[1] = -1;
    bool memory = make_stream(&o->stream[0]);
    memory &= make_stream(&o->stream[1]);
    if (options->output == BATS_OUTPUT_RESULTS)
        memory &= (o->results_dir = strdup(options->results_dir)) != NULL;
    int rc = memory ? 0 : bats_no_memory(err);
    if (rc == 0 && options->output == BATS_OUTPUT_STREAM)
        rc = bats_outfile_create(options->stream_prefix, &o->file, err);
    if (rc < 0)
        bats_outlet_destroy(o);
    else
        *outlet = o;
    return rc;
}

void bats_outlet_destroy(struct bats_outlet *o)
{
    if (o == NULL)
        return;
    bats_outlet_close(o);
    free(o->stream[0].bytes);
    free(o->stream[1].bytes);
    bats_outfile_destroy(o->file);
    free(o->results_dir);
    free(o);
}

/* ---- the last bytes ---- */

static void add_last(struct bats_outlet *o, const char *bytes, size_t n)
{
    if (n > KEPT) {
        bytes += n - KEPT;
        n = KEPT;
    }
    if (o->n_last + n > sizeof o->last) {
        memmove(o->last, o->last + o->n_last - KEPT, KEPT);
        o->n_last = KEPT;
    }
    memcpy(o->last + o->n_last, bytes, n);
    o->n_last += n;
}

static void read_last(struct bats_outlet *o, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return;
    off_t begin = st.st_size > KEPT ? st.st_size - KEPT : 0;
    ssize_t n = pread(fd, o->last, KEPT, begin);
    o->n_last = n > 0 ? (size_t)n : 0;
}

/* ---- the result files ---- */

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

/* apart: the attempt of a replica; 0: the result. */
static void name_file(char path[PATH_MAX], int n, int i, uint32_t apart)
{
    size_t room = (size_t)(PATH_MAX - n);
    int used = snprintf(path + n, room, "/%s", i == 0 ? "stdout" : "stderr");
    if (apart > 0)
        snprintf(path + n + used, room - (size_t)used, ".%llu",
                 (unsigned long long)apart);
}

/* Opens the files, empty. Their ends are read if the task fails. */
static int open_results(struct bats_outlet *o, const char *own, uint32_t task,
                        uint32_t apart, struct bats_error *err)
{
    char path[PATH_MAX];
    int n = name_directory(path, o->results_dir, own, task, err);
    if (n < 0)
        return n;
    if (!bats_outfile_make_directory(path))
        return bats_error_set(err, BATS_ESYS,
                              "%s: cannot create this directory for the "
                              "output of a task: %s",
                              path, strerror(errno));
    for (int i = 0; i < 2; i++) {
        name_file(path, n, i, apart);
        o->files[i] = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (o->files[i] < 0)
            return bats_error_set(err, BATS_ESYS,
                                  "%s: cannot create this file for the "
                                  "output of a task: %s",
                                  path, strerror(errno));
    }
    return 0;
}

/* Replaces the result files by those of a replica, or removes these. */
static int settle_results(const char *dir, uint32_t task, uint32_t apart,
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

/* ---- from the pipe to the destination ---- */

/* False: "not now". Failures are reported later. */
static bool pass_on(struct bats_outlet *o, int i, const char *bytes, size_t n)
{
    if (o->options->output == BATS_OUTPUT_LINES)
        return o->options->lines(o->options->context, o->task, i + 1, bytes,
                                 n);
    if (o->options->output == BATS_OUTPUT_STREAM && o->error.code == 0)
        bats_outfile_add(o->file, i + 1, bytes, n, &o->error);
    return true;
}

static bool grow(struct stream *s)
{
    size_t size = 2 * (s->capacity + 1);
    char *bytes =
        size <= BATS_OUTLET_LINE ? realloc(s->bytes, size + SPARE) : NULL;
    if (bytes == NULL)
        return false;
    s->bytes = bytes;
    s->capacity = size - 1;
    return true;
}

/* The part of the buffer that may be passed on: up to the last newline. */
static size_t whole_lines(struct stream *s)
{
    const char *last = memrchr(s->bytes, '\n', s->n);
    if (last != NULL)
        return (size_t)(last - s->bytes) + 1;
    if (s->n < s->capacity || grow(s))
        return 0;
    s->bytes[s->n++] = '\n'; /* the line is cut here */
    return s->n;
}

static void deliver(struct bats_outlet *o, int i)
{
    struct stream *s = &o->stream[i];
    bool in_lines = o->options->output == BATS_OUTPUT_LINES;
    size_t n = in_lines ? whole_lines(s) : s->n;
    if (n == 0)
        return;
    s->blocked = !pass_on(o, i, s->bytes, n);
    if (!s->blocked) {
        s->n -= n;
        memmove(s->bytes, s->bytes + n, s->n);
    }
}

/* Reads once and passes the bytes on; false if there were none. */
static bool read_once(struct bats_outlet *o, int i)
{
    struct stream *s = &o->stream[i];
    ssize_t got;
    do
        got = read(s->in, s->bytes + s->n, s->capacity - s->n);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return false;
    if (i == 1)
        add_last(o, s->bytes + s->n, (size_t)got);
    s->total += got;
    s->n += (size_t)got;
    deliver(o, i);
    return true;
}

/* ---- one task ---- */

static int open_pipe(struct bats_outlet *o, int i, struct bats_error *err)
{
    struct stream *s = &o->stream[i];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return bats_error_set(
            err, BATS_ESYS, "cannot make a pipe for the output of a task: %s",
            strerror(errno));
    /* Only the read end is non-blocking: tasks expect blocking writes. */
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    s->in = ends[0];
    s->out = ends[1];
    s->n = 0;
    s->total = 0;
    s->blocked = false;
    return 0;
}

/* The task's own directory; NULL: it has none. */
static const char *own_directory(const struct bats_outlet *o,
                                 const struct bats_runner_task *task)
{
    static const char name[] = "BATS_RESULTS=";
    const char *own = NULL;
    if (o->results_dir[0] != '\0')
        return NULL;
    for (const char *const *at = task->environment; at && *at; at++)
        if (strncmp(*at, name, sizeof name - 1) == 0)
            own = *at + sizeof name - 1;
    return own;
}

static int keep_file(struct bats_outlet *o, int fd, const char *name,
                     struct bats_error *err)
{
    o->files[0] = fd;
    return fd >= 0 ? 0
                   : bats_error_set(err, BATS_ESYS, "cannot use %s: %s", name,
                                    strerror(errno));
}

/* Opens what the task writes to. With no output at all, only standard error
 * has a pipe: for its last bytes. */
static int open_streams(struct bats_outlet *o,
                        const struct bats_runner_task *task,
                        struct bats_error *err)
{
    enum bats_output output = o->options->output;
    if (task->is_aside)
        return keep_file(o, fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3),
                         "standard error", err);
    if (output == BATS_OUTPUT_RESULTS)
        return open_results(o, own_directory(o, task), task->task,
                            task->is_replica ? task->attempt : 0, err);
    int rc = output == BATS_OUTPUT_NONE
                 ? keep_file(o, open("/dev/null", O_WRONLY | O_CLOEXEC),
                             "/dev/null", err)
                 : open_pipe(o, 0, err);
    return rc < 0 ? rc : open_pipe(o, 1, err);
}

int bats_outlet_open(struct bats_outlet *o,
                     const struct bats_runner_task *task, int fds[2],
                     struct bats_error *err)
{
    o->task = task->task;
    o->error.code = 0;
    o->n_last = 0;
    o->is_aside = task->is_aside;
    if (o->file != NULL && !task->is_aside)
        bats_outfile_begin(o->file, task->task, task->attempt);
    if (fds == NULL)
        return 0;
    int rc = open_streams(o, task, err);
    if (rc < 0) {
        bats_outlet_close(o);
        return rc;
    }
    for (int i = 0; i < 2; i++)
        fds[i] = o->stream[i].in >= 0 ? o->stream[i].out
                                      : o->files[task->is_aside ? 0 : i];
    return 0;
}

int bats_outlet_settle(struct bats_outlet *o, uint32_t task, uint32_t attempt,
                       bool is_result, struct bats_error *err)
{
    return o->results_dir != NULL
               ? settle_results(o->results_dir, task, attempt, is_result, err)
               : 0;
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Standard error's file stays open: its end is read if the task fails. */
void bats_outlet_started(struct bats_outlet *o)
{
    if (o->stream[0].in < 0)
        close_one(&o->files[0]);
}

void bats_outlet_close(struct bats_outlet *o)
{
    for (int i = 0; i < 2; i++) {
        close_one(&o->files[i]);
        close_one(&o->stream[i].in);
        close_one(&o->stream[i].out);
    }
}

void bats_outlet_retry(struct bats_outlet *o)
{
    for (int i = 0; i < 2; i++)
        if (o->stream[i].blocked)
            deliver(o, i);
}

static int failure(const struct bats_outlet *o, struct bats_error *err)
{
    if (o->error.code && err)
        *err = o->error;
    return o->error.code;
}

void bats_outlet_watch(const struct bats_outlet *o, struct pollfd fds[2])
{
    for (int i = 0; i < 2; i++) /* poll() ignores negative descriptors */
        fds[i] =
            (struct pollfd){.fd = o->stream[i].blocked ? -1 : o->stream[i].in,
                            .events = POLLIN};
}

int bats_outlet_take(struct bats_outlet *o, const struct pollfd fds[2],
                     struct bats_error *err)
{
    for (int i = 0; i < 2; i++)
        if (fds[i].revents)
            read_once(o, i);
    return failure(o, err);
}

int bats_outlet_drain(struct bats_outlet *o, struct bats_error *err)
{
    bool all = true;
    for (int i = 0; i < 2; i++) {
        struct stream *s = &o->stream[i];
        if (s->in < 0)
            continue;
        while (!s->blocked && read_once(o, i))
            ;
        if (!s->blocked && s->n > 0) { /* the last line has no newline */
            s->bytes[s->n++] = '\n';
            deliver(o, i);
        }
        all &= !s->blocked;
    }
    int rc = failure(o, err);
    return rc ? rc : all;
}

int bats_outlet_stderr(const struct bats_outlet *o)
{
    return o->stream[1].in >= 0 ? o->stream[1].out : o->files[1];
}

int bats_outlet_finish(struct bats_outlet *o,
                       struct bats_runner_result *result,
                       struct bats_error *err)
{
    struct bats_usage *usage = &result->usage;
    int rc = bats_outlet_drain(o, err);
    if (rc <= 0)
        return rc;
    for (int i = 0; i < 2; i++)
        if (o->stream[i].in >= 0)
            usage->written[i] = o->stream[i].total;
    if (o->file != NULL && !o->is_aside)
        bats_outfile_end(o->file, usage);
    if (!o->is_aside &&
        (result->cancelled || usage->exit_status != 0 || usage->signal != 0)) {
        if (o->stream[1].in < 0 && o->files[1] >= 0)
            read_last(o, o->files[1]);
        result->n_last = o->n_last < KEPT ? o->n_last : KEPT;
        result->last = o->last + o->n_last - result->n_last;
    }
    bats_outlet_close(o);
    return 1;
}
