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

static void read_partitions(struct bats_alloc *a, const char *list)
{
    struct bats_platform *p = &a->platform;
    for (const char *at = list; *at != '\0'; at += *at == ',') {
        size_t n = strcspn(at, ",");
        char name[BATS_CLUSTER_NAME];
        if (p->n_clusters == BATS_CLUSTERS_MAX)
            bats_die(BATS_EINPUT, "--partition: more than %d",
                     BATS_CLUSTERS_MAX);
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        if (n >= sizeof name ||
            bats_cluster_name_parse(name, p->clusters[p->n_clusters].name,
                                    &bats_why) < 0)
            bats_die(BATS_EINPUT,
                     "--partition: '%.*s' is not the name of a partition",
                     (int)n, at);
        for (size_t i = 0; i < p->n_clusters; i++)
            if (strcmp(a->partitions[i], name) == 0)
                bats_die(BATS_EINPUT, "--partition: %s is given twice", name);
        strcpy(a->partitions[p->n_clusters++], name);
        at += n;
    }
}

static void mark_unreliable(struct bats_alloc *a)
{
    const struct bats_settings *set = a->set;
    const char *list = set->unreliable;
    if (list == NULL && strcmp(set->policy, "expert") == 0)
        bats_die(BATS_EINPUT, "--policy expert needs --unreliable: which of "
                              "the partitions lose jobs");
    for (const char *at = list; at != NULL && *at != '\0'; at += *at == ',') {
        size_t n = strcspn(at, ","), i = 0;
        while (i < a->platform.n_clusters &&
               (strlen(a->partitions[i]) != n ||
                strncmp(a->partitions[i], at, n) != 0))
            i++;
        if (i == a->platform.n_clusters)
            bats_die(BATS_EINPUT,
                     "--unreliable: '%.*s' is not one of --partition", (int)n,
                     at);
        a->platform.clusters[i].unreliable = true;
        a->platform.clusters[i].noticed = set->run.silence_us;
        at += n;
    }
}

static void split(struct bats_alloc *a, const char *text)
{
    size_t n = 0;
    a->words = bats_have(strdup(text));
    a->more = bats_have(calloc(strlen(text) / 2 + 2, sizeof *a->more));
    for (char *word = strtok(a->words, " "); word != NULL;
         word = strtok(NULL, " ")) {
        const char *why = a->system->jobs->refuses(word);
        if (why != NULL)
            bats_die(BATS_EINPUT, "--sbatch %s: %s", word, why);
        a->more[n++] = word;
    }
}

/* Makes an absolute path next to the record or the bag. */
static void beside(const char *base, const char *suffix, char path[PATH_MAX])
{
    char here[PATH_MAX] = "";
    if (base[0] != '/' && getcwd(here, sizeof here - 1) == NULL)
        bats_die(BATS_ESYS, "getcwd: %s", strerror(errno));
    if (snprintf(path, PATH_MAX, "%s%s%s%s", here, base[0] != '/' ? "/" : "",
                 base, suffix) >= PATH_MAX)
        bats_die(BATS_EINPUT, "%.200s...: this name is too long", base);
}

static void name_files(struct bats_alloc *a, const char *record)
{
    char program[PATH_MAX], door[PATH_MAX];
    const char *base = record != NULL                  ? record
                       : strcmp(a->set->bag, "-") == 0 ? "stdin"
                                                       : a->set->bag;
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n < 0)
        bats_die(BATS_ESYS, "/proc/self/exe: %s", strerror(errno));
    program[n] = '\0';
    beside(base, ".door", a->door);
    beside(base, ".jobs", a->log);
    if (bats_encode(BATS_ENCODE_QUOTED, a->program, PATH_MAX, program) >=
            PATH_MAX ||
        bats_encode(BATS_ENCODE_QUOTED, door, PATH_MAX, a->door) >= PATH_MAX)
        bats_die(BATS_EINPUT, "%.200s: too long", a->door);
    snprintf(a->command, sizeof a->command, "%s worker --join %s", a->program,
             door);
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
static void check_fit(const struct bats_alloc *a, struct bats_stock *nodes)
{
    struct bats_machine_spec machines[BATS_CLUSTERS_MAX];
    struct bats_survey survey = {.platform = a->platform, .stocks = nodes};
    survey.platform.machines = machines;
    survey.platform.n_machines = (uint32_t)a->platform.n_clusters;
    for (uint32_t i = 0; i < survey.platform.n_machines; i++)
        machines[i] =
            (struct bats_machine_spec){.cluster = i, .slots = nodes[i].cores};
    bats_must(bats_needs_fit(a->options, &survey, &bats_why));
}

