/* summary: the closing report for people. See report.h. */
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include "bats/lease.h"
#include "report/report.h"
#include "report/table.h"
#include "report/words.h"
#include "report/workflows.h"
#include "util/text.h"

#define WIDTH 80
#define LABEL 11 /* column after the label */
#define TEXT 4096
#define CAUSES_SHOWN 8
#define DECISIONS_FIRST 4 /* shown from the start of a long list */
#define DECISIONS_LAST 8
#define LINES_SHOWN 12

/* "makespan   4h32m", wrapped at 80 columns and encoded. */
__attribute__((format(printf, 3, 4))) static void
labelled(FILE *out, const char *label, const char *format, ...)
{
    char text[TEXT], line[2 * TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(out, "%-*s", LABEL, label);
    bats_words_wrap(out, bats_encode_terminal(line, sizeof line, text), LABEL,
                    LABEL, WIDTH);
}

/* The limit is the chosen schedule's, not the given budget. */
static bool is_limited(const struct bats_report *r)
{
    return r->snapshot.has_promise &&
           r->snapshot.status.budget != r->settings.budget;
}

/* "bats-mpi: all 8 tasks done in 350ms". */
static void print_outcome(FILE *out, const struct bats_report *r)
{
    const struct bats_snapshot *s = &r->snapshot;
    uint32_t n = bats_snapshot_tasks(s), left = bats_snapshot_left(s);
    char text[512] = "";
    if (r->signal == SIGUSR1)
        bats_append(text, sizeof text, "drained by SIGUSR1: ");
    else if (r->signal != 0)
        bats_append(text, sizeof text,
                    "stopped by SIG%s: ", sigabbrev_np(r->signal));
    else if (r->not_recorded)
        bats_append(text, sizeof text, "the record cannot be written: ");
    else if (s->status.finish == BATS_FINISH_BUDGET && is_limited(r))
        bats_append(text, sizeof text,
                    "the chosen schedule may cost no more: ");
    else if (s->status.finish > BATS_FINISH_ALL_DONE)
        bats_append(text, sizeof text,
                    "%s: ", bats_finish_row(s->status.finish, 0)->sentence);
    struct bats_phrase tasks = bats_words_count(n, "task");
    bool is_all = s->status.done == n && n > 1;
    if (is_all)
        bats_append(text, sizeof text, "all %s done", tasks.s);
    else
        bats_append(text, sizeof text, "%" PRIu32 " of %s done",
                    s->status.done, tasks.s);
    if (s->status.failed > 0)
        bats_append(text, sizeof text, ", %" PRIu32 " failed",
                    s->status.failed);
    if (s->status.skipped > 0)
        bats_append(text, sizeof text, ", %" PRIu32 " skipped",
                    s->status.skipped);
    if (left > 0)
        bats_append(text, sizeof text, ", %" PRIu32 " left", left);
    bats_append(text, sizeof text, "%s in %s", is_all ? "" : ",",
                bats_words_duration(s->status.now).s);
    fputs("bats-mpi: ", out);
    bats_words_wrap(out, text, 10, 10, WIDTH);
}

static void print_clusters(FILE *out, const struct bats_snapshot *s)
{
    static const struct bats_column columns[] = {
        {"cluster", "name", BATS_FIGURE_TEXT, NULL, false},
        {"machines", "machines_used", BATS_FIGURE_OF, "machines", false},
        {"charge", "charge", BATS_FIGURE_TEXT, NULL, false},
        {"windows", "windows", BATS_FIGURE_TEXT, NULL, false},
        {"charged", "charged", BATS_FIGURE_TEXT, NULL, false},
        {"tasks", "tasks", BATS_FIGURE_TEXT, NULL, false},
        {"mean time", "mean_runtime_s", BATS_FIGURE_GUESS, "is_guess", false},
        {"profit", "profitability", BATS_FIGURE_RATIO, "is_guess", false},
        {"in use", "in_use", BATS_FIGURE_PERCENT, NULL, false},
        BATS_TABLE_ENERGY,
        {0},
    };
    struct bats_table t = {0};
    json_t *rows = json_array();
    uint32_t used = 0, tasks = 0;
    int64_t windows = 0;
    bats_money charged = 0; /* in this session */
    bool guessed = false;
    size_t n = s->platform->n_clusters;
    for (size_t i = 0; i < n; i++) {
        const struct bats_cluster_status *k = &s->cluster[i];
        json_t *row = bats_report_cluster(s, i);
        json_object_set_new(row, "tasks", json_integer(k->done + k->failed));
        json_object_set_new(row, "in_use",
                            k->windows > 0 || k->utilisation > 0
                                ? json_real(k->utilisation)
                                : json_null());
        json_array_append_new(rows, row);
        used += k->machines_used;
        windows += k->windows;
        charged += k->charged;
        guessed |= k->is_guess;
        tasks += k->done + k->failed;
    }
    bats_table_fill(&t, columns, rows, n);
    json_decref(rows);
    if (n > 1)
        bats_table_add(
            &t, "total\t%" PRIu32 "/%" PRIu32 "\t\t%" PRId64 "\t%s\t%" PRIu32,
            used, s->platform->n_machines, windows,
            bats_words_amount(charged).s, tasks);
    bats_table_print(out, &t);
    if (guessed)
        fputs(BATS_WORDS_GUESSED, out);
}

const char *bats_report_promise(char *text, size_t size,
                                const struct bats_snapshot *s)
{
    const struct bats_schedule *p = &s->promise;
    const char *name = bats_offer_name(p->offer);
    const char *currency = s->platform->currency;
    snprintf(text, size, "%s%s%s in %s", name, name[0] ? ": " : "",
             bats_words_money(p->plan.cost, currency).s,
             bats_words_makespan(p->makespan.estimate).s);
    bats_money most = s->status.budget - s->sampled_charged;
    if (p->cost_high < most)
        most = p->cost_high;
    if (p->is_bounded && most > p->plan.cost)
        bats_append(text, size, ", at most %s in %s",
                    bats_words_money(most, currency).s,
                    bats_words_makespan(p->makespan.high).s);
    return text;
}

/* Prints the promise beside the result; both count from the choice on. */
static void print_promise(FILE *out, const struct bats_snapshot *s)
{
    const char *currency = s->platform->currency;
    char text[512];
    if (!s->has_promise)
        return;
    labelled(out, "promised", "%s", bats_report_promise(text, sizeof text, s));
    snprintf(
        text, sizeof text, "%s in %s",
        bats_words_money(s->status.charged - s->sampled_charged, currency).s,
        bats_words_makespan((double)(s->status.now - s->sampled_at)).s);
    labelled(out, "actual", "%s", text);
}

static void print_deadline(FILE *out, const struct bats_snapshot *s)
{
    const struct bats_sched_status *st = &s->status;
    struct bats_phrase promised = bats_words_duration(st->deadline);
    bats_time spare = st->deadline - st->now;
    if (st->deadline == 0 || st->finish == BATS_FINISH_SAMPLED)
        return;
    if (bats_snapshot_left(s) > 0)
        labelled(out, "deadline", "%s, missed: tasks are left", promised.s);
    else
        labelled(out, "deadline", "%s, %s %s%s", promised.s,
                 spare < 0 ? "missed by" : "kept with",
                 bats_words_duration(spare < 0 ? -spare : spare).s,
                 spare < 0 ? "" : " to spare");
}

/* With charged windows, prints the cost of all machines from start to end.
 * Otherwise the ledger has the bill. */
static void print_reserved(FILE *out, const struct bats_report *r)
{
    const struct bats_snapshot *s = &r->snapshot;
    const struct bats_platform *p = s->platform;
    bool earlier = s->status.charged_before > 0;
    int64_t windows;
    bats_money reserved = bats_snapshot_reserved(s, &windows);
    if (!bats_lease_terms(p->billing).in_windows)
        return;
    labelled(out, "reserved",
             "%s: %s%s held for %s, parked or not; without "
             "rank 0%s",
             bats_words_money(reserved, p->currency).s,
             p->n_machines == 1 ? "" : "all ",
             bats_words_count(p->n_machines, "machine").s,
             bats_words_count((uint64_t)windows, "window").s,
             earlier ? " and earlier sessions" : "");
}

/* "92.5 of the budget of 100 SU" */
static const char *put_charged(char *text, size_t size,
                               const struct bats_report *r,
                               const char *earlier)
{
    const struct bats_sched_status *s = &r->snapshot.status;
    const char *currency = r->snapshot.platform->currency;
    char budget[128] = "no budget was set";
    if (is_limited(r) && r->settings.budget != BATS_UNLIMITED)
        snprintf(budget, sizeof budget, "the budget is %s",
                 bats_words_money(r->settings.budget, currency).s);
    if (s->budget == BATS_UNLIMITED)
        snprintf(text, size, "%s%s (%s)",
                 bats_words_money(s->charged, currency).s, earlier, budget);
    else if (is_limited(r))
        snprintf(text, size,
                 "%s of at most %s with the chosen schedule%s (%s)",
                 bats_words_amount(s->charged).s,
                 bats_words_money(s->budget, currency).s, earlier, budget);
    else
        snprintf(text, size, "%s of the budget of %s%s",
                 bats_words_amount(s->charged).s,
                 bats_words_money(s->budget, currency).s, earlier);
    return text;
}

static void print_money(FILE *out, const struct bats_report *r)
{
    const struct bats_snapshot *s = &r->snapshot;
    char earlier[192] = "", text[512];
    bool allocation = bats_lease_terms(s->platform->billing).lasts;
    bats_money before = s->status.charged_before;
    if (before > 0)
        snprintf(earlier, sizeof earlier, ", %s of it before this %s",
                 bats_words_amount(before).s, allocation ? "run" : "session");
    if (r->charged_killed > 0)
        bats_append(earlier, sizeof earlier,
                    ", with %s for what was open when the run was killed",
                    bats_words_amount(r->charged_killed).s);
    labelled(out, "charged", "%s%s",
             put_charged(text, sizeof text, r, earlier),
             allocation ? "; an allocation is billed for all that it holds, "
                          "until it is given back"
                        : "");
}

/* A power of ten that keeps two digits of the amount; at least the smallest
 * unit. */
static bats_money two_digits(bats_money amount)
{
    bats_money step = 1;
    while (step <= amount / 100)
        step *= 10;
    return step;
}

static void print_rest(FILE *out, const struct bats_report *r)
{
    const struct bats_snapshot *s = &r->snapshot;
    const char *currency = s->platform->currency;
    uint32_t left = bats_snapshot_left(s);
    struct bats_phrase count = bats_words_count(left, "task");
    bats_money sum;
    if (s->status.finish != BATS_FINISH_BUDGET || left == 0)
        return;
    if (s->status.rest_cost < 0 ||
        !bats_units_add(s->status.charged, s->status.rest_cost, &sum)) {
        labelled(out, "left",
                 "%s; what they would cost is not known, because no task "
                 "was finished",
                 count.s);
    } else {
        bats_money step = two_digits(s->status.rest_cost);
        sum += (step - sum % step) % step;
        labelled(out, "left",
                 "%s, which would cost about %s; for the whole bag, run "
                 "again with %s--budget %s",
                 count.s, bats_words_money(s->status.rest_cost, currency).s,
                 r->recorded ? "--resume " : "", bats_words_amount(sum).s);
    }
}

/* Prints "preempted  3 tasks stopped before ...", unless there were none. */
static void print_number(FILE *out, const char *label, uint64_t n,
                         const char *noun, const char *what)
{
    if (n > 0)
        labelled(out, label, "%s%s", bats_words_count(n, noun).s, what);
}

static void print_skipped(FILE *out, const struct bats_report *r)
{
    uint32_t n_unpaid = 0, n = r->snapshot.status.skipped;
    for (uint32_t i = 0; i < r->n_workflows; i++)
        n_unpaid += r->workflows[i].unpaid;
    print_number(out, "skipped", n, "task",
                 r->is_open ? ", which were withdrawn, or waited for one that "
                              "failed"
                 : n_unpaid == 0 ? ", which waited for one that failed"
                 : n_unpaid == n
                     ? ", which the budget of their workflow does not cover"
                     : ", which the budget of their workflow does not "
                       "cover, or which waited for others that were not "
                       "done");
}

static void print_mishaps(FILE *out, const struct bats_report *r)
{
    const struct bats_snapshot *s = &r->snapshot;
    uint32_t lost = 0, quarantined = 0;
    char first[96];
    for (size_t i = 0; i < s->platform->n_clusters; i++) {
        lost += s->cluster[i].machines_lost;
        quarantined += s->cluster[i].machines_quarantined;
    }
    print_number(out, "preempted", s->status.preempted, "task",
                 " stopped before the end and put back into the bag");
    print_number(out, "checkpoint", r->yielded, "time",
                 " a task saved its state and was put back into the bag");
    print_number(out, "timed out", s->status.timed_out, "time",
                 " a task ran for too long and was stopped");
    print_number(out, "retried", s->status.retried, "time",
                 " a task failed and was put back into the bag");
    snprintf(first, sizeof first,
             " an idle machine ran a replica of a task; %" PRIu32
             " came first",
             s->status.replicas_won);
    print_number(out, "replicated", s->status.replicas, "time", first);
    print_skipped(out, r);
    print_number(out, "lost", lost, "machine", "");
    print_number(out, "quarantine", quarantined, "machine",
                 " on which one task after another failed");
}

static void print_strategy(FILE *out, const struct bats_snapshot *s)
{
    const struct bats_sched_strategy *now = &s->strategy;
    char name[BATS_STRATEGY_TEXT];
    if (!s->has_strategy)
        return;
    bats_strategy_format(name, &now->strategy);
    if (now->decided < 0)
        labelled(out, "strategy", "%s", name);
    else
        labelled(out, "strategy", "%s, chosen at %s when %.0f %% answered",
                 name, bats_words_moment(now->decided).s, 100 * now->gamma);
    if (now->makespan > 0)
        labelled(out, "expected", "in %s for %.2f%s%s",
                 bats_words_makespan(now->makespan).s,
                 now->cost / (double)BATS_UNIT,
                 s->platform->currency[0] != '\0' ? " " : "",
                 s->platform->currency);
}

static void print_facts(FILE *out, const struct bats_report *r)
{
    const struct bats_snapshot *s = &r->snapshot;
    const struct bats_platform *p = s->platform;
    struct bats_phrase time = bats_words_duration(s->status.now);
    if (r->settings.time_scale == 1)
        labelled(out, "makespan", "%s", time.s);
    else
        labelled(out, "makespan", "%s (%s of real time, time scale %g)",
                 time.s, bats_words_duration(r->real_us).s,
                 r->settings.time_scale);
    print_deadline(out, s);
    print_money(out, r);
    print_reserved(out, r);
    print_promise(out, s);
    print_rest(out, r);
    print_mishaps(out, r);
    labelled(out, "policy", "%s, window %s, seed %" PRIu64, r->settings.policy,
             bats_words_duration(p->window).s, r->settings.seed);
    print_strategy(out, s);
}

static void print_decisions(FILE *out, const struct bats_snapshot *s)
{
    const struct bats_decision *list = s->decisions;
    char text[TEXT];
    size_t n = 0, seen = 0, skip = DECISIONS_FIRST + DECISIONS_LAST;
    for (size_t i = 0; i < s->n_decisions; i++)
        n += bats_words_counts(s->platform, list, s->n_decisions, i);
    if (n > 0)
        fputs("\nreconfigurations\n", out);
    for (size_t i = 0; i < s->n_decisions; i++) {
        if (!bats_words_counts(s->platform, list, s->n_decisions, i))
            continue;
        bool is_cut = n > skip + 1 && seen >= DECISIONS_FIRST &&
                      seen < n - DECISIONS_LAST;
        if (is_cut && seen == DECISIONS_FIRST)
            fprintf(out, "     ...  %zu more\n", n - skip);
        seen++;
        if (is_cut)
            continue;
        fprintf(out, "%8s  ", bats_words_moment(list[i].time).s);
        bats_words_wrap(
            out, bats_words_decision(text, sizeof text, s->platform, &list[i]),
            10, 10, WIDTH);
    }
}

static void print_causes(FILE *out, const struct bats_report *r,
                         const char *head)
{
    if (r->causes.n == 0)
        return;
    fprintf(out, "\n%s\n", head);
    bats_causes_print(out, &r->causes, CAUSES_SHOWN);
}

static void print_categories(FILE *out, const struct bats_report *r)
{
    static const struct bats_column columns[] = {
        {"category", "name", BATS_FIGURE_NAME, NULL, false},
        {"done", "tasks_done", BATS_FIGURE_TEXT, NULL, false},
        {"left", "tasks_left", BATS_FIGURE_TEXT, NULL, false},
        {"mean time", "mean_runtime_s", BATS_FIGURE_DURATION, NULL, false},
        {"+-", "margin_s", BATS_FIGURE_DURATION, NULL, false},
        {0},
    };
    struct bats_table t = {0};
    if (r->n_categories < 2)
        return;
    json_t *rows = bats_report_categories(r);
    bats_table_fill(&t, columns, rows, LINES_SHOWN);
    bats_table_first(out, &t, r->n_categories, LINES_SHOWN);
    json_decref(rows);
}

void bats_report_print(FILE *out, const struct bats_report *report)
{
    putc('\n', out);
    print_outcome(out, report);
    putc('\n', out);
    print_clusters(out, &report->snapshot);
    print_categories(out, report);
    bats_workflows_print(out, report->workflows, report->n_workflows,
                         LINES_SHOWN);
    putc('\n', out);
    print_facts(out, report);
    if (!report->decisions_told)
        print_decisions(out, &report->snapshot);
    print_causes(out, report, "why they failed");
}

/* ---- the short report of a free run ---- */

bool bats_report_is_brief(const struct bats_report *r)
{
    const struct bats_snapshot *s = &r->snapshot;
    return r->n_workflows == 0 && s->status.budget == BATS_UNLIMITED &&
           s->status.deadline == 0 && !s->has_promise &&
           r->settings.clusters == NULL &&
           s->status.finish != BATS_FINISH_SAMPLED;
}

/* "all: 3 of 3 in use for 80% of the time, mean 105ms a task". */
static void print_machines(FILE *out, const struct bats_snapshot *s)
{
    char text[TEXT] = "";
    for (size_t i = 0; i < s->platform->n_clusters; i++) {
        const struct bats_cluster_status *k = &s->cluster[i];
        bats_append(text, sizeof text, "%s%s: %" PRIu32 " of %" PRIu32,
                    i > 0 ? "; " : "", s->platform->clusters[i].name,
                    k->machines_used, bats_snapshot_machines(s->platform, i));
        if (k->utilisation > 0)
            bats_append(text, sizeof text, ", %.0f%% in use",
                        100 * k->utilisation);
        if (k->mean_runtime > 0)
            bats_append(text, sizeof text, ", %s a task",
                        bats_words_duration((bats_time)k->mean_runtime).s);
    }
    labelled(out, "machines", "%s", text);
}

void bats_report_print_brief(FILE *out, const struct bats_report *r)
{
    if (!r->in_a_line)
        putc('\n', out);
    print_outcome(out, r);
    if (!r->in_a_line)
        print_machines(out, &r->snapshot);
    print_mishaps(out, r);
    print_causes(out, r, "why tasks failed");
    if (r->run == NULL || (r->in_a_line && r->causes.n == 0))
        return;
    if (r->causes.n > 0)
        putc('\n', out);
    if (r->causes.n > 0)
        labelled(out, "more",
                 "bats-mpi tasks --failed %s, bats-mpi why %s TASK", r->run,
                 r->run);
    else
        labelled(out, "more", "bats-mpi status %s", r->run);
}

/* ---- before the run ---- */

void bats_report_platform(FILE *out, const struct bats_platform *platform)
{
    struct bats_table t = {0};
    uint64_t all_slots = 0;
    bats_money price = 0;
    size_t n = platform->n_clusters;
    bats_table_add(&t, "cluster\tmachines\tslots\tcharge\tall, per window");
    for (size_t i = 0; i < n; i++) {
        const struct bats_cluster *c = &platform->clusters[i];
        uint32_t machines = bats_snapshot_machines(platform, i);
        uint64_t slots = bats_snapshot_slots(platform, i);
        bats_money cost = BATS_UNLIMITED;
        all_slots += slots;
        if (!bats_units_multiply(c->charge, machines, &cost) ||
            !bats_units_add(price, cost, &price))
            price = BATS_UNLIMITED;
        bats_table_add(&t, "%s\t%" PRIu32 "\t%" PRIu64 "\t%s\t%s", c->name,
                       machines, slots, bats_words_amount(c->charge).s,
                       bats_words_amount(cost).s);
    }
    if (n > 1)
        bats_table_add(&t, "total\t%" PRIu32 "\t%" PRIu64 "\t\t%s",
                       platform->n_machines, all_slots,
                       bats_words_amount(price).s);
    bats_table_print(out, &t);
}
