/* settings: derives machines that are jobs from the options and the rules of
 * the site. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/alloc/state.h"
#include "cli/cli.h"
#include "input/model.h"
#include "report/words.h"
#include "run/needs.h"
#include "run/survey.h"
#include "util/encode.h"
#include "util/hash.h"
#include "util/larger.h"

#define RENEWAL (5 * BATS_SECOND) /* time to prolong a lease */
#define SHARE 0.25                /* share of the money for leases */
/* lower bound on --silence because of SHARE */
#define SILENCE (5 * BATS_SECOND)
#define END_S                                                                 \
    5 /* seconds from the end of a lease to the end of its job in the
       * accounts */

static int read_partitions(struct bats_alloc *a, const char *list,
                           struct bats_error *err)
{
    struct bats_platform *p = &a->platform;
    for (const char *at = list; *at != '\0'; at += *at == ',') {
        size_t n = strcspn(at, ",");
        struct bats_error why;
        char name[BATS_CLUSTER_NAME];
        if (p->n_clusters == BATS_CLUSTERS_MAX)
            return bats_refuse(err, "--partition: more than %d",
                               BATS_CLUSTERS_MAX);
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        if (n >= sizeof name ||
            bats_cluster_name_parse(name, p->clusters[p->n_clusters].name,
                                    &why) < 0)
            return bats_refuse(
                err, "--partition: '%.*s' is not the name of a partition",
                (int)n, at);
        for (size_t i = 0; i < p->n_clusters; i++)
            if (strcmp(a->partitions[i], name) == 0)
                return bats_refuse(err, "--partition: %s is given twice",
                                   name);
        strcpy(a->partitions[p->n_clusters++], name);
        at += n;
    }
    return 0;
}

static int mark_unreliable(struct bats_alloc *a,
                           const struct bats_settings *set,
                           struct bats_error *err)
{
    const char *list = set->unreliable;
    if (list == NULL && strcmp(set->policy, "expert") == 0)
        return bats_refuse(err, "--policy expert needs --unreliable: which of "
                                "the partitions lose jobs");
    for (const char *at = list; at != NULL && *at != '\0'; at += *at == ',') {
        size_t n = strcspn(at, ","), i = 0;
        while (i < a->platform.n_clusters &&
               (strlen(a->partitions[i]) != n ||
                strncmp(a->partitions[i], at, n) != 0))
            i++;
        if (i == a->platform.n_clusters)
            return bats_refuse(
                err, "--unreliable: '%.*s' is not one of --partition", (int)n,
                at);
        a->platform.clusters[i].unreliable = true;
        a->platform.clusters[i].noticed = set->run.silence_us;
        at += n;
    }
    return 0;
}

/* Splits the words of --sbatch. */
static int split(struct bats_alloc *a, const char *text,
                 struct bats_error *err)
{
    size_t n = 0;
    a->words = strdup(text);
    a->more = calloc(strlen(text) / 2 + 2, sizeof *a->more);
    if (a->words == NULL || a->more == NULL)
        return bats_no_memory(err);
    for (char *word = strtok(a->words, " "); word != NULL;
         word = strtok(NULL, " ")) {
        const char *why = a->system->jobs->refuses(word);
        if (why != NULL)
            return bats_refuse(err, "--sbatch %s: %s", word, why);
        a->more[n++] = word;
    }
    return 0;
}

/* Makes an absolute path next to the record or the bag. */
static int beside(const char *base, const char *suffix, char path[PATH_MAX],
                  struct bats_error *err)
{
    char here[PATH_MAX] = "";
    if (base[0] != '/' && getcwd(here, sizeof here - 1) == NULL)
        return bats_error_set(err, BATS_ESYS, "getcwd: %s", strerror(errno));
    int n = snprintf(path, PATH_MAX, "%s%s%s%s", here,
                     base[0] != '/' ? "/" : "", base, suffix);
    if (n < PATH_MAX)
        return 0;
    return bats_refuse(err, "%.200s...: this name is too long", base);
}

