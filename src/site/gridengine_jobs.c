/*
 * gridengine_jobs: submits, lists and settles jobs of Grid Engine. See
 * gridengine.h.
 *
 * A job is for one queue, so its charge is known before it starts. It asks for
 * h_rt only: measured with 8.1.9, a job with h_rt alone ends on the second, and
 * one with s_rt a few seconds before h_rt ended 90 s late. So jobs keep a
 * minute away from the queue's own s_rt, and options that would set one are
 * refused. The mark of a job is in its context.
 *
 * Ended jobs are not listed. The accounting has a record of every job that
 * has begun, soon after its end, and none of a job that was withdrawn while it
 * waited.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/gridengine.h"
#include "util/encode.h"

#define OVERRUN_S 5  /* delay with which execd may notice h_rt */
#define APART_S 60   /* between h_rt of a job and s_rt of its queue */
#define TOGETHER 500 /* most tasks of an array */
#define FLUSH_S 15   /* default of flush_time */
#define LIMIT_S 3600 /* the longest flush_time that is believed */

/* ---- the site ---- */

void bats_gridengine_read_rules(const char *text, struct bats_job_rules *r)
{
    const char *at = bats_gridengine_behind(text, "flush_time=");
    int64_t flush_s = at != NULL ? bats_gridengine_seconds(at) : FLUSH_S;
    *r = (struct bats_job_rules){
        .overrun_s = OVERRUN_S,
        .accounts = true,
        .together = TOGETHER,
        .late_s = (flush_s < LIMIT_S ? flush_s : LIMIT_S) + OVERRUN_S};
}

int bats_gridengine_rules(struct bats_job_rules *r, struct bats_error *err)
{
    char *answer;
    int rc = bats_ask(&answer, err, "qconf -sconf");
    if (rc < 0)
        return rc;
    bats_gridengine_read_rules(answer, r);
    free(answer);
    return 0;
}

/* ---- options of qsub ---- */

static const struct {
    const char *name, *reason;
} refused[] = {
    {"-t", "the run submits arrays itself"},
    {"-h", "the job would never start"},
    {"-r", "a job that is queued again is billed for both of its lives, and "
           "money is held for one"},
    {"-sync", "the run would not hear of the job before its end"},
    {"-now", "the run would not hear of the job before its end"},
    {"-w", "nothing may be submitted"},
    {"-verify", "nothing would be submitted"},
    {"-notify", "the job would go on beyond its limit"},
    {"-b", "a job has to run bats-mpi worker"},
    {"-S", "a job has to run bats-mpi worker"},
    {"-C", "a job has to run bats-mpi worker"},
    {"-q", "use --partition of bats-mpi"},
    {"-P", "use --account of bats-mpi"},
    {"-N", "the run finds its jobs by it"},
    {"-ac", "the run finds its jobs by it"},
    {"-sc", "the run finds its jobs by it"},
    {"-o", "the run looks there for the reason of a failure"},
    {"-j", "the run looks there for the reason of a failure"},
    {"-e", "the run looks there for the reason of a failure"},
    {"-clear", "the run finds its jobs by the options before it"},
};

const char *bats_gridengine_refuses(const char *word)
{
    if (strstr(word, "h_rt=") != NULL)
        return "use --window of bats-mpi";
    if (strstr(word, "s_rt=") != NULL)
        return "jobs with s_rt and h_rt have been seen to end 90 s late, and "
               "no money is held for that";
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(word, refused[i].name) == 0)
            return refused[i].reason;
    return NULL;
}

int bats_gridengine_nodes(const char *queue, struct bats_stock *kinds,
                          size_t room, struct bats_error *err)
{
    char *answer;
    int rc = bats_ask(&answer, err, "qstat -F mem_total,gpu -q %s", queue);
    if (rc < 0)
        return rc;
    rc = (int)bats_gridengine_read_kinds(answer, kinds, room);
    free(answer);
    return rc;
}

/* ---- submitting and cancelling ---- */

/* Without a word of the user about a parallel environment, any will do. */
static void add_options(const struct bats_job_request *r,
                        struct bats_argv *argv)
{
    unsigned long slots = (unsigned long)r->nodes * r->ranks;
    bool has_environment = false;
    for (size_t i = 0; r->more != NULL && r->more[i] != NULL; i++) {
        bats_argv_add(argv, "%s", r->more[i]);
        if (i == 0 || strcmp(r->more[i - 1], "-pe") != 0)
            continue;
        has_environment = true;
        bats_argv_add(argv, "%lu", slots);
    }
    if (slots > 1 && !has_environment)
        bats_argv_add(argv, "-pe %s %lu", "*", slots);
    if (r->memory_kib > 0)
        bats_argv_add(argv, "-l mem_free=%lldK", (long long)r->memory_kib);
    if (r->gpus > 0)
        bats_argv_add(argv, "-l gpu=%lu", (unsigned long)r->gpus);
}

/* The number of an element. Grid Engine counts tasks from 1. */
#define ELEMENT "job=${JOB_ID}_$((SGE_TASK_ID - 1))\n"

