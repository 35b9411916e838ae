/*
 * slurm_jobs: Slurm as a batch system that jobs are handed in to.
 *
 * Source of the facts: sbatch, squeue, scancel, sacct and scontrol of Slurm
 * 22.05 (20.11 and later have these options). Limits have whole minutes. A job
 * that reaches its limit is told to end, and killed KillWait seconds later; a
 * site may let it go on for OverTimeLimit minutes before that. Slurm looks at
 * limits only every few seconds.
 */
#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "site/ask.h"
#include "site/fields.h"
#include "site/job_system.h"
#include "site/slurm.h"
#include "site/slurm_account.h"
#include "site/slurm_limits.h"
#include "site/slurm_options.h"

#define LOOKS_S 5 /* Slurm may see so late that a limit is reached */
#define WIDTHS 8  /* columns of squeue -O, and their widths: */
static const int widths[WIDTHS] = {32, 48, 20, 40, 24, 24, 64, 24};
/* then the last one, tres-alloc */

/* ---- the site ---- */

static void rules(struct bats_argv *argv)
{
    bats_argv_add(argv, "scontrol");
    bats_argv_add(argv, "show");
    bats_argv_add(argv, "config");
}

/* The value of "Key    = value"; "" if there is none. */
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

static int read_rules(const char *text, struct bats_job_rules *r,
                      struct bats_error *err)
{
    const char *wait = setting(text, "KillWait");
    const char *over = setting(text, "OverTimeLimit");
    if (!isdigit((unsigned char)wait[0]))
        return bats_error_set(err, BATS_EINPUT,
                              "scontrol show config has no KillWait");
    if (strncmp(over, "UNLIMITED", 9) == 0)
        return bats_error_set(err, BATS_EINPUT,
                              "this Slurm has no time limits (OverTimeLimit is "
                              "UNLIMITED), and without them no total holds");
    r->overrun_s = strtol(wait, NULL, 10) + 60 * strtol(over, NULL, 10) +
                   LOOKS_S;
    r->keeps_s = strtol(setting(text, "MinJobAge"), NULL, 10);
    r->accounts =
        strncmp(setting(text, "AccountingStorageType"),
                "accounting_storage/slurmdbd",
                sizeof "accounting_storage/slurmdbd" - 1) == 0;
    return 0;
}

/* ---- submitting ---- */

static void submit(const struct bats_job_request *r, struct bats_argv *argv,
                   char **script)
{
    int64_t minutes = (r->limit_s + 59) / 60;
    bats_argv_add(argv, "sbatch");
    bats_argv_add(argv, "--parsable");
    bats_argv_add(argv, "--no-requeue");
    for (size_t i = 0; r->more != NULL && r->more[i] != NULL; i++)
        bats_argv_add(argv, "%s", r->more[i]);
    bats_argv_add(argv, "--job-name=%s", r->name);
    bats_argv_add(argv, "--comment=%s", r->mark);
    if (r->partition != NULL)
        bats_argv_add(argv, "--partition=%s", r->partition);
    if (r->account != NULL)
        bats_argv_add(argv, "--account=%s", r->account);
    bats_argv_add(argv, "--nodes=%lu", (unsigned long)r->nodes);
    bats_argv_add(argv, "--ntasks-per-node=%lu", (unsigned long)r->ranks);
    bats_argv_add(argv, "--time=%lld", (long long)minutes);
    if (r->least_s > 0 && r->least_s < r->limit_s)
        bats_argv_add(argv, "--time-min=%lld",
                      (long long)((r->least_s + 59) / 60));
    if (r->held)
        bats_argv_add(argv, "--hold");
    bats_argv_add(argv, "--output=%s.%%j", r->output);
    if (asprintf(script, "#!/bin/sh\nexec srun %s\n", r->command) < 0)
        *script = NULL;
}

/* "17", or "17;cluster" where there are several clusters. */
static int read_submit(const char *answer, char id[BATS_JOB_ID],
                       struct bats_error *err)
{
    size_t n = strspn(answer, "0123456789");
    if (n == 0 || n >= BATS_JOB_ID)
        return bats_error_set(err, BATS_ESYS,
                              "sbatch answers '%.60s', which is no number of a "
                              "job",
                              answer);
    memcpy(id, answer, n);
    id[n] = '\0';
    return 0;
}

