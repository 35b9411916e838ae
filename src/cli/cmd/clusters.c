/* clusters: the verb clusters. Surveys the ranks as a run would, and prints
 * the findings with their sources. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/lease.h"
#include "cli/cli.h"
#include "cli/look.h"
#include "cli/options.h"
#include "report/report.h"
#include "report/snapshot.h"
#include "report/words.h"
#include "run/run.h"
#include "util/hostlist.h"
#include "util/json.h"

/* ---- where the figures come from ---- */

static const char *machine_source(const struct bats_settings *set,
                                  const struct bats_site *site, size_t i)
{
    if (set->clusters != NULL)
        return set->clusters;
    if (set->run.machine != NULL)
        return "--machine";
    if (site->clusters[i].by_node)
        return "the job holds whole nodes";
    return site->allocation.n_parts > 0 ? "the job does not hold whole nodes"
                                        : "the holder of the nodes is unknown";
}

/* node or rank; NULL: the clusters file has one for each cluster. */
static const char *machine_unit(const struct bats_settings *set,
                                const struct bats_survey *s, size_t i)
{
    return set->clusters != NULL         ? NULL
           : s->site.clusters[i].by_node ? "node"
                                         : "rank";
}

static const char *charge_source(const struct bats_settings *set,
                                 const struct bats_survey *s, size_t i)
{
    return set->clusters != NULL ? set->clusters : s->site.clusters[i].source;
}

static const char *window_source(const struct bats_settings *set)
{
    if (set->run.window > 0)
        return "--window";
    return set->clusters != NULL ? set->clusters : "default";
}

/* `text` is for words that are not constant. */
static const char *budget_source(const struct bats_settings *set,
                                 const struct bats_survey *survey,
                                 char text[BATS_ACCOUNT_WORDS])
{
    if (survey->by_account)
        return bats_account_words(text, &survey->account);
    if (survey->budget_found)
        return bats_lease_terms(survey->billing.model).lasts
                   ? "what the job is billed until it ends"
                   : "all machines, for every window that begins before the "
                     "job ends";
    if (set->budget_from != NULL)
        return set->budget_from;
    return "no end of the job is known";
}

/* ---- printing ---- */

/* The hosts of a cluster in one block for free(), and one of its nodes: every
 * cluster has some. */
static char *hosts_of(const struct bats_survey *s, size_t cluster,
                      const struct bats_node **node)
{
    const struct bats_platform *p = &s->platform;
    const char **names = bats_have(calloc(p->n_workers + 1, sizeof *names));
    size_t n = 0;
    *node = NULL;
    for (size_t i = 0; i < p->n_workers; i++) {
        if (p->machines[p->slot_of[i].machine].cluster != cluster)
            continue;
        const struct bats_node *at = &s->nodes[i + 1];
        *node = *node != NULL ? *node : at;
        names[n++] = at->host;
    }
    char *hosts = bats_have(bats_hostlist_fold(names, n));
    free(names);
    return hosts;
}

static void print_hardware(const struct bats_hardware *h)
{
    if (h->cores == 0) {
        printf("hardware not known\n");
        return;
    }
    bats_words_line(stdout, "%s%s%s, %s, %.3g GiB", h->model,
                    h->model[0] != '\0' ? ", " : "",
                    bats_words_count(h->packages, "package").s,
                    bats_words_count(h->cores, "core").s,
                    (double)h->memory_bytes / (1 << 30));
}

static void print_cluster(const struct bats_settings *set,
                          const struct bats_survey *s, size_t i)
{
    const struct bats_cluster *c = &s->platform.clusters[i];
    const struct bats_node *node;
    char *hosts = hosts_of(s, i, &node);
    putchar('\n');
    bats_words_line(stdout, "%s: %s", c->name, hosts);
    fputs("  nodes    ", stdout);
    print_hardware(&node->hardware);
    if (set->clusters == NULL)
        printf("  machine  %s: %s\n", machine_unit(set, s, i),
               machine_source(set, &s->site, i));
    bats_words_line(stdout, "  charge   %s per window: %s",
                    bats_words_money(c->charge, s->platform.currency).s,
                    charge_source(set, s, i));
    free(hosts);
}

static void print_limits(const struct bats_settings *set,
                         const struct bats_survey *s)
{
    const struct bats_allocation *job = &s->site.allocation;
    char words[BATS_ACCOUNT_WORDS];
    printf("\nwindow   %s: %s\n", bats_words_duration(s->platform.window).s,
           window_source(set));
    bats_words_line(stdout, "budget   %s: %s",
                    bats_words_money(s->budget, s->platform.currency).s,
                    budget_source(set, s, words));
    if (s->job_end_us > 0)
        printf("end      %s: %s; the run ends shortly before\n",
               bats_words_clock(s->job_end_us).s, job->system->name);
    if (job->n_parts > 0)
        bats_words_line(
            stdout, "%-8s job %s, billed %g per hour for all that it holds",
            job->system->name, job->job, job->rate);
    if (s->site.trouble.code != 0)
        bats_words_line(stdout, "%-9sdoes not say what job %s holds: %s",
                        job->system->name, job->job, s->site.trouble.text);
}

static void print_number(uint32_t number)
{
    if (number == BATS_NODE_UNKNOWN)
        printf("  %5s", "?");
    else
        printf("  %5" PRIu32, number);
}

