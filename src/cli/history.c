#include "cli/history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "input/sweep/sweep.h"
#include "input/workflow/workflow.h"
#include "record/read/view.h"
#include "report/words.h"

#define NAMED_MAX 20 /* most changes of one kind that are listed */

/* Path of the record; NULL: no record. *made is to be freed. */
static const char *record_path(const struct bats_settings *set, char **made)
{
    *made = NULL;
    if (set->no_record)
        return NULL;
    if (set->record != NULL)
        return set->record;
    bool is_file = !set->is_sweep && strcmp(set->bag, "-") != 0;
    const char *beside = is_file ? set->bag : set->joblog;
    if (beside == NULL || asprintf(made, "%s.bats", beside) < 0)
        *made = NULL;
    return *made;
}

/* The strongest of the given options. */
static enum bats_record_resume resume_of(const struct bats_settings *set)
{
    return set->retry_failed    ? BATS_RECORD_RETRY_FAILED
           : set->resume_failed ? BATS_RECORD_RESUME_FAILED
           : set->resume || bats_settings_go_on(set) ? BATS_RECORD_RESUME
                                                     : BATS_RECORD_NOT;
}

bool bats_history_resumes(const struct bats_settings *set)
{
    return resume_of(set) != BATS_RECORD_NOT;
}

static int create_record(const struct bats_settings *set, const char *path,
                         struct bats_record **record, struct bats_error *err)
{
    char moved[4096];
    int rc = bats_record_set_aside(path, moved, sizeof moved, err);
    if (rc < 0)
        return rc;
    if (moved[0] != '\0' && !set->quiet && !bats_settings_is_local(set))
        bats_tell("%s is kept as %s (--resume would have continued it)", path,
                  moved);
    return bats_record_create(path, record, err);
}

/* ---- messages about a bag that was edited ---- */

struct changes {
    uint32_t named, moved;
    uint64_t unnamed, gone;
};

static void name_task(const struct bats_settings *set,
                      const struct bats_bagfile *bag, uint32_t task,
                      const struct bats_record_past *past, struct changes *c)
{
    char was[40] = "", line[24] = "";
    c->moved += past->match == BATS_RECORD_MOVED;
    if (past->match == BATS_RECORD_SAME || past->match == BATS_RECORD_MOVED)
        return;
    if (c->named == NAMED_MAX) {
        c->unnamed++;
        return;
    }
    c->named++;
    if (past->match == BATS_RECORD_CHANGED && past->was != task)
        snprintf(was, sizeof was, " (as number %" PRIu64 ")",
                 (uint64_t)past->was + 1);
    if (bats_bagfile_line(bag, task) > 0)
        snprintf(line, sizeof line, ":%" PRIu32, bats_bagfile_line(bag, task));
    bats_tell(
        "%s%s: task %" PRIu64 " %s%s%s", bag->name, line, (uint64_t)task + 1,
        past->match == BATS_RECORD_CHANGED ? "has another command than before"
                                           : "is new",
        was, set->retry_failed ? "" : ": it is run");
}

static int name_gone(struct bats_record *record, struct changes *c,
                     struct bats_error *err)
{
    struct bats_record_gone gone;
    size_t at = 0;
    int rc;
    while ((rc = bats_record_next_gone(record, &at, &gone, err)) > 0) {
        if (++c->gone <= NAMED_MAX)
            bats_tell("task %" PRIu64 " is no longer in the bag: %s",
                      (uint64_t)gone.was + 1, gone.command);
        free(gone.command);
    }
    return rc;
}

static void sum_up(const struct changes *c)
{
    if (c->unnamed > 0)
        bats_tell("%" PRIu64 " more tasks are new or have a different command",
                  c->unnamed);
    if (c->gone > 0)
        bats_tell(
            "%" PRIu64
            " task%s of the record %s no longer in the bag; %s in the record",
            c->gone, c->gone == 1 ? "" : "s", c->gone == 1 ? "is" : "are",
            c->gone == 1 ? "it stays" : "they stay");
    if (c->moved > 0)
        bats_tell("%" PRIu32
                  " task%s another number than before and %s result",
                  c->moved, c->moved == 1 ? " has" : "s have",
                  c->moved == 1 ? "keeps its" : "keep their");
}

