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
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "site/gridengine.h"

#define OVERRUN_S 5    /* delay with which execd may notice h_rt */
#define APART_S 60     /* between h_rt of a job and s_rt of its queue */
#define FLUSH_S 15     /* default of flush_time */
#define LIMIT_S 3600   /* the longest flush_time that is believed */
#define LOST_S 60      /* beyond h_rt: only the node can be lost */
#define OTHER_QUEUE 6  /* number of this message of the scheduler */
#define RESCHEDULED 25 /* "failed" of a job that is queued again */

/* ---- the site ---- */

void bats_gridengine_read_rules(const char *text, struct bats_job_rules *r)
{
    const char *at = bats_gridengine_behind(text, "flush_time=");
    int64_t flush_s = at != NULL ? bats_gridengine_seconds(at) : FLUSH_S;
    *r = (struct bats_job_rules){
        .overrun_s = OVERRUN_S,
        .accounts = true,
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
    {"-t", "one submission would be many jobs, and the run expects one"},
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

/* What the user requests, of mem_free for instance, is added to what jobs
 * request; it does not tell what tasks may use. */
void bats_gridengine_requests(const char *const *more, struct bats_stock *node)
{
    (void)more;
    (void)node;
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
    bats_argv_add(argv, "-o %s.$JOB_ID", r->output);
    if (asprintf(script, "#!/bin/sh\nexec %s%s%s%s\n",
                 r->guard != NULL ? r->guard : "", r->guard != NULL ? " " : "",
                 r->alone ? "" : "mpirun ", r->command) < 0)
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
    bats_argv_add(argv, "sh -c %s sh %s",
                  "name=$1; shift\n"
                  "qstat -j \"$name\" 2>/dev/null |\n"
                  "sed -n 's/^job_number: *//p' | while read -r id; do\n"
                  "case \" $* \" in *\" $id \"*)\n"
                  "qdel $id | grep -q 'already in' && qdel -f $id ;;\n"
                  "esac; done; true",
                  name);
    for (size_t i = 0; i < n; i++)
        bats_argv_add(argv, "%s", ids[i]);
}

/* ---- listing ---- */

void bats_gridengine_list(const char *name, struct bats_argv *argv)
{
    bats_argv_add(argv, "sh -c %s sh %s",
                  "qstat -xml -j \"$1\" && qstat -ne -F charge -u "
                  "\"$(id -un)\"",
                  name);
}

/* Copies the text of the first such element between `from` and `end`; "":
 * there is none. */
static const char *element(const char *from, const char *end, const char *tag,
                           char text[BATS_JOB_ID])
{
    const char *at = bats_gridengine_behind(from, tag);
    size_t n = at != NULL && at < end ? strcspn(at, "<") : 0;
    snprintf(text, BATS_JOB_ID, "%.*s", (int)(n < BATS_JOB_ID ? n : 63),
             n > 0 ? at : "");
    return text;
}

static int64_t number(const char *from, const char *end, const char *tag)
{
    char text[BATS_JOB_ID];
    return strtoll(element(from, end, tag, text), NULL, 10);
}

/* The first message behind `tag` that is not about another queue; NULL:
 * none. */
static const char *find_message(const char *messages, const char *tag)
{
    const char *at = messages;
    while ((at = bats_gridengine_behind(at, tag)) != NULL) {
        const char *text = bats_gridengine_behind(at, "<MES_message>");
        if (text != NULL &&
            number(at, text, "<MES_message_number>") != OTHER_QUEUE)
            return text;
    }
    return NULL;
}

/* The first message about the job, but for those about other queues, which
 * every job has; else the first one about its queue. */
static void read_reason(const char *xml, const struct bats_job_view *view,
                        char reason[BATS_JOB_ID])
{
    char tag[BATS_JOB_ID + 40];
    size_t n = 0;
    const char *messages = strstr(xml, "<messages>");
    snprintf(tag, sizeof tag, "<ULNG_value>%s<", view->id);
    const char *text = find_message(messages, tag);
    snprintf(tag, sizeof tag, "<MES_message>queue instance &quot;%s@",
             view->partition);
    if (text == NULL && (text = bats_gridengine_behind(messages, tag)) != NULL)
        text -= strlen(tag) - strlen("<MES_message>");
    while (text != NULL && *text != '<' && *text != '\0' &&
           n < BATS_JOB_ID - 1) {
        bool is_quote = strncmp(text, "&quot;", 6) == 0;
        reason[n++] = is_quote ? '\'' : *text;
        text += is_quote ? 6 : 1;
    }
    reason[n] = '\0';
}

bool bats_gridengine_read_list(const char **at, struct bats_job_view *view)
{
    static const char tag[] = "<JB_job_number>";
    const char *job = bats_gridengine_behind(*at, tag);
    if (job == NULL)
        return false;
    const char *next = strstr(job, tag), *messages = strstr(job, "<messages>");
    const char *end = next != NULL ? next : messages;
    if (end == NULL)
        end = job + strlen(job);
    *at = end;
    int64_t start_s = number(job, end, "<JAT_start_time>");
    const char *range = bats_gridengine_behind(job, "<JB_pe_range>");
    int64_t slots =
        range != NULL && range < end ? number(range, end, "<RN_min>") : 1;
    const char *limit = bats_gridengine_behind(job, "<CE_name>h_rt<");
    int64_t limit_s = limit != NULL ? number(limit, end, "<CE_doubleval>") : 0;
    const char *context = bats_gridengine_behind(job, "<JB_context>");
    *view = (struct bats_job_view){
        .submit_s = number(job, end, "<JB_submission_time>"),
        .phase = start_s > 0 ? BATS_JOB_RUNS : BATS_JOB_WAITS,
        .start_s = start_s,
        .end_s = start_s > 0 && limit_s > 0 ? start_s + limit_s : 0};
    if (view->end_s > 0 && view->end_s + LOST_S < (int64_t)time(NULL))
        view->phase = BATS_JOB_ENDED;
    snprintf(view->id, BATS_JOB_ID, "%.*s", (int)strspn(job, "0123456789"),
             job);
    if (context != NULL && context < end)
        element(context, end, "<VA_value>", view->mark);
    element(job, end, "<QR_name>", view->partition);
    if (view->phase == BATS_JOB_WAITS)
        read_reason(end, view, view->reason);
    view->rate =
        bats_gridengine_read_charge(end, view->partition) * (double)slots;
    return true;
}

/* ---- bills ---- */

/* `name` finds jobs of this name or, for a job that the run is in, number. The
 * charges of their queues follow. */
void bats_gridengine_bills(const char *name, const char *const *ids, size_t n,
                           struct bats_argv *argv)
{
    bats_argv_add(
        argv, "LC_ALL=C sh -c %s sh",
        "for job in $(echo \"$@\" | tr , ' '); do qacct -j \"$job\" 2>/dev/null; done; "
        "qstat -F charge");
    if (name != NULL)
        bats_argv_add(argv, "%s", name);
    for (size_t i = 0; name == NULL && i < n; i++)
        bats_argv_add(argv, "%.*s", (int)strcspn(ids[i], "."), ids[i]);
}

/* The value of a line "key   value" before `end`; "": none. */
static const char *value(const char *record, const char *end, const char *key,
                         char text[BATS_JOB_ID])
{
    char start[32];
    snprintf(start, sizeof start, "\n%s ", key);
    const char *at = bats_gridengine_behind(record, start);
    at = at != NULL && at < end ? at + strspn(at, " ") : "";
    size_t n = strcspn(at, "\n");
    while (n > 0 && at[n - 1] == ' ')
        n--;
    snprintf(text, BATS_JOB_ID, "%.*s", (int)(n < BATS_JOB_ID ? n : 63), at);
    return text;
}

/* Seconds since 1970 of "Tue Nov 24 21:47:12 2026"; 0: "-/-". */
static int64_t time_of(const char *record, const char *end, const char *key)
{
    char text[BATS_JOB_ID];
    struct tm tm = {.tm_isdst = -1};
    return strptime(value(record, end, key, text), "%a %b %d %T %Y", &tm) !=
                   NULL
               ? (int64_t)mktime(&tm)
               : 0;
}

bool bats_gridengine_read_bills(const char **at, struct bats_job_bill *bill)
{
    char text[BATS_JOB_ID];
    const char *record = bats_gridengine_behind(*at, "====\nqname");
    if (record == NULL)
        return false;
    record -= strlen("\nqname");
    const char *end = strstr(record, "\n====");
    *at = end = end != NULL ? end : record + strlen(record);
    int64_t start_s = time_of(record, end, "start_time");
    int64_t end_s = time_of(record, end, "end_time");
    double slots = strtod(value(record, end, "slots", text), NULL);
    *bill = (struct bats_job_bill){
        .submit_s = time_of(record, end, "qsub_time"),
        .is_final = strtol(value(record, end, "failed", text), NULL, 10) !=
                    RESCHEDULED,
        .seconds = start_s > 0 && end_s > start_s ? end_s - start_s : 0};
    double charge =
        bats_gridengine_read_charge(record, value(record, end, "qname", text));
    bill->rate = (charge >= 0 ? charge : 1) * slots;
    value(record, end, "jobnumber", bill->id);
    value(record, end, "jobname", bill->name);
    return true;
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
                      "qstat -xml -j \"$1\" && qstat -F charge", id);
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
