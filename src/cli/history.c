#include "cli/history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/past.h"
#include "input/sweep/sweep.h"
#include "input/workflow/workflow.h"
#include "record/read/view.h"
#include "report/words.h"

#define NAMED_MAX 20 /* most changes of one kind that are listed */

char *bats_history_path(const struct bats_settings *set)
{
    char *path = NULL;
    bool is_file = !set->is_sweep && strcmp(set->bag, "-") != 0;
    const char *beside = is_file ? set->bag : set->joblog;
    if (!set->no_record && set->record != NULL)
        path = bats_have(strdup(set->record));
    else if (!set->no_record && beside != NULL &&
             asprintf(&path, "%s.bats", beside) < 0)
        bats_have(NULL);
    if (path == NULL && bats_history_resumes(set))
        bats_die(BATS_EINPUT,
                 "to resume %s, name its record with --record FILE",
                 set->is_sweep ? "a sweep" : "a bag from standard input");
    if (path == NULL && set->output != NULL &&
        strcmp(set->output, "stream") == 0)
        bats_die(BATS_EINPUT,
                 "--output stream needs a record (--record FILE): "
                 "it says where the output of each task is");
    if (path != NULL && bats_record_is_live(path))
        bats_die(BATS_EINPUT, "%s is in use by another run", path);
    return path;
}

/* The strongest of the given options. */
static enum bats_record_resume resume_of(const struct bats_settings *set)
{
    return set->retry_failed                     ? BATS_RECORD_RETRY_FAILED
           : set->resume_failed                  ? BATS_RECORD_RESUME_FAILED
           : set->resume || set->profile != NULL ? BATS_RECORD_RESUME
                                                 : BATS_RECORD_NOT;
}

bool bats_history_resumes(const struct bats_settings *set)
{
    return resume_of(set) != BATS_RECORD_NOT;
}

static int create_record(struct bats_history *h, struct bats_error *err)
{
    char moved[4096];
    int rc = bats_record_set_aside(h->path, moved, sizeof moved, err);
    if (rc < 0)
        return rc;
    if (moved[0] != '\0' && !h->set->quiet && !bats_settings_is_local(h->set))
        bats_tell("%s is kept as %s (--resume would have continued it)",
                  h->path, moved);
    return bats_record_create(h->path, &h->record, err);
}

/* ---- messages about a bag that was edited ---- */

struct changes {
    uint32_t named, moved;
    uint64_t unnamed, gone;
};

static void name_task(const struct bats_history *h, uint32_t task,
                      const struct bats_record_past *past, struct changes *c)
{
    const struct bats_bagfile *bag = h->bag;
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
        was, h->set->retry_failed ? "" : ": it is run");
}

