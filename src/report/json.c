/* json: the closing report for programs. See report.h. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "report/words.h"
#include "report/report.h"
#include "report/workflows.h"
#include "util/json.h"

#define SET json_object_set_new

static json_t *integer(int64_t n)
{
    return json_integer((json_int_t)n);
}

/* Microseconds as seconds. */
static json_t *seconds(double us)
{
    return json_real(us / 1e6);
}

static json_t *seconds_or_null(double us)
{
    return us > 0 ? seconds(us) : json_null();
}

/* Null (unknown) below 0. */
static json_t *money(bats_money amount)
{
    return amount < 0 ? json_null() : bats_json_money(amount);
}

json_t *bats_report_cluster(const struct bats_snapshot *s, size_t i)
{
    const struct bats_platform *p = s->platform;
    const struct bats_cluster_status *k = &s->cluster[i];
    uint32_t machines = bats_snapshot_machines(p, i);
    json_t *o = json_object();
    int bad = 0;
    bad |= SET(o, "name", bats_json_text(p->clusters[i].name));
    bad |= SET(o, "charge", money(p->clusters[i].charge));
    bad |= SET(o, "speed", json_real(p->speed[i]));
    bad |= SET(o, "machines", integer(machines));
    bad |= SET(o, "machines_max", integer(p->clusters[i].max));
    bad |= SET(o, "slots", integer((int64_t)bats_snapshot_slots(p, i)));
    bad |= SET(o, "machines_used", integer(k->machines_used));
    bad |= SET(o, "machines_lost", integer(k->machines_lost));
    bad |= SET(o, "machines_quarantined", integer(k->machines_quarantined));
    bad |= SET(o, "windows", integer(k->windows));
    bad |= SET(o, "charged", money(k->charged));
    bad |= SET(o, "tasks_done", integer(k->done));
    bad |= SET(o, "tasks_failed", integer(k->failed));
    bad |= SET(o, "mean_runtime_s", seconds_or_null(k->mean_runtime));
    bad |= SET(o, "is_guess", json_boolean(k->is_guess));
    bad |=
        SET(o, "profitability",
            k->profitability > 0 ? json_real(k->profitability) : json_null());
    bad |= SET(o, "utilisation",
               k->windows > 0 ? json_real(k->utilisation) : json_null());
    return bats_json_whole(o, bad);
}

/* Stable names: they must never change. */
static const char *reason(const struct bats_decision *d)
{
    static const char *const words[] = {
        [BATS_REASON_START] = "start",
        [BATS_REASON_SAMPLED] = "sampled",
        [BATS_REASON_VIOLATION] = "violation",
        [BATS_REASON_LOST] = "lost",
        [BATS_REASON_STALLED] = "stalled",
        [BATS_REASON_CHOSEN] = "chosen",
        [BATS_REASON_PLANNED] = "planned",
        [BATS_REASON_LATE] = "late",
    };
    return words[d->reason];
}

static json_t *decision(const struct bats_platform *p,
                        const struct bats_decision *d)
{
    json_t *o = json_object(), *machines = json_object();
    json_t *ending = json_object();
    int bad = 0;
    for (size_t i = 0; i < p->n_clusters; i++) {
        bad |= SET(machines, p->clusters[i].name, integer(d->machines[i]));
        bad |= SET(ending, p->clusters[i].name, integer(d->ending[i]));
    }
    bad |= SET(o, "time_s", seconds((double)d->time));
    bad |= SET(o, "reason", bats_json_text(reason(d)));
    bad |= SET(o, "machines", machines);
    bad |= SET(o, "machines_ending", ending);
    bad |= SET(o, "windows", integer(d->windows));
    bad |= SET(o, "feasible", json_boolean(d->feasible));
    bad |= SET(o, "is_guess", json_boolean(d->is_guess));
    bad |= SET(o, "tasks_left", integer(d->tasks_left));
    bad |= SET(o, "tasks_paid",
               d->tasks_paid >= 0 ? integer(d->tasks_paid) : json_null());
    bad |= SET(o, "budget_left", money(d->budget_left));
    bad |= SET(o, "cause",
               bats_trigger_name(d->trigger) != NULL
                   ? bats_json_text(bats_trigger_name(d->trigger))
                   : json_null());
    bad |= SET(o, "tasks_open", integer(d->tasks_open));
    bad |= SET(o, "end_s", d->end > 0 ? seconds((double)d->end) : json_null());
    bad |= SET(o, "cost", d->end > 0 ? money(d->cost) : json_null());
    bad |= SET(o, "replaces", json_boolean(d->replaces));
    return bats_json_whole(o, bad);
}

