#include "report/live.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "bats/cluster.h"
#include "bats/lease.h"
#include "report/workflows.h"
#include "util/json.h"

static json_t *cluster_json(const struct bats_snapshot *s, size_t i,
                            const struct bats_turns *turns)
{
    const struct bats_cluster *c = &s->platform->clusters[i];
    const struct bats_cluster_status *k = &s->cluster[i];
    json_t *o = json_pack(
        "{s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "name",
        bats_json_text(c->name), "charge", bats_json_money(c->charge),
        "machines", (json_int_t)bats_snapshot_machines(s->platform, i), "held",
        (json_int_t)k->machines_now, "lost", (json_int_t)k->machines_lost,
        "busy", (json_int_t)turns->busy, "slots", (json_int_t)turns->slots,
        "windows", (json_int_t)k->windows, "charged",
        bats_json_money(k->charged));
    json_t *more = json_pack(
        "{s:I, s:I, s:f, s:b, s:f, s:f, s:o, s:I, s:I}", "done",
        (json_int_t)k->done, "failed", (json_int_t)k->failed, "mean_s",
        k->mean_runtime / BATS_SECOND, "is_guess", k->is_guess,
        "profitability", k->profitability, "in_use", k->utilisation,
        "window_ends_s", /* null in an allocation, where none ends */
        bats_json_seconds(turns->at < BATS_LONGEST, (double)turns->at),
        "ending", (json_int_t)turns->ending, "parked_then",
        (json_int_t)turns->parked);
    if (o != NULL)
        json_object_update(o, more);
    json_decref(more);
    return o;
}

/* Hourly charge of the machines held now. */
static double burn(const struct bats_snapshot *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->platform->n_clusters; i++)
        sum += (double)s->platform->clusters[i].charge *
               s->cluster[i].machines_now;
    return sum / (double)s->platform->window * (double)BATS_HOUR;
}

/* Charge for the time until the first window of each cluster ends. */
static double paid_ahead(const struct bats_snapshot *s,
                         const struct bats_turns *turns)
{
    double sum = 0;
    for (size_t i = 0; i < s->platform->n_clusters; i++)
        if (bats_lease_terms(s->platform->billing).in_windows &&
            turns[i].at != BATS_NEVER && turns[i].at > s->status.now)
            sum += (double)s->platform->clusters[i].charge *
                   s->cluster[i].machines_now *
                   (double)(turns[i].at - s->status.now) /
                   (double)s->platform->window;
    return sum;
}

static void add_money(json_t *o, const struct bats_snapshot *s,
                      const struct bats_turns *turns)
{
    const struct bats_sched_status *st = &s->status;
    bool limited = st->budget != BATS_UNLIMITED;
    double rate = burn(s);
    int64_t windows;
    bats_money held = bats_snapshot_kept(s);
    json_t *out = json_null();
    if (limited && rate > 0)
        out = json_real(
            (double)st->now / BATS_SECOND +
            ((double)(st->budget - st->charged) + paid_ahead(s, turns)) /
                rate * 3600);
    json_t *all = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "budget",
        bats_json_money(st->budget), "charged", bats_json_money(st->charged),
        "held", bats_json_money(held), "left",
        limited ? bats_json_money(st->budget - st->charged - held)
                : json_null(),
        "reserved",
        bats_lease_terms(s->platform->billing).in_windows
            ? bats_json_money(bats_snapshot_reserved(s, &windows))
            : json_null(),
        "per_hour", bats_json_money((bats_money)fmin(rate, 9e18)),
        "runs_out_s", out, "currency", bats_json_text(s->platform->currency));
    json_object_set_new(o, "money", all);
}

static json_t *running_json(const struct bats_snapshot *s,
                            const struct bats_live_more *m)
{
    json_t *list = json_array();
    char name[BATS_MACHINE_NAME];
    const struct bats_platform *p = s->platform;
    for (size_t i = 0; i < m->n_running; i++) {
        const struct bats_running *r = &m->running[i];
        json_t *task = json_pack(
            "{s:I, s:o, s:f, s:b, s:o}", "task", (json_int_t)r->task + 1,
            "machine",
            bats_json_text(
                bats_machine_name(name, p->clusters, p->machines, r->machine)),
            "since_s", (double)r->since / BATS_SECOND, "is_replica",
            r->is_replica, "command", bats_json_text(m->commands[i]));
        if (m->needs[i][0] != '\0')
            json_object_set_new(task, "needs", json_string(m->needs[i]));
        json_array_append_new(list, task);
    }
    return list;
}

