#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bats/units.h"
#include "exec/output/spool.h"
#include "exec/process/environment.h"
#include "exec/process/runner.h"
#include "run/clock.h"
#include "run/executor.h"
#include "run/launcher.h"
#include "run/pernode.h"
#include "site/hardware.h"
#include "util/now.h"

#define MEMORY_US 500000 /* interval between checks for free memory */
/* A signal to a task and the same signal to its rank arrive within this
 * time. */
#define HEARSAY_US 250000

_Static_assert(BATS_OUTPUT_NONE + 1 == BATS_PROTO_OUTPUTS,
               "all kinds of output can be sent");
_Static_assert(BATS_BIND_NUMA + 1 == BATS_PROTO_BINDS,
               "all ways to bind can be sent");

#define THREADS "OMP_NUM_THREADS"

/* A task that was assigned: waiting or running. */
struct waiting {
    struct waiting *next;
    struct bats_assign a; /* its texts follow the struct */
    int64_t begin_us;     /* earliest start; 0: at once */
    char texts[];
};

/* The lines of the task that runs or has just ended, kept until its RESULT has
 * been judged. */
struct held {
    struct bats_spool spool[2]; /* standard output and error */
    bool asks;                  /* the lines do not fit into the RESULT;
                                 * then: */
    bool is_wanted;             /* the VERDICT counts the lines */
    int stream;                 /* stream being sent */
    int64_t offset;             /* offset of the next line */
    struct bats_error error;    /* the first error, or code 0 */
};

struct bats_executor {
    struct bats_executor_sink sink;
    struct bats_text next; /* a SETUP that counts before the next task */
    struct bats_runner *runner;
    struct bats_pernode node;
    bool ready;
    bool leaves;
    struct waiting *first;
    struct waiting **last; /* where the next entry is linked */
    size_t n_waiting;
    struct waiting *running; /* the running task, or the last one that ran */
    bool is_cancelled;       /* it was told to stop */
    /* Emulation of a machine that never answers: `running` is lost at
     * lost_at_us (INT64_MAX: never). Then the slot is silent until
     * noticed_at_us (INT64_MAX: never), or until the task is cancelled. */
    int64_t lost_at_us, noticed_at_us;
    bool is_silent;
    struct bats_runner_result lost;
    bool holds; /* lines wait in `held` until the task has ended */
    struct held held;
    enum bats_output output;
    int64_t memfree; /* free bytes required to start a task */
    bool stopping;
    int64_t kill_at_us; /* while stopping; INT64_MAX: not stopping */
    bool disbatch;
    enum bats_bind bind;
    bool sets_threads; /* set OMP_NUM_THREADS to the task's number of cores; */
    uint32_t threads;  /* of this slot; 0: unknown */
    /* Variables, each with its NUL: those of all tasks, and those of one. */
    struct bats_text common, variables;
};

/* The time in so many microseconds; INT64_MAX: never, if 0 or too far off. */
static int64_t in(int64_t us)
{
    int64_t at_us;
    return us > 0 && bats_units_add(bats_clock_now_us(), us, &at_us)
               ? at_us
               : INT64_MAX;
}

static bool offer_lines(void *context, uint32_t task, int stream,
                        const char *bytes, size_t n)
{
    struct bats_executor *x = context;
    struct bats_output_lines output = {task, stream, bytes, n};
    if (!x->holds)
        return x->sink.output(x->sink.context, &output);
    if (x->held.error.code == 0)
        bats_spool_add(&x->held.spool[stream - 1], bytes, n, &x->held.error);
    return true;
}

static void forget_lines(struct bats_executor *x)
{
    for (int i = 0; i < 2; i++)
        bats_spool_clear(&x->held.spool[i]);
    x->held.asks = false;
}

static void add_common(struct bats_executor *x, const char *name,
                       const char *value)
{
    bats_text_format(&x->common, "%s=%s%c", name, value, '\0');
}

static void add_variables(struct bats_executor *x,
                          const struct bats_setup *setup)
{
    x->disbatch = setup->task_file[0] != '\0';
    bats_text_cut(&x->common, 0);
    add_common(x, "BATS_RUN_ID", setup->run_id);
    add_common(x, "BATS_CLUSTER", setup->cluster);
    add_common(x, "BATS_MACHINE", setup->machine);
    if (!x->disbatch)
        return;
    add_common(x, "DISBATCH_JOBID", setup->run_id);
    add_common(x, "DISBATCH_NAMETASKS", setup->task_file);
}

