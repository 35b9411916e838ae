/* why: the verb why. Explains why a machine is parked and why a task waits. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/lease.h"
#include "bats/sched.h"
#include "cli/cli.h"
#include "cli/look.h"
#include "report/recorded.h"
#include "report/table.h"
#include "report/words.h"
#include "report/workflows.h"
#include "run/needs.h"
#include "util/text.h"

#define LATELY 50 /* most entries of a machine's history */
#define DRAINING                                                              \
    "the run is draining: it was told to end and starts no more tasks"
#define NOTHING_WAITS "no task is waiting for a machine"

struct known {
    struct bats_look *look;
    struct bats_view_status *status;
    bool has_decision;
    struct bats_view_decision decision;
    int64_t held;
    bool in_order;
    struct bats_lease_terms terms;
    bats_time retry_delay, time_limit; /* rules of the engine */
    int64_t yields;                    /* also one of these */
    struct bats_purse_status *workflows;
    size_t n_workflows;
    struct bats_known_needs needs;
};

static void learn(struct bats_look *l, struct known *k)
{
    bats_look_status(l);
    const json_t *rules = json_object_get(l->options, "engine");
    *k = (struct known){
        .look = l,
        .status = &l->status,
        .in_order = json_is_true(json_object_get(rules, "in_order")),
        .retry_delay =
            json_integer_value(json_object_get(rules, "retry_delay_us")),
        .terms = bats_recorded_terms(l->options),
        .yields = json_integer_value(json_object_get(rules, "yields")),
        .time_limit =
            json_integer_value(json_object_get(rules, "deadline_us")),
        .needs = bats_known_needs(l)};
    bats_must(bats_view_decision(l->view, &k->has_decision, &k->decision,
                                 &bats_why));
    bats_must(bats_view_workflows(l->view, &k->workflows, &k->n_workflows,
                                  &bats_why));
    for (size_t i = 0; i < l->status.n_clusters; i++)
        k->held += l->status.clusters[i].held;
}

static bool is_over(const struct known *k)
{
    return k->status->is_over || !k->status->is_live;
}

static void why_over(struct bats_text *t, const struct known *k)
{
    const struct bats_view_status *st = k->status;
    bool is_budget = st->is_over && strcmp(st->finish, "budget") == 0;
    uint32_t n_unpaid = 0;
    for (uint32_t i = 0; i < k->n_workflows; i++)
        n_unpaid += k->workflows[i].unpaid;
    if (!st->is_over)
        bats_text_format(t, "the run was interrupted%s",
                         bats_look_left(st) > 0
                             ? "; --resume goes on"
                             : ", but no task of the bag is left");
    else if (is_budget && n_unpaid > 0)
        bats_text_add(t, "the budgets of its workflows do not cover the rest");
    else if (is_budget)
        bats_text_format(t, "the budget is used up: %s of %s are charged",
                         bats_words_money(st->charged, "").s,
                         bats_words_money(st->budget, st->currency).s);
    else
        bats_text_format(t, "the run is over: %s", st->finish);
}

/* ---- machines ---- */

/* The number of machines of its cluster that the last decision wants; -1:
 * unknown. */
static int64_t wanted(const struct known *k, const char *cluster)
{
    for (size_t i = 0; i < k->status->n_clusters; i++)
        if (strcmp(k->status->clusters[i].name, cluster) == 0 &&
            k->has_decision && i < k->decision.n_clusters)
            return k->decision.machines[i];
    return -1;
}

static void why_unwanted(struct bats_text *t, const struct known *k,
                         const struct bats_view_machine *m)
{
    const struct bats_view_status *st = k->status;
    bats_money left = st->budget - st->charged;
    int64_t n = wanted(k, m->cluster);
    if (is_over(k))
        why_over(t, k);
    else if (st->ending)
        bats_text_add(t, DRAINING);
    else if (st->budget != BATS_UNLIMITED &&
             left < (k->terms.in_windows ? m->charge : 1))
        bats_text_format(t, "%s are left of the budget, a window costs %s",
                         bats_words_money(left, "").s,
                         bats_words_money(m->charge, st->currency).s);
    else if (st->pending == 0)
        bats_text_add(t, NOTHING_WAITS);
    else if (n >= 0)
        bats_text_format(
            t, "the plan made at %s (%s) holds %s of cluster %s",
            bats_words_moment(k->decision.time).s, k->decision.reason,
            bats_words_count((uint64_t)n, "machine").s, m->cluster);
    else
        bats_text_add(t, "no plan has asked for it yet");
}

/* Reasons of the engine, by their name in the record, in words; the second
 * text goes on with the time that ends them. */