static int name_files(struct bats_alloc *a, const struct bats_settings *set,
                      const char *record, struct bats_error *err)
{
    char program[PATH_MAX], quoted[2][PATH_MAX];
    const char *base = record != NULL               ? record
                       : strcmp(set->bag, "-") == 0 ? "stdin"
                                                    : set->bag;
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n < 0)
        return bats_error_set(err, BATS_ESYS, "/proc/self/exe: %s",
                              strerror(errno));
    program[n] = '\0';
    int rc = beside(base, ".door", a->door, err);
    if (rc == 0)
        rc = beside(base, ".jobs", a->log, err);
    if (rc == 0 && (bats_encode(BATS_ENCODE_QUOTED, quoted[0], PATH_MAX,
                                program) >= PATH_MAX ||
                    bats_encode(BATS_ENCODE_QUOTED, quoted[1], PATH_MAX,
                                a->door) >= PATH_MAX))
        rc = bats_refuse(err, "%.200s: too long", a->door);
    if (rc == 0)
        snprintf(a->command, sizeof a->command, "%s worker --join %s",
                 quoted[0], quoted[1]);
    if (rc == 0)
        snprintf(a->program, sizeof a->program, "%s", quoted[0]);
    return rc;
}

/* ---- what the nodes of a job have ---- */

#define KINDS 64 /* most kinds of nodes in a partition */

static void drop_cluster(struct bats_alloc *a, size_t i)
{
    size_t after = --a->platform.n_clusters - i;
    memmove(a->partitions[i], a->partitions[i + 1],
            after * sizeof *a->partitions);
    memmove(&a->platform.clusters[i], &a->platform.clusters[i + 1],
            after * sizeof *a->platform.clusters);
    memmove(&a->nodes[i], &a->nodes[i + 1], after * sizeof *a->nodes);
}

/* Refuses the bag if a task fits none of the nodes, by cluster. */
static int check_fit(const struct bats_alloc *a, struct bats_stock *nodes,
                     const struct bats_run_options *options,
                     struct bats_error *err)
{
    struct bats_machine_spec machines[BATS_CLUSTERS_MAX];
    struct bats_survey survey = {.platform = a->platform, .stocks = nodes};
    survey.platform.machines = machines;
    survey.platform.n_machines = (uint32_t)a->platform.n_clusters;
    for (uint32_t i = 0; i < survey.platform.n_machines; i++)
        machines[i] =
            (struct bats_machine_spec){.cluster = i, .slots = nodes[i].cores};
    return bats_needs_fit(options, &survey, err);
}

/* Chooses what jobs request, and drops partitions whose nodes can hold no
 * task. */
static int choose_nodes(struct bats_alloc *a, const struct bats_settings *set,
                        const struct bats_run_options *options,
                        struct bats_error *err)
{
    bool fits[BATS_CLUSTERS_MAX];
    struct bats_stock largest[BATS_CLUSTERS_MAX];
    struct bats_need most = bats_bagfile_most(options->bag);
    bool asks = most.memory_kib + options->need.memory_kib > 0 ||
                most.gpus + options->need.gpus > 0;
    if (a->system->jobs->requests != NULL)
        a->system->jobs->requests((const char *const *)a->more, &a->said);
    if (options->gpus_per_node > 0)
        a->said.gpus = options->gpus_per_node;
    for (size_t i = 0; i < a->platform.n_clusters; i++) {
        struct bats_stock kinds[KINDS];
        int n = asks ? bats_job_system_nodes(a->system, a->partitions[i],
                                             kinds, KINDS, err)
                     : 0;
        if (n < 0)
            return n;
        a->nodes[i] = a->said;
        a->nodes[i].cores = set->slots;
        a->nodes[i].nodes = set->nodes;
        fits[i] = bats_needs_request(options, kinds, (size_t)n, &a->nodes[i],
                                     &largest[i]);
    }
    int rc = check_fit(a, largest, options, err);
    if (rc == 0)
        rc = check_fit(a, a->nodes, options, err);
    for (size_t i = a->platform.n_clusters; rc == 0 && i-- > 0;)
        if (!fits[i]) {
            bats_tell("partition %s is not used: none of its nodes can hold "
                      "any of the tasks",
                      a->partitions[i]);
            drop_cluster(a, i);
        }
    return rc;
}