/* ---- comparing ---- */

static int name_parameters(const struct bats_sweep *sweep,
                           struct bats_record *record, struct bats_error *err)
{
    size_t n = sweep->width;
    const char **names = calloc(n + 1, sizeof *names);
    if (names == NULL)
        return bats_no_memory(err);
    for (size_t i = 0; i < n; i++)
        names[i] = bats_points_name(&sweep->points, i);
    int rc = bats_record_parameters(record, names, n, err);
    free(names);
    return rc;
}

static int name_point(const struct bats_sweep *sweep,
                      struct bats_record *record, uint32_t task,
                      const char *command, struct bats_error *err)
{
    size_t n;
    const char *const *values = bats_sweep_values(sweep, task, &n);
    if (values == NULL)
        return bats_no_memory(err);
    return bats_record_point(record, task, command, values, n, err);
}

/* Adds the files that a rule makes to its name: rules may have the same
 * command. */
static int name_rule(const struct bats_bagfile *bag,
                     struct bats_record *record, uint32_t task,
                     const char *command, struct bats_error *err)
{
    struct bats_text all = {0};
    bats_workflow_outputs(bag->workflow, task, &all);
    for (size_t i = 0; i < all.n; i++)
        if (all.bytes[i] == '\0')
            all.bytes[i] = '\n';
    bats_text_add(&all, command);
    int rc = bats_text_check(&all, err);
    if (rc == 0)
        rc = bats_record_rule(record, task, bats_bagfile_line(bag, task),
                              command, all.bytes, err);
    bats_text_release(&all);
    return rc;
}

static int name_tasks(const struct bats_bagfile *bag,
                      struct bats_record *record, struct bats_error *err)
{
    const struct bats_sweep *sweep = bag->sweep;
    struct bats_text command = {0};
    int rc = 0;
    for (uint32_t task = 0; rc == 0 && task < bag->n_tasks; task++) {
        if (bats_bagfile_command(bag, task, &command) < 0)
            rc = bats_no_memory(err);
        else if (sweep != NULL)
            rc = name_point(sweep, record, task, command.bytes, err);
        else if (bag->workflow != NULL)
            rc = name_rule(bag, record, task, command.bytes, err);
        else
            rc = bats_record_task(record, task, bats_bagfile_line(bag, task),
                                  command.bytes, err);
    }
    bats_text_release(&command);
    return rc;
}

static int name_bag(const struct bats_bagfile *bag, struct bats_record *record,
                    struct bats_error *err)
{
    const struct bats_sweep *sweep = bag->sweep;
    int rc = sweep != NULL ? name_parameters(sweep, record, err) : 0;
    if (rc == 0)
        rc = name_tasks(bag, record, err);
    return rc == 0 ? bats_record_match(record, err) : rc;
}

static int compare(const struct bats_settings *set,
                   const struct bats_bagfile *bag, struct bats_history *h,
                   struct bats_error *err)
{
    struct changes changes = {0};
    bool same = true;
    int rc = name_bag(bag, h->record, err);
    if (rc < 0 || bats_record_sessions(h->record) == 0)
        return rc;
    h->resume = resume_of(set);
    for (uint32_t task = 0; task < bag->n_tasks; task++) {
        struct bats_record_past past = bats_record_past(h->record, task);
        same &= past.match == BATS_RECORD_SAME;
        h->state[task] = (uint8_t)bats_record_state(h->resume, &past);
        h->edited[task] = past.match == BATS_RECORD_CHANGED ||
                          past.match == BATS_RECORD_ADDED;
        if (bag->room > 0 && h->resume == BATS_RECORD_RESUME && past.skipped)
            h->state[task] = BATS_TASK_LEFT_OUT; /* it was withdrawn */
        h->attempts[task] = past.attempts;
        if (h->state[task] == BATS_TASK_DONE ||
            h->state[task] == BATS_TASK_FAILED)
            h->was[task] = past.match == BATS_RECORD_MOVED ? past.was : task;
        h->failures[task] = past.failures;
        h->losses[task] = past.losses;
        h->yields[task] = past.yields;
        h->memory_more[task] = h->edited[task] ? 0 : past.memory_more;
        h->time_more[task] = h->edited[task] ? 0 : past.time_more;
        if (!set->quiet)
            name_task(set, bag, task, &past, &changes);
    }
    if (!set->quiet) {
        rc = name_gone(h->record, &changes, err);
        sum_up(&changes);
    }
    bats_record_forget_past(h->record);
    if (rc >= 0 && same)
        rc = bats_record_killed_run(h->record, &h->killed_run, err);
    return rc;
}

