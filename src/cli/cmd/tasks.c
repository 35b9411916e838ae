/* tasks: the verbs tasks and log, which list the contents of a record. Columns
 * have fixed widths, because there may be millions of lines. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/causes.h"
#include "cli/cli.h"
#include "cli/look.h"
#include "report/words.h"
#include "util/json.h"

/* ---- tasks ---- */

static bool is_running(const struct bats_view_task *t)
{
    return strcmp(t->state, "running") == 0;
}

static bool has_failed(const struct bats_view_task *t)
{
    return strcmp(t->state, "failed") == 0;
}

static int task_json(struct bats_view *view, const struct bats_view_task *t,
                     struct bats_error *err)
{
    const char *text = "";
    size_t n;
    json_t *line = json_pack(
        "{s:I, s:o, s:I, s:o, s:I}", "task", (json_int_t)t->number, "state",
        bats_json_text(t->state), "attempts", (json_int_t)t->attempts,
        "command", bats_json_text(t->command), "line", (json_int_t)t->line);

    if (line != NULL && is_running(t)) {
        json_t *more = json_pack(
            "{s:f, s:o, s:o}", "elapsed_s", (double)t->wall_us / 1e6, "host",
            bats_json_text(t->host), "cluster", bats_json_text(t->cluster));
        json_object_update(line, more);
        json_decref(more);
    } else if (line != NULL && t->wall_us >= 0) {
        json_t *more = json_pack(
            "{s:i, s:i, s:f, s:f, s:I, s:o, s:o}", "exit_status",
            t->exit_status, "signal", t->signal, "real_s",
            (double)t->wall_us / 1e6, "cpu_s", (double)t->cpu_us / 1e6,
            "max_rss_kib", (json_int_t)t->max_rss_kib, "host",
            bats_json_text(t->host), "cluster", bats_json_text(t->cluster));
        json_object_update(line, more);
        json_decref(more);
    }
    json_t *parameters = json_loads(t->parameters, 0, NULL);
    if (json_is_object(parameters))
        json_object_set(line, "parameters", parameters);
    json_decref(parameters);
    int rc = has_failed(t) ? bats_view_stderr(view, t->id, &text, &n, err) : 0;
    if (rc > 0)
        json_object_set_new(line, "stderr", bats_json_text(text));
    if (rc < 0) {
        json_decref(line);
        return rc;
    }
    return bats_look_json(line, JSON_COMPACT, err);
}

static void print_task(const struct bats_view_task *t)
{
    char took[BATS_UNITS_TEXT] = "-", cpu[BATS_UNITS_TEXT] = "-";
    char end[48] = "-";

    if (t->wall_us >= 0)
        bats_duration_format(took, t->wall_us);
    if (t->wall_us >= 0 && !is_running(t)) {
        bats_duration_format(cpu, t->cpu_us);
        snprintf(end, sizeof end, "ok");
        if (t->exit_status != 0 || t->signal != 0)
            bats_words_end(end, sizeof end, t->exit_status, t->signal);
    }
    bats_words_line(
        stdout, "%7" PRId64 "  %-8s  %5" PRId64 "  %-15s  %8s  %8s  %-12s  %s",
        t->number, t->state, t->attempts, end, took, cpu,
        t->host[0] != '\0' ? t->host : "-", t->command);
}

/* The list may have been long: this is what it means. */
static int print_causes(struct bats_view *view, struct bats_error *err)
{
    struct bats_causes causes = {0};
    int rc = bats_look_causes(view, &causes, err);

    if (rc == 0) {
        puts("\nwhy tasks failed");
        bats_causes_print(stdout, &causes, SIZE_MAX);
    }
    bats_causes_release(&causes);
    return rc;
}

static int show_tasks(struct bats_view *view, const struct bats_settings *set,
                      struct bats_error *err)
{
    const char *state = set->failed ? "failed" : set->state;
    enum bats_view_order order =
        set->slowest > 0 ? BATS_VIEW_SLOWEST : BATS_VIEW_BY_NUMBER;
    struct bats_view_task task;
    bool failed = false;
    int rc = bats_view_tasks(view, state, 0, set->where, order,
                             (int64_t)set->slowest, err);

    if (rc == 0 && !set->json)
        printf("%7s  %-8s  %5s  %-15s  %8s  %8s  %-12s  %s\n", "task", "state",
               "tries", "end", "took", "cpu", "host", "command");
    while (rc == 0 && (rc = bats_view_next_task(view, &task, err)) > 0) {
        rc = 0;
        if (set->json)
            rc = task_json(view, &task, err);
        else
            print_task(&task);
        failed |= state != NULL && has_failed(&task);
    }
    if (rc == 0 && failed && !set->json)
        rc = print_causes(view, err);
    return rc;
}

int cmd_tasks(int argc, char **argv)
{
    return bats_look(BATS_VERB_TASKS, argc, argv, show_tasks);
}

/* ---- log ---- */

static int entry_json(const struct bats_view_entry *e, struct bats_error *err)
{
    json_t *line = json_pack(
        "{s:I, s:f, s:o}", "session", (json_int_t)e->session, "time_s",
        (double)e->time / 1e6, "what", bats_json_text(e->what));

    if (line != NULL && e->machine[0] != '\0')
        json_object_set_new(line, "machine", bats_json_text(e->machine));
    if (line != NULL && e->task > 0)
        json_object_set_new(line, "task", json_integer(e->task));
    if (line != NULL && e->removed)
        json_object_set_new(line, "removed", json_true());
    if (line != NULL && e->text[0] != '\0')
        json_object_set_new(line, "text", bats_json_text(e->text));
    return bats_look_json(line, JSON_COMPACT, err);
}

void bats_look_entry(const struct bats_view_entry *e, int64_t *session)
{
    char time[BATS_UNITS_TEXT], task[48] = "";

    if (e->session != *session)
        printf("%ssession %" PRId64 "\n", *session > 0 ? "\n" : "",
               e->session);
    *session = e->session;
    if (e->task > 0)
        snprintf(task, sizeof task, "task %" PRId64 "%s", e->task,
                 e->removed ? " (removed)" : "");
    char line[512];
    snprintf(line, sizeof line, "%10s  %-9s  %-10s  %-10s  %s",
             bats_duration_format(time, e->time), e->what, e->machine, task,
             e->text);
    for (size_t n = strlen(line); n > 0 && line[n - 1] == ' '; n--)
        line[n - 1] = '\0';
    bats_words_line(stdout, "%s", line);
}

static int show_log(struct bats_view *view, const struct bats_settings *set,
                    struct bats_error *err)
{
    struct bats_view_entry entry;
    int64_t session = 0;
    int rc = bats_view_log(view, set->on_machine, 0, (int64_t)set->last, err);

    while (rc == 0 && (rc = bats_view_next_entry(view, &entry, err)) > 0) {
        rc = 0;
        if (set->json)
            rc = entry_json(&entry, err);
        else
            bats_look_entry(&entry, &session);
    }
    return rc;
}

int cmd_log(int argc, char **argv)
{
    return bats_look(BATS_VERB_LOG, argc, argv, show_log);
}