static void print_ranks(const struct bats_survey *s)
{
    int width = 4;
    char host[4 * sizeof s->nodes->host];
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        bats_encode_terminal(host, sizeof host, s->nodes[r].host);
        width = (int)strlen(host) > width ? (int)strlen(host) : width;
    }
    printf("\n%5s  %-*s  %5s  %5s  %s\n", "rank", width, "host", "node",
           "local", "hardware threads");
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        const struct bats_node *n = &s->nodes[r];
        printf("%5" PRIu32 "  %-*s", r, width,
               bats_encode_terminal(host, sizeof host, n->host));
        print_number(n->id);
        print_number(n->local_rank);
        printf("  %s", n->hardware.bound[0] != '\0' ? n->hardware.bound : "?");
        if (s->shares[r].count > 1)
            printf(", shared by %" PRIu32 " ranks", s->shares[r].count);
        putchar('\n');
    }
}

/* ---- JSON ---- */

#define SET(object, key, value) json_object_set_new(object, key, value)

static json_t *number(uint32_t n)
{
    return n == BATS_NODE_UNKNOWN ? json_null() : json_integer(n);
}

static json_t *hardware(const struct bats_hardware *h)
{
    return json_pack("{s:o, s:I, s:I, s:I, s:I}", "model",
                     bats_json_text(h->model), "packages",
                     (json_int_t)h->packages, "cores", (json_int_t)h->cores,
                     "threads", (json_int_t)h->threads, "memory_bytes",
                     (json_int_t)h->memory_bytes);
}

static json_t *cluster(const struct bats_settings *set,
                       const struct bats_survey *s, size_t i)
{
    const struct bats_platform *p = &s->platform;
    const struct bats_cluster *c = &p->clusters[i];
    const struct bats_node *node;
    char *hosts = hosts_of(s, i, &node);
    json_t *o = json_object();
    int bad = SET(o, "name", bats_json_text(c->name));
    bad |= SET(o, "machines", json_integer(bats_snapshot_machines(p, i)));
    bad |=
        SET(o, "slots", json_integer((json_int_t)bats_snapshot_slots(p, i)));
    bad |= SET(o, "charge", bats_json_money(c->charge));
    bad |= SET(o, "charge_source", bats_json_text(charge_source(set, s, i)));
    bad |= SET(o, "machine", bats_json_text(machine_unit(set, s, i)));
    bad |= SET(o, "hosts", bats_json_text(hosts));
    bad |= SET(o, "hardware", hardware(&node->hardware));
    free(hosts);
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

/* Money is a text with a decimal number, or null if unlimited; times are in
 * seconds. */
static void print_json(const struct bats_settings *set,
                       const struct bats_survey *s)
{
    char words[BATS_ACCOUNT_WORDS];
    json_t *o = json_object(), *list = json_array();
    int bad = 0;
    for (size_t i = 0; i < s->platform.n_clusters; i++)
        bad |= json_array_append_new(list, cluster(set, s, i));
    bad |= SET(o, "clusters", list);
    bad |= SET(o, "currency", bats_json_text(s->platform.currency));
    bad |= SET(o, "window_s",
               bats_json_seconds(true, (double)s->platform.window));
    bad |= SET(o, "window_source", bats_json_text(window_source(set)));
    bad |= SET(o, "budget", bats_json_money(s->budget));
    bad |=
        SET(o, "budget_source", bats_json_text(budget_source(set, s, words)));
    bad |= SET(o, "end_s",
               bats_json_seconds(s->job_end_us > 0, (double)s->job_end_us));
    for (size_t i = 0; bats_batch_systems[i] != NULL; i++)
        bad |= SET(o, bats_batch_systems[i]->key,
                   job(&s->site, bats_batch_systems[i]));
    bad |= SET(o, "ranks", ranks(s));
    bats_look_json(bats_json_whole(o, bad), JSON_INDENT(2));
}

static void print(const struct bats_settings *set,
                  const struct bats_survey *survey)
{
    if (set->json) {
        print_json(set, survey);
        return;
    }
    bats_report_platform(stdout, &survey->platform);
    for (size_t i = 0; i < survey->platform.n_clusters; i++)
        print_cluster(set, survey, i);
    print_limits(set, survey);
    if (set->ranks)
        print_ranks(survey);
}

/* ---- the verb ---- */

static int write_text(void *text, FILE *out, struct bats_error *err)
{
    (void)err;
    fputs(text, out);
    return 0;
}

static void save(const struct bats_settings *set,
                 const struct bats_survey *survey)
{
    char *text;
    bats_must(
        bats_site_write(&survey->site, set->run.window, &text, &bats_why));
    bats_look_write(set->save, write_text, text);
    free(text);
}

static int master(enum bats_verb verb, struct bats_settings *set)
{
    struct bats_clusters_file *clusters = NULL;
    struct bats_survey survey;
    if (set->clusters != NULL &&
        bats_clusters_file_load(set->clusters, set->run.window, &clusters,
                                &bats_why) < 0) {
        bats_run_dismiss(NULL, bats_say);
        return bats_complain(&bats_why);
    }
    struct bats_run_options options = set->run;
    options.clusters = clusters;
    options.budget_given = set->budget_from != NULL;
    options.grace_ms = set->grace / 1000;
    bats_must(bats_run_survey(&options, &survey, &bats_why));
    bats_clusters_file_destroy(clusters);
    print(set, &survey);
    if (set->save != NULL)
        save(set, &survey);
    bats_survey_release(&survey);
    bats_must(bats_flush(&bats_why));
    return BATS_EXIT_OK;
}

int cmd_clusters(enum bats_verb verb, struct bats_settings *set, int argc,
                 char **argv, struct bats_error *usage)
{
    return bats_jobs_run(verb, set, argc, argv, usage, master);
}