void bats_gridengine_submit(const struct bats_job_request *r,
                            struct bats_argv *argv, char **script)
{
    bats_argv_add(argv, "qsub -terse -cwd -V -r n -j y -S /bin/sh");
    add_options(r, argv);
    bats_argv_add(argv, "-N %s -ac mark=%s -l h_rt=%lld", r->name, r->mark,
                  (long long)r->limit_s);
    if (r->partition != NULL)
        bats_argv_add(argv, "-q %s", r->partition);
    if (r->account != NULL)
        bats_argv_add(argv, "-P %s", r->account);
    if (r->held)
        bats_argv_add(argv, "-h");
    bool is_array = r->copies > 1;
    char output[PATH_MAX];
    *script = NULL;
    if (bats_encode(BATS_ENCODE_QUOTED, output, sizeof output, r->output) >=
        sizeof output)
        return;
    if (is_array)
        bats_argv_add(argv, "-t 1-%lu -o /dev/null", (unsigned long)r->copies);
    else
        bats_argv_add(argv, "-o %s.$JOB_ID", r->output);
    if (asprintf(script, "#!/bin/sh\n%s%s%s%sexec %s%s%s%s%s\n",
                 is_array ? ELEMENT : "", is_array ? "exec >" : "",
                 is_array ? output : "", is_array ? ".$job 2>&1\n" : "",
                 r->guard != NULL ? r->guard : "", r->guard != NULL ? " " : "",
                 r->alone ? "" : "mpirun ", r->command,
                 is_array ? " --job $job" : "") < 0)
        *script = NULL;
}

int bats_gridengine_read_submit(const char *answer, char id[BATS_JOB_ID],
                                struct bats_error *err)
{
    size_t n = strspn(answer, "0123456789");
    if (n == 0 || n >= BATS_JOB_ID)
        return bats_error_set(err, BATS_ESYS,
                              "qsub answers '%.60s', which is not the number "
                              "of a job",
                              answer);
    memcpy(id, answer, n);
    id[n] = '\0';
    return 0;
}

/* qdel takes numbers or a name, so the jobs of this name are looked up. A job
 * whose host is lost stays in deletion until it is deleted by force. */
void bats_gridengine_cancel(const char *name, const char *const *ids, size_t n,
                            struct bats_argv *argv)
{
    bats_argv_add(
        argv, "sh -c %s sh %s",
        "live=$(qstat -j \"$1\" 2>/dev/null |\n"
        "    sed -n 's/^job_number: *//p' | tr '\\n' ' ')\n"
        "shift\n"
        "for id; do\n"
        "    case \" $live\" in *\" ${id%_*} \"*) ;; *) continue ;; "
        "esac\n"
        "    case $id in *_*) id=${id%_*}.$((${id#*_} + 1)) ;; esac\n"
        "    qdel $id | grep -q 'already in' && qdel -f $id\n"
        "done; true",
        name);
    for (size_t i = 0; i < n; i++)
        bats_argv_add(argv, "%s", ids[i]);
}

/* ---- what is asked ---- */

/* All elements of arrays, one to a line; then details, charges of queues. */
void bats_gridengine_list(const char *name, struct bats_argv *argv)
{
    bats_argv_add(
        argv, "sh -c %s sh %s",
        "user=$(id -un); qstat -g d -u $user && qstat -xml -j \"$1\" "
        "&& qstat -ne -F charge -u $user",
        name);
}

/* `name` finds jobs of this name or, for a job that the run is in, number. The
 * charges of their queues follow. */
void bats_gridengine_bills(const char *name, const char *const *ids, size_t n,
                           struct bats_argv *argv)
{
    bats_argv_add(argv, "LC_ALL=C sh -c %s sh",
                  "for job in $(echo \"$@\" | tr , ' '); do\n"
                  "    qacct -j \"$job\" 2>/dev/null\n"
                  "done\n"
                  "qstat -F charge");
    if (name != NULL)
        bats_argv_add(argv, "%s", name);
    for (size_t i = 0; name == NULL && i < n; i++)
        bats_argv_add(argv, "%s", ids[i]);
}

/* ---- a price ---- */

int bats_gridengine_price(const char *id, double *rate, bool *whole,
                          struct bats_job_partition *p, struct bats_error *err)
{
    struct bats_job_view view = {.rate = -1};
    char *answer;
    *whole = false;
    *p = (struct bats_job_partition){.rounding = 1};
    int rc = bats_ask(&answer, err, "sh -c %s sh %s",
                      "qstat -g d -u \"$(id -un)\" && "
                      "qstat -xml -j \"$1\" && qstat -F charge",
                      id);
    if (rc < 0)
        return rc;
    const char *at = answer;
    bats_gridengine_read_list(&at, &view);
    free(answer);
    if (view.rate < 0)
        return bats_error_set(err, BATS_EINPUT, "there is no such queue");
    *rate = view.rate;
    rc = bats_ask(&answer, err, "qconf -sq %s", view.partition);
    if (rc < 0)
        return rc;
    bats_gridengine_read_queue(answer, APART_S, &p->limit_s);
    free(answer);
    return 0;
}
