/* json: the closing report for programs. See report.h. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "report/report.h"
#include "report/words.h"
#include "report/workflows.h"
#include "util/json.h"

#define SET json_object_set_new

static json_t *integer(int64_t n)
{
    return json_integer((json_int_t)n);
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
    json_t *cluster = json_pack(
        "{s:o, s:o, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:I,"
        " s:o, s:b, s:o, s:o}",
        "name", bats_json_text(p->clusters[i].name), "charge",
        money(p->clusters[i].charge), "speed", p->speed[i], "machines",
        (json_int_t)bats_snapshot_machines(p, i), "machines_max",
        (json_int_t)p->clusters[i].max, "slots",
        (json_int_t)bats_snapshot_slots(p, i), "machines_used",
        (json_int_t)k->machines_used, "machines_lost",
        (json_int_t)k->machines_lost, "machines_quarantined",
        (json_int_t)k->machines_quarantined, "windows", (json_int_t)k->windows,
        "charged", money(k->charged), "tasks_done", (json_int_t)k->done,
        "tasks_failed", (json_int_t)k->failed, "mean_runtime_s",
        bats_json_seconds(k->mean_runtime > 0, k->mean_runtime), "is_guess",
        k->is_guess, "profitability",
        k->profitability > 0 ? json_real(k->profitability) : json_null(),
        "utilisation",
        k->windows > 0 ? json_real(k->utilisation) : json_null());
    bats_table_add_energy(cluster, k->energy_j, p->grams_per_kwh);
    return cluster;
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
    json_t *machines = json_object(), *ending = json_object();
    int bad = 0;
    for (size_t i = 0; i < p->n_clusters; i++) {
        bad |= SET(machines, p->clusters[i].name, integer(d->machines[i]));
        bad |= SET(ending, p->clusters[i].name, integer(d->ending[i]));
    }
    return bats_json_whole(
        json_pack(
            "{s:f, s:s, s:o, s:o, s:I, s:b, s:b, s:I, s:o, s:o, s:s?, s:I,"
            " s:o, s:o, s:b}",
            "time_s", (double)d->time / 1e6, "reason", reason(d), "machines",
            machines, "machines_ending", ending, "windows",
            (json_int_t)d->windows, "feasible", d->feasible, "is_guess",
            d->is_guess, "tasks_left", (json_int_t)d->tasks_left, "tasks_paid",
            d->tasks_paid >= 0 ? integer(d->tasks_paid) : json_null(),
            "budget_left", money(d->budget_left), "cause",
            bats_trigger_name(d->trigger), "tasks_open",
            (json_int_t)d->tasks_open, "end_s",
            bats_json_seconds(d->end > 0, (double)d->end), "cost",
            d->end > 0 ? money(d->cost) : json_null(), "replaces",
            d->replaces),
        bad);
}

static json_t *failure(const struct bats_failure *f)
{
    return json_pack("{s:I, s:i, s:i, s:f, s:o, s:o}", "task",
                     (json_int_t)f->task + 1, "exit_status", f->exit_status,
                     "signal", f->signal, "runtime_s",
                     (double)f->runtime / 1e6, "host", bats_json_text(f->host),
                     "command", bats_json_text(f->command));
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
    bad |= SET(o, "window_s",
               bats_json_seconds(true, (double)r->snapshot.platform->window));
    bad |= SET(o, "time_scale", json_real(s->time_scale));
    return bats_json_whole(o, bad);
}

/* margin_s: to spare, or missing if below 0; null where tasks are left. */
static int set_deadline(json_t *o, const struct bats_sched_status *s)
{
    bool has_one = s->deadline > 0;
    bool done = s->pending + s->running == 0;
    int bad =
        SET(o, "deadline_s", bats_json_seconds(has_one, (double)s->deadline));
    bad |= SET(o, "deadline_kept",
               has_one ? json_boolean(done && s->now <= s->deadline)
                       : json_null());
    bad |= SET(
        o, "margin_s",
        bats_json_seconds(has_one && done, (double)(s->deadline - s->now)));
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
        bad |= json_array_append_new(
            list,
            json_pack("{s:o, s:I, s:I, s:f, s:f, s:o}", "name",
                      bats_json_text(c->name), "tasks_done",
                      (json_int_t)c->is.done, "tasks_left",
                      (json_int_t)c->is.left, "mean_runtime_s",
                      c->is.mean / 1e6, "deviation_s", c->is.deviation / 1e6,
                      "margin_s",
                      bats_json_seconds(margin(&c->is) > 0, margin(&c->is))));
    }
    return bats_json_whole(list, bad);
}

static json_t *result(const struct bats_report *r)
{
    const struct bats_snapshot *s = &r->snapshot;
    const struct bats_sched_status *st = &s->status;
    int64_t windows;
    bats_money reserved = bats_snapshot_reserved(s, &windows);
    return json_pack(
        "{s:s, s:s, s:i, s:i, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:I,"
        " s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:s, s:o, s:o, s:o, s:I,"
        " s:o}",
        "version", r->version, "outcome",
        bats_finish_row(st->finish, st->failed + st->skipped)->key,
        "exit_code", r->exit_code, "signal", r->signal, "start_s",
        (double)r->start_us / 1e6, "makespan_s", (double)st->now / 1e6,
        "real_s", (double)r->real_us / 1e6, "tasks",
        (json_int_t)bats_snapshot_tasks(s), "tasks_done", (json_int_t)st->done,
        "tasks_failed", (json_int_t)st->failed, "tasks_skipped",
        (json_int_t)st->skipped, "tasks_left",
        (json_int_t)bats_snapshot_left(s), "preempted",
        (json_int_t)st->preempted, "retried", (json_int_t)st->retried,
        "timed_out", (json_int_t)st->timed_out, "copies",
        (json_int_t)st->replicas, "copies_first", (json_int_t)st->replicas_won,
        "yielded", (json_int_t)r->yielded, "sample_size",
        (json_int_t)st->sample_size, "currency",
        bats_json_text(s->platform->currency), "budget", money(st->budget),
        "billing", bats_billing_name(s->platform->billing), "charged",
        money(st->charged), "charged_killed", money(r->charged_killed),
        "reserved", money(reserved), "reserved_windows", (json_int_t)windows,
        "rest_cost", money(st->rest_cost));
}

static json_t *promise(const struct bats_snapshot *s)
{
    const struct bats_schedule *p = &s->promise;
    if (!s->has_promise)
        return json_null();
    return json_pack(
        "{s:s, s:f, s:o, s:o, s:o, s:f, s:o}", "schedule",
        bats_offer_name(p->offer), "makespan_s", p->makespan.estimate / 1e6,
        "makespan_high_s", bats_json_seconds(p->is_bounded, p->makespan.high),
        "cost", money(p->plan.cost), "cost_high",
        p->is_bounded ? money(p->cost_high) : json_null(), "actual_makespan_s",
        (double)(s->status.now - s->sampled_at) / 1e6, "actual_cost",
        money(s->status.charged - s->sampled_charged));
}

static json_t *report_object(const struct bats_report *r)
{
    const struct bats_snapshot *s = &r->snapshot;
    json_t *o = result(r), *clusters = json_array();
    json_t *decisions = json_array(), *failed = json_array();
    int bad = set_deadline(o, &s->status);
    if (r->n_categories > 0)
        bad |= SET(o, "categories", bats_report_categories(r));
    if (r->n_workflows > 0)
        bad |= SET(o, "workflows",
                   bats_workflows_json(r->workflows, r->n_workflows));
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
