/* tasks: the verbs tasks and log, which list the contents of a record. Columns
 * have fixed widths, because there may be millions of lines. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/look.h"
#include "report/words.h"
#include "util/json.h"

/* ---- tasks ---- */

static bool is_running(const struct bats_view_task *t)
{
    return strcmp(t->state, "running") == 0;
}

static bool has_failed(const struct bats_view_task *t)
{
    return strcmp(t->state, "failed") == 0;
}

static const char *digits(char text[BATS_UNITS_TEXT], int64_t number)
{
    uint64_t n = number < 0 ? -(uint64_t)number : (uint64_t)number;
    char *at = text + BATS_UNITS_TEXT - 1;
    *at = '\0';
    do
        *--at = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    if (number < 0)
        *--at = '-';
    return at;
}

/* ---- a line of JSON, formatted as by jansson in a tenth of the time ----
 * The process has one thread: a lock per word would cost a quarter of the
 * time. */

static void put_json(json_t *value)
{
    int bad = json_dumpf(bats_have(value), stdout,
                         JSON_COMPACT | JSON_ENCODE_ANY | BATS_JSON_SAFE |
                             JSON_REAL_PRECISION(15));
    json_decref(value);
    if (bad != 0 && !ferror(stdout)) /* bats_flush reports write errors */
        bats_have(NULL);
}

static void put_text(const char *key, const char *text)
{
    const char *at = text;
    fputs_unlocked(key, stdout);
    while (*at >= ' ' && *at < 0x7f && *at != '"' && *at != '\\')
        at++;
    if (*at != '\0') {
        put_json(bats_json_text(text));
        return;
    }
    putchar_unlocked('"');
    fputs_unlocked(text, stdout);
    putchar_unlocked('"');
}

static void put_number(const char *key, int64_t number)
{
    char text[BATS_UNITS_TEXT];
    fputs_unlocked(key, stdout);
    fputs_unlocked(digits(text, number), stdout);
}

/* From 0.0001 s on there is no exponent. */
static void put_seconds(const char *key, int64_t us)
{
    char fraction[BATS_UNITS_TEXT];
    if (us != 0 && us < 100) {
        fputs_unlocked(key, stdout);
        put_json(json_real((double)us / 1e6));
        return;
    }
    put_number(key, us / 1000000);
    char *at = (char *)digits(fraction, 1000000 + us % 1000000);
    size_t n = 7;
    while (n > 2 && at[n - 1] == '0')
        n--;
    at[0] = '.';
    at[n] = '\0';
    fputs_unlocked(at, stdout);
}

static void task_json(struct bats_view *view, const struct bats_view_task *t,
                      const struct bats_known_needs *needs)
{
    const char *text;
    size_t n;
    struct bats_need need;
    json_t *parameters =
        t->parameters[0] != '\0' ? json_loads(t->parameters, 0, NULL) : NULL;
    put_number("{\"task\":", t->number);
    put_text(",\"state\":", t->state);
    put_number(",\"attempts\":", t->attempts);
    put_text(",\"command\":", t->command);
    put_number(",\"line\":", t->line);
    if (bats_known_need(needs, t->number, &need)) {
        put_number(",\"cores\":", need.cores);
        put_number(",\"gpus\":", need.gpus);
        put_number(",\"memory_kib\":", need.memory_kib);
    }
    if (is_running(t)) {
        put_seconds(",\"elapsed_s\":", t->wall_us);
    } else if (t->wall_us >= 0) {
        put_number(",\"exit_status\":", t->exit_status);
        put_number(",\"signal\":", t->signal);
        put_seconds(",\"real_s\":", t->wall_us);
        put_seconds(",\"cpu_s\":", t->cpu_us);
        put_number(",\"max_rss_kib\":", t->max_rss_kib);
    }
    if (is_running(t) || t->wall_us >= 0) {
        put_text(",\"host\":", t->host);
        put_text(",\"cluster\":", t->cluster);
    }
    if (json_is_object(parameters)) {
        fputs_unlocked(",\"parameters\":", stdout);
        put_json(json_incref(parameters));
    }
    json_decref(parameters);
    if (has_failed(t) &&
        bats_must(bats_view_stderr(view, t->id, &text, &n, &bats_why)) > 0)
        put_text(",\"stderr\":", text);
    fputs_unlocked("}\n", stdout);
}

/* ---- a line of comma-separated values ---- */

/* Without the names of a sweep's parameters, which follow. */
static const char csv_head[] =
    "task,state,attempts,exit_status,signal,start_unix,real_s,cpu_s,"
    "max_rss_kib,cost,host,cluster,asked_cores,asked_gpus,asked_kib,line,"
    "command";

static void put_field(const char *text)
{
    putchar_unlocked(',');
    bats_words_put(stdout, BATS_ENCODE_CSV, text);
}

