/* slurm_price: limits of submitted Slurm jobs, and what they will be
 * billed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/slurm.h"

#define WORD 128

static void get(const char *line, const char *key, char value[WORD])
{
    bats_slurm_get(line, key, value, WORD);
}

/* The seconds of "1-02:03:04" or "02:03:04"; 0: "UNLIMITED", or none. */
static int64_t seconds_in(const char *text)
{
    long long days = 0, hours, minutes, seconds;
    const char *time = strchr(text, '-');
    if (time != NULL)
        days = strtoll(text, NULL, 10);
    if (sscanf(time != NULL ? time + 1 : text, "%lld:%lld:%lld", &hours,
               &minutes, &seconds) != 3)
        return 0;
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

/* The smaller limit; 0 means no limit. */
static int64_t shorter(int64_t a, int64_t b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

/* The smallest MaxWallPJ=MINUTES of the lines of assoc_mgr that contain the
 * word, in seconds; 0: none. Frees `answer`; NULL: there is none. */
static int64_t wall_in(char *answer, const char *word)
{
    int64_t least = 0;
    for (const char *line = answer; line != NULL;
         line = bats_slurm_next(line)) {
        char minutes[WORD];
        if (memmem(line, strcspn(line, "\n"), word, strlen(word)) == NULL)
            continue;
        get(line, "MaxWallPJ", minutes);
        least = shorter(least, 60 * strtoll(minutes, NULL, 10));
    }
    free(answer);
    return least;
}

static int64_t wall_of_quality(const char *name)
{
    char *answer = NULL;
    if (name[0] != '\0' && strcmp(name, "N/A") != 0)
        bats_ask(&answer, NULL, "scontrol -o show assoc_mgr flags=qos qos=%s",
                 name);
    return wall_in(answer, "QOS=");
}

static int64_t wall_of_account(const char *job)
{
    char account[WORD], user[WORD], word[WORD + 12], *answer = NULL;
    get(job, "Account", account);
    get(job, "UserId", user); /* "anna(1000)" in both outputs */
    snprintf(word, sizeof word, " UserName=%s ", user);
    if (account[0] != '\0')
        bats_ask(&answer, NULL,
                 "scontrol -o show assoc_mgr flags=assoc accounts=%s",
                 account);
    return wall_in(answer, word);
}

/* The factor by which the bill grows once the job gets whole cores. */
static double rounding(const char *job, const char *partition)
{
    char nodes[WORD], cpus[WORD], *answer = NULL;
    int64_t threads = 1;
    bats_ask(&answer, NULL, "sinfo --noheader --format=%%Z --partition %s",
             partition);
    for (const char *at = answer; at != NULL; at = bats_slurm_next(at)) {
        int64_t n = strtoll(at, NULL, 10);
        threads = n > threads ? n : threads;
    }
    free(answer);
    get(job, "NumNodes", nodes);
    get(job, "NumCPUs", cpus);
    int64_t n = strtoll(nodes, NULL, 10), all = strtoll(cpus, NULL, 10);
    if (n < 1 || all < n)
        return 1;
    int64_t each = (all + n - 1) / n;
    each = (each + threads - 1) / threads * threads;
    return (double)(each * n) / (double)all;
}

/* ---- nodes ---- */

size_t bats_slurm_read_kinds(const char *text, struct bats_stock *kinds,
                             size_t room)
{
    size_t n = 0;
    for (; text != NULL && n < room; text = bats_slurm_next(text)) {
        long long cpus, mb;
        char gres[1024];
        if (sscanf(text, "%lld|%lld|%1023[^\n]", &cpus, &mb, gres) == 3)
            kinds[n++] = (struct bats_stock){.cores = (uint32_t)cpus,
                                             .gpus = bats_slurm_gpus(gres),
                                             .memory_kib = mb * 1024};
    }
    return n;
}

int bats_slurm_nodes(const char *partition, struct bats_stock *kinds,
                     size_t room, struct bats_error *err)
{
    char *answer;
    int rc = bats_ask(&answer, err,
                      "sinfo --noheader --exact --format=%%c|%%m|%%G "
                      "--partition %s",
                      partition);
    if (rc < 0)
        return rc;
    rc = (int)bats_slurm_read_kinds(answer, kinds, room);
    free(answer);
    return rc;
}

/* With PreemptMode and GraceTime, SIGCONT and SIGTERM come at once, SIGTERM
 * again when the time is over, and SIGKILL after KillWait. */
struct bats_job_partition bats_slurm_partition(const char *job)
{
    char name[WORD], mode[WORD], grace[WORD], limit[WORD], quality[WORD];
    struct bats_job_partition p = {.rounding = 1};
    char *answer;
    get(job, "Partition", name);
    if (bats_ask(&answer, NULL, "scontrol -o show partition %s", name) < 0)
        answer = strdup("");
    if (answer == NULL)
        return p;
    get(answer, "PreemptMode", mode);
    get(answer, "GraceTime", grace);
    get(answer, "MaxTime", limit);
    get(answer, "QoS", quality);
    free(answer);
    p.notice_s = strcmp(mode, "OFF") == 0 ? 0 : strtoll(grace, NULL, 10);
    p.limit_s = shorter(seconds_in(limit), wall_of_quality(quality));
    get(job, "QOS", quality);
    snprintf(p.quality, sizeof p.quality, "%.63s", quality);
    int64_t wall_s = wall_of_quality(quality);
    p.limit_s = shorter(p.limit_s, wall_s > 0 ? wall_s : wall_of_account(job));
    p.rounding = rounding(job, name);
    return p;
}

/* ---- the bill ---- */

double bats_slurm_read_rate(const char *job, uint32_t *whole)
{
    char tres[WORD + 32], shares[WORD], nodes[WORD];
    bats_slurm_get(job, "TRES", tres, sizeof tres);
    get(job, "OverSubscribe", shares);
    get(job, "NumNodes", nodes);
    *whole =
        strcmp(shares, "NO") == 0 ? (uint32_t)strtoul(nodes, NULL, 10) : 0;
    double rate = bats_slurm_amount(tres, "billing");
    return rate < 0 && bats_slurm_amount(tres, "cpu") >= 0 ? 0 : rate;
}

double bats_slurm_read_node_rate(const char *partition)
{
    char tres[WORD + 32], nodes[WORD];
    bats_slurm_get(partition, "TRES", tres, sizeof tres);
    get(partition, "TotalNodes", nodes);
    double n = strtod(nodes, NULL), all = bats_slurm_amount(tres, "billing");
    return n >= 1 && all >= 0 ? all / n : -1;
}

/* A job with whole nodes is billed for at least these nodes. */
static int raise_to_nodes(const char *job, uint32_t nodes, double *rate,
                          struct bats_error *err)
{
    char name[WORD], *answer;
    get(job, "Partition", name);
    int rc = bats_ask(&answer, err, "scontrol -o show partition %s", name);
    if (rc < 0)
        return rc;
    double all = nodes * bats_slurm_read_node_rate(answer);
    *rate = all < 0 || all > *rate ? all : *rate;
    free(answer);
    return 0;
}

int bats_slurm_price(const char *id, double *rate, bool *whole,
                     struct bats_job_partition *partition,
                     struct bats_error *err)
{
    char *answer;
    uint32_t nodes;
    int rc = bats_ask(&answer, err, "scontrol -o show job %s", id);
    if (rc < 0)
        return rc;
    *partition = bats_slurm_partition(answer);
    *rate = bats_slurm_read_rate(answer, &nodes) * partition->rounding;
    *whole = nodes > 0;
    if (nodes > 0)
        rc = raise_to_nodes(answer, nodes, rate, err);
    free(answer);
    return rc;
}