/* ---- requests ---- */

/* The time limit of a job with this work time. */
static int64_t limit_of(bats_time time)
{
    return (time + BATS_SECOND - 1) / BATS_SECOND + BATS_ALLOC_MARGIN_S;
}

static struct bats_job_request request_of(const struct bats_alloc *a,
                                          const struct bats_settings *set,
                                          size_t cluster)
{
    int64_t second = BATS_SECOND;
    return (struct bats_job_request){
        .name = a->name,
        .mark = a->shape[cluster],
        .partition = a->partitions[cluster],
        .account = set->account,
        .nodes = set->nodes,
        .ranks = set->slots,
        .memory_kib = a->said.memory_kib == 0 &&
                              a->nodes[cluster].memory_kib > BATS_NEEDS_NONE
                          ? a->nodes[cluster].memory_kib
                          : 0,
        .gpus = a->said.gpus == 0 ? a->nodes[cluster].gpus : 0,
        .limit_s = limit_of(a->platform.window),
        .least_s = (set->least + second - 1) / second,
        .output = a->log,
        .command = a->command,
        .guard = a->by_lease ? a->guard : NULL,
        /* A single rank runs without srun, which takes up to a second. Notices
         * of preemption come by srun, and inside a job its variables of the
         * step would be mistaken for those of the new job. */
        .alone = set->nodes == 1 && set->slots == 1 && a->own[0] == '\0' &&
                 !a->platform.clusters[cluster].reclaimable,
        .more = (const char *const *)a->more,
    };
}

static void write_digest(char text[20], uint64_t hash)
{
    hash = (hash ^ hash >> 32) & 0xffffffff;
    snprintf(text, 20, "%08lx", (unsigned long)hash);
}

/* The digest of a request: equal for jobs that request the same. */
static void digest(const struct bats_job_request *r, char shape[20])
{
    char numbers[160];
    snprintf(numbers, sizeof numbers, "%lu %lu %lld %lld %lld %lu",
             (unsigned long)r->nodes, (unsigned long)r->ranks,
             (long long)r->limit_s, (long long)r->least_s,
             (long long)r->memory_kib, (unsigned long)r->gpus);
    uint64_t hash = bats_hash_text(BATS_HASH, numbers);
    hash = bats_hash_text(hash, r->guard != NULL ? r->guard : "");
    hash = bats_hash_text(hash, r->partition);
    hash = bats_hash_text(hash, r->account != NULL ? r->account : "");
    for (size_t i = 0; r->more != NULL && r->more[i] != NULL; i++)
        hash = bats_hash_text(hash, r->more[i]);
    write_digest(shape, hash);
}

/* Sets how long jobs may work, and be billed beyond that: with leases only for
 * their ends, and until they join for their starts, since the jobs end
 * themselves. Time limits are that of a
 * window plus or minus multiples of the system's rounding, so that all are
 * rounded up by the same amount. None is longer than --window, or than the
 * partitions allow (0: no limit). */
static void set_times(struct bats_alloc *a, const struct bats_settings *set,
                      int64_t allowed_s)
{
    bats_time window = a->platform.window;
    int64_t round_s = a->system->jobs->round_s;
    int64_t limit_s = (limit_of(window) + round_s - 1) / round_s * round_s;
    a->billing.step = round_s * BATS_SECOND;
    a->billing.starting = a->by_lease ? BATS_ALLOC_MARGIN_S * BATS_SECOND : 0;
    a->billing.overrun =
        a->by_lease ? (END_S + a->rules.hang_s) * BATS_SECOND
                    : (limit_s + a->rules.overrun_s) * BATS_SECOND - window;
    if (set->run.window > 0 || (allowed_s > 0 && allowed_s <= limit_s))
        a->billing.longest = window;
    else if (allowed_s > 0)
        a->billing.longest = window + (allowed_s - limit_s) * BATS_SECOND;
}