static void print_csv_head(const json_t *names)
{
    const char *name;
    json_t *value;
    fputs(csv_head, stdout);
    json_object_foreach((json_t *)names, name, value) put_field(name);
    putchar('\n');
}

static void put_values(const char *text, const json_t *names)
{
    json_t *own = text[0] != '\0' ? json_loads(text, 0, NULL) : NULL;
    const char *name;
    json_t *unused;
    json_object_foreach((json_t *)names, name, unused)
    {
        json_t *value = json_object_get(own, name);
        if (value == NULL || json_is_string(value)) {
            put_field(json_is_string(value) ? json_string_value(value) : "");
        } else {
            putchar_unlocked(',');
            put_json(json_incref(value));
        }
    }
    json_decref(own);
}

/* Columns without a value are left empty. */
static void task_csv(const struct bats_view_task *t, const json_t *names,
                     const struct bats_known_needs *needs)
{
    char cost[BATS_UNITS_TEXT];
    struct bats_need need;
    put_number("", t->number);
    put_field(t->state);
    put_number(",", t->attempts);
    if (t->wall_us < 0 || is_running(t)) {
        fputs_unlocked(",,,,,,,", stdout);
    } else {
        put_number(",", t->exit_status);
        put_number(",", t->signal);
        put_seconds(",", t->start_us);
        put_seconds(",", t->wall_us);
        put_seconds(",", t->cpu_us);
        put_number(",", t->max_rss_kib);
        put_field(bats_money_format(cost, (bats_money)(t->cost + 0.5)));
    }
    put_field(t->host);
    put_field(t->cluster);
    if (bats_known_need(needs, t->number, &need)) {
        put_number(",", need.cores);
        put_number(",", need.gpus);
        put_number(",", need.memory_kib);
    } else {
        fputs_unlocked(",,,", stdout);
    }
    put_number(",", t->line);
    put_field(t->command);
    put_values(t->parameters, names);
    putchar_unlocked('\n');
}

/* ---- a line of the table ---- */

/* Writes a column and two blanks, like printf("%*s  "), which would take most
 * of the time of a list of millions. width < 0: left-aligned. */
static char *column(char *at, int width, const char *text)
{
    int n = (int)strlen(text), blanks = abs(width) - n;
    if (width > 0 && blanks > 0)
        at = (char *)memset(at, ' ', (size_t)blanks) + blanks;
    at = (char *)memcpy(at, text, (size_t)n) + n;
    if (width < 0 && blanks > 0)
        at = (char *)memset(at, ' ', (size_t)blanks) + blanks;
    memcpy(at, "  ", 3);
    return at + 2;
}

/* "4 cores, 1 GPU, 8G" in short: "4c 1g 8G". */
static const char *
need_text(char text[64], const struct bats_known_needs *needs, int64_t number)
{
    struct bats_need need;
    char memory[BATS_UNITS_TEXT];
    if (!bats_known_need(needs, number, &need))
        return strcpy(text, "-");
    snprintf(text, 64, "%" PRIu32 "c", need.cores);
    if (need.gpus > 0)
        bats_append(text, 64, " %" PRIu32 "g", need.gpus);
    if (need.memory_kib > 0)
        bats_append(text, 64, " %s",
                    bats_size_format(memory, need.memory_kib * 1024));
    return text;
}

static void print_task(const struct bats_view_task *t,
                       const struct bats_known_needs *needs)
{
    char took[BATS_UNITS_TEXT] = "-", cpu[BATS_UNITS_TEXT] = "-";
    char number[BATS_UNITS_TEXT], tries[BATS_UNITS_TEXT];
    char need[64];
    struct bats_phrase end = {"-"};
    char line[256], *at = line;
    if (t->wall_us >= 0)
        bats_duration_format(took, t->wall_us);
    if (t->wall_us >= 0 && !is_running(t)) {
        bats_duration_format(cpu, t->cpu_us);
        if (t->exit_status != 0 || t->signal != 0)
            end = bats_words_end(t->exit_status, t->signal);
        else
            strcpy(end.s, "ok");
    }
    at = column(at, 7, digits(number, t->number));
    at = column(at, -8, t->state);
    at = column(at, 5, digits(tries, t->attempts));
    at = column(at, -15, end.s);
    at = column(at, 8, took);
    at = column(at, 8, cpu);
    if (needs->list != NULL)
        column(at, -12, need_text(need, needs, t->number));
    fputs_unlocked(line, stdout);
    const char *host = t->host[0] != '\0' ? t->host : "-";
    bats_words_put(stdout, BATS_ENCODE_TERMINAL, host);
    for (size_t n = strlen(host); n < 12; n++)
        putchar_unlocked(' ');
    fputs_unlocked("  ", stdout);
    bats_words_put(stdout, BATS_ENCODE_TERMINAL, t->command);
    putchar_unlocked('\n');
}