static json_t *failure(const struct bats_failure *f)
{
    json_t *o = json_object();
    int bad = 0;
    bad |= SET(o, "task", integer((int64_t)f->task + 1));
    bad |= SET(o, "exit_status", integer(f->exit_status));
    bad |= SET(o, "signal", integer(f->signal));
    bad |= SET(o, "runtime_s", seconds((double)f->runtime));
    bad |= SET(o, "host", bats_json_text(f->host));
    bad |= SET(o, "command", bats_json_text(f->command));
    return bats_json_whole(o, bad);
}

/* The options as they were given, and what holds without them. */
static json_t *settings(const struct bats_report *r)
{
    const struct bats_report_settings *s = &r->settings;
    json_t *o = s->given != NULL ? json_loads(s->given, 0, NULL) : NULL;
    if (o == NULL)
        o = json_object();
    int bad = SET(o, "policy", bats_json_text(s->policy));
    bad |= SET(o, "seed", integer((int64_t)s->seed));
    bad |= SET(o, "window_s", seconds((double)r->snapshot.platform->window));
    bad |= SET(o, "time_scale", json_real(s->time_scale));
    return bats_json_whole(o, bad);
}

/* margin_s: to spare, or missing if below 0; null where tasks are left. */
static int set_deadline(json_t *o, const struct bats_sched_status *s)
{
    bool has_one = s->deadline > 0;
    bool done = s->pending + s->running == 0;
    int bad = SET(o, "deadline_s",
                  has_one ? seconds((double)s->deadline) : json_null());
    bad |= SET(o, "deadline_kept",
               has_one ? json_boolean(done && s->now <= s->deadline)
                       : json_null());
    bad |= SET(o, "margin_s",
               has_one && done ? seconds((double)(s->deadline - s->now))
                               : json_null());
    return bad;
}

/* How sure a mean is: 95 % of such intervals have the true one. */
static double margin(const struct bats_category_status *c)
{
    return c->done > 1 ? 1.96 * c->deviation / sqrt(c->done) : 0;
}

json_t *bats_report_categories(const struct bats_report *r)
{
    json_t *list = json_array();
    int bad = list == NULL;
    for (uint32_t i = 0; i < r->n_categories; i++) {
        const struct bats_report_category *c = &r->categories[i];
        json_t *o = json_object();
        bad |= SET(o, "name", bats_json_text(c->name));
        bad |= SET(o, "tasks_done", integer(c->is.done));
        bad |= SET(o, "tasks_left", integer(c->is.left));
        bad |= SET(o, "mean_runtime_s", seconds(c->is.mean));
        bad |= SET(o, "deviation_s", seconds(c->is.deviation));
        bad |= SET(o, "margin_s", seconds_or_null(margin(&c->is)));
        bad |= json_array_append_new(list, o);
    }
    return bats_json_whole(list, bad);
}