/* Asks the system for the rate of a job in the partition, and for the
 * partition's rules. */
static int find_charge(struct bats_alloc *a, const struct bats_settings *set,
                       const char *name, size_t i,
                       struct bats_job_partition *partition,
                       struct bats_error *err)
{
    struct bats_job_request request = request_of(a, set, i);
    struct bats_error why;
    bool is_whole;
    request.name = name;
    request.limit_s = 1; /* some systems refuse a job that requests too much
                          * time */
    request.least_s = 0;
    if (bats_job_system_rate(a->system, &request, &a->rate[i], &is_whole,
                             partition, &why) < 0)
        return bats_refuse(err, "partition %s: %s", a->partitions[i],
                           why.text);
    if (a->rate[i] > 1e9)
        return bats_refuse(err, "%g per hour: too much", a->rate[i]);
    if (is_whole && !set->quiet)
        bats_tell(
            "partition %s: jobs hold whole nodes and are billed for all of "
            "them, %g %s per hour; --slots says how many tasks run on a node",
            a->partitions[i], a->rate[i], a->system->currency);
    if (i == 0)
        strcpy(a->quality, partition->quality);
    a->platform.clusters[i].notice = partition->notice_s * BATS_SECOND;
    a->platform.clusters[i].reclaimable = partition->notice_s > 0;
    return 0;
}

/* Limits the window: the batch system would never start a job above its
 * limits. */
static int shorten(struct bats_alloc *a, const struct bats_settings *set,
                   int64_t allowed_s, const char *where,
                   struct bats_error *err)
{
    struct bats_platform *p = &a->platform;
    struct bats_phrase limit = bats_words_duration(allowed_s * BATS_SECOND);
    if (allowed_s == 0 || limit_of(p->window) <= allowed_s)
        return 0;
    if (allowed_s <= BATS_ALLOC_MARGIN_S)
        return bats_refuse(err, "partition %s: a job may ask for %s only",
                           where, limit.s);
    p->window = (allowed_s - BATS_ALLOC_MARGIN_S) * BATS_SECOND;
    if (!set->quiet)
        bats_tell(
            "a job in partition %s may ask for %s at most: the window is %s",
            where, limit.s, bats_words_duration(p->window).s);
    return 0;
}

/* A lease lasts as long as a job without a master waits for one (--silence)
 * and then ends its tasks, plus the time to prolong it. The leases of all jobs
 * together hold at most SHARE of the money, unless that makes the time for a
 * master too short. */
static void set_lease(struct bats_alloc *a, const struct bats_settings *set)
{
    bats_time rest = 2 * set->grace + RENEWAL;
    double rate = 0;
    for (size_t i = 0; i < a->platform.n_clusters; i++)
        rate = larger(rate, a->rate[i]);
    if (set->run.budget != BATS_UNLIMITED && rate > 0) {
        double hours = SHARE * (double)set->run.budget / (double)BATS_UNIT /
                       (rate * (double)set->max_jobs);
        double room = hours * (double)BATS_HOUR - (double)rest -
                      (double)(BATS_ALLOC_MARGIN_S + END_S + a->rules.hang_s) *
                          (double)BATS_SECOND;
        if (room < (double)a->silence_us)
            a->silence_us = (int64_t)larger(
                room, smaller((double)SILENCE, (double)set->run.silence_us));
    }
    a->billing.lease = (a->silence_us + rest) / BATS_SECOND * BATS_SECOND;
    snprintf(a->guard, sizeof a->guard, "%s lease %lld", a->program,
             (long long)(a->billing.lease / BATS_SECOND));
}