static void print_causes(struct bats_view *view)
{
    struct bats_causes causes = bats_look_causes(view);
    puts("\nwhy tasks failed");
    bats_causes_print(stdout, &causes, SIZE_MAX);
    bats_causes_release(&causes);
}

int cmd_tasks(struct bats_look *l)
{
    const struct bats_settings *set = l->set;
    const char *state = set->failed ? "failed" : set->state;
    enum bats_view_order order =
        set->slowest > 0 ? BATS_VIEW_SLOWEST : BATS_VIEW_BY_NUMBER;
    struct bats_view_task task;
    json_t *names = NULL;
    bool failed = false, is_first = true, is_text = !set->json && !set->csv;
    if (set->sizes)
        return cmd_sizes(l);
    bats_look_status(l);
    struct bats_known_needs needs = bats_known_needs(l);
    bats_must(bats_view_tasks(l->view, state, 0, set->where, order,
                              (int64_t)set->slowest, &bats_why));
    if (is_text)
        printf("%7s  %-8s  %5s  %-15s  %8s  %8s  %s%-12s  %s\n", "task",
               "state", "tries", "end", "took", "cpu",
               needs.list != NULL ? "needs         " : "", "host", "command");
    while (bats_must(bats_view_next_task(l->view, &task, &bats_why)) > 0) {
        if (set->csv && is_first) {
            names = json_loads(task.parameters, 0, NULL);
            print_csv_head(names);
        }
        is_first = false;
        if (set->csv)
            task_csv(&task, names, &needs);
        else if (set->json)
            task_json(l->view, &task, &needs);
        else
            print_task(&task, &needs);
        failed |= state != NULL && has_failed(&task);
    }
    if (is_first && set->csv)
        print_csv_head(NULL);
    json_decref(names);
    free(needs.category);
    if (failed && is_text)
        print_causes(l->view);
    return 0;
}

/* ---- log ---- */

static void entry_json(const struct bats_view_entry *e)
{
    json_t *line = json_pack(
        "{s:I, s:f, s:o}", "session", (json_int_t)e->session, "time_s",
        (double)e->time / 1e6, "what", bats_json_text(e->what));
    if (e->machine[0] != '\0')
        json_object_set_new(line, "machine", bats_json_text(e->machine));
    if (e->task > 0)
        json_object_set_new(line, "task", json_integer(e->task));
    if (e->removed)
        json_object_set_new(line, "removed", json_true());
    if (e->text[0] != '\0')
        json_object_set_new(line, "text", bats_json_text(e->text));
    bats_look_json(line, JSON_COMPACT);
}

/* Writes a column after `blanks` blanks. Returns how many are due before the
 * next one: an empty column at the end of a line leaves none. */
static size_t put_column(size_t blanks, size_t width, const char *text)
{
    size_t n = strlen(text);
    if (n == 0)
        return blanks + width + 2;
    while (blanks-- > 0)
        putchar_unlocked(' ');
    bats_words_put(stdout, BATS_ENCODE_TERMINAL, text);
    return (n < width ? width - n : 0) + 2;
}

void bats_look_entry(const struct bats_view_entry *e, int64_t *session)
{
    char time[BATS_UNITS_TEXT], number[BATS_UNITS_TEXT], task[48] = "";
    if (e->session != *session)
        printf("%ssession %" PRId64 "\n", *session > 0 ? "\n" : "",
               e->session);
    *session = e->session;
    if (e->task > 0)
        strcat(strcat(strcpy(task, "task "), digits(number, e->task)),
               e->removed ? " (removed)" : "");
    bats_duration_format(time, e->time);
    size_t n = strlen(time), blanks = n < 10 ? 10 - n : 0;
    blanks = put_column(blanks, n, time);
    blanks = put_column(blanks, 9, e->what);
    blanks = put_column(blanks, 10, e->machine);
    blanks = put_column(blanks, 10, task);
    put_column(blanks, 0, e->text);
    putchar_unlocked('\n');
}

int cmd_log(struct bats_look *l)
{
    struct bats_view_entry entry;
    struct bats_view_machine *m;
    size_t n;
    const char *machine = l->set->on_machine;
    int64_t session = 0;
    bool found = false;
    bats_must(
        bats_view_log(l->view, machine, 0, (int64_t)l->set->last, &bats_why));
    while (bats_view_next_entry(l->view, &entry)) {
        found = true;
        if (l->set->json)
            entry_json(&entry);
        else
            bats_look_entry(&entry, &session);
    }
    if (found || machine == NULL)
        return 0;
    /* A machine that was only idle does not occur in the log. */
    bats_must(bats_view_machines(l->view, machine, &m, &n, &bats_why));
    free(m);
    if (n == 0)
        bats_die(BATS_EINPUT, "there was no machine '%s' in this run",
                 machine);
    return 0;
}
