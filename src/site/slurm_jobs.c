/*
 * slurm_jobs: submits, lists and settles jobs of Slurm.
 *
 * Limits are whole minutes. A job that reaches its limit is told to end, and
 * killed KillWait seconds later; a site may let it go on for OverTimeLimit
 * minutes before that. Slurm checks limits only every few seconds. A job ends
 * with its batch script, whatever its steps do (measured: billed 5 s, although
 * they ignored SIGTERM, and KillWait was 20). A node that does not respond is
 * down after SlurmdTimeout; Slurm asks every third of that, and waits for
 * MessageTimeout.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/slurm.h"

/* delay with which Slurm may notice that a limit is reached */
#define LOOKS_S 5
#define TOGETHER 500 /* most elements of an array */
#define WIDTHS 8     /* columns of squeue -O, and their widths: */
static const int widths[WIDTHS] = {32, 48, 20, 40, 24, 24, 64, 24};
/* then the last column, tres-alloc */

/* ---- the site ---- */

/* The value of "Key    = value"; "": no such key. */
static const char *setting(const char *text, const char *key)
{
    size_t n = strlen(key);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) != 0 || (line[n] != ' ' && line[n] != '='))
            continue;
        const char *value = strchr(line, '=');
        return value == NULL ? "" : value + 1 + strspn(value + 1, " ");
    }
    return "";
}

int bats_slurm_read_rules(const char *text, struct bats_job_rules *r,
                          struct bats_error *err)
{
    const char *wait = setting(text, "KillWait");
    const char *over = setting(text, "OverTimeLimit");
    if (!isdigit((unsigned char)wait[0]))
        return bats_error_set(err, BATS_EINPUT,
                              "scontrol show config has no KillWait");
    if (strncmp(over, "UNLIMITED", 9) == 0)
        return bats_error_set(
            err, BATS_EINPUT,
            "this Slurm has no time limits (OverTimeLimit is "
            "UNLIMITED), so that no budget can hold");
    r->overrun_s =
        strtol(wait, NULL, 10) + 60 * strtol(over, NULL, 10) + LOOKS_S;
    int64_t down_s = strtol(setting(text, "SlurmdTimeout"), NULL, 10);
    int64_t message_s = strtol(setting(text, "MessageTimeout"), NULL, 10);
    r->hang_s =
        down_s > 0 ? down_s + (down_s + 2) / 3 + message_s + LOOKS_S : 0;
    long most = strtol(setting(text, "MaxArraySize"), NULL, 10);
    r->together = most < TOGETHER ? (uint32_t)most : TOGETHER;
    r->keeps_s = strtol(setting(text, "MinJobAge"), NULL, 10);
    r->accounts = strncmp(setting(text, "AccountingStorageType"),
                          "accounting_storage/slurmdbd",
                          sizeof "accounting_storage/slurmdbd" - 1) == 0;
    return 0;
}

int bats_slurm_rules(struct bats_job_rules *r, struct bats_error *err)
{
    char *answer;
    int rc = bats_ask(&answer, err, "scontrol show config");
    if (rc < 0)
        return rc;
    rc = bats_slurm_read_rules(answer, r, err);
    free(answer);
    return rc;
}

/* ---- submitting ---- */

/* The number of an element. (SLURM_JOB_ID has another one.) */
#define ELEMENT "\"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\""