static const struct {
    enum bats_idle reason;
    const char *text, *until;
} reasons[] = {
    {BATS_IDLE_NO_TASK, "no task is ready to begin there", ""},
    {BATS_IDLE_ON_HOLD, "no task is started for the time being", ""},
    {BATS_IDLE_ABSENT, "it waits for machines that have not joined yet", ""},
    {BATS_IDLE_MONEY, "too little of the budget is left for a task there", ""},
    {BATS_IDLE_TOO_LATE, "no task is expected to end there in time", ", by "},
    {BATS_IDLE_FAILS, "no task has ended well on its cluster yet", ""},
    {BATS_IDLE_PLAN, "the plan has no task for its cluster now", ""},
    {BATS_IDLE_SHORT, "no task is expected to end in its paid time",
     ", which ends at "},
    {BATS_IDLE_LEAVING, "it is about to be parked", ""},
    {BATS_IDLE_QUARANTINE, "it is in quarantine", ""},
    {BATS_IDLE_TRIAL,
     "after its quarantine it is given one task at a time until one ends well",
     ""},
    {BATS_IDLE_RETIRED, "it is given no more tasks", ""},
    {BATS_IDLE_TAKEN, "it will be taken away before a task would end",
     ", at "},
    {BATS_IDLE_FAILED_HERE, "the waiting tasks have failed there before", ""},
    {BATS_IDLE_ELSEWHERE, "the waiting tasks will end sooner elsewhere", ""},
    {BATS_IDLE_NO_ROOM,
     "the waiting tasks need more than is free there, or the machine is kept "
     "for one that does",
     ""},
    {BATS_IDLE_WORKFLOW,
     "the budgets of the workflows with waiting tasks do not cover it", ""},
    {BATS_IDLE_NO_COPY, "no copy of a running task would end sooner there",
     ""},
};

static void why_idle(struct bats_text *t, const struct known *k,
                     const struct bats_view_machine *m)
{
    const struct bats_view_status *st = k->status;
    size_t i = 0, n = sizeof reasons / sizeof *reasons;
    while (i < n && strcmp(bats_idle_name(reasons[i].reason), m->idle) != 0)
        i++;
    bool is_known =
        i < n && (st->pending > 0 || reasons[i].reason == BATS_IDLE_NO_COPY);
    bats_text_add(t, st->ending         ? DRAINING
                     : is_known         ? reasons[i].text
                     : st->pending == 0 ? NOTHING_WAITS
                                        : "the waiting tasks cannot begin "
                                          "there yet");
    if (st->ending || !is_known)
        return;
    if (m->idle_until >= 0 && reasons[i].until[0] != '\0')
        bats_text_format(t, "%s%s", reasons[i].until,
                         bats_words_moment(m->idle_until).s);
    if (reasons[i].reason == BATS_IDLE_MONEY)
        bats_text_format(
            t, ": %s, some of it held for what runs",
            bats_words_money(st->budget - st->charged, st->currency).s);
}

static void why_held(struct bats_text *t, const struct known *k,
                     const struct bats_view_machine *m)
{
    bats_text_format(t, "held since %s", bats_words_moment(m->since).s);
    if (is_over(k)) {
        bats_text_add(t, ", but ");
        why_over(t, k);
    } else if (m->running <= 0) {
        bats_text_add(t, ", but idle: ");
        why_idle(t, k, m);
    } else {
        bats_text_format(t, " and runs task %" PRId64, m->running);
        if (k->terms.in_windows)
            bats_text_format(
                t, "; its window ends at %s",
                bats_words_moment(m->window_began + k->status->window).s);
    }
}

static void why_machine(struct bats_text *t, const struct known *k,
                        const struct bats_view_machine *m)
{
    if (m->shunned >= 0 && m->state != BATS_VIEW_LOST) {
        bats_text_format(t, "in quarantine since %s: %s",
                         bats_words_moment(m->shunned).s, m->why);
    } else if (m->state == BATS_VIEW_LOST) {
        bats_text_format(t, "lost at %s%s%s", bats_words_moment(m->since).s,
                         m->why[0] != '\0' ? ": " : "", m->why);
    } else if (m->state == BATS_VIEW_HELD) {
        why_held(t, k, m);
    } else {
        if (m->state == BATS_VIEW_NEVER)
            bats_text_add(t, "never acquired: ");
        else
            bats_text_format(t, "%s since %s: ",
                             m->state == BATS_VIEW_PARKED ? "parked"
                                                          : "released",
                             bats_words_moment(m->since).s);
        why_unwanted(t, k, m);
    }
}

static void print_history(const struct known *k, const char *machine,
                          int64_t task)
{
    struct bats_view *view = k->look->view;
    struct bats_view_entry entry;
    int64_t session = 0;
    if (bats_must(bats_view_log(view, machine, task,
                                machine != NULL ? LATELY : 0, &bats_why)) > 0)
        printf("the last %d entries of 'bats-mpi log --machine':\n", LATELY);
    while (bats_view_next_entry(view, &entry))
        bats_look_entry(&entry, &session);
}