/* Takes earlier charges of workflows, which count against their budgets. */
static int take_shares(struct bats_record *record, struct bats_bagfile *bag,
                       struct bats_error *err)
{
    uint32_t n = bats_record_sessions(record) > 0 ? bag->sharing.n : 0;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        struct bats_purse *purse = &bag->sharing.list[i];
        rc = bats_record_share(record, purse->name, &purse->charged, err);
    }
    return rc;
}

/* ---- tasks that were interrupted ---- */

/* Marks the tasks of the bag that have one of these commands. */
static int mark_begun(const struct bats_bagfile *bag,
                      const struct bats_names *commands, uint8_t **begun,
                      struct bats_error *err)
{
    struct bats_text command = {0};
    uint32_t n = bag->n_tasks;
    ptrdiff_t length = 0;
    *begun = calloc(n, sizeof **begun);
    for (uint32_t i = 0; *begun != NULL && length >= 0 && i < n; i++) {
        length = bats_bagfile_command(bag, i, &command);
        if (length >= 0)
            (*begun)[i] =
                bats_names_find(commands, command.bytes) != BATS_NO_NAME;
    }
    bats_text_release(&command);
    return *begun != NULL && length >= 0 ? 0 : bats_no_memory(err);
}

/* Asks the record of an earlier run, resumed or not, for tasks of a workflow
 * that have begun and not ended: their files may be incomplete, and would look
 * complete. */
static int find_begun(const struct bats_bagfile *bag, const char *path,
                      uint8_t **begun, struct bats_error *err)
{
    struct bats_view *view = NULL;
    struct bats_view_task task;
    struct bats_names commands = {0};
    struct stat st;
    bool is_new;
    if (bag->workflow == NULL || stat(path, &st) != 0 || st.st_size == 0)
        return 0;
    int rc = bats_view_open(path, &view, err);
    if (rc == 0)
        rc = bats_view_tasks(view, NULL, 0, BATS_VIEW_BEGUN,
                             BATS_VIEW_BY_NUMBER, 0, err);
    while (rc == 0 && (rc = bats_view_next_task(view, &task, err)) > 0)
        rc = bats_names_add(&commands, task.command, &is_new) == BATS_NO_NAME
                 ? bats_no_memory(err)
                 : 0;
    bats_view_close(view);
    if (rc == 0 && commands.n > 0)
        rc = mark_begun(bag, &commands, begun, err);
    bats_names_release(&commands);
    return rc;
}

static int remove_halves(const struct bats_settings *set,
                         const struct bats_bagfile *bag,
                         const struct bats_history *h, struct bats_error *err)
{
    uint32_t n = 0;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && h->begun != NULL && i < bag->n_tasks; i++)
        if (h->begun[i] && h->state[i] != BATS_TASK_DONE) {
            rc = bats_workflow_remove(bag->workflow, i, err);
            n++;
        }
    if (rc == 0 && n > 0 && !set->quiet)
        bats_tell("%s interrupted: what %s had made was removed",
                  bats_words_count(n, "task").s, n == 1 ? "it" : "they");
    return rc;
}

/* ---- opening and closing ---- */

