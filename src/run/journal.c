#include "run/journal.h"

#include <stdlib.h>

#define AGAIN_US 1000000 /* between two tries of a commit that fails */

void bats_journal_release(struct bats_journal *journal)
{
    free(journal->commands);
    *journal = (struct bats_journal){0};
}

static int keep(struct bats_journal *j, const struct bats_command *command,
                struct bats_error *err)
{
    if (j->n == j->capacity) {
        size_t capacity = j->capacity > 0 ? 2 * j->capacity : 64;
        struct bats_command *list =
            realloc(j->commands, capacity * sizeof *list);
        if (list == NULL)
            return bats_error_set(err, BATS_ENOMEM, "out of memory");
        j->commands = list;
        j->capacity = capacity;
    }
    j->commands[j->n++] = *command;
    return 0;
}

static int note(struct bats_journal *j, bats_time now,
                const struct bats_command *command, struct bats_error *err)
{
    if (j->record == NULL)
        return 0;
    if (command->type == BATS_COMMAND_CHARGE) {
        j->has_charges = true;
        return bats_record_charge(j->record, now, command->machine,
                                  command->amount, command->cushion, err);
    }
    return bats_record_command(j->record, now, command, err);
}

int bats_journal_handle(struct bats_journal *journal, struct bats_sched *sched,
                        bats_time now, const struct bats_event *event,
                        struct bats_error *err)
{
    struct bats_command command;
    int rc = 0;
    if (journal->record != NULL) {
        rc = bats_record_event(journal->record, now, event, err);
        journal->n_unsynced++;
    }
    if (rc < 0)
        return rc;
    rc = bats_sched_handle(sched, now, event, err);
    /* What fell due before an event that was refused counts. */
    while (bats_sched_next(sched, &command)) {
        int noted = note(journal, now, &command, err);
        if (noted == 0)
            noted = keep(journal, &command, err);
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

int64_t bats_journal_due_us(const struct bats_journal *journal, int64_t now_us)
{
    if (journal->unsynced_since == 0 || journal->failing_since > 0)
        return INT64_MAX;
    int64_t due_us = journal->unsynced_since + journal->sync_us - now_us;
    return due_us > 0 ? due_us : 0;
}

int bats_journal_commit(struct bats_journal *journal,
                        const struct bats_sched *sched, int64_t now_us,
                        struct bats_error *err)
{
    if (journal->record == NULL)
        return 1;
    if (journal->failing_since > 0 && now_us - journal->tried_us < AGAIN_US)
        return 0;
    int rc = note_decisions(journal, sched, err);
    if (rc == 0)
        rc = bats_record_commit(journal->record, err);
    if (rc == 0)
        rc = sync_if_due(journal, now_us, err);
    if (rc == 0) {
        journal->failing_since = 0;
        return 1;
    }
    journal->tried_us = now_us;
    if (journal->failing_since == 0)
        journal->failing_since = now_us;
    return rc;
}

bool bats_journal_next(struct bats_journal *journal, size_t *at,
                       struct bats_command *command)
{
    if (*at == journal->n) {
        journal->n = 0;
        return false;
    }
    *command = journal->commands[(*at)++];
    return true;
}
