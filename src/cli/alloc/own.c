/*
 * own: the cores of the job that the run itself is in. They are paid already, so
 * they are a machine of a cluster without a charge, the last one of all. Its
 * worker is a step of that job, a child of this process, and not in the queue.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/alloc/state.h"
#include "cli/cli.h"
#include "run/needs.h"
#include "util/now.h"

#define OWN "own"
#define LOOK_US 100000 /* between two looks at a step that is no worker */

/* The job as it is may not hold what tasks need, or what `expert` asks for. */
uint32_t bats_alloc_own_slots(const struct bats_alloc *a)
{
    const struct bats_platform *p = &a->platform;
    if (a->own[0] == '\0' || a->system->jobs->step == NULL ||
        p->n_clusters == BATS_CLUSTERS_MAX || bats_needs_any(a->options) ||
        strcmp(a->set->policy, "expert") == 0)
        return 0;
    return a->system->jobs->step("", NULL);
}

void bats_alloc_add_own(struct bats_alloc *a)
{
    struct bats_platform *p = &a->platform;
    size_t i = p->n_clusters++;
    strcpy(p->clusters[i].name, OWN);
    strcpy(a->partitions[i], OWN);
    p->clusters[i].max = 1;
    p->speed[i] = 1;
    a->own_machine = p->n_machines++;
    a->billing.jobs++;
    p->machines[a->own_machine] = (struct bats_machine_spec){
        .cluster = (uint32_t)i, .slots = bats_alloc_own_slots(a)};
}

void bats_alloc_own_words(struct bats_alloc *a, struct bats_argv *argv)
{
    char command[BATS_ALLOC_COMMAND + 2 * BATS_JOB_ID];
    snprintf(a->own_id, sizeof a->own_id, "%.30s.%s.%lu", a->own, a->tag,
             (unsigned long)a->own_steps++);
    snprintf(command, sizeof command, "exec %s --job %s", a->command,
             a->own_id);
    a->system->jobs->step(command, argv);
}

/* What it prints is that of a job. It ends with this process. */
static void become(const struct bats_alloc *a, char **words)
{
    char path[PATH_MAX];
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0); /* Ctrl-C is for the run, which ends its jobs */
    int in = open("/dev/null", O_RDONLY);
    int out = snprintf(path, PATH_MAX, "%s.%s", a->log, a->own_id) < PATH_MAX
                  ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666)
                  : -1;
    if (in >= 0 && out >= 0 && dup2(in, 0) == 0 && dup2(out, 1) == 1 &&
        dup2(out, 2) == 2)
        execvp(words[0], words);
    _exit(127);
}

/* A process that cannot be started is a job that fails. */
void bats_alloc_start_own(struct bats_alloc *a)
{
    struct bats_argv argv = {0};
    bats_alloc_own_words(a, &argv);
    a->own_pid = argv.failed ? -1 : fork();
    if (a->own_pid == 0)
        become(a, argv.words);
    bats_argv_release(&argv);
    a->own_runs = true;
    a->own_by_us = INT64_MAX;
    a->lanes[a->own_machine].end_s = a->own_end_s;
}

void bats_alloc_end_own(struct bats_alloc *a, int64_t grace_us)
{
    int64_t by_us = bats_now_us(CLOCK_MONOTONIC) + grace_us;
    if (by_us < a->own_by_us)
        a->own_by_us = by_us;
}

bool bats_alloc_own_ended(struct bats_alloc *a, int64_t now_us,
                          int64_t *due_us)
{
    if (!a->own_runs)
        return false;
    if (a->own_pid < 0 || waitpid(a->own_pid, NULL, WNOHANG) == a->own_pid ||
        now_us >= a->own_by_us) {
        if (now_us >= a->own_by_us && a->own_pid > 0)
            kill(a->own_pid, SIGTERM); /* nobody pays for its last seconds */
        a->own_runs = false;
        return true;
    }
    int64_t next_us = now_us + LOOK_US;
    if (!a->lanes[a->own_machine].joined && next_us < *due_us)
        *due_us = next_us;
    return false;
}
