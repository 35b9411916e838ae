/* gridengine_list: reads lists and bills of submitted jobs of Grid Engine. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "site/gridengine.h"

#define LOST_S 60      /* beyond h_rt: only the node can be lost */
#define OTHER_QUEUE 6  /* number of this message of the scheduler */
#define RESCHEDULED 25 /* "failed" of a job that is queued again */

/* ---- jobs ---- */

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
static void read_reason(const char *xml, const char *id, const char *queue,
                        char reason[BATS_JOB_ID])
{
    char tag[BATS_JOB_ID + 40];
    size_t n = 0;
    const char *messages = strstr(xml, "<messages>");
    snprintf(tag, sizeof tag, "<ULNG_value>%s<", id);
    const char *text = find_message(messages, tag);
    snprintf(tag, sizeof tag, "<MES_message>queue instance &quot;%s@", queue);
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
    const char *runs = bats_gridengine_behind(job, tag);
    int64_t start_s =
        runs != NULL && runs < end ? number(runs, end, "<JAT_start_time>") : 0;
    const char *range = bats_gridengine_behind(job, "<JB_pe_range>");
    int64_t slots =
        range != NULL && range < end ? number(range, end, "<RN_min>") : 1;
    const char *limit = bats_gridengine_behind(job, "<CE_name>h_rt<");
    int64_t limit_s = limit != NULL ? number(limit, end, "<CE_doubleval>") : 0;
    const char *context = bats_gridengine_behind(job, "<JB_context>");
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
    view->rate =
        bats_gridengine_read_charge(end, view->partition) * (double)slots;
    if (task > 0)
        snprintf(view->id, BATS_JOB_ID, "%.40s_%lu", id, task - 1);
    else
        strcpy(view->id, id);
}

/* Reads "  5 0.25 NAME USER r DATE TIME QUEUE SLOTS [TASK]"; a job that waits
 * has no QUEUE. Returns the job's number; 0: this is another line. */
static unsigned long read_line(const char *line, size_t n, unsigned long *task)
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
    return strtoul(word[0], NULL, 10);
}

bool bats_gridengine_read_list(const char **at, struct bats_job_view *view)
{
    for (const char *line = *at; *line != '\0' && *line != '<';) {
        unsigned long task, id;
        char tag[64];
        size_t n = strcspn(line, "\n");
        id = read_line(line, n, &task);
        line += n + (line[n] == '\n');
        snprintf(tag, sizeof tag, JOB "%lu<", id);
        const char *job = id > 0 ? strstr(line, tag) : NULL;
        if (job == NULL)
            continue;
        *at = line;
        read_job(job + strlen(JOB), task, view);
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
    value(record, end, "taskid", text);
    if (isdigit((unsigned char)text[0]))
        snprintf(bill->id + strlen(bill->id), 24, "_%ld",
                 strtol(text, NULL, 10) - 1);
    value(record, end, "jobname", bill->name);
    return true;
}