/* Chooses what jobs request, and drops partitions whose nodes can hold no
 * task. */
static void choose_nodes(struct bats_alloc *a)
{
    const struct bats_run_options *options = a->options;
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
        int n =
            asks ? bats_must(bats_job_system_nodes(a->system, a->partitions[i],
                                                   kinds, KINDS, &bats_why))
                 : 0;
        a->nodes[i] = a->said;
        a->nodes[i].cores = a->set->slots;
        a->nodes[i].nodes = a->set->nodes;
        fits[i] = bats_needs_request(options, kinds, (size_t)n, &a->nodes[i],
                                     &largest[i]);
    }
    check_fit(a, largest);
    check_fit(a, a->nodes);
    for (size_t i = a->platform.n_clusters; i-- > 0;)
        if (!fits[i]) {
            bats_tell("partition %s is not used: none of its nodes can hold "
                      "any of the tasks",
                      a->partitions[i]);
            drop_cluster(a, i);
        }
}

/* ---- requests ---- */

static int64_t limit_of(bats_time time)
{
    return (time + BATS_SECOND - 1) / BATS_SECOND + BATS_ALLOC_MARGIN_S;
}

/* A job asks for so much, for each slot where the rules say so. */
static int64_t requested(const struct bats_alloc *a, int64_t amount,
                         bool by_slot)
{
    int64_t slots = a->set->slots;
    return by_slot ? (amount + slots - 1) / slots : amount;
}

