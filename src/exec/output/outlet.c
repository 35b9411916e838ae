#include "exec/output/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exec/output/results.h"

struct bats_outlet bats_outlet_none(void)
{
    return (struct bats_outlet){.stream = {{.in = -1}, {.in = -1}},
                                .files = {-1, -1}};
}

int bats_outlet_init(struct bats_outlet *outlet,
                     const struct bats_runner_options *options,
                     struct bats_error *err)
{
    *outlet = bats_outlet_none();
    outlet->options = options;
    bool memory = bats_stream_init(&outlet->stream[0]);
    memory &= bats_stream_init(&outlet->stream[1]);
    outlet->stream[1].last_bytes = &outlet->last;
    if (options->output == BATS_OUTPUT_RESULTS)
        memory &= (outlet->results_dir = strdup(options->results_dir)) != NULL;
    if (!memory)
        return bats_no_memory(err);
    if (options->output == BATS_OUTPUT_STREAM)
        return bats_outfile_create(options->stream_prefix, &outlet->file, err);
    return 0;
}

void bats_outlet_release(struct bats_outlet *outlet)
{
    bats_outlet_close(outlet);
    bats_stream_release(&outlet->stream[0]);
    bats_stream_release(&outlet->stream[1]);
    bats_outfile_destroy(outlet->file);
    free(outlet->results_dir);
    *outlet = bats_outlet_none();
}

/* ---- takers of bytes; their failures are reported later ---- */

static bool take_lines(void *context, uint32_t task, int stream,
                       const char *bytes, size_t n)
{
    const struct bats_runner_options *o =
        ((struct bats_outlet *)context)->options;
    return o->lines(o->context, task, stream, bytes, n);
}

static bool take_for_outfile(void *context, uint32_t task, int stream,
                             const char *bytes, size_t n)
{
    struct bats_outlet *outlet = context;

    (void)task;
    if (outlet->error.code == 0)
        bats_outfile_add(outlet->file, stream, bytes, n, &outlet->error);
    return true;
}

static bool take_for_results(void *context, uint32_t task, int stream,
                             const char *bytes, size_t n)
{
    struct bats_outlet *outlet = context;

    while (n > 0 && outlet->error.code == 0) {
        ssize_t done = write(outlet->files[stream - 1], bytes, n);
        if (done > 0) {
            bytes += done;
            n -= (size_t)done;
        } else if (done == 0 || errno != EINTR) {
            bats_error_set(&outlet->error, BATS_ESYS,
                           "%.300s/%llu: cannot write the output of this "
                           "task: %s",
                           outlet->results_dir, (unsigned long long)task + 1,
                           strerror(errno));
        }
    }
    return true;
}

static bool take_nothing(void *context, uint32_t task, int stream,
                         const char *bytes, size_t n)
{
    (void)context, (void)task, (void)stream, (void)bytes, (void)n;
    return true;
}

/* Opens a pipe for stream i. */
static int open_pipe(struct bats_outlet *outlet, int i, struct bats_error *err)
{
    enum bats_output output = outlet->options->output;

    outlet->stream[i].to = (struct bats_stream_taker){
        .take = output == BATS_OUTPUT_STREAM    ? take_for_outfile
                : output == BATS_OUTPUT_RESULTS ? take_for_results
                : output == BATS_OUTPUT_NONE    ? take_nothing
                                                : take_lines,
        .context = outlet,
        .task = outlet->task,
        .stream = i + 1,
        .raw = output != BATS_OUTPUT_LINES,
    };
    if (bats_stream_open(&outlet->stream[i], outlet->options->max_output))
        return 0;
    return bats_error_set(err, BATS_ESYS,
                          "cannot make a pipe for the output of a task: %s",
                          strerror(errno));
}

/* ---- one task ---- */

static int open_null(struct bats_outlet *outlet, struct bats_error *err)
{
    outlet->files[0] = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (outlet->files[0] < 0)
        return bats_error_set(err, BATS_ESYS, "cannot open /dev/null: %s",
                              strerror(errno));
    return 0;
}

/* The task's own directory; NULL: it has none. */
static const char *own_directory(const struct bats_outlet *outlet,
                                 const struct bats_runner_task *task)
{
    static const char name[] = "BATS_RESULTS=";
    const char *own = NULL;
    if (outlet->results_dir[0] != '\0')
        return NULL;
    for (const char *const *at = task->environment; at && *at; at++)
        if (strncmp(*at, name, sizeof name - 1) == 0)
            own = *at + sizeof name - 1;
    return own;
}

/* Opens what the task writes to. With no output at all, only standard error
 * has a pipe: for its last bytes. */
static int open_streams(struct bats_outlet *outlet,
                        const struct bats_runner_task *task,
                        struct bats_error *err)
{
    enum bats_output output = outlet->options->output;
    int rc = 0;