void bats_slurm_submit(const struct bats_job_request *r,
                       struct bats_argv *argv, char **script)
{
    int64_t minutes = (r->limit_s + 59) / 60;
    bats_argv_add(argv, "sbatch --parsable --no-requeue");
    for (size_t i = 0; r->more != NULL && r->more[i] != NULL; i++)
        bats_argv_add(argv, "%s", r->more[i]);
    bats_argv_add(argv, "--job-name=%s --comment=%s", r->name, r->mark);
    if (r->partition != NULL)
        bats_argv_add(argv, "--partition=%s", r->partition);
    if (r->account != NULL)
        bats_argv_add(argv, "--account=%s", r->account);
    bats_argv_add(argv, "--nodes=%lu --ntasks-per-node=%lu --time=%lld",
                  (unsigned long)r->nodes, (unsigned long)r->ranks,
                  (long long)minutes);
    if (r->memory_kib > 0)
        bats_argv_add(argv, "--mem=%lldM",
                      (long long)(r->memory_kib + 1023) / 1024);
    if (r->gpus > 0)
        bats_argv_add(argv, "--gres=gpu:%lu", (unsigned long)r->gpus);
    if (r->least_s > 0 && r->least_s < r->limit_s)
        bats_argv_add(argv, "--time-min=%lld",
                      (long long)((r->least_s + 59) / 60));
    if (r->held)
        bats_argv_add(argv, "--hold");
    bool is_array = r->copies > 1;
    if (is_array)
        bats_argv_add(argv, "--array=0-%lu", (unsigned long)r->copies - 1);
    bats_argv_add(argv, is_array ? "--output=%s.%%A_%%a" : "--output=%s.%%j",
                  r->output);
    if (asprintf(script, "#!/bin/sh\nexec %s%s%s%s%s\n",
                 r->guard != NULL ? r->guard : "", r->guard != NULL ? " " : "",
                 r->alone ? "" : "srun ", r->command,
                 is_array ? " --job " ELEMENT : "") < 0)
        *script = NULL;
}

/* "17", or "17;cluster" if there are several clusters. */
int bats_slurm_read_submit(const char *answer, char id[BATS_JOB_ID],
                           struct bats_error *err)
{
    size_t n = strspn(answer, "0123456789");
    if (n == 0 || n >= BATS_JOB_ID)
        return bats_error_set(err, BATS_ESYS,
                              "sbatch answers '%.60s', which is not the "
                              "number of a job",
                              answer);
    memcpy(id, answer, n);
    id[n] = '\0';
    return 0;
}

/* ---- listing ---- */

void bats_slurm_list(const char *name, struct bats_argv *argv)
{
    bats_argv_add(argv,
                  "SLURM_TIME_FORMAT=%%s squeue --noheader --me --states=all "
                  "--array --name=%s "
                  "--Format=JobArrayID:%d,Comment:%d,State:%d,Reason:%d,"
                  "StartTime:%d,EndTime:%d,Partition:%d,SubmitTime:%d,"
                  "tres-alloc:160",
                  name, widths[0], widths[1], widths[2], widths[3], widths[4],
                  widths[5], widths[6], widths[7]);
}

/* Copies a column without trailing blanks. */
static void column(const char *line, size_t length, size_t from, size_t width,
                   char *text, size_t size)
{
    size_t n = from < length ? length - from : 0;
    n = n < width ? n : width;
    while (n > 0 && line[from + n - 1] == ' ')
        n--;
    n = n < size - 1 ? n : size - 1;
    memcpy(text, line + (n > 0 ? from : 0), n);
    text[n] = '\0';
}

static enum bats_job_phase phase_of(const char *state)
{
    static const char *const waiting[] = {"PENDING", "CONFIGURING", NULL};
    static const char *const running[] = {
        "RUNNING", "COMPLETING", "STAGE_OUT", "SUSPENDED",
        "STOPPED", "SIGNALING",  "RESIZING",  NULL};
    for (int i = 0; waiting[i] != NULL; i++)
        if (strcmp(state, waiting[i]) == 0)
            return BATS_JOB_WAITS;
    for (int i = 0; running[i] != NULL; i++)
        if (strcmp(state, running[i]) == 0)
            return BATS_JOB_RUNS;
    return BATS_JOB_ENDED;
}

