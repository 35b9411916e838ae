#include "exec/process/runner.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/output/outlet.h"
#include "exec/process/cgroup.h"
#include "exec/process/environment.h"
#include "exec/process/family.h"
#include "exec/process/pace.h"
#include "util/now.h"
#include "util/wake.h"

#define NEVER INT64_MAX
#define MEMORY_US 1000000 /* between two checks of a task's memory */
#define LOOK_US 5000      /* between two checks of a process without a pidfd */
#define YIELD 85
/* most missing files named: they fit into a pipe that nobody reads now */
#define TOLD 10

enum phase {
    PHASE_FREE,
    PHASE_SLEEPING, /* built-in sleep, until `until` */
    PHASE_RUNNING,  /* the main process `pid` lives */
    PHASE_CLEARING, /* the main process is reaped, but a process it left behind
                     * lives */
    PHASE_ENDED     /* the result is reported at `until`, after the output */
};

struct bats_runner {
    struct bats_runner_options options;
    struct bats_environment environment;
    struct bats_family family;
    struct bats_cgroup cgroup;
    struct bats_outlet *outlet;
    enum phase phase;
    const char *outputs; /* files of the task, not checked yet */
    size_t n_outputs;
    struct bats_runner_result result; /* as far as known */
    pid_t pid;                        /* the main process, also its process
                                       * group */
    int pidfd;                        /* of the process we wait for; -1: not
                                       * available (an old kernel, a
                                       * container) */
    int64_t start;                    /* monotonic clock, as all times below */
    int64_t until;                    /* see enum phase */
    int64_t kill_at;                  /* when KILL is sent */
    int64_t memory_kib;               /* 0: no limit */
    int64_t memory_at;                /* time of the next check of memory */
    int64_t held_kib;                 /* the highest value seen */
    int64_t oom_kills;                /* kills by the kernel seen so far */
    struct bats_pace pace;
    int64_t rss_kib; /* maximum of this process so far */
    sigset_t woken;  /* signals that do not end a sleep */
};

static int64_t now_us(void)
{
    return bats_now_us(CLOCK_MONOTONIC);
}

/* ---- create and destroy ---- */

/* A process started with SIGCHLD ignored would not learn how its children
 * end. */