static void print_sums(const struct known *k,
                       const struct bats_view_machine *m)
{
    printf("%s ended there",
           bats_words_count((uint64_t)m->ended, "execution").s);
    if (!k->terms.lasts) /* else machines have no charge of their own */
        printf("; %s charged",
               bats_words_money(m->charged, k->status->currency).s);
    putchar('\n');
}

static void explain_machines(const struct known *k, const char *name)
{
    struct bats_view_machine *list;
    struct bats_text text = {0};
    size_t n;
    bats_must(bats_view_machines(k->look->view, name, &list, &n, &bats_why));
    for (const struct bats_view_machine *m = list; m < list + n; m++) {
        bats_text_cut(&text, 0);
        why_machine(&text, k, m);
        bats_must(bats_text_check(&text, &bats_why));
        bats_words_line(stdout, "%s%s%s: %s", m->name,
                        m->host[0] != '\0' ? " on " : "", m->host, text.bytes);
        if (name != NULL)
            print_sums(k, m);
    }
    free(list);
    bats_text_release(&text);
    if (name == NULL)
        return;
    if (n == 0)
        bats_die(BATS_EINPUT,
                 "there is no machine '%s' in the last session (a task is "
                 "meant by its number)",
                 name);
    putchar('\n');
    print_history(k, name, 0);
}

/* ---- tasks ---- */

static void why_waiting(struct bats_text *t, const struct known *k)
{
    const struct bats_view_status *st = k->status;
    if (is_over(k)) {
        why_over(t, k);
    } else if (st->ending || st->choosing || k->held == 0) {
        bats_text_add(t, st->ending     ? DRAINING "; --resume goes on"
                         : st->choosing ? "a schedule is to be chosen first"
                                        : "no machine is held");
    } else {
        bats_text_format(t, "%s %s waiting for a free slot on %s%s",
                         bats_words_count((uint64_t)st->pending, "task").s,
                         st->pending == 1 ? "is" : "are",
                         bats_words_count((uint64_t)k->held, "machine").s,
                         k->in_order ? "" : ", in random order");
        if (k->time_limit > 0)
            bats_text_format(t, "; none is started that would not end by %s",
                             bats_words_moment(k->time_limit).s);
        if (!k->terms.in_windows && st->budget != BATS_UNLIMITED)
            bats_text_format(
                t, "; %s is left of the budget, some of it held for what runs",
                bats_words_money(st->budget - st->charged, st->currency).s);
    }
}

static void why_pending(struct bats_text *t, const struct known *k,
                        const struct bats_view_pause *p)
{
    bool goes_on = !is_over(k) && k->status->is_live && !k->status->ending;
    if (goes_on && k->yields > 0 && p->yielded >= 0 && p->yields > 0 &&
        p->yields <= k->yields)
        bats_text_format(
            t,
            "it was checkpointed at %s, at once (%s in a row), and is run "
            "again from %s on",
            bats_words_moment(p->yielded).s,
            bats_words_count((uint64_t)p->yields, "time").s,
            bats_words_moment(p->yielded +
                              (BATS_YIELD_PAUSE << (p->yields - 1)))
                .s);
    else if (goes_on && p->failed >= 0 && k->retry_delay > 0)
        bats_text_format(t, "it failed at %s and is tried again at %s",
                         bats_words_moment(p->failed).s,
                         bats_words_moment(p->failed + k->retry_delay).s);
    else
        why_waiting(t, k);
}

static void why_task(struct bats_text *t, const struct known *k,
                     const struct bats_view_task *task,
                     const struct bats_view_pause *pause)
{
    bats_text_add(t, task->state);
    if (strcmp(task->state, "pending") == 0) {
        bats_text_add(t, ": ");
        why_pending(t, k, pause);
    } else if (strcmp(task->state, "skipped") == 0) {
        bats_text_add(t, task->unpaid
                             ? ": the budget of its workflow does not cover it"
                             : ": a task that it waited for was not done");
    } else if (strcmp(task->state, "removed") == 0) {
        bats_text_add(t, ": it is no longer in the bag");
    } else if (strcmp(task->state, "running") != 0) {
        bats_text_format(t, ": %s after %s on %s%s",
                         bats_words_end(task->exit_status, task->signal).s,
                         bats_words_duration(task->wall_us).s,
                         task->host[0] != '\0' ? task->host
                                               : "an unknown host",
                         bats_words_advice(task->exit_status));
    } else if (is_over(k)) {
        bats_text_add(t, " when the record ended: ");
        why_over(t, k);
    }
}