/* The jobs that ask for prices have their own name, the same in all sessions
 * of a bag: a killed session may have left one. */
static int find_charges(struct bats_alloc *a, const struct bats_settings *set,
                        struct bats_error *err)
{
    struct bats_platform *p = &a->platform;
    char name[BATS_ALLOC_NAME], of_bag[20];
    const char *where = "";
    int64_t allowed_s = 0;
    write_digest(of_bag, bats_hash_text(BATS_HASH, a->door));
    snprintf(name, sizeof name, "bats-price-%s", of_bag);
    int rc = bats_job_system_clear(a->system, name, err);
    for (size_t i = 0; rc == 0 && i < p->n_clusters; i++) {
        struct bats_job_partition partition;
        rc = find_charge(a, set, name, i, &partition, err);
        if (rc == 0 && partition.limit_s > 0 &&
            (allowed_s == 0 || partition.limit_s < allowed_s)) {
            allowed_s = partition.limit_s;
            where = a->partitions[i];
        }
    }
    if (rc == 0)
        rc = shorten(a, set, allowed_s, where, err);
    if (a->by_lease)
        set_lease(a, set);
    for (size_t i = 0; rc == 0 && i < p->n_clusters; i++) {
        struct bats_job_request request = request_of(a, set, i);
        p->clusters[i].charge = bats_billing_use(
            bats_job_bill(a->rate[i], 3600), BATS_HOUR, p->window);
        p->clusters[i].max = (uint32_t)set->max_jobs;
        p->speed[i] = 1;
        digest(&request, a->shape[i]);
    }
    set_times(a, set, allowed_s);
    return rc;
}

void bats_alloc_ask(struct bats_alloc *a, uint32_t machine, bats_time time)
{
    struct bats_job_request *request = &a->requests[machine];
    struct lane *lane = &a->lanes[machine];
    lane->work_us = time;
    request->limit_s = limit_of(time);
    snprintf(lane->mark, sizeof lane->mark, "%s-%lld",
             a->shape[a->platform.machines[machine].cluster],
             (long long)request->limit_s);
    request->mark = lane->mark;
}

int bats_alloc_make_machines(struct bats_alloc *a,
                             const struct bats_settings *set,
                             struct bats_error *err)
{
    struct bats_platform *p = &a->platform;
    uint32_t n = 2 * (uint32_t)set->max_jobs;
    p->machines = calloc(p->n_clusters * n, sizeof *p->machines);
    a->requests = calloc(p->n_clusters * n, sizeof *a->requests);
    a->lanes = calloc(p->n_clusters * n, sizeof *a->lanes);
    a->asked = calloc(p->n_clusters * n, sizeof *a->asked);
    a->age = calloc(p->n_clusters * n, sizeof *a->age);
    a->taken = calloc(p->n_clusters * n, sizeof *a->taken);
    if (p->machines == NULL || a->requests == NULL || a->lanes == NULL ||
        a->asked == NULL || a->age == NULL || a->taken == NULL)
        return bats_no_memory(err);
    for (uint32_t c = 0; c < p->n_clusters; c++)
        for (uint32_t k = 0; k < n; k++) {
            a->requests[p->n_machines] = request_of(a, set, c);
            p->machines[p->n_machines++] = (struct bats_machine_spec){
                .cluster = c, .slots = set->nodes * set->slots};
        }
    return 0;
}

int bats_alloc_read(struct bats_alloc *a, const struct bats_settings *set,
                    const struct bats_run_options *options, const char *record,
                    struct bats_error *err)
{
    int rc = read_partitions(a, set->partition, err);
    if (rc == 0)
        rc = mark_unreliable(a, set, err);
    if (rc == 0 && set->sbatch != NULL)
        rc = split(a, set->sbatch, err);
    if (rc == 0)
        rc = name_files(a, set, record, err);
    if (rc == 0)
        rc = choose_nodes(a, set, options, err);
    return rc < 0 ? rc : find_charges(a, set, err);
}