static void notice_children(void)
{
    struct sigaction action;
    if (sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
        signal(SIGCHLD, SIG_DFL);
}

int bats_runner_create(const struct bats_runner_options *options,
                       struct bats_runner **runner, struct bats_error *err)
{
    struct bats_runner *r = calloc(1, sizeof *r);
    int rc;
    if (!r)
        return bats_no_memory(err);
    r->options = *options;
    r->pidfd = r->family.alive = r->family.null = -1;
    if (r->options.vmstat == NULL)
        r->options.vmstat = "/proc/vmstat";
    r->oom_kills = bats_family_oom_kills(r->options.vmstat);
    bats_wake_mask(&r->woken);
    notice_children();
    if ((rc = bats_environment_init(&r->environment, environ, err)) ||
        (rc = bats_family_init(&r->family, options->workdir, err)) ||
        (rc = bats_outlet_create(&r->options, &r->outlet, err))) {
        bats_runner_destroy(r);
        return rc;
    }
    *runner = r;
    return 0;
}

static void reap(pid_t pid, struct rusage *usage, int *status)
{
    while (wait4(pid, status, 0, usage) < 0 && errno == EINTR)
        ;
}

void bats_runner_destroy(struct bats_runner *r)
{
    pid_t left;
    if (!r)
        return;
    if (r->phase == PHASE_RUNNING) {
        kill(-r->pid, SIGKILL);
        reap(r->pid, NULL, NULL);
        r->phase = PHASE_CLEARING;
    }
    if (r->phase == PHASE_CLEARING)
        while ((left = bats_family_sweep(&r->family, true)))
            reap(left, NULL, NULL);
    if (r->pidfd >= 0)
        close(r->pidfd);
    bats_outlet_destroy(r->outlet);
    bats_family_release(&r->family);
    bats_cgroup_release(&r->cgroup);
    bats_environment_release(&r->environment);
    free(r);
}

bool bats_runner_busy(const struct bats_runner *r)
{
    return r->phase != PHASE_FREE;
}

/* ---- start ---- */

/* Reports that not even the shell can be started (the line is too long, for
 * instance). */
static void refuse(struct bats_runner *r, int code, int fd)
{
    dprintf(fd, "bats-mpi: /bin/sh: %s\n", strerror(code));
    r->result.usage.exit_status = code == ENOENT ? 127 : 126;
    r->until = r->start;
    r->phase = PHASE_ENDED;
}

static int start_process(struct bats_runner *r,
                         const struct bats_runner_task *task,
                         struct bats_error *err)
{
    char **environment =
        bats_environment_merge(&r->environment, task->environment);
    int fds[2];
    if (!environment)
        return bats_no_memory(err);
    int rc = bats_outlet_open(r->outlet, task, fds, err);
    if (rc)
        return rc;
    char *entering =
        r->memory_kib > 0
            ? bats_cgroup_enter(&r->cgroup, r->memory_kib, task->command)
            : NULL;
    rc = bats_family_run(&r->family, entering ? entering : task->command,
                         environment, fds, &r->pid);
    free(entering);
    if (rc == EAGAIN || rc == ENOMEM) {
        bats_outlet_close(r->outlet);
        return bats_error_set(err, BATS_ESYS, "cannot start a process: %s",
                              strerror(rc));
    }
    if (rc) {
        refuse(r, rc, fds[1]);
    } else {
        bats_family_guard(&r->family, r->pid);
        r->phase = PHASE_RUNNING;
        bats_pace_begin(&r->pace, r->options.speed, r->start);
        r->pidfd = pidfd_open(r->pid, 0);
    }
    bats_outlet_started(r->outlet);
    return 0;
}

int bats_runner_start(struct bats_runner *r,
                      const struct bats_runner_task *task,
                      struct bats_error *err)
{
    if (r->phase != PHASE_FREE)
        return bats_error_set(err, BATS_ESTATE,
                              "a task is started while another one runs");
    r->result = (struct bats_runner_result){
        .task = task->task, .usage.start_us = bats_now_us(CLOCK_REALTIME)};
    r->start = now_us();
    r->kill_at = NEVER;
    r->outputs = task->outputs;
    r->n_outputs = task->n_outputs;
    r->memory_kib = task->memory_kib;
    r->memory_at = task->memory_kib > 0 ? r->start + MEMORY_US : NEVER;
    r->held_kib = 0;
    if (task->command)
        return start_process(r, task, err);
    int rc = bats_outlet_open(r->outlet, task, NULL, err);
    if (rc)
        return rc;
    r->until = r->start + (task->sleep_us > 0 ? task->sleep_us : 0);
    r->phase = PHASE_SLEEPING;
    return 0;
}

int bats_runner_settle(struct bats_runner *r, uint32_t task, uint32_t attempt,
                       bool is_result, struct bats_error *err)
{
    return bats_outlet_settle(r->outlet, task, attempt, is_result, err);
}

/* ---- cancel ---- */

/* True if the main process has ended. Does not reap it. */
static bool has_ended(const struct bats_runner *r)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) ==
               0 &&
           info.si_pid;
}

void bats_runner_cancel(struct bats_runner *r)
{
    if (r->phase != PHASE_RUNNING) {
        bats_runner_kill(r);
        return;
    }
    if (r->result.cancelled)
        return;
    /* Has the task ended without being noticed? */
    if (has_ended(r))
        return;
    r->result.cancelled = true;
    r->kill_at = now_us() + r->options.grace_ms * 1000;
    kill(-r->pid, SIGTERM);
    kill(-r->pid, SIGCONT); /* a stopped process could not act on it */
}

void bats_runner_kill(struct bats_runner *r)
{
    switch (r->phase) {
    case PHASE_FREE:
        break;
    case PHASE_SLEEPING:
        r->result.cancelled = true;
        r->result.usage.exit_status = 128 + SIGTERM;
        r->result.usage.signal = SIGTERM;
        r->phase = PHASE_ENDED;
        r->until = now_us();
        break;
    case PHASE_RUNNING:
        r->result.cancelled = true;
        r->kill_at = 0;
        kill(-r->pid, SIGKILL);
        break;
    case PHASE_CLEARING:
    case PHASE_ENDED:
        r->kill_at = 0;
        r->until = now_us(); /* no longer held back */
        break;
    }
}

/* ---- poll ---- */

/* True if KILL may be sent. Processes that a cancelled task leaves behind get
 * the grace time, too: in "cd x && ./a" the shell ends at once on TERM, but
 * ./a may want to save its work. */
