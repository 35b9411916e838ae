/* clusters_json: the findings of the verb clusters, for programs. */
#include <jansson.h>
#include <stdlib.h>

#include "cli/clusters_json.h"
#include "report/snapshot.h"
#include "util/json.h"

#define SET(object, key, value) json_object_set_new(object, key, value)

static json_t *number(uint32_t n)
{
    return n == BATS_NODE_UNKNOWN ? json_null() : json_integer(n);
}

static json_t *seconds(bats_time time)
{
    return json_real((double)time / (double)BATS_SECOND);
}

static json_t *hardware(const struct bats_hardware *h)
{
    return json_pack("{s:o, s:I, s:I, s:I, s:I}", "model",
                     bats_json_text(h->model), "packages",
                     (json_int_t)h->packages, "cores", (json_int_t)h->cores,
                     "threads", (json_int_t)h->threads, "memory_bytes",
                     (json_int_t)h->memory_bytes);
}

static json_t *cluster(const struct bats_clusters_answer *a, size_t i)
{
    const struct bats_platform *p = &a->survey->platform;
    const struct bats_clusters_words *w = &a->words[i];
    json_t *o = json_object();
    int bad = SET(o, "name", bats_json_text(p->clusters[i].name));
    bad |= SET(o, "machines", json_integer(bats_snapshot_machines(p, i)));
    bad |=
        SET(o, "slots", json_integer((json_int_t)bats_snapshot_slots(p, i)));
    bad |= SET(o, "charge", bats_json_money(p->clusters[i].charge));
    bad |= SET(o, "charge_source", bats_json_text(w->charge));
    bad |= SET(o, "machine", bats_json_text(w->machine));
    bad |= SET(o, "hosts", bats_json_text(w->hosts));
    bad |= SET(o, "hardware", hardware(&w->node->hardware));
    return bats_json_whole(o, bad);
}

static json_t *ranks(const struct bats_survey *s)
{
    json_t *list = json_array();
    int bad = 0;
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        const struct bats_node *n = &s->nodes[r];
        bad |= json_array_append_new(
            list,
            json_pack("{s:I, s:o, s:o, s:o, s:o, s:I}", "rank", (json_int_t)r,
                      "host", bats_json_text(n->host), "node", number(n->id),
                      "local", number(n->local_rank), "hardware_threads",
                      bats_json_text(n->hardware.bound), "shared_by",
                      (json_int_t)s->shares[r].count));
    }
    return bats_json_whole(list, bad);
}

static json_t *job(const struct bats_site *site,
                   const struct bats_batch_system *system)
{
    const struct bats_allocation *a = &site->allocation;
    if (a->system != system)
        return json_null();
    if (a->n_parts == 0)
        return json_pack("{s:o, s:o}", "job", bats_json_text(a->job),
                         "trouble", bats_json_text(site->trouble.text));
    return json_pack("{s:o, s:f}", "job", bats_json_text(a->job),
                     "billing_per_hour", a->rate);
}

int bats_clusters_json(FILE *out, const struct bats_clusters_answer *a,
                       struct bats_error *err)
{
    const struct bats_survey *s = a->survey;
    json_t *o = json_object(), *list = json_array();
    int bad = 0;
    for (size_t i = 0; i < s->platform.n_clusters; i++)
        bad |= json_array_append_new(list, cluster(a, i));
    bad |= SET(o, "clusters", list);
    bad |= SET(o, "currency", bats_json_text(s->platform.currency));
    bad |= SET(o, "window_s", seconds(s->platform.window));
    bad |= SET(o, "window_source", bats_json_text(a->window));
    bad |= SET(o, "budget", bats_json_money(s->budget));
    bad |= SET(o, "budget_source", bats_json_text(a->budget));
    bad |= SET(o, "end_s",
               s->job_end_us > 0 ? seconds(s->job_end_us) : json_null());
    for (size_t i = 0; bats_batch_systems[i] != NULL; i++)
        bad |= SET(o, bats_batch_systems[i]->key,
                   job(&s->site, bats_batch_systems[i]));
    bad |= SET(o, "ranks", ranks(s));
    if (bad == 0 && json_dumpf(o, out, BATS_JSON_SAFE | JSON_INDENT(2)) == 0)
        putc('\n', out);
    else
        bad = 1;
    json_decref(o);
    return bad == 0 ? 0
                    : bats_error_set(err, BATS_ESYS,
                                     "the answer cannot be written as JSON");
}