static void print_stderr(const struct known *k, int64_t task)
{
    const char *text;
    size_t n;
    if (bats_must(
            bats_view_stderr(k->look->view, task, &text, &n, &bats_why)) == 0)
        return;
    puts("\nwritten last on standard error");
    while (*text != '\0') {
        int line = (int)strcspn(text, "\n");
        bats_words_line(stdout, "  %.*s", line, text);
        text += line + (text[line] == '\n');
    }
}

/* Adds what the task needs if needs decide where tasks run, and why it finds
 * no room. */
static void why_need(struct bats_text *t, const struct known *k,
                     const struct bats_view_task *task)
{
    struct bats_need need;
    char words[BATS_NEED_TEXT];
    if (!bats_known_need(&k->needs, task->number, &need))
        return;
    bats_need_format(words, sizeof words, &need);
    bats_text_format(t, "it needs %s of a machine", words);
    if (strcmp(task->state, "pending") == 0 && !is_over(k))
        bats_known_room(k->look->view, &k->needs, task->number, t);
}

static void print_workflow(const struct known *k, int64_t number)
{
    int64_t *of = bats_known_expand(
        json_object_get(json_object_get(k->look->options, "engine"),
                        "workflow"),
        k->status->tasks);
    if (of != NULL && number <= k->status->tasks &&
        (uint64_t)of[number - 1] < k->n_workflows)
        bats_workflows_print(stdout, &k->workflows[of[number - 1]], 1, 1);
    free(of);
}

static void print_task(const struct known *k,
                       const struct bats_view_task *task)
{
    struct bats_view_pause pause;
    struct bats_text why = {0}, need = {0};
    if (strcmp(task->state, "pending") == 0)
        bats_must(bats_view_pause(k->look->view, task->id, &pause, &bats_why));
    why_task(&why, k, task, &pause);
    why_need(&need, k, task);
    bats_must(bats_text_check(&why, &bats_why));
    bats_must(bats_text_check(&need, &bats_why));
    bats_words_line(stdout, "task %" PRId64 ", line %" PRId64 ": %s",
                    task->number, task->line, task->command);
    bats_words_line(stdout, "%s", why.bytes);
    if (need.n > 0)
        bats_words_line(stdout, "%s", need.bytes);
    bats_text_release(&why);
    bats_text_release(&need);
    print_workflow(k, task->number);
    print_stderr(k, task->id);
    putchar('\n');
    print_history(k, NULL, task->id);
}

static void explain_task(const struct known *k, int64_t number)
{
    struct bats_view *view = k->look->view;
    struct bats_view_task task;
    bool found = false;
    bats_must(bats_view_tasks(view, NULL, number, NULL, BATS_VIEW_BY_NUMBER, 0,
                              &bats_why));
    while (bats_must(bats_view_next_task(view, &task, &bats_why)) > 0) {
        if (found)
            putchar('\n');
        found = true;
        print_task(k, &task);
    }
    if (!found)
        bats_die(BATS_EINPUT, "there is no task %" PRId64 " in the bag",
                 number);
}

/* ---- all ---- */

static void explain_all(const struct known *k)
{
    struct bats_text text = {0};
    bats_words_line(stdout, "%s: %s", k->status->bag,
                    bats_look_state(k->status).s);
    if (k->status->pending > 0) {
        why_waiting(&text, k);
        bats_must(bats_text_check(&text, &bats_why));
        bats_words_line(stdout, "%" PRId64 " pending: %s", k->status->pending,
                        text.bytes);
        bats_text_release(&text);
    }
    explain_machines(k, NULL);
    bats_workflows_print(stdout, k->workflows, k->n_workflows,
                         BATS_TABLE_ROWS - 1);
    if (k->status->failed == 0)
        return;
    struct bats_causes causes = bats_look_causes(k->look->view);
    if (causes.n > 0) {
        printf("\n%" PRId64 " failed:\n", k->status->failed);
        bats_causes_print(stdout, &causes, SIZE_MAX);
    }
    bats_causes_release(&causes);
}

/* Returns the number in "17" or "task 17"; 0 for anything else. */
static int64_t task_number(const struct bats_settings *set)
{
    const char *word = set->words[1];
    long long number;
    int end = 0;
    if (set->words[2] != NULL)
        word = strcmp(word, "task") == 0 ? set->words[2] : "";
    if (sscanf(word, "%18lld%n", &number, &end) == 1 && word[end] == '\0' &&
        number > 0)
        return number;
    return 0;
}

int cmd_why(struct bats_look *l)
{
    const struct bats_settings *set = l->set;
    struct known k;
    learn(l, &k);
    if (set->words[1] == NULL)
        explain_all(&k);
    else if (task_number(set) > 0)
        explain_task(&k, task_number(set));
    else
        explain_machines(&k, set->words[2] != NULL ? set->words[2]
                                                   : set->words[1]);
    free(k.workflows);
    free(k.needs.category);
    return 0;
}