static bool may_kill(const struct bats_runner *r, int64_t now)
{
    return !r->result.cancelled || now >= r->kill_at;
}

static int64_t microseconds(struct timeval t)
{
    return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

/* The kernel counts the memory of the starting process as the child's. Only
 * the excess over it certainly belongs to the task. Our own maximum never
 * shrinks. */
static int64_t own_rss_kib(struct bats_runner *r, const struct rusage *usage)
{
    struct rusage self;
    if (usage->ru_maxrss > r->rss_kib && getrusage(RUSAGE_SELF, &self) == 0)
        r->rss_kib = self.ru_maxrss;
    return usage->ru_maxrss > r->rss_kib ? usage->ru_maxrss : 0;
}

/* True if the main process, or the one it waited for, was killed by somebody
 * else. */
static bool was_killed(const struct bats_runner *r)
{
    return !r->result.cancelled &&
           r->result.usage.exit_status == 128 + SIGKILL;
}

static bool kernel_killed(struct bats_runner *r)
{
    int64_t known = r->oom_kills;
    r->oom_kills = bats_family_oom_kills(r->options.vmstat);
    return r->oom_kills > known;
}

static void look_at_memory(struct bats_runner *r, int64_t now)
{
    int64_t kib = bats_family_memory(&r->family, r->memory_kib);
    if (kib > r->held_kib)
        r->held_kib = kib;
    r->memory_at = now + MEMORY_US;
    if (kib <= r->memory_kib)
        return;
    r->result.out_of_memory = true;
    r->memory_at = NEVER;
    kill(-r->pid, SIGKILL);
}

static void main_process_ended(struct bats_runner *r)
{
    int64_t now = now_us();
    struct rusage usage = {0};
    int status = 0;
    /* Kill before reaping: afterwards the number can be reused. */
    if (may_kill(r, now))
        kill(-r->pid, SIGKILL);
    reap(r->pid, &usage, &status);
    if (r->pidfd >= 0)
        close(r->pidfd);
    r->pidfd = -1;
    if (WIFSIGNALED(status)) {
        r->result.usage.signal = WTERMSIG(status);
        r->result.usage.exit_status = 128 + r->result.usage.signal;
    } else {
        r->result.usage.exit_status = WEXITSTATUS(status);
    }
    r->result.usage.user_us = microseconds(usage.ru_utime);
    r->result.usage.system_us = microseconds(usage.ru_stime);
    r->result.usage.max_rss_kib = own_rss_kib(r, &usage);
    if (r->held_kib > r->result.usage.max_rss_kib)
        r->result.usage.max_rss_kib = r->held_kib;
    if (was_killed(r) && kernel_killed(r))
        r->result.out_of_memory = true;
    r->until = r->result.cancelled ? now : bats_pace_end(&r->pace, now);
    r->phase = PHASE_CLEARING;
}

static void keep_pace(struct bats_runner *r, int64_t now)
{
    bool was = r->pace.stopped;
    bool is = bats_pace_stopped(&r->pace, now);
    if (is != was)
        kill(-r->pid, is ? SIGSTOP : SIGCONT);
}

static void clear(struct bats_runner *r, int64_t now)
{
    pid_t left = bats_family_sweep(&r->family, may_kill(r, now));
    if (r->pidfd >= 0)
        close(r->pidfd);
    r->pidfd = -1;
    if (left) {
        r->pidfd = pidfd_open(left, 0);
        return;
    }
    bats_family_guard(&r->family, 0);
    r->phase = PHASE_ENDED;
}

int bats_runner_made(const char *outputs, size_t n, int status, int fd)
{
    const char *end = outputs + n;
    int n_missing = 0;
    for (const char *f = outputs; status == 0 && f < end; f += strlen(f) + 1)
        if (access(f, F_OK) != 0 && ++n_missing <= TOLD)
            dprintf(fd, "%s was not made\n", f);
    if (n_missing > 0)
        status = 1;
    for (const char *f = outputs; f < end; f += strlen(f) + 1)
        if (status != 0 && status != YIELD)
            unlink(f);
    return status;
}

/* Checks the files of a task that was not told to stop. Its own output must
 * have been passed on: then the pipe has room for complaints. */
static int check_outputs(struct bats_runner *r, struct bats_error *err)
{
    int rc = 1;
    if (r->n_outputs == 0 || r->result.cancelled ||
        (rc = bats_outlet_drain(r->outlet, err)) <= 0)
        return rc;
    r->result.usage.exit_status =
        bats_runner_made(r->outputs, r->n_outputs, r->result.usage.exit_status,
                         bats_outlet_stderr(r->outlet));
    r->n_outputs = 0;
    return 1;
}

/* Takes the next step. Returns 1 when the result is complete, 0 if not yet, or
 * a negative errcode. */
static int advance(struct bats_runner *r, int64_t now, struct bats_error *err)
{
    int rc;
    switch (r->phase) {
    case PHASE_FREE:
        return 0;
    case PHASE_SLEEPING:
        if (now < r->until)
            return 0;
        r->phase = PHASE_ENDED;
        break;
    case PHASE_RUNNING:
        if (!r->result.cancelled)
            keep_pace(r, now);
        else if (may_kill(r, now) && r->kill_at > 0)
            bats_runner_kill(r);
        if (!r->result.cancelled && now >= r->memory_at)
            look_at_memory(r, now);
        return 0;
    case PHASE_CLEARING:
        clear(r, now);
        break;
    case PHASE_ENDED:
        break;
    }
    if (r->phase != PHASE_ENDED || now < r->until)
        return 0;
    if ((rc = check_outputs(r, err)) <= 0 ||
        (rc = bats_outlet_finish(r->outlet, &r->result, err)) <= 0)
        return rc;
    r->result.usage.wall_us = r->until - r->start;
    r->phase = PHASE_FREE;
    return 1;
}

/* The time of the next step of `advance` if nothing else happens. */
static int64_t next_time(const struct bats_runner *r, int64_t now)
{
    switch (r->phase) {
    case PHASE_RUNNING:
        if (!r->result.cancelled) {
            int64_t next = bats_pace_next(&r->pace, now);
            return r->memory_at < next ? r->memory_at : next;
        }
        return r->kill_at > 0 ? r->kill_at : NEVER;
    case PHASE_CLEARING:
        return r->result.cancelled && r->kill_at > now ? r->kill_at : NEVER;
    case PHASE_SLEEPING:
        return r->until;
    case PHASE_ENDED: /* from then on, the output waits for its taker */
        return r->until > now ? r->until : NEVER;
    default:
        return NEVER;
    }
}

/* Sleeps up to `timeout_us` and handles events. Returns 1 if a signal came. */
static int wait_for_events(struct bats_runner *r, int64_t timeout_us,
                           struct bats_error *err)
{
    struct pollfd fds[3] = {{.fd = r->pidfd, .events = POLLIN}};
    struct timespec timeout = {.tv_sec = (time_t)(timeout_us / 1000000),
                               .tv_nsec = (long)(timeout_us % 1000000) * 1000};
    bats_outlet_watch(r->outlet, fds + 1);
    if (ppoll(fds, 3, &timeout, &r->woken) < 0)
        return errno == EINTR ? 1
                              : bats_error_set(err, BATS_ESYS,
                                               "cannot wait for a task: %s",
                                               strerror(errno));
    int rc = bats_outlet_take(r->outlet, fds + 1, err);
    if (r->phase == PHASE_RUNNING &&
        (r->pidfd >= 0 ? fds[0].revents != 0 : has_ended(r)))
        main_process_ended(r);
    return rc;
}

int bats_runner_poll(struct bats_runner *r, int64_t timeout_us,
                     struct bats_runner_result *result, struct bats_error *err)
{
    int64_t now = now_us();
    int64_t deadline = timeout_us < NEVER - now ? now + timeout_us : NEVER;
    bool looked = false;
    bats_outlet_retry(r->outlet);
    for (;;) {
        int rc = advance(r, now, err);
        if (rc > 0)
            *result = r->result;
        if (rc != 0)
            return rc;
        if (looked && now >= deadline)
            return 0;
        int64_t next = next_time(r, now);
        if (r->pidfd < 0 && next > now + LOOK_US &&
            (r->phase == PHASE_RUNNING || r->phase == PHASE_CLEARING))
            next = now + LOOK_US;
        if (next > deadline)
            next = deadline;
        rc = wait_for_events(r, next > now ? next - now : 0, err);
        if (rc < 0)
            return rc;
        if (rc > 0)
            deadline = 0; /* a signal: return to the caller */
        looked = true;
        now = now_us();
    }
}