static int set_up(struct bats_executor *x, const struct bats_setup *setup,
                  struct bats_error *err)
{
    x->bind = (enum bats_bind)setup->bind;
    x->threads = bats_hardware_bind(
        x->bind, (struct bats_share){setup->share_index, setup->share_count});
    x->output = (enum bats_output)setup->output;
    x->holds = setup->hold && x->output == BATS_OUTPUT_LINES;
    struct bats_runner_options options = {
        .output = x->output,
        .results_dir = setup->output_path,
        .stream_prefix = setup->output_path,
        .workdir = setup->workdir[0] != '\0' ? setup->workdir : NULL,
        .speed = setup->speed,
        .grace_ms = setup->grace_ms,
        .lines = offer_lines,
        .context = x,
    };
    x->memfree = setup->memfree;
    if (setup->nice > 0)
        setpriority(PRIO_PROCESS, 0, setup->nice); /* tasks inherit it */
    x->ready = setup->n_start == 0 && setup->n_stop == 0;
    add_variables(x, setup);
    int rc = bats_text_check(&x->common, err);
    if (rc == 0 && !x->ready)
        rc = bats_pernode_init(&x->node, setup, err);
    if (x->runner != NULL)
        bats_runner_destroy(x->runner);
    x->runner = NULL;
    return rc == 0 ? bats_runner_create(&options, &x->runner, err) : rc;
}

int bats_executor_create(const struct bats_setup *setup,
                         const struct bats_executor_sink *sink,
                         struct bats_executor **executor,
                         struct bats_error *err)
{
    struct bats_executor *x = calloc(1, sizeof *x);
    if (x == NULL || (x->running = calloc(1, sizeof *x->running)) == NULL) {
        bats_executor_destroy(x);
        return bats_no_memory(err);
    }
    x->sets_threads = getenv(THREADS) == NULL;
    x->sink = *sink;
    x->last = &x->first;
    x->kill_at_us = x->lost_at_us = INT64_MAX;
    for (int i = 0; i < 2; i++)
        bats_spool_init(&x->held.spool[i]);
    int rc = set_up(x, setup, err);
    if (rc < 0)
        bats_executor_destroy(x);
    else
        *executor = x;
    return rc;
}

int bats_executor_change(struct bats_executor *x,
                         const struct bats_setup *setup,
                         struct bats_error *err)
{
    bats_text_cut(&x->next, 0);
    bats_proto_put(&x->next, BATS_SAY(BATS_MESSAGE_SETUP, .u.setup = *setup));
    return bats_text_check(&x->next, err);
}

static int take_next(struct bats_executor *x, struct bats_error *err)
{
    struct bats_message setup;
    if (x->next.n == 0)
        return 0;
    int rc = bats_proto_open(x->next.bytes, x->next.n, &setup, err);
    if (rc == 0)
        rc = set_up(x, &setup.u.setup, err);
    bats_text_cut(&x->next, 0);
    return rc;
}

static struct waiting *unhook(struct bats_executor *x, struct waiting **at)
{
    struct waiting *w = *at;
    *at = w->next;
    if (x->last == &w->next)
        x->last = at;
    x->n_waiting--;
    return w;
}

void bats_executor_destroy(struct bats_executor *x)
{
    if (x == NULL)
        return;
    if (x->runner != NULL)
        bats_runner_destroy(x->runner);
    bats_pernode_release(&x->node);
    while (x->first != NULL)
        free(unhook(x, &x->first));
    free(x->running);
    bats_text_release(&x->next);
    bats_text_release(&x->common);
    bats_text_release(&x->variables);
    for (int i = 0; i < 2; i++)
        bats_spool_release(&x->held.spool[i]);
    free(x);
}

static void never_started(struct bats_executor *x, const struct bats_assign *a)
{
    struct bats_task_result result = {
        .task = a->task, .attempt = a->attempt, .cancelled = true};
    x->sink.result(x->sink.context, &result);
}

static const char *put(char **texts, const char *bytes, size_t n)
{
    char *at = *texts;
    *texts = mempcpy(at, bytes, n);
    return at;
}

