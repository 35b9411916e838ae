#include "run/master.h"

#include <string.h>

#include "bats/sched.h"

bool bats_found_any(const struct master *m, const struct bats_hello *hello)
{
    const char *run = m->options->killed_run;
    return run != NULL && strcmp(hello->kept_run, run) == 0 &&
           (hello->attempt > 0 || hello->n_results > 0);
}

/* True unless the record has the end of the execution. */
static bool is_new(const struct master *m, uint32_t task, uint32_t attempt)
{
    const uint32_t *recorded = m->options->attempts;
    return task < m->options->bag->n_tasks &&
           (recorded == NULL || attempt > recorded[task]);
}

/* Removes a RUN command for a task that already runs. */
static void take_out_run(struct bats_journal *journal, size_t from,
                         uint32_t task)
{
    for (size_t k = from; k < journal->n; k++) {
        const struct bats_command *c = &journal->commands[k];
        if (c->type != BATS_COMMAND_RUN || c->task != task)
            continue;
        journal->n--;
        memmove(&journal->commands[k], &journal->commands[k + 1],
                (journal->n - k) * sizeof *journal->commands);
        return;
    }
}

/* Sets *wanted if the engine takes over the execution. */
static int find(struct master *m, size_t i, uint32_t task, uint32_t attempt,
                bool *wanted, struct bats_error *err)
{
    const struct bats_slot_of *at = &m->survey.platform.slot_of[i];
    struct bats_event event = {.type = BATS_EVENT_FOUND,
                               .machine = at->machine,
                               .slot = at->slot,
                               .task = task};
    size_t before = m->journal.n;
    *wanted = false;
    if (!is_new(m, task, attempt))
        return 0;
    int rc = bats_master_handle(m, &event, err);
    *wanted = rc == 0 && bats_sched_execution(m->sched, at->machine, at->slot,
                                              task) != BATS_EXECUTION_NONE;
    if (!*wanted)
        return rc;
    take_out_run(&m->journal, before, task);
    if (m->attempts[task] < attempt)
        m->attempts[task] = attempt;
    if (m->halves != NULL)
        m->halves[task] = 1;
    return 0;
}

static int take_results(struct master *m, size_t i,
                        const struct bats_hello *hello,
                        struct bats_found *found, struct bats_error *err)
{
    struct bats_message message;
    struct bats_task_result r;
    bool any = bats_found_any(m, hello);
    int rc = bats_proto_open(hello->results, hello->n_results, &message, err);
    m->crew.workers[i].n_results++;
    while (rc == 0 && bats_proto_next_result(&message, &r)) {
        bool wanted = false;
        if (any && !r.cancelled)
            rc = find(m, i, r.task, r.attempt, &wanted, err);
        found->results += wanted;
        if (rc == 0)
            rc = wanted ? bats_results_take_one(m, i, &r, err)
                        : bats_results_refuse(m, i, &r, err);
    }
    return rc;
}

int bats_found_take(struct master *m, size_t i, const struct bats_hello *hello,
                    struct bats_found *found, struct bats_error *err)
{
    bool wanted = false;
    int rc = hello->n_results > 0 ? take_results(m, i, hello, found, err) : 0;
    if (rc == 0 && bats_found_any(m, hello) && hello->attempt > 0)
        rc = find(m, i, hello->task, hello->attempt, &wanted, err);
    found->tasks += wanted;
    if (rc < 0 || wanted || hello->attempt == 0)
        return rc;
    m->crew.workers[i].unwanted = hello->task;
    return bats_crew_say(&m->crew, i,
                         BATS_SAY(BATS_MESSAGE_CANCEL, .u.task = hello->task),
                         err);
}
