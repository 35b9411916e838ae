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
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "site/gridengine.h"
#include "util/encode.h"

#define OVERRUN_S 5  /* delay with which execd may notice h_rt */
#define APART_S 60   /* between h_rt of a job and s_rt of its queue */
#define TOGETHER 500 /* most tasks of an array */
#define FLUSH_S 15   /* default of flush_time */
#define LIMIT_S 3600 /* the longest flush_time that is believed */

#define LOST_S 60      /* beyond h_rt: only the node can be lost */
#define OTHER_QUEUE 6  /* number of this message of the scheduler */
#define RESCHEDULED 25 /* "failed" of a job that is queued again */

/* ---- the site ---- */

static void ask_rules(struct bats_argv *argv)
{
    bats_argv_add(argv, "sh -c %s", "qconf -sconf && qconf -sc");
}

/* The job takes the complex for each of its slots. */
static bool is_by_slot(const char *text, const char *line)
{
    const char *complex = bats_answer_behind(text, line);
    char consumable[8];
    return complex != NULL &&
           sscanf(complex, "%*s %*s %*s %*s %7s", consumable) == 1 &&
           strcmp(consumable, "YES") == 0;
}

static int read_rules(const char *text, struct bats_job_rules *r,
                      struct bats_error *err)
{
    const char *at = bats_answer_behind(text, "accounting_flush_time=");
    if (at == NULL)
        at = bats_answer_behind(text, "flush_time=");
    int64_t flush_s = at != NULL ? bats_answer_seconds(at) : FLUSH_S;
    *r = (struct bats_job_rules){
        .overrun_s = OVERRUN_S,
        .accounts = true,
        .together = TOGETHER,
        .memory_by_slot = is_by_slot(text, "\nmem_free "),
        .gpus_by_slot = is_by_slot(text, "\ngpu "),
        .late_s = (flush_s < LIMIT_S ? flush_s : LIMIT_S) + OVERRUN_S};
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

static const char *refuses(const char *word)
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

static void submit(const struct bats_job_request *r, struct bats_argv *argv,
                   char **script)
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

/* qdel takes numbers or a name, so the jobs of this name are looked up. A job
 * whose host is lost stays in deletion until it is deleted by force. */
static void cancel(const char *name, const char *const *ids, size_t n,
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
static void list(const char *name, struct bats_argv *argv)
{
    bats_argv_add(
        argv, "sh -c %s sh %s",
        "user=$(id -un); qstat -g d -u $user && qstat -xml -j \"$1\" "
        "&& qstat -ne -F charge -u $user",
        name);
}

/* `name` finds jobs of this name or, for a job that the run is in, number. The
 * charges of their queues follow. */
static void bills(const char *name, const char *const *ids, size_t n,
                  struct bats_argv *argv)
{
    bats_argv_add(argv, "LC_ALL=C sh -c %s sh",
                  "for job in $(echo \"$@\" | tr , ' '); do\n"
                  "    qacct -j \"${job%_*}\" 2>/dev/null\n"
                  "done\n"
                  "qstat -F charge");
    if (name != NULL)
        bats_argv_add(argv, "%s", name);
    for (size_t i = 0; name == NULL && i < n; i++)
        bats_argv_add(argv, "%s", ids[i]);
}

/* ---- kinds of nodes ---- */

static void ask_nodes(const char *queue, struct bats_argv *argv)
{
    bats_argv_add(argv, "qstat -F mem_total,gpu -q %s", queue);
}

/* Appends the kind if it is new and has slots. Returns the number of kinds. */
static size_t add_kind(struct bats_stock *kinds, size_t n, size_t room,
                       const struct bats_stock *kind)
{
    for (size_t i = 0; i < n; i++)
        if (kinds[i].cores == kind->cores && kinds[i].gpus == kind->gpus &&
            kinds[i].memory_kib == kind->memory_kib)
            return n;
    if (n < room && kind->cores > 0)
        kinds[n++] = *kind;
    return n;
}

static size_t read_nodes(const char *text, struct bats_stock *kinds,
                         size_t room)
{
    size_t n = 0;
    struct bats_stock kind = {.cores = 0};
    for (const char *line = text; line != NULL;
         line = bats_answer_next(line)) {
        unsigned slots;
        char name[32], value[64];
        if (sscanf(line, "%*[^@ \n]@%*s %*s %*u/%*u/%u", &slots) == 1) {
            n = add_kind(kinds, n, room, &kind);
            kind = (struct bats_stock){.cores = slots};
        } else if (sscanf(line, "\t%*[a-z]:%31[^=\n]=%63[^\n]", name, value) ==
                   2) {
            if (strcmp(name, "mem_total") == 0)
                kind.memory_kib = bats_answer_kib(value, 'B');
            if (strcmp(name, "gpu") == 0)
                kind.gpus = (uint32_t)strtod(value, NULL);
        }
    }
    return add_kind(kinds, n, room, &kind);
}

/* The charge of each instance follows its line. */
static double read_charge(const char *text, const char *queue)
{
    double most = -1;
    size_t n = strlen(queue);
    for (const char *line = text; line != NULL;
         line = bats_answer_next(line)) {
        double charge = 1;
        if (strncmp(line, queue, n) != 0 || line[n] != '@')
            continue;
        const char *next = bats_answer_next(line);
        if (next != NULL)
            sscanf(next, " %*[a-z]:charge=%lf", &charge);
        most = charge > most ? charge : most;
    }
    return most;
}

/* ---- the list ---- */

/* Copies the text of the first such element between `from` and `end`; "":
 * there is none. */
static const char *element(const char *from, const char *end, const char *tag,
                           char text[BATS_JOB_ID])
{
    const char *at = bats_answer_behind(from, tag);
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
    while ((at = bats_answer_behind(at, tag)) != NULL) {
        const char *text = bats_answer_behind(at, "<MES_message>");
        if (text != NULL &&
            number(at, text, "<MES_message_number>") != OTHER_QUEUE)
            return text;
    }
    return NULL;
}

/* The first message about the job, but for those about other queues, which
 * every job has; else the first one about its queue. */
static void read_reason(const char *xml, const char *id, const char *queue,
                        char reason[BATS_JOB_ID])
{
    char tag[BATS_JOB_ID + 40];
    size_t n = 0;
    const char *messages = strstr(xml, "<messages>");
    snprintf(tag, sizeof tag, "<ULNG_value>%s<", id);
    const char *text = find_message(messages, tag);
    snprintf(tag, sizeof tag, "<MES_message>queue instance &quot;%s@", queue);
    if (text == NULL && (text = bats_answer_behind(messages, tag)) != NULL)
        text -= strlen(tag) - strlen("<MES_message>");
    while (text != NULL && *text != '<' && *text != '\0' &&
           n < BATS_JOB_ID - 1) {
        bool is_quote = strncmp(text, "&quot;", 6) == 0;
        reason[n++] = is_quote ? '\'' : *text;
        text += is_quote ? 6 : 1;
    }
    reason[n] = '\0';
}

#define JOB "<JB_job_number>"

/* Reads the job, or its task (> 0: of an array), whose details begin at
 * `job`. */
static void read_job(const char *job, unsigned long task,
                     struct bats_job_view *view)
{
    char tag[64], id[BATS_JOB_ID];
    const char *next = strstr(job, JOB), *messages = strstr(job, "<messages>");
    const char *end = next != NULL ? next : messages;
    if (end == NULL)
        end = job + strlen(job);
    snprintf(tag, sizeof tag, "<JAT_task_number>%lu<", task > 0 ? task : 1);
    const char *runs = bats_answer_behind(job, tag);
    int64_t start_s =
        runs != NULL && runs < end ? number(runs, end, "<JAT_start_time>") : 0;
    const char *range = bats_answer_behind(job, "<JB_pe_range>");
    int64_t slots =
        range != NULL && range < end ? number(range, end, "<RN_min>") : 1;
    const char *limit = bats_answer_behind(job, "<CE_name>h_rt<");
    int64_t limit_s = limit != NULL ? number(limit, end, "<CE_doubleval>") : 0;
    const char *context = bats_answer_behind(job, "<JB_context>");
    *view = (struct bats_job_view){
        .index = task > 0 ? (uint32_t)task - 1 : 0,
        .submit_s = number(job, end, "<JB_submission_time>"),
        .phase = start_s > 0 ? BATS_JOB_RUNS : BATS_JOB_WAITS,
        .start_s = start_s,
        .end_s = start_s > 0 && limit_s > 0 ? start_s + limit_s : 0};
    if (view->end_s > 0 && view->end_s + LOST_S < (int64_t)time(NULL))
        view->phase = BATS_JOB_ENDED;
    if (context != NULL && context < end)
        element(context, end, "<VA_value>", view->mark);
    element(job, end, "<QR_name>", view->partition);
    snprintf(id, sizeof id, "%.*s", (int)strspn(job, "0123456789"), job);
    if (view->phase == BATS_JOB_WAITS)
        read_reason(end, id, view->partition, view->reason);
    view->rate = read_charge(end, view->partition) * (double)slots;
    if (task > 0)
        snprintf(view->id, BATS_JOB_ID, "%.40s_%lu", id, task - 1);
    else
        strcpy(view->id, id);
}

/* Reads "  5 0.25 NAME USER r DATE TIME QUEUE SLOTS [TASK]"; a job that waits
 * has no QUEUE. In state t its host has not confirmed it. Returns the job's
 * number; 0: this is another line. */
static unsigned long read_line(const char *line, size_t n, unsigned long *task,
                               bool *is_sent)
{
    char words[512], *rest, *word[11];
    size_t n_words = 0;
    snprintf(words, sizeof words, "%.*s", (int)n, line);
    for (char *w = strtok_r(words, " ", &rest); w != NULL && n_words < 11;
         w = strtok_r(NULL, " ", &rest))
        word[n_words++] = w;
    if (n_words < 8 || !isdigit((unsigned char)word[0][0]))
        return 0;
    size_t without = strchr(word[7], '@') != NULL ? 9 : 8;
    *task = n_words > without ? strtoul(word[without], NULL, 10) : 0;
    *is_sent = strchr(word[4], 't') != NULL;
    return strtoul(word[0], NULL, 10);
}

static bool read_list(const char **at, struct bats_job_view *view)
{
    for (const char *line = *at; *line != '\0' && *line != '<';) {
        unsigned long task, id;
        bool is_sent;
        char tag[64];
        size_t n = strcspn(line, "\n");
        id = read_line(line, n, &task, &is_sent);
        line += n + (line[n] == '\n');
        snprintf(tag, sizeof tag, JOB "%lu<", id);
        const char *job = id > 0 ? strstr(line, tag) : NULL;
        if (job == NULL)
            continue;
        *at = line;
        read_job(job + strlen(JOB), task, view);
        view->is_sent = is_sent;
        return true;
    }
    return false;
}

/* ---- bills ---- */

/* The value of a line "key   value" before `end`; "": none. */
static const char *value(const char *record, const char *end, const char *key,
                         char text[BATS_JOB_ID])
{
    char start[32];
    snprintf(start, sizeof start, "\n%s ", key);
    const char *at = bats_answer_behind(record, start);
    at = at != NULL && at < end ? at + strspn(at, " ") : "";
    size_t n = strcspn(at, "\n");
    while (n > 0 && at[n - 1] == ' ')
        n--;
    snprintf(text, BATS_JOB_ID, "%.*s", (int)(n < BATS_JOB_ID ? n : 63), at);
    return text;
}

static int64_t time_of(const char *record, const char *end, const char *key)
{
    char text[BATS_JOB_ID];
    return bats_answer_time(value(record, end, key, text));
}

static bool read_bills(const char **at, struct bats_job_bill *bill)
{
    char text[BATS_JOB_ID];
    const char *record = bats_answer_behind(*at, "====\nqname");
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
        .end_s = end_s,
        .seconds = start_s > 0 && end_s > start_s ? end_s - start_s : 0};
    double charge = read_charge(record, value(record, end, "qname", text));
    bill->rate = (charge >= 0 ? charge : 1) * slots;
    value(record, end, "jobnumber", bill->id);
    value(record, end, "taskid", text);
    if (isdigit((unsigned char)text[0]))
        snprintf(bill->id + strlen(bill->id), 24, "_%ld",
                 strtol(text, NULL, 10) - 1);
    value(record, end, "jobname", bill->name);
    return true;
}

/* ---- a price ---- */

void bats_gridengine_read_queue(const char *text, int64_t apart_s,
                                int64_t *limit_s)
{
    const char *hard = bats_answer_behind(text, "\nh_rt ");
    const char *soft = bats_answer_behind(text, "\ns_rt ");
    if (hard != NULL)
        *limit_s = bats_answer_shorter(*limit_s, bats_answer_seconds(hard));
    int64_t soft_s = soft != NULL ? bats_answer_seconds(soft) : 0;
    if (soft_s > 0)
        *limit_s = bats_answer_shorter(
            *limit_s, soft_s > apart_s ? soft_s - apart_s : 1);
}

static int price(const char *id, double *rate, bool *whole,
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
    read_list(&at, &view);
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

const struct bats_batch_jobs bats_gridengine_jobs = {
    .round_s = 1,
    .ask_rules = ask_rules,
    .read_rules = read_rules,
    .refuses = refuses,
    .ask_nodes = ask_nodes,
    .read_nodes = read_nodes,
    .submit = submit,
    .list = list,
    .read_list = read_list,
    .cancel = cancel,
    .bills = bills,
    .read_bills = read_bills,
    .price = price,
};