static json_t *causes_json(const struct bats_causes *causes)
{
    struct bats_causes few = *causes;
    if (few.n > BATS_LIVE_CAUSES)
        few.n = BATS_LIVE_CAUSES;
    return bats_causes_json(&few);
}

static void add_times(json_t *o, const struct bats_snapshot *s,
                      const struct bats_live_more *m)
{
    const struct bats_sched_status *st = &s->status;
    const struct bats_prediction *promise = &s->promise.makespan;
    double chosen = (double)s->sampled_at;
    if (st->blocked > 0 || st->longest_chain > 0) {
        json_object_set_new(o, "ready",
                            json_integer(st->pending - st->blocked));
        json_object_set_new(o, "blocked", json_integer(st->blocked));
        json_object_set_new(o, "longest_chain_s",
                            bats_json_seconds(st->longest_chain > 0,
                                              (double)st->longest_chain));
    }
    json_object_set_new(o, "tasks_per_hour", json_real(m->per_hour));
    json_object_set_new(o, "end_s",
                        bats_json_seconds(st->estimated_end < BATS_NEVER,
                                          (double)st->estimated_end));
    json_object_set_new(
        o, "promised_s",
        bats_json_seconds(s->has_promise, chosen + promise->estimate));
    json_object_set_new(
        o, "promised_at_most_s",
        bats_json_seconds(s->has_promise && s->promise.is_bounded,
                          chosen + promise->high));
    json_object_set_new(
        o, "deadline_s",
        bats_json_seconds(st->deadline > 0, (double)st->deadline));
}

json_t *bats_live_json(const struct bats_snapshot *s,
                       const struct bats_live_more *m)
{
    static const char *const phases[] = {"running", "sampling", "choosing"};
    const struct bats_sched_status *st = &s->status;
    json_t *clusters = json_array();
    uint32_t left = bats_snapshot_left(s), running = 0;
    for (size_t i = 0; i < s->platform->n_clusters; i++) {
        json_array_append_new(clusters, cluster_json(s, i, &m->turns[i]));
        running += m->turns[i].busy;
    }
    if (running > left) /* replicas */
        running = left;
    json_t *o = json_pack(
        "{s:o, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I}",
        "bag", bats_json_text(m->bag), "policy", m->policy, "phase",
        phases[s->phase], "started_unix", (double)m->started_us / 1e6,
        "written_unix", (double)m->now_us / 1e6, "time_scale", m->time_scale,
        "time_s", (double)st->now / BATS_SECOND, "window_s",
        (double)s->platform->window / BATS_SECOND, "tasks",
        (json_int_t)bats_snapshot_tasks(s), "done", (json_int_t)st->done,
        "failed", (json_int_t)st->failed, "running", (json_int_t)running,
        "pending", (json_int_t)(left - running));
    if (o == NULL)
        return NULL;
    add_times(o, s, m);
    if (bats_snapshot_is_partial(s))
        json_object_set_new(o, "so_far", json_true());
    json_object_set_new(o, "replicas", json_integer(st->replicas));
    json_object_set_new(o, "preempted", json_integer(st->preempted));
    json_object_set_new(o, "retried", json_integer(st->retried));
    add_money(o, s, m->turns);
    json_object_set_new(o, "clusters", clusters);
    json_object_set_new(o, "workflows",
                        bats_workflows_json(m->workflows, m->n_workflows));
    json_object_set_new(o, "longest", running_json(s, m));
    json_object_set_new(o, "causes", causes_json(m->causes));
    return o;
}

int bats_live_write(const char *path, const json_t *object,
                    struct bats_error *err)
{
    char next[4096];
    if (snprintf(next, sizeof next, "%s.new", path) >= (int)sizeof next)
        return bats_refuse(err, "%s: the name is too long", path);
    if (json_dump_file(object, next,
                       BATS_JSON_SAFE | JSON_INDENT(1) |
                           JSON_REAL_PRECISION(15)) != 0 ||
        rename(next, path) != 0) {
        int code = errno;
        unlink(next);
        return bats_error_set(err, BATS_ESYS, "%s: %s", path, strerror(code));
    }
    return 0;
}

int bats_live_read(const char *path, json_t **object, struct bats_error *err)
{
    json_error_t why;
    *object = json_load_file(path, 0, &why);
    if (json_is_object(*object) &&
        json_is_number(json_object_get(*object, "written_unix")))
        return 0;
    json_decref(*object);
    *object = NULL;
    if (access(path, F_OK) != 0)
        return bats_refuse(err, "%s: %s", path, strerror(errno));
    return bats_refuse(err, "%s is not the status of a run", path);
}