static struct waiting *copy(const struct bats_assign *a)
{
    size_t n = strlen(a->command) + 1, n_holds = strlen(a->holds) + 1;
    struct waiting *w =
        malloc(sizeof *w + n + n_holds + a->n_variables + a->n_outputs);
    if (w == NULL)
        return NULL;
    *w = (struct waiting){
        .a = *a,
        .begin_us = a->wait_us > 0 ? bats_clock_now_us() + a->wait_us : 0};
    char *texts = w->texts;
    w->a.command = put(&texts, a->command, n);
    w->a.holds = put(&texts, a->holds, n_holds);
    w->a.variables = put(&texts, a->variables, a->n_variables);
    w->a.outputs = put(&texts, a->outputs, a->n_outputs);
    return w;
}

static int enqueue(struct bats_executor *x, struct bats_message *assign,
                   struct bats_error *err)
{
    struct bats_assign a;
    while (bats_proto_next_assign(assign, &a)) {
        if (x->stopping) {
            never_started(x, &a);
            continue;
        }
        struct waiting *w = copy(&a);
        if (w == NULL)
            return bats_no_memory(err);
        *x->last = w;
        x->last = &w->next;
        x->n_waiting++;
    }
    return 0;
}

/* Reports the entry, which has never started, and frees it. */
static void drop(struct bats_executor *x, struct waiting **at)
{
    struct waiting *w = unhook(x, at);
    never_started(x, &w->a);
    free(w);
}

static int tell_result(struct bats_executor *x,
                       const struct bats_runner_result *r,
                       struct bats_error *err);

/* Ends the emulated silence of the slot. */
static int break_silence(struct bats_executor *x, struct bats_error *err)
{
    x->is_silent = false;
    x->lost_at_us = INT64_MAX;
    x->lost.cancelled = true;
    x->lost.usage.signal = SIGTERM;
    x->lost.usage.wall_us =
        bats_now_us(CLOCK_REALTIME) - x->lost.usage.start_us;
    int rc = tell_result(x, &x->lost, err);
    return rc < 0 ? rc : 0;
}

static int cancel(struct bats_executor *x, uint32_t task,
                  struct bats_error *err)
{
    if (x->is_silent && x->running->a.task == task)
        return break_silence(x, err);
    if (x->ready && bats_runner_busy(x->runner) &&
        x->running->a.task == task) {
        x->lost_at_us = INT64_MAX; /* its emulated loss is off */
        x->is_cancelled = true;
        bats_runner_cancel(x->runner);
        return 0;
    }
    for (struct waiting **at = &x->first; *at; at = &(*at)->next)
        if ((*at)->a.task == task) {
            drop(x, at);
            return 0;
        }
    return 0;
}

static int settle(struct bats_executor *x, const struct bats_verdict *v,
                  struct bats_error *err)
{
    if (!x->held.asks)
        return bats_runner_settle(x->runner, v->task, v->attempt, v->is_result,
                                  err);
    x->held.is_wanted = v->is_result;
    if (!v->is_result)
        forget_lines(x);
    return 0;
}

int bats_executor_obey(struct bats_executor *x, struct bats_message *message,
                       struct bats_error *err)
{
    switch (message->type) {
    case BATS_MESSAGE_ASSIGN:
        return enqueue(x, message, err);
    case BATS_MESSAGE_CANCEL:
        return cancel(x, message->u.task, err);
    case BATS_MESSAGE_VERDICT:
        return settle(x, &message->u.verdict, err);
    case BATS_MESSAGE_STOP:
        bats_executor_stop(x, 0);
        return 0;
    default:
        return 0;
    }
}

void bats_executor_stop(struct bats_executor *x, int64_t grace_us)
{
    x->stopping = true;
    while (x->first != NULL)
        drop(x, &x->first);
    struct bats_error why;
    if (x->is_silent)
        break_silence(x, &why);
    x->lost_at_us = INT64_MAX;
    if (!bats_runner_busy(x->runner))
        return;
    if (grace_us > 0) {
        bats_runner_cancel(x->runner);
        x->kill_at_us = in(grace_us);
    } else {
        bats_runner_kill(x->runner);
    }
}

static void ignore_result(void *context, const struct bats_task_result *result)
{
}

static bool ignore_lines(void *context, const struct bats_output_lines *output)
{
    return true;
}

