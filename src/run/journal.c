#include "run/journal.h"

#include <stdlib.h>
#include <string.h>

#include "bats/sched.h"
#include "bats/status.h"
#include "util/grow.h"

/* interval of attempts at a failing commit, and of notes why machines are
 * idle */
#define AGAIN_US 1000000

void bats_journal_release(struct bats_journal *j)
{
    free(j->commands);
    *j = (struct bats_journal){0};
}

static int keep(struct bats_journal *j, const struct bats_command *command,
                struct bats_error *err)
{
    if (!bats_grow(&j->commands, &j->capacity, j->n + 1, sizeof *j->commands))
        return bats_no_memory(err);
    j->commands[j->n++] = *command;
    return 0;
}

static int note(struct bats_journal *j, bats_time now,
                const struct bats_command *command, struct bats_error *err)
{
    if (j->record == NULL)
        return 0;
    if (command->type == BATS_NOTICE_CHARGE) {
        j->has_charges = true;
        return bats_record_charge(j->record, now, command->machine,
                                  command->amount, err);
    }
    return bats_record_command(j->record, now, command, err);
}

static int note_leases(struct bats_journal *j, struct bats_sched *sched,
                       struct bats_error *err)
{
    struct bats_lease lease;
    struct bats_stake stake;
    int rc = 0;
    while (rc >= 0 && j->record != NULL &&
           bats_sched_next_lease(sched, &lease)) {
        rc = bats_record_lease(j->record, &lease, err);
        j->has_charges |= rc > 0;
    }
    while (rc >= 0 && j->record != NULL &&
           bats_sched_next_stake(sched, &stake))
        rc = bats_record_stake(j->record, &stake, err);
    return rc < 0 ? rc : 0;
}

static void take_books(struct bats_journal *j, const struct bats_sched *sched)
{
    struct bats_books *b = &j->books;
    bats_sched_status(sched, &b->status);
    for (size_t i = 0; i < b->n_clusters; i++)
        bats_sched_cluster_status(sched, i, &b->cluster[i]);
    b->n_decisions = j->n_decisions;
    j->has_books = true;
}

int bats_journal_handle(struct bats_journal *j, struct bats_sched *sched,
                        bats_time now, const struct bats_event *event,
                        struct bats_error *err)
{
    struct bats_command command;
    struct bats_error why;
    int rc = 0;
    if (j->record != NULL) {
        if (!j->has_books) {
            take_books(j, sched);
            rc = note_leases(j, sched, err);
        }
        if (rc == 0)
            rc = bats_record_event(j->record, now, event, err);
        j->n_unsynced++;
    }
    if (rc < 0)
        return rc;
    rc = bats_sched_handle(sched, now, event, err);
    int told = note_leases(j, sched, &why);
    if (told < 0) {
        *err = why;
        return told;
    }
    /* Timers that fell due before a refused event count. */
    while (bats_sched_next(sched, &command)) {
        int noted = note(j, now, &command, err);
        if (noted == 0)
            noted = keep(j, &command, err);
        if (noted < 0)
            return noted;
    }
    return rc;
}

static int note_decisions(struct bats_journal *j,
                          const struct bats_sched *sched,
                          struct bats_error *err)
{
    size_t n;
    const struct bats_decision *list = bats_sched_decisions(sched, &n);
    int rc = 0;
    for (; rc == 0 && j->n_decisions < n; j->n_decisions++)
        rc = bats_record_decision(j->record, &list[j->n_decisions], err);
    return rc;
}

static int note_promise(struct bats_journal *j, const struct bats_sched *sched,
                        struct bats_error *err)
{
    struct bats_sched_sampled sampled;
    struct bats_sched_status status;
    if (j->has_promise)
        return 0;
    bats_sched_sampled(sched, &sampled);
    if (sampled.chosen == NULL)
        return 0;
    bats_sched_status(sched, &status);
    int rc = bats_record_promise(j->record, &sampled, status.budget, err);
    j->has_promise = rc == 0;
    return rc;
}

/* Records at most once a second why machines are idle, and which one is
 * reserved: these change with every step. */
static int note_idle(struct bats_journal *j, struct bats_sched *sched,
                     bats_time now, int64_t now_us, struct bats_error *err)
{
    struct bats_idle_machine idle;
    int rc = 0;
    j->idle_waits = now_us < j->idle_due_us;
    if (j->idle_waits)
        return 0;
    while (rc == 0 && bats_sched_next_idle(sched, &idle)) {
        rc = bats_record_idle(j->record, now, &idle, err);
        j->idle_due_us = now_us + AGAIN_US;
    }
    struct bats_reservation kept = bats_sched_reservation(sched);
    bool is_known = kept.machine == j->kept.machine &&
                    (kept.machine == UINT32_MAX ||
                     (kept.task == j->kept.task && kept.from == j->kept.from));
    if (rc < 0 || is_known)
        return rc;
    j->kept = kept;
    j->idle_due_us = now_us + AGAIN_US;
    return bats_record_reservation(j->record, now, &kept, err);
}