    if (output == BATS_OUTPUT_RESULTS)
        rc = bats_results_open(
            outlet->results_dir, own_directory(outlet, task), task->task,
            task->is_replica ? task->attempt : 0, outlet->files, err);
    else if (output == BATS_OUTPUT_NONE)
        rc = open_null(outlet, err);
    if (rc < 0 ||
        (output == BATS_OUTPUT_RESULTS && outlet->options->max_output == 0))
        return rc;
    if (output != BATS_OUTPUT_NONE)
        rc = open_pipe(outlet, 0, err);
    return rc < 0 ? rc : open_pipe(outlet, 1, err);
}

static int open_aside(struct bats_outlet *outlet, int fds[2],
                      struct bats_error *err)
{
    outlet->files[0] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (outlet->files[0] < 0)
        return bats_error_set(err, BATS_ESYS, "cannot use standard error: %s",
                              strerror(errno));
    fds[0] = fds[1] = outlet->files[0];
    return 0;
}

int bats_outlet_open(struct bats_outlet *outlet,
                     const struct bats_runner_task *task, int fds[2],
                     struct bats_error *err)
{
    outlet->task = task->task;
    outlet->error.code = 0;
    outlet->last.n = 0;
    outlet->is_aside = task->is_aside;
    if (task->is_aside)
        return open_aside(outlet, fds, err);
    if (outlet->file)
        bats_outfile_begin(outlet->file, task->task, task->attempt);
    if (!fds)
        return 0;
    int rc = open_streams(outlet, task, err);
    if (rc) {
        bats_outlet_close(outlet);
        return rc;
    }
    for (int i = 0; i < 2; i++)
        fds[i] = outlet->stream[i].in >= 0 ? outlet->stream[i].out
                                           : outlet->files[i];
    return 0;
}

int bats_outlet_settle(struct bats_outlet *outlet, uint32_t task,
                       uint32_t attempt, bool is_result,
                       struct bats_error *err)
{
    if (outlet->results_dir != NULL)
        return bats_results_settle(outlet->results_dir, task, attempt,
                                   is_result, err);
    if (outlet->file != NULL && !is_result)
        return bats_outfile_disown(outlet->file, task, attempt, err);
    return 0;
}

static void close_file(struct bats_outlet *outlet, int i)
{
    if (outlet->files[i] >= 0)
        close(outlet->files[i]);
    outlet->files[i] = -1;
}

/* Standard error's file stays open: its end is read if the task fails. */
void bats_outlet_started(struct bats_outlet *outlet)
{
    if (outlet->stream[0].in < 0)
        close_file(outlet, 0);
}

void bats_outlet_close(struct bats_outlet *outlet)
{
    close_file(outlet, 0);
    close_file(outlet, 1);
    bats_stream_close(&outlet->stream[0]);
    bats_stream_close(&outlet->stream[1]);
}

void bats_outlet_retry(struct bats_outlet *outlet)
{
    bats_stream_retry(&outlet->stream[0]);
    bats_stream_retry(&outlet->stream[1]);
}

/* Reports the first failure of this task, if there was one. */
static int failure(const struct bats_outlet *outlet, struct bats_error *err)
{
    if (outlet->error.code && err)
        *err = outlet->error;
    return outlet->error.code;
}

void bats_outlet_watch(const struct bats_outlet *outlet, struct pollfd fds[2])
{
    for (int i = 0; i < 2; i++) /* poll() ignores negative descriptors */
        fds[i] = (struct pollfd){
            .fd = outlet->stream[i].blocked ? -1 : outlet->stream[i].in,
            .events = POLLIN};
}

int bats_outlet_take(struct bats_outlet *outlet, const struct pollfd fds[2],
                     struct bats_error *err)
{
    for (int i = 0; i < 2; i++)
        if (fds[i].revents)
            bats_stream_read(&outlet->stream[i]);
    return failure(outlet, err);
}

int bats_outlet_drain(struct bats_outlet *outlet, struct bats_error *err)
{
    bool all = true;

    for (int i = 0; i < 2; i++)
        if (outlet->stream[i].in >= 0)
            all &= bats_stream_finish(&outlet->stream[i]);
    int rc = failure(outlet, err);
    return rc ? rc : all;
}

int bats_outlet_stderr(const struct bats_outlet *outlet)
{
    return outlet->stream[1].in >= 0 ? outlet->stream[1].out
                                     : outlet->files[1];
}

int bats_outlet_finish(struct bats_outlet *outlet,
                       struct bats_runner_result *result,
                       struct bats_error *err)
{
    struct bats_usage *usage = &result->usage;
    int rc = bats_outlet_drain(outlet, err);
    if (rc <= 0)
        return rc;
    for (int i = 0; i < 2; i++)
        if (outlet->stream[i].in >= 0)
            usage->written[i] = outlet->stream[i].total;
    if (outlet->is_aside) {
        bats_outlet_close(outlet);
        return 1;
    }
    if (outlet->file &&
        (rc = bats_outfile_end(outlet->file, result->cancelled, usage, err)))
        return rc;
    if (result->cancelled || usage->exit_status != 0 || usage->signal != 0) {
        if (outlet->stream[1].in < 0 && outlet->files[1] >= 0)
            bats_last_read(&outlet->last, outlet->files[1]);
        result->last = bats_last_bytes(&outlet->last, &result->n_last);
    }
    bats_outlet_close(outlet);
    return 1;
}