static struct bats_job_request request_of(const struct bats_alloc *a,
                                          size_t cluster)
{
    const struct bats_settings *set = a->set;
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
                          ? requested(a, a->nodes[cluster].memory_kib,
                                      a->rules.memory_by_slot)
                          : 0,
        .gpus = a->said.gpus == 0
                    ? (uint32_t)requested(a, a->nodes[cluster].gpus,
                                          a->rules.gpus_by_slot)
                    : 0,
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
static void set_times(struct bats_alloc *a, int64_t allowed_s)
{
    bats_time window = a->platform.window;
    int64_t round_s = a->system->jobs->round_s;
    int64_t limit_s = (limit_of(window) + round_s - 1) / round_s * round_s;
    a->billing.step = round_s * BATS_SECOND;
    a->billing.starting = a->by_lease ? BATS_ALLOC_MARGIN_S * BATS_SECOND : 0;
    a->billing.overrun =
        a->by_lease ? (END_S + a->rules.hang_s) * BATS_SECOND
                    : (limit_s + a->rules.overrun_s) * BATS_SECOND - window;
    if (a->set->run.window > 0 || (allowed_s > 0 && allowed_s <= limit_s))
        a->billing.longest = window;
    else if (allowed_s > 0)
        a->billing.longest = window + (allowed_s - limit_s) * BATS_SECOND;
}

static struct bats_job_partition find_charge(struct bats_alloc *a,
                                             const char *name, size_t i)
{
    struct bats_job_request request = request_of(a, i);
    struct bats_job_partition partition;
    bool is_whole;
    request.name = name;
    request.limit_s = 1; /* some systems refuse a job that requests too much
                          * time */
    request.least_s = 0;
    if (bats_job_system_rate(a->system, &request, &a->rate[i], &is_whole,
                             &partition, &bats_why) < 0)
        bats_die(BATS_EINPUT, "partition %s: %s", a->partitions[i],
                 bats_why.text);
    if (a->rate[i] > 1e9)
        bats_die(BATS_EINPUT, "%g per hour: too much", a->rate[i]);
    if (is_whole && !a->set->quiet)
        bats_tell(
            "partition %s: jobs hold whole nodes and are billed for all of "
            "them, %g %s per hour; --slots says how many tasks run on a node",
            a->partitions[i], a->rate[i], a->system->currency);
    if (i == 0)
        strcpy(a->quality, partition.quality);
    a->platform.clusters[i].notice = partition.notice_s * BATS_SECOND;
    a->platform.clusters[i].reclaimable = partition.notice_s > 0;
    return partition;
}

/* Limits the window: the batch system would never start a job above its
 * limits. */
static void shorten(struct bats_alloc *a, int64_t allowed_s, const char *where)
{
    struct bats_platform *p = &a->platform;
    struct bats_phrase limit = bats_words_duration(allowed_s * BATS_SECOND);
    if (allowed_s == 0 || limit_of(p->window) <= allowed_s)
        return;
    if (allowed_s <= BATS_ALLOC_MARGIN_S)
        bats_die(BATS_EINPUT, "partition %s: a job may ask for %s only", where,
                 limit.s);
    p->window = (allowed_s - BATS_ALLOC_MARGIN_S) * BATS_SECOND;
    if (!a->set->quiet)
        bats_tell(
            "a job in partition %s may ask for %s at most: the window is %s",
            where, limit.s, bats_words_duration(p->window).s);
}

/* A lease lasts as long as a job without a master waits for one (--silence)
 * and then ends its tasks, plus the time to prolong it. The leases of all jobs
 * together hold at most SHARE of the money, unless that makes the time for a
 * master too short. */
static void set_lease(struct bats_alloc *a)
{
    const struct bats_settings *set = a->set;
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
static void find_charges(struct bats_alloc *a)
{
    struct bats_platform *p = &a->platform;
    char name[BATS_ALLOC_NAME], of_bag[20];
    const char *where = "";
    int64_t allowed_s = 0;
    write_digest(of_bag, bats_hash_text(BATS_HASH, a->door));
    snprintf(name, sizeof name, "bats-price-%s", of_bag);
    bats_must(bats_job_system_clear(a->system, name, &bats_why));
    for (size_t i = 0; i < p->n_clusters; i++) {
        int64_t limit_s = find_charge(a, name, i).limit_s;
        if (limit_s > 0 && (allowed_s == 0 || limit_s < allowed_s)) {
            allowed_s = limit_s;
            where = a->partitions[i];
        }
    }
    shorten(a, allowed_s, where);
    if (a->by_lease)
        set_lease(a);
    for (size_t i = 0; i < p->n_clusters; i++) {
        struct bats_job_request request = request_of(a, i);
        p->clusters[i].charge = bats_billing_use(
            bats_job_bill(a->rate[i], 3600), BATS_HOUR, p->window);
        p->clusters[i].max = (uint32_t)a->set->max_jobs;
        p->speed[i] = 1;
        digest(&request, a->shape[i]);
    }
    set_times(a, allowed_s);
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

bats_money bats_alloc_price(const struct bats_alloc *a, size_t cluster,
                            bats_time time, bats_time age)
{
    bats_time lease = a->billing.lease;
    if (lease > 0 && age + lease < time)
        time = age + lease;
    if (age == 0)
        time += a->billing.starting;
    return bats_billing_use(a->platform.clusters[cluster].charge,
                            a->platform.window, time + a->billing.overrun);
}

void bats_alloc_make_machines(struct bats_alloc *a)
{
    struct bats_platform *p = &a->platform;
    uint32_t each = 2 * (uint32_t)a->set->max_jobs;
    uint32_t own = bats_alloc_own_slots(a) > 0;
    size_t n_bought = p->n_clusters * each, n = n_bought + own;
    p->machines = bats_have(calloc(n, sizeof *p->machines));
    a->requests = bats_have(calloc(n, sizeof *a->requests));
    a->lanes = bats_have(calloc(n, sizeof *a->lanes));
    a->asked = bats_have(calloc(n, sizeof *a->asked));
    a->age = bats_have(calloc(n, sizeof *a->age));
    a->taken = bats_have(calloc(n, sizeof *a->taken));
    for (uint32_t i = 0; i < n_bought; i++) {
        uint32_t cluster = i / each;
        a->requests[i] = request_of(a, cluster);
        p->machines[i] = (struct bats_machine_spec){
            .cluster = cluster, .slots = a->set->nodes * a->set->slots};
    }
    p->n_machines = (uint32_t)n_bought;
    a->own_machine = BATS_NO_JOB;
    if (own)
        bats_alloc_add_own(a);
}

void bats_alloc_read(struct bats_alloc *a, const char *record)
{
    read_partitions(a, a->set->partition);
    mark_unreliable(a);
    if (a->set->sbatch != NULL)
        split(a, a->set->sbatch);
    name_files(a, record);
    choose_nodes(a);
    find_charges(a);
}