static void name_gone(struct bats_record *record, struct changes *c)
{
    struct bats_record_gone gone;
    size_t at = 0;
    while (bats_must(bats_record_next_gone(record, &at, &gone, &bats_why)) >
           0) {
        if (++c->gone <= NAMED_MAX)
            bats_tell("task %" PRIu64 " is no longer in the bag: %s",
                      (uint64_t)gone.was + 1, gone.command);
        free(gone.command);
    }
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
        rc = bats_record_task(record, task, bats_bagfile_line(bag, task),
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
                                  command.bytes, NULL, err);
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

static void compare(struct bats_history *h)
{
    const struct bats_bagfile *bag = h->bag;
    struct changes changes = {0};
    bool same = true;
    bats_must(name_bag(bag, h->record, &bats_why));
    if (bats_record_earlier(h->record).sessions == 0)
        return;
    h->resume = resume_of(h->set);
    for (uint32_t task = 0; task < bag->n_tasks; task++) {
        struct bats_record_past past = bats_record_past(h->record, task);
        same &= past.match == BATS_RECORD_SAME;
        h->state[task] = (uint8_t)bats_record_state(h->resume, &past);
        h->edited[task] = past.match == BATS_RECORD_CHANGED ||
                          past.match == BATS_RECORD_ADDED;
        if (bag->room > 0 && h->resume == BATS_RECORD_RESUME && past.skipped)
            h->state[task] = BATS_TASK_LEFT_OUT; /* it was withdrawn */
        h->attempts[task] = past.attempts;
        h->failures[task] = past.failures;
        h->losses[task] = past.losses;
        h->yields[task] = past.yields;
        h->memory_more[task] = h->edited[task] ? 0 : past.memory_more;
        h->time_more[task] = h->edited[task] ? 0 : past.time_more;
        if (!h->set->quiet)
            name_task(h, task, &past, &changes);
    }
    if (!h->set->quiet) {
        name_gone(h->record, &changes);
        sum_up(&changes);
    }
    bats_record_forget_past(h->record);
    if (same)
        bats_must(
            bats_record_killed_run(h->record, &h->killed_run, &bats_why));
}

/* ---- tasks that were interrupted ---- */

/* Asks the record of an earlier run, resumed or not, for tasks of a workflow
 * that have begun and not ended: their files may be incomplete, and would look
 * complete. Marks the tasks of the bag that have one of these commands. */
static void find_begun(struct bats_history *h)
{
    struct bats_view *view = NULL;
    struct bats_view_task task;
    struct bats_names commands = {0};
    struct stat st;
    bool is_new;
    if (h->bag->workflow == NULL || stat(h->path, &st) != 0 || st.st_size == 0)
        return;
    bats_must(bats_view_open(h->path, &view, &bats_why));
    bats_must(bats_view_tasks(view, NULL, 0, BATS_VIEW_BEGUN,
                              BATS_VIEW_BY_NUMBER, 0, &bats_why));
    while (bats_must(bats_view_next_task(view, &task, &bats_why)) > 0)
        if (bats_names_add(&commands, task.command, &is_new) == BATS_NO_NAME)
            bats_have(NULL);
    bats_view_close(view);
    if (commands.n > 0) {
        h->begun = bats_have(calloc(h->bag->n_tasks, sizeof *h->begun));
        for (struct bats_tour w = bats_tour(h->bag, 0); bats_tour_next(&w);)
            h->begun[w.i] =
                bats_names_find(&commands, w.command.bytes) != BATS_NO_NAME;
    }
    bats_names_release(&commands);
}

static int remove_halves(const struct bats_history *h, struct bats_error *err)
{
    uint32_t n = 0;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && h->begun != NULL && i < h->bag->n_tasks;
         i++)
        if (h->begun[i] && h->state[i] != BATS_TASK_DONE) {
            rc = bats_workflow_remove(h->bag->workflow, i, err);
            n++;
        }
    if (rc == 0 && n > 0 && !h->set->quiet)
        bats_tell("%s interrupted: what %s had made was removed",
                  bats_words_count(n, "task").s, n == 1 ? "it" : "they");
    return rc;
}

/* ---- opening and closing ---- */

/* Makes the lists, in one block, with room for the tasks that an open bag will
 * get. */
static void make_lists(struct bats_history *h)
{
    size_t n = bats_bagfile_room(h->bag);
    h->attempts = bats_have(calloc(n, sizeof *h->attempts + 7));
    h->state = (uint8_t *)(h->attempts + n);
    h->failures = h->state + n;
    h->losses = h->failures + n;
    h->yields = h->losses + n;
    h->memory_more = h->yields + n;
    h->time_more = h->memory_more + n;
    h->edited = h->time_more + n;
    memset(h->state + h->bag->n_tasks, BATS_TASK_LEFT_OUT,
           n - h->bag->n_tasks);
}

/* Also takes earlier charges of workflows, which count against their
 * budgets. */
static void resume_record(struct bats_history *h)
{
    struct bats_sharing *sharing = &h->bag->sharing;
    bats_must(bats_record_open(h->path, &h->record, &bats_why));
    h->charged = bats_record_earlier(h->record).charged;
    compare(h);
    uint32_t n = bats_record_earlier(h->record).sessions > 0 ? sharing->n : 0;
    for (uint32_t i = 0; i < n; i++)
        bats_must(bats_record_share(h->record, sharing->list[i].name,
                                    &sharing->list[i].charged, &bats_why));
    h->is_whole = true;
}

void bats_history_open(struct bats_history *h, const struct bats_settings *set,
                       struct bats_bagfile *bag)
{
    *h = (struct bats_history){.set = set, .bag = bag};
    h->path = bats_history_path(set);
    if (h->path == NULL)
        return;
    make_lists(h);
    find_begun(h);
    if (bats_history_resumes(set))
        resume_record(h);
}

int bats_history_begin(struct bats_history *h, struct bats_error *err)
{
    int rc = 0;
    if (h->path != NULL && h->record == NULL) {
        h->is_whole = true;
        rc = create_record(h, err);
        if (rc == 0)
            rc = name_bag(h->bag, h->record, err);
    }
    return rc == 0 ? remove_halves(h, err) : rc;
}

int bats_history_close(struct bats_history *h, struct bats_error *err)
{
    int rc = 0;
    if (h->record != NULL && h->is_whole)
        rc = bats_record_close(h->record, err);
    else
        bats_record_abandon(h->record);
    free(h->path);
    free(h->killed_run);
    free(h->begun);
    free(h->attempts);
    *h = (struct bats_history){.record = NULL};
    return rc;
}