bool bats_slurm_read_list(const char **at, struct bats_job_view *view)
{
    const char *line = *at;
    size_t length = strcspn(line, "\n"), from = 0;
    char text[WIDTHS + 1][161];
    while (line[0] == '\n')
        length = strcspn(++line, "\n");
    if (line[0] == '\0')
        return false;
    for (int i = 0; i <= WIDTHS; i++) {
        size_t width = i < WIDTHS ? (size_t)widths[i] : 160;
        column(line, length, from, width, text[i], sizeof text[i]);
        from += width;
    }
    *at = line + length;
    *view = (struct bats_job_view){
        .phase = phase_of(text[2]),
        .start_s = strtoll(text[4], NULL, 10),
        .end_s = strtoll(text[5], NULL, 10),
        .submit_s = strtoll(text[7], NULL, 10),
        .rate = bats_slurm_amount(text[WIDTHS], "billing")};
    const char *index = strchr(text[0], '_');
    view->index = index != NULL ? (uint32_t)strtoul(index + 1, NULL, 10) : 0;
    snprintf(view->id, BATS_JOB_ID, "%.63s", text[0]);
    snprintf(view->mark, BATS_JOB_ID, "%.63s", text[1]);
    snprintf(view->reason, BATS_JOB_ID, "%.63s", text[3]);
    snprintf(view->partition, BATS_JOB_ID, "%.63s", text[6]);
    return true;
}

/* ---- cancelling ---- */

/* With a name, scancel 22.05 ends all elements of an array that wait, whichever
 * are named. */
void bats_slurm_cancel(const char *name, const char *const *ids, size_t n,
                       struct bats_argv *argv)
{
    bool has_elements = false;
    for (size_t i = 0; i < n; i++)
        has_elements |= strchr(ids[i], '_') != NULL;
    bats_argv_add(argv, "scancel --quiet");
    if (!has_elements)
        bats_argv_add(argv, "--name=%s", name);
    for (size_t i = 0; i < n; i++)
        bats_argv_add(argv, "%s", ids[i]);
}

/* ---- bills ----
 *
 * Several jobs may have had the same number: without --duplicates only the
 * last of them is shown. A job that has ended while the accounting was away
 * may be shown as COMPLETED with an end that is Unknown; its time goes on. */

enum { ID, STATE, SUBMIT, END, ELAPSED, TRES, NAME, COLUMNS };

/* By number, if possible: just after a job's end, sacct does not always find
 * it by name. */
void bats_slurm_bills(const char *name, const char *const *ids, size_t n,
                      struct bats_argv *argv)
{
    struct bats_text all = {0};
    bats_argv_add(argv,
                  "SLURM_TIME_FORMAT=%%s sacct --allocations --duplicates "
                  "--noheader --parsable2 "
                  "--format=JobID,State,Submit,End,ElapsedRaw,AllocTRES,"
                  "JobName");
    if (n == 0) {
        bats_argv_add(argv, "--starttime=now-90days --name=%s", name);
        return;
    }
    for (size_t i = 0; i < n; i++)
        bats_text_format(&all, "%s%s", i > 0 ? "," : "--jobs=", ids[i]);
    argv->failed |= all.failed;
    bats_argv_add(argv, "%s", all.failed ? "" : all.bytes);
    bats_text_release(&all);
}

bool bats_slurm_read_bills(const char **at, struct bats_job_bill *bill)
{
    const char *line = *at + strspn(*at, "\n");
    size_t length = strcspn(line, "\n");
    char text[COLUMNS][161];
    if (length == 0)
        return false;
    const char *word = line;
    for (int i = 0; i < COLUMNS; i++) {
        size_t n = strcspn(word, "|\n");
        snprintf(text[i], sizeof text[i], "%.*s", (int)(n < 160 ? n : 160),
                 word);
        word += n + (word[n] == '|');
    }
    *at = line + length;
    text[STATE][strcspn(text[STATE], " ")] = '\0'; /* "CANCELLED by 0" */
    double rate = bats_slurm_amount(text[TRES], "billing");
    *bill = (struct bats_job_bill){
        .submit_s = strtoll(text[SUBMIT], NULL, 10),
        .is_final = phase_of(text[STATE]) == BATS_JOB_ENDED &&
                    strtoll(text[END], NULL, 10) > 0,
        .seconds = strtoll(text[ELAPSED], NULL, 10),
        .rate = rate > 0 ? rate : 0};
    snprintf(bill->id, BATS_JOB_ID, "%.63s", text[ID]);
    snprintf(bill->name, BATS_JOB_ID, "%.63s", text[NAME]);
    return true;
}