static int set_result(json_t *o, const struct bats_report *r)
{
    const struct bats_snapshot *s = &r->snapshot;
    int64_t windows;
    bats_money reserved = bats_snapshot_reserved(s, &windows);
    int bad = 0;
    bad |= SET(o, "version", bats_json_text(r->version));
    bad |= SET(
        o, "outcome",
        bats_json_text(bats_finish_row(s->status.finish,
                                       s->status.failed + s->status.skipped)
                           ->key));
    bad |= SET(o, "exit_code", integer(r->exit_code));
    bad |= SET(o, "signal", integer(r->signal));
    bad |= SET(o, "start_s", seconds((double)r->start_us));
    bad |= SET(o, "makespan_s", seconds((double)s->status.now));
    bad |= set_deadline(o, &s->status);
    bad |= SET(o, "real_s", seconds((double)r->real_us));
    bad |= SET(o, "tasks", integer(bats_snapshot_tasks(s)));
    bad |= SET(o, "tasks_done", integer(s->status.done));
    bad |= SET(o, "tasks_failed", integer(s->status.failed));
    bad |= SET(o, "tasks_skipped", integer(s->status.skipped));
    if (r->n_categories > 0)
        bad |= SET(o, "categories", bats_report_categories(r));
    if (r->n_workflows > 0)
        bad |= SET(o, "workflows",
                   bats_workflows_json(r->workflows, r->n_workflows));
    bad |= SET(o, "tasks_left", integer(bats_snapshot_left(s)));
    bad |= SET(o, "preempted", integer(s->status.preempted));
    bad |= SET(o, "retried", integer(s->status.retried));
    bad |= SET(o, "timed_out", integer(s->status.timed_out));
    bad |= SET(o, "copies", integer(s->status.replicas));
    bad |= SET(o, "copies_first", integer(s->status.replicas_won));
    bad |= SET(o, "yielded", integer((int64_t)r->yielded));
    bad |= SET(o, "sample_size", integer(s->status.sample_size));
    bad |= SET(o, "currency", bats_json_text(s->platform->currency));
    bad |= SET(o, "budget", money(s->status.budget));
    bad |= SET(o, "billing",
               bats_json_text(bats_billing_name(s->platform->billing)));
    bad |= SET(o, "charged", money(s->status.charged));
    bad |= SET(o, "charged_killed", money(r->charged_killed));
    bad |= SET(o, "reserved", money(reserved));
    bad |= SET(o, "reserved_windows", integer(windows));
    bad |= SET(o, "rest_cost", money(s->status.rest_cost));
    return bad;
}

/* The promise and whether it was kept; null without one. */
static json_t *promise(const struct bats_snapshot *s)
{
    const struct bats_schedule *p = &s->promise;
    json_t *o = s->has_promise ? json_object() : json_null();
    int bad = 0;
    if (!s->has_promise)
        return o;
    bad |= SET(o, "schedule", bats_json_text(bats_offer_name(p->offer)));
    bad |= SET(o, "makespan_s", seconds(p->makespan.estimate));
    bad |= SET(o, "makespan_high_s",
               p->is_bounded ? seconds(p->makespan.high) : json_null());
    bad |= SET(o, "cost", money(p->plan.cost));
    bad |=
        SET(o, "cost_high", p->is_bounded ? money(p->cost_high) : json_null());
    bad |= SET(o, "cushion", money(s->status.cushion));
    bad |= SET(o, "actual_makespan_s",
               seconds((double)(s->status.now - s->sampled_at)));
    bad |=
        SET(o, "actual_cost", money(s->status.charged - s->sampled_charged));
    bad |= SET(o, "cushion_spent", money(s->status.cushion_spent));
    return bats_json_whole(o, bad);
}

static json_t *report_object(const struct bats_report *r)
{
    const struct bats_snapshot *s = &r->snapshot;
    json_t *o = json_object(), *clusters = json_array();
    json_t *decisions = json_array(), *failed = json_array();
    int bad = set_result(o, r);
    bad |= SET(o, "settings", settings(r));
    bad |= SET(o, "promise", promise(s));
    for (size_t i = 0; i < s->platform->n_clusters; i++)
        bad |= json_array_append_new(clusters, bats_report_cluster(s, i));
    bad |= SET(o, "clusters", clusters);
    for (size_t i = 0; i < s->n_decisions; i++)
        bad |= json_array_append_new(decisions,
                                     decision(s->platform, &s->decisions[i]));
    bad |= SET(o, "decisions", decisions);
    for (size_t i = 0; i < r->failures.n; i++)
        bad |= json_array_append_new(failed, failure(&r->failures.list[i]));
    bad |= SET(o, "failed_tasks", failed);
    bad |= SET(o, "causes", bats_causes_json(&r->causes));
    bad |= SET(o, "failed_tasks_omitted",
               integer((int64_t)s->status.failed - (int64_t)r->failures.n));
    return bats_json_whole(o, bad);
}

int bats_report_json(FILE *out, const struct bats_report *report,
                     struct bats_error *err)
{
    json_t *o = report_object(report);
    if (o == NULL)
        return bats_no_memory(err);
    int rc = json_dumpf(
        o, out, BATS_JSON_SAFE | JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(o);
    if (rc != 0 || putc('\n', out) == EOF || fflush(out) != 0)
        return bats_error_set(err, BATS_ESYS, "cannot write the report: %s",
                              strerror(errno));
    return 0;
}