static int sync_if_due(struct bats_journal *j, int64_t now_us,
                       struct bats_error *err)
{
    if (j->n_unsynced == 0)
        return 0;
    if (j->unsynced_since == 0)
        j->unsynced_since = now_us;
    if (!j->has_charges && j->n_unsynced < j->sync_events &&
        now_us - j->unsynced_since < j->sync_us)
        return 0;
    int rc = bats_record_sync(j->record, err);
    if (rc < 0)
        return rc;
    j->n_unsynced = 0;
    j->unsynced_since = 0;
    j->has_charges = false;
    return 0;
}

int64_t bats_journal_due_us(const struct bats_journal *j, int64_t now_us)
{
    int64_t due_us = INT64_MAX;
    if (j->failing_since > 0)
        return due_us;
    if (j->unsynced_since > 0)
        due_us = j->unsynced_since + j->sync_us;
    if (j->idle_waits && j->idle_due_us < due_us)
        due_us = j->idle_due_us;
    return due_us == INT64_MAX ? due_us
           : due_us > now_us   ? due_us - now_us
                               : 0;
}

static int write_all(struct bats_journal *j, struct bats_sched *sched,
                     bats_time now, int64_t now_us, struct bats_error *err)
{
    int rc = note_decisions(j, sched, err);
    if (rc == 0)
        rc = note_idle(j, sched, now, now_us, err);
    bool waits = bats_record_waiting(j->record);
    if (rc == 0)
        rc = note_promise(j, sched, err);
    if (rc == 0)
        rc = bats_record_commit(j->record, err);
    if (rc == 0 && waits)
        take_books(j, sched);
    return rc == 0 ? sync_if_due(j, now_us, err) : rc;
}

/* Index in the queue, before `end`, of the task that waits to start in this
 * slot; `end`: it has already started. */
static size_t find_run(const struct bats_journal *j, size_t end,
                       const struct bats_command *cancel)
{
    for (size_t i = 0; i < end; i++) {
        const struct bats_command *c = &j->commands[i];
        if (c->type == BATS_COMMAND_RUN && c->machine == cancel->machine &&
            c->slot == cancel->slot && c->task == cancel->task)
            return i;
    }
    return end;
}

static void take_out(struct bats_journal *j, size_t at)
{
    j->n--;
    memmove(&j->commands[at], &j->commands[at + 1],
            (j->n - at) * sizeof *j->commands);
}

void bats_journal_take_out_run(struct bats_journal *j, size_t from,
                               uint32_t task)
{
    for (size_t k = from; k < j->n; k++)
        if (j->commands[k].type == BATS_COMMAND_RUN &&
            j->commands[k].task == task) {
            take_out(j, k);
            return;
        }
}

/* A task that could not start because the record cannot be written counts as
 * stopped. */
static int stop_unstarted(struct bats_journal *j, struct bats_sched *sched,
                          bats_time now, struct bats_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < j->n;) {
        struct bats_command c = j->commands[i];
        size_t run = c.type == BATS_COMMAND_CANCEL ? find_run(j, i, &c) : i;
        if (run == i) {
            i++;
            continue;
        }
        take_out(j, i);
        take_out(j, run);
        i--;
        struct bats_event stopped = {.type = BATS_EVENT_PREEMPTED,
                                     .machine = c.machine,
                                     .slot = c.slot,
                                     .task = c.task};
        rc = bats_journal_handle(j, sched, now, &stopped, err);
    }
    return rc;
}

int bats_journal_commit(struct bats_journal *j, struct bats_sched *sched,
                        bats_time now, int64_t now_us, struct bats_error *err)
{
    bool failing = j->failing_since > 0;
    struct bats_event go = {.type = BATS_EVENT_GO};
    struct bats_event hold = {.type = BATS_EVENT_HOLD};
    struct bats_error why;
    int rc = 0, told = 0;
    if (j->record == NULL)
        return 1;
    if (!failing || now_us - j->tried_us >= AGAIN_US) {
        rc = write_all(j, sched, now, now_us, err);
        if (rc == 0 && !failing)
            return 1;
        if (rc == 0) {
            j->failing_since = 0;
            rc = bats_journal_handle(j, sched, now, &go, err);
            return rc < 0 ? rc
                          : bats_journal_commit(j, sched, now, now_us, err);
        }
        j->tried_us = now_us;
        if (!failing) {
            j->failing_since = now_us;
            told = bats_journal_handle(j, sched, now, &hold, &why);
        }
    }
    if (told == 0)
        told = stop_unstarted(j, sched, now, &why);
    if (told < 0)
        *err = why;
    return told < 0 ? told : rc;
}

bool bats_journal_next(struct bats_journal *j, bool all, size_t *at,
                       struct bats_command *command)
{
    while (!all && *at < j->n && j->commands[*at].type != BATS_COMMAND_CANCEL)
        ++*at;
    if (*at == j->n) {
        j->n = all ? 0 : j->n;
        return false;
    }
    *command = j->commands[*at];
    if (all)
        ++*at;
    else
        take_out(j, *at);
    return true;
}