/* ---- listing ---- */

static void list(const char *name, struct bats_argv *argv)
{
    bats_argv_add(argv, "squeue");
    bats_argv_add(argv, "--noheader");
    bats_argv_add(argv, "--me");
    bats_argv_add(argv, "--states=all");
    bats_argv_add(argv, "--name=%s", name);
    bats_argv_add(argv,
                  "--Format=JobID:%d,Comment:%d,State:%d,Reason:%d,"
                  "StartTime:%d,EndTime:%d,Partition:%d,SubmitTime:%d,"
                  "tres-alloc:160",
                  widths[0], widths[1], widths[2], widths[3], widths[4],
                  widths[5], widths[6], widths[7]);
}

/* The text of a column, without the blanks behind it. */
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
        "RUNNING", "COMPLETING", "STAGE_OUT", "SUSPENDED", "STOPPED",
        "SIGNALING", "RESIZING", NULL};
    for (int i = 0; waiting[i] != NULL; i++)
        if (strcmp(state, waiting[i]) == 0)
            return BATS_JOB_WAITS;
    for (int i = 0; running[i] != NULL; i++)
        if (strcmp(state, running[i]) == 0)
            return BATS_JOB_RUNS;
    return BATS_JOB_ENDED;
}

/* billing=12 in "cpu=4,mem=1G,node=1,billing=12"; < 0: there is none. */
static double billing_in(const char *tres)
{
    const char *at = strstr(tres, "billing=");
    return at != NULL ? strtod(at + 8, NULL) : -1;
}

static bool read_list(const char **at, struct bats_job_view *view)
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
    *view = (struct bats_job_view){.phase = phase_of(text[2]),
                                   .start_s = strtoll(text[4], NULL, 10),
                                   .end_s = strtoll(text[5], NULL, 10),
                                   .submit_s = strtoll(text[7], NULL, 10),
                                   .rate = billing_in(text[WIDTHS])};
    snprintf(view->id, BATS_JOB_ID, "%.63s", text[0]);
    snprintf(view->mark, BATS_JOB_ID, "%.63s", text[1]);
    snprintf(view->reason, BATS_JOB_ID, "%.63s", text[3]);
    snprintf(view->partition, BATS_JOB_ID, "%.63s", text[6]);
    return true;
}

/* ---- cancelling ---- */

static void add_ids(const char *const *ids, size_t n, const char *option,
                    struct bats_argv *argv)
{
    size_t size = 1;
    for (size_t i = 0; i < n; i++)
        size += strlen(ids[i]) + 1;
    char *all = malloc(size), *end = all;
    if (all == NULL) {
        argv->failed = true;
        return;
    }
    *end = '\0';
    for (size_t i = 0; i < n; i++)
        end += sprintf(end, "%s%s", i > 0 ? "," : "", ids[i]);
    bats_argv_add(argv, "%s%s", option, all);
    free(all);
}

static void cancel(const char *name, const char *const *ids, size_t n,
                   struct bats_argv *argv)
{
    bats_argv_add(argv, "scancel");
    bats_argv_add(argv, "--quiet");
    bats_argv_add(argv, "--name=%s", name);
    for (size_t i = 0; i < n; i++)
        bats_argv_add(argv, "%s", ids[i]);
}

/* ---- bills ----
 *
 * A number may have been given to several jobs: without --duplicates the last
 * of them is shown. A job that has ended while the accounting was away may be
 * shown as COMPLETED with an end that is Unknown; its time goes on. */

enum { ID, STATE, SUBMIT, END, ELAPSED, TRES, NAME, COLUMNS };

static void bill_columns(struct bats_argv *argv)
{
    bats_argv_add(argv, "sacct");
    bats_argv_add(argv, "--allocations");
    bats_argv_add(argv, "--duplicates");
    bats_argv_add(argv, "--noheader");
    bats_argv_add(argv, "--parsable2");
    bats_argv_add(argv, "--format=JobID,State,Submit,End,ElapsedRaw,"
                        "AllocTRES,JobName");
}