/* Makes the lists, with room for the tasks that an open bag will get. */
static int make_lists(struct bats_history *h, const struct bats_bagfile *bag,
                      struct bats_error *err)
{
    size_t n = bats_bagfile_room(bag);
    h->state = calloc(n, sizeof *h->state);
    h->attempts = calloc(n, sizeof *h->attempts);
    h->failures = calloc(n, sizeof *h->failures);
    h->losses = calloc(n, sizeof *h->losses);
    h->yields = calloc(n, sizeof *h->yields);
    h->memory_more = calloc(n, sizeof *h->memory_more);
    h->time_more = calloc(n, sizeof *h->time_more);
    h->edited = calloc(n, sizeof *h->edited);
    h->was = malloc(n * sizeof *h->was);
    if (h->was != NULL)
        memset(h->was, 0xff, n * sizeof *h->was);
    if (h->state != NULL)
        memset(h->state + bag->n_tasks, BATS_TASK_LEFT_OUT, n - bag->n_tasks);
    return h->state == NULL || h->attempts == NULL || h->failures == NULL ||
                   h->losses == NULL || h->yields == NULL ||
                   h->memory_more == NULL || h->time_more == NULL ||
                   h->edited == NULL || h->was == NULL
               ? bats_no_memory(err)
               : 0;
}

static int resume_record(const struct bats_settings *set,
                         struct bats_bagfile *bag, struct bats_history *h,
                         struct bats_error *err)
{
    int rc = bats_record_open(h->path, &h->record, err);
    if (rc < 0)
        return rc;
    h->charged = bats_record_charged(h->record);
    rc = compare(set, bag, h, err);
    return rc == 0 ? take_shares(h->record, bag, err) : rc;
}

int bats_history_check(const struct bats_settings *set, char **path,
                       struct bats_error *err)
{
    char *made;
    const char *name = record_path(set, &made);
    *path = made;
    if (name == NULL && bats_history_resumes(set))
        return bats_refuse(
            err, "to resume %s, name its record with --record FILE",
            set->is_sweep ? "a sweep" : "a bag from standard input");
    if (name != NULL && made == NULL && (*path = strdup(name)) == NULL)
        return bats_no_memory(err);
    return name != NULL && bats_record_is_live(name)
               ? bats_refuse(err, "%s is in use by another run", name)
               : 0;
}

int bats_history_open(const struct bats_settings *set,
                      struct bats_bagfile *bag, struct bats_history *history,
                      struct bats_error *err)
{
    *history = (struct bats_history){0};
    int rc = bats_history_check(set, &history->path, err);
    if (rc == 0 && history->path == NULL)
        return 0;
    if (rc == 0)
        rc = make_lists(history, bag, err);
    if (rc == 0)
        rc = find_begun(bag, history->path, &history->begun, err);
    if (rc == 0 && bats_history_resumes(set))
        rc = resume_record(set, bag, history, err);
    if (rc < 0) {
        bats_record_abandon(history->record);
        history->record = NULL;
        bats_history_close(history, NULL);
    }
    return rc;
}

int bats_history_begin(const struct bats_settings *set,
                       const struct bats_bagfile *bag,
                       struct bats_history *history, struct bats_error *err)
{
    int rc = 0;
    if (history->path != NULL && history->record == NULL) {
        rc = create_record(set, history->path, &history->record, err);
        if (rc == 0)
            rc = name_bag(bag, history->record, err);
    }
    return rc == 0 ? remove_halves(set, bag, history, err) : rc;
}

int bats_history_close(struct bats_history *history, struct bats_error *err)
{
    int rc = 0;
    if (history->record != NULL)
        rc = bats_record_close(history->record, err);
    free(history->path);
    free(history->killed_run);
    free(history->begun);
    free(history->state);
    free(history->attempts);
    free(history->failures);
    free(history->losses);
    free(history->yields);
    free(history->memory_more);
    free(history->time_more);
    free(history->edited);
    free(history->was);
    *history = (struct bats_history){0};
    return rc;
}
