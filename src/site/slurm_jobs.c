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
#include <stdbool.h>
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

static void ask_rules(struct bats_argv *argv)
{
    bats_argv_add(argv, "scontrol show config");
}

/* The value of "Key    = value"; "": no such key. */
static const char *setting(const char *text, const char *key)
{
    size_t n = strlen(key);
    for (const char *line = text; line != NULL;
         line = bats_answer_next(line)) {
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

/* ---- submitting ---- */

/* The number of an element. (SLURM_JOB_ID has another one.) */
#define ELEMENT "\"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\""

static void submit(const struct bats_job_request *r, struct bats_argv *argv,
                   char **script)
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

/* ---- listing ---- */

static void list(const char *name, struct bats_argv *argv)
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
static void cancel(const char *name, const char *const *ids, size_t n,
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
static void bills(const char *name, const char *const *ids, size_t n,
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
    double rate = bats_slurm_amount(text[TRES], "billing");
    double energy_j = bats_slurm_amount(text[TRES], "energy");
    *bill = (struct bats_job_bill){
        .submit_s = strtoll(text[SUBMIT], NULL, 10),
        .is_final = phase_of(text[STATE]) == BATS_JOB_ENDED &&
                    strtoll(text[END], NULL, 10) > 0,
        .end_s = strtoll(text[END], NULL, 10),
        .seconds = strtoll(text[ELAPSED], NULL, 10),
        .rate = rate > 0 ? rate : 0,
        .energy_j = energy_j > 0 && energy_j < 1e15 ? (int64_t)energy_j : 0};
    snprintf(bill->id, BATS_JOB_ID, "%.63s", text[ID]);
    snprintf(bill->name, BATS_JOB_ID, "%.63s", text[NAME]);
    return true;
}

/* ---- steps ---- */

static uint32_t step(const char *command, struct bats_argv *argv)
{
    const char *tasks = getenv("SLURM_NTASKS");
    unsigned long n = tasks != NULL ? strtoul(tasks, NULL, 10) : 0;
    if (n < 2)
        return 0;
    if (argv != NULL)
        bats_argv_add(argv, "srun --overlap --ntasks=%lu sh -c %s", n - 1,
                      command);
    return (uint32_t)n - 1;
}

/* ---- options of sbatch ----
 *
 * Refused are options that break what a run relies on: one job for each
 * submission, which it finds and holds money for. Options that only say what a
 * job needs, when it may start or who pays are passed on. Not detected: an
 * option of two words whose second one begins with a dash, and the name of a
 * script. */

static const struct {
    const char *name;
    char letter;
    const char *reason;
} refused[] = {
    {"array", 'a',
     "one submission would be many jobs, and the run expects "
     "one"},
    {"requeue", 0,
     "a job that is queued again is billed for both of its "
     "lives, and money is held for one"},
    {"hold", 'H', "the job would never start"},
    {"wait", 'W', "the run would not hear of the job before its end"},
    {"test-only", 0, "nothing would be submitted"},
    {"wrap", 0, "a job has to run bats-mpi worker"},
    {"nodes", 'N', "use --nodes of bats-mpi"},
    {"ntasks", 'n', "use --slots of bats-mpi"},
    {"ntasks-per-node", 0, "use --slots of bats-mpi"},
    {"time", 't', "use --window of bats-mpi"},
    {"time-min", 0, "use --time-min of bats-mpi"},
    {"partition", 'p', "use --partition of bats-mpi"},
    {"account", 'A', "use --account of bats-mpi"},
    {"job-name", 'J', "the run finds its jobs by it"},
    {"comment", 0, "the run finds its jobs by it"},
    {"output", 'o', "the run looks there for the reason of a failure"},
    {"clusters", 'M', "the run does not see the jobs of other clusters"},
    {"uid", 0, "the run does not see the jobs of other users"},
};

/* sbatch accepts abbreviations of long names. */
static bool is_name(const char *word, const char *name)
{
    size_t n = strcspn(word, "=");
    return n > 0 && strncmp(word, name, n) == 0;
}

/* Letters without an argument may be followed by others. */
static bool has_letter(const char *word, char letter)
{
    const char *end = word + strspn(word, "hHkOQsVvW");
    return letter != '\0' &&
           (memchr(word, letter, (size_t)(end - word)) || *end == letter);
}

static const char *refuses(const char *word)
{
    bool is_long = strncmp(word, "--", 2) == 0;
    if (strcmp(word, ":") == 0)
        return "a job of several parts would join as one machine";
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (is_long
                ? is_name(word + 2, refused[i].name)
                : word[0] == '-' && has_letter(word + 1, refused[i].letter))
            return refused[i].reason;
    return NULL;
}

/* ---- the words that say what a node of the job has ---- */

/* The value of the option `name`, in its word or the next one; NULL: it is
 * another option. */
static const char *value_of(const char *const *word, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(*word, name, n) != 0)
        return NULL;
    return (*word)[n] == '='    ? *word + n + 1
           : (*word)[n] == '\0' ? word[1]
                                : NULL;
}

/* The number of GPUs in a list of generic resources. */
static uint32_t count_gpus(const char *list)
{
    uint32_t sum = 0;
    while (*list != '\0') {
        size_t n = strcspn(list, ",(");
        if (strncmp(list, "gpu", 3) == 0 && strchr(":=,(", list[3]) != NULL) {
            const char *number = list + n;
            while (number > list && number[-1] >= '0' && number[-1] <= '9')
                number--;
            /* the digits of a type, as in "gpu:a100", are no number */
            bool counts =
                number < list + n && (number[-1] == ':' || number[-1] == '=');
            sum += counts ? (uint32_t)strtoul(number, NULL, 10) : 1;
        }
        list += n;
        if (*list == '(')
            list += strcspn(list, ")");
        list += strcspn(list, ",");
        list += *list == ',';
    }
    return sum;
}

static void requests(const char *const *more, struct bats_stock *node)
{
    const char *value;
    for (; more != NULL && *more != NULL; more++) {
        if ((value = value_of(more, "--mem")) != NULL)
            node->memory_kib = bats_answer_kib(value, 'M');
        if ((value = value_of(more, "--gres")) != NULL)
            node->gpus = count_gpus(value);
        if ((value = value_of(more, "--gpus-per-node")) != NULL)
            node->gpus = (uint32_t)strtoul(
                strrchr(value, ':') != NULL ? strrchr(value, ':') + 1 : value,
                NULL, 10);
    }
}

/* ---- nodes ---- */

/* Reads a line for each kind of node: CPUs, MiB, and generic resources such as
 * "gpu:a100:4(S:0-1)". */
static size_t read_nodes(const char *text, struct bats_stock *kinds,
                         size_t room)
{
    size_t n = 0;
    for (; text != NULL && n < room; text = bats_answer_next(text)) {
        long long cpus, mb;
        char gres[1024];
        if (sscanf(text, "%lld|%lld|%1023[^\n]", &cpus, &mb, gres) == 3)
            kinds[n++] = (struct bats_stock){.cores = (uint32_t)cpus,
                                             .gpus = count_gpus(gres),
                                             .memory_kib = mb * 1024};
    }
    return n;
}

static void ask_nodes(const char *partition, struct bats_argv *argv)
{
    bats_argv_add(argv,
                  "sinfo --noheader --exact --format=%%c|%%m|%%G "
                  "--partition %s",
                  partition);
}

/* ---- a price ---- */

#define WORD 128

static void get(const char *line, const char *key, char value[WORD])
{
    bats_slurm_get(line, key, value, WORD);
}

/* The smallest MaxWallPJ=MINUTES of the lines of assoc_mgr that contain the
 * word, in seconds; 0: none. Frees `answer`; NULL: there is none. */
static int64_t wall_in(char *answer, const char *word)
{
    int64_t least = 0;
    for (const char *line = answer; line != NULL;
         line = bats_answer_next(line)) {
        char minutes[WORD];
        if (memmem(line, strcspn(line, "\n"), word, strlen(word)) == NULL)
            continue;
        get(line, "MaxWallPJ", minutes);
        least = bats_answer_shorter(least, 60 * strtoll(minutes, NULL, 10));
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
    for (const char *at = answer; at != NULL; at = bats_answer_next(at)) {
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
    p.limit_s = bats_answer_shorter(bats_answer_seconds(limit),
                                    wall_of_quality(quality));
    get(job, "QOS", quality);
    snprintf(p.quality, sizeof p.quality, "%.63s", quality);
    int64_t wall_s = wall_of_quality(quality);
    p.limit_s = bats_answer_shorter(
        p.limit_s, wall_s > 0 ? wall_s : wall_of_account(job));
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

static int price(const char *id, double *rate, bool *whole,
                 struct bats_job_partition *partition, struct bats_error *err)
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

const struct bats_batch_jobs bats_slurm_jobs = {
    .round_s = 60,
    .ask_rules = ask_rules,
    .read_rules = read_rules,
    .refuses = refuses,
    .requests = requests,
    .ask_nodes = ask_nodes,
    .read_nodes = read_nodes,
    .submit = submit,
    .list = list,
    .read_list = read_list,
    .cancel = cancel,
    .bills = bills,
    .read_bills = read_bills,
    .lost = "if squeue does not show them, slurmctld has lost them: the "
            "administrator ends them with `sacctmgr show runawayjobs`, then "
            "--resume goes on",
    .step = step,
    .price = price,
};