void bats_executor_wind_up(struct bats_executor *x)
{
    struct bats_runner_result r;
    struct bats_error err;
    x->sink = (struct bats_executor_sink){NULL, ignore_result, ignore_lines};
    x->holds = false;
    bats_executor_stop(x, INT64_MAX);
    while (bats_runner_busy(x->runner) &&
           bats_runner_poll(x->runner, INT64_MAX, &r, &err) == 0)
        ;
}

bool bats_executor_go_on(struct bats_executor *x)
{
    bats_text_cut(&x->next, 0);
    while (x->first != NULL)
        free(unhook(x, &x->first));
    if (x->held.asks) { /* the next master gets them from the start */
        x->held.is_wanted = false;
        x->held.stream = 1;
        x->held.offset = 0;
    }
    return !x->stopping &&
           (x->held.asks || (bats_runner_busy(x->runner) && !x->is_cancelled &&
                             !x->running->a.once));
}

void bats_executor_runs(const struct bats_executor *x, uint32_t *task,
                        uint32_t *attempt)
{
    *task = x->running->a.task;
    *attempt = bats_runner_busy(x->runner) ? x->running->a.attempt : 0;
}

bool bats_executor_asks(const struct bats_executor *x, uint32_t task,
                        uint32_t attempt)
{
    return x->held.asks && x->running->a.task == task &&
           x->running->a.attempt == attempt;
}

size_t bats_executor_waiting(const struct bats_executor *x)
{
    return x->held.asks || x->is_silent || !x->ready ? 0 : x->n_waiting;
}

bool bats_executor_busy(const struct bats_executor *x)
{
    return x->first != NULL || x->held.asks || x->is_silent ||
           bats_runner_busy(x->runner) || (!x->ready && !x->stopping);
}

bool bats_executor_ready(const struct bats_executor *x)
{
    return x->ready;
}

bool bats_executor_leave(struct bats_executor *x, int64_t timeout_us)
{
    struct bats_runner_result end;
    if (!x->node.is_due)
        return true;
    if (!x->leaves && bats_runner_busy(x->runner))
        bats_runner_poll(x->runner, timeout_us, &end, NULL);
    if (!x->leaves && bats_runner_busy(x->runner))
        return false;
    x->leaves = true;
    x->node.is_due = bats_pernode_run(&x->node, true, &x->common, x->runner,
                                      timeout_us, &end, NULL) == 0;
    return !x->node.is_due;
}

/* Runs the first command of the node. */
static int get_ready(struct bats_executor *x, int64_t timeout_us,
                     struct bats_error *err)
{
    char number[16];
    struct bats_runner_result end;
    int rc = bats_pernode_run(&x->node, false, &x->common, x->runner,
                              timeout_us, &end, err);
    if (rc <= 0)
        return rc;
    if (end.cancelled) /* the run is ending */
        return 0;
    if (end.usage.exit_status != 0)
        return bats_error_set(err, BATS_ESYS,
                              "PERENGINE START has failed, exit %d",
                              end.usage.exit_status);
    snprintf(number, sizeof number, "%" PRIu32, bats_pernode_number(&x->node));
    x->ready = true;
    add_common(x, "DISBATCH_ENGINE_RANK", number);
    return bats_text_check(&x->common, err);
}

/* The environment of a task: an array for free(), or NULL. */
static const char **environment_of(struct bats_executor *x,
                                   const struct bats_assign *a)
{
    struct bats_text *t = &x->variables;
    bats_text_cut(t, 0);
    bats_text_put(t, a->variables, a->n_variables);
    bats_text_put(t, x->common.bytes, x->common.n);
    bats_text_format(t,
                     "BATS_TASK_ID=%" PRIu64 "%cBATS_ATTEMPT=%" PRIu32
                     "%cBATS_REPLICA=%" PRIu32 "%c",
                     (uint64_t)a->task + 1, '\0', a->attempt, '\0', a->replica,
                     '\0');
    /* disBatch counts tasks from 0 and pads to six digits. */
    if (x->disbatch)
        bats_text_format(t,
                         "DISBATCH_TASKID=%" PRIu32
                         "%cDISBATCH_TASKID_ZP=%06" PRIu32 "%c",
                         a->task, '\0', a->task, '\0');
    uint32_t threads = a->cores > 1 ? a->cores : x->threads;
    if (x->sets_threads && threads > 0)
        bats_text_format(t, THREADS "=%" PRIu32 "%c", threads, '\0');
    return bats_environment_list(t);
}