static void bills(const char *const *ids, size_t n, struct bats_argv *argv)
{
    bill_columns(argv);
    add_ids(ids, n, "--jobs=", argv);
}

static void history(const char *names, struct bats_argv *argv)
{
    bill_columns(argv);
    bats_argv_add(argv, "--starttime=now-90days");
    bats_argv_add(argv, "--name=%s", names);
}

static bool read_bills(const char **at, struct bats_job_bill *bill)
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
    double rate = billing_in(text[TRES]);
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

/* ---- what one will be billed ---- */

static void show(const char *id, struct bats_argv *argv)
{
    bats_argv_add(argv, "scontrol");
    bats_argv_add(argv, "-o");
    bats_argv_add(argv, "show");
    bats_argv_add(argv, "job");
    bats_argv_add(argv, "%s", id);
}

/* TRES of a job that waits has what it asks for (no billing: less than 1), also where the partition or
 * --exclusive makes whole nodes of it: then OverSubscribe is NO. */
static double read_rate(const char *answer, uint32_t *whole)
{
    const char *end = bats_field_line_end(answer);
    char tres[160], shares[16], nodes[32];
    bats_field_get(answer, end, "TRES", tres, sizeof tres);
    bats_field_get(answer, end, "OverSubscribe", shares, sizeof shares);
    bats_field_get(answer, end, "NumNodes", nodes, sizeof nodes);
    *whole = strcmp(shares, "NO") == 0 ? (uint32_t)strtoul(nodes, NULL, 10) : 0;
    double rate = billing_in(tres);
    return rate < 0 && strstr(tres, "cpu=") != NULL ? 0 : rate;
}

static void show_nodes(const char *answer, struct bats_argv *argv)
{
    char partition[BATS_JOB_ID];
    bats_field_get(answer, bats_field_line_end(answer), "Partition", partition,
                   sizeof partition);
    bats_argv_add(argv, "scontrol");
    bats_argv_add(argv, "-o");
    bats_argv_add(argv, "show");
    bats_argv_add(argv, "partition");
    bats_argv_add(argv, "%s", partition);
}

static double read_node_rate(const char *answer)
{
    const char *end = bats_field_line_end(answer);
    char tres[160], nodes[32];
    bats_field_get(answer, end, "TRES", tres, sizeof tres);
    bats_field_get(answer, end, "TotalNodes", nodes, sizeof nodes);
    double n = strtod(nodes, NULL), all = billing_in(tres);
    return n >= 1 && all >= 0 ? all / n : -1;
}

/* ---- accounts ---- */

static int account_left(const char *name, const char *quality,
                        struct bats_account *account, struct bats_error *err)
{
    struct bats_allocation job = {.system = NULL};
    const struct passwd *me = getpwuid(getuid());
    const char *argv[] = {"sacctmgr", "-n", "-P", "show", "user", job.user,
                          "format=DefaultAccount", NULL};
    char *answer;
    snprintf(job.qos, sizeof job.qos, "%s", quality);
    snprintf(job.user, sizeof job.user, "%s", me != NULL ? me->pw_name : "");
    if (name != NULL) {
        snprintf(job.account, sizeof job.account, "%s", name);
    } else if (bats_ask(argv, NULL, &answer, err) < 0) {
        return BATS_EINPUT;
    } else {
        answer[strcspn(answer, "\n")] = '\0';
        snprintf(job.account, sizeof job.account, "%s", answer);
        free(answer);
    }
    return bats_slurm_account_ask(&job, account, err);
}

const struct bats_job_system bats_slurm_jobs = {
    .name = "Slurm",
    .currency = "billing-h",
    .variable = "SLURM_TIME_FORMAT=%s",
    .round_s = 60,
    .rules = rules,
    .read_rules = read_rules,
    .refuses = bats_slurm_refuses,
    .submit = submit,
    .read_submit = read_submit,
    .list = list,
    .read_list = read_list,
    .cancel = cancel,
    .bills = bills,
    .read_bills = read_bills,
    .history = history,
    .account = account_left,
    .draining = bats_slurm_draining,
    .partition = bats_slurm_partition,
    .show = show,
    .read_rate = read_rate,
    .show_nodes = show_nodes,
    .read_node_rate = read_node_rate,
};