static void fall_silent(struct bats_executor *x,
                        const struct bats_runner_result *r)
{
    x->is_silent = true;
    x->noticed_at_us = in(x->running->a.noticed_us);
    x->lost = *r;
    forget_lines(x);
}

/* Free or reclaimable memory, bytes; INT64_MAX: unknown. */
static int64_t free_memory(void)
{
    char line[128];
    long long kib = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file != NULL && kib == 0 && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "MemAvailable: %lld kB", &kib);
    if (file != NULL)
        fclose(file);
    return kib > 0 ? (int64_t)kib * 1024 : INT64_MAX;
}

/* Time until the next task may begin, or until the next check; 0: now. */
static int64_t holds_back_us(const struct bats_executor *x)
{
    int64_t wait_us = x->first->begin_us - bats_clock_now_us();
    if (wait_us > 0)
        return wait_us;
    return x->memfree > 0 && free_memory() < x->memfree ? MEMORY_US : 0;
}

static int start_bound(struct bats_executor *x, const struct waiting *w,
                       const struct bats_runner_task *task,
                       struct bats_error *err)
{
    cpu_set_t mine;
    bool moves = w->a.cores > 1 &&
                 sched_getaffinity(0, sizeof mine, &mine) == 0 &&
                 bats_hardware_bind_to(x->bind, w->a.holds) > 0;
    int rc = bats_runner_start(x->runner, task, err);
    if (moves)
        sched_setaffinity(0, sizeof mine, &mine);
    return rc;
}

static int start_next(struct bats_executor *x, struct bats_error *err)
{
    struct waiting *w = unhook(x, &x->first);
    bool is_process = w->a.command[0] != '\0';
    const char **environment = NULL;
    free(x->running);
    x->running = w;
    if (is_process && (environment = environment_of(x, &w->a)) == NULL)
        return bats_no_memory(err);
    struct bats_runner_task task = {
        .task = w->a.task,
        .attempt = w->a.attempt,
        .is_replica = w->a.replica > 0,
        .command = is_process ? w->a.command : NULL,
        .sleep_us = w->a.sleep_us,
        .environment = environment,
        .memory_kib = w->a.memory_kib,
        .outputs = w->a.outputs,
        .n_outputs = w->a.n_outputs,
    };
    x->is_cancelled = false;
    bool begins_lost = w->a.lost_us == 1;
    x->lost_at_us = in(w->a.lost_us);
    if (begins_lost)
        fall_silent(x, &(struct bats_runner_result){
                           .task = w->a.task,
                           .usage.start_us = bats_now_us(CLOCK_REALTIME)});
    int rc = begins_lost ? 0 : start_bound(x, w, &task, err);
    free(environment);
    return rc;
}

static int enclose_lines(struct bats_executor *x,
                         struct bats_task_result *result,
                         struct bats_error *err)
{
    struct held *h = &x->held;
    if (h->error.code != 0) {
        *err = h->error;
        return err->code;
    }
    h->asks = !bats_spool_in_memory(&h->spool[0]) ||
              !bats_spool_in_memory(&h->spool[1]);
    result->asks |= h->asks;
    for (int i = 0; i < 2; i++) {
        if (h->asks) {
            result->to_come[i] = bats_spool_size(&h->spool[i]);
        } else {
            result->lines[i] = h->spool[i].bytes;
            result->n_lines[i] = h->spool[i].n;
        }
    }
    h->is_wanted = false;
    h->stream = 1;
    h->offset = 0;
    return 0;
}

/* True if the process, or the command its shell waited for, died of the
 * signal. */
static bool died_of(const struct bats_runner_result *r, int signal)
{
    return r->usage.signal == signal || r->usage.exit_status == 128 + signal;
}

/* A batch system tells tasks and ranks to end at the same time: a task that
 * ends before this process learns of it has not failed. */
static bool was_told_to_end(const struct bats_runner_result *r)
{
    bool perhaps = died_of(r, SIGTERM) || died_of(r, SIGKILL);
    int64_t patience_us = perhaps ? HEARSAY_US : 0;
    if (r->cancelled || r->out_of_memory)
        return r->cancelled;
    if (r->usage.signal == 0 && r->usage.exit_status == 0)
        return false;
    for (; patience_us > 0 && bats_signals_terminate() == 0;
         patience_us -= HEARSAY_US / 20)
        bats_clock_sleep(HEARSAY_US / 20);
    return bats_signals_terminate() > 0;
}

static int tell_result(struct bats_executor *x,
                       const struct bats_runner_result *r,
                       struct bats_error *err)
{
    struct bats_task_result result = {
        .task = r->task,
        .attempt = x->running->a.attempt,
        .cancelled = was_told_to_end(r),
        .out_of_memory = r->out_of_memory,
        .asks = x->running->a.replica > 0 && x->output == BATS_OUTPUT_RESULTS,
        .usage = r->usage,
        .last = r->last,
        .n_last = r->n_last,
    };
    int rc = x->holds ? enclose_lines(x, &result, err) : 0;
    if (rc < 0)
        return rc;
    x->sink.result(x->sink.context, &result);
    if (!x->held.asks)
        forget_lines(x);
    return 1;
}

/* Sends lines that count until the receiver returns "not now". */
static int send_lines(struct bats_executor *x, struct bats_error *err)
{
    struct held *h = &x->held;
    const char *lines;
    while (h->asks && h->is_wanted) {
        ptrdiff_t n =
            bats_spool_lines(&h->spool[h->stream - 1], h->offset, &lines, err);
        struct bats_output_lines output = {x->running->a.task, h->stream,
                                           lines, (size_t)n};
        if (n < 0)
            return (int)n;
        if (n > 0 && !x->sink.output(x->sink.context, &output))
            return 0;
        h->offset += n;
        if (n > 0)
            continue;
        h->offset = 0;
        if (h->stream++ == 2)
            forget_lines(x);
    }
    return 0;
}

/* The time until `at_us` (INT64_MAX: never), at most `most_us`. */
static int64_t until(int64_t at_us, int64_t most_us)
{
    int64_t left_us =
        at_us == INT64_MAX ? INT64_MAX : at_us - bats_clock_now_us();
    return left_us < most_us ? left_us : most_us;
}

/* Starts the next task, if it may begin. Returns 1; 0: it may not, and the time
 * has been slept away. */
static int begin(struct bats_executor *x, int64_t timeout_us,
                 struct bats_error *err)
{
    bool waits = x->first == NULL || x->held.asks || x->is_silent;
    int64_t wait_us = waits ? timeout_us : holds_back_us(x);
    if (waits || wait_us > 0) {
        bats_clock_sleep(wait_us < timeout_us ? wait_us : timeout_us);
        return 0;
    }
    int rc = take_next(x, err);
    if (rc < 0 || !x->ready) /* a first command of the node comes before */
        return rc;
    rc = start_next(x, err);
    return rc < 0 ? rc : !x->is_silent;
}

int bats_executor_poll(struct bats_executor *x, int64_t timeout_us,
                       struct bats_error *err)
{
    struct bats_runner_result r;
    int rc = send_lines(x, err);
    if (rc < 0)
        return rc;
    if (!x->ready && (!x->stopping || bats_runner_busy(x->runner)))
        return get_ready(x, timeout_us, err);
    if (x->is_silent) {
        int64_t left_us = until(x->noticed_at_us, INT64_MAX);
        if (left_us <= 0)
            return (rc = break_silence(x, err)) < 0 ? rc : 1;
        timeout_us = left_us < timeout_us ? left_us : timeout_us;
    }
    if (!bats_runner_busy(x->runner) && (rc = begin(x, timeout_us, err)) <= 0)
        return rc;
    bool is_lost = until(x->lost_at_us, INT64_MAX) <= 0;
    bool is_late = until(x->kill_at_us, INT64_MAX) <= 0;
    if (is_lost || is_late)
        bats_runner_kill(x->runner);
    if (is_late)
        x->kill_at_us = INT64_MAX;
    if (!is_lost)
        timeout_us = until(x->lost_at_us, until(x->kill_at_us, timeout_us));
    rc = bats_runner_poll(x->runner, timeout_us, &r, err);
    if (rc <= 0)
        return rc;
    if (!is_lost)
        return tell_result(x, &r, err);
    fall_silent(x, &r);
    return 0;
}
