/* live_screen: the screen of `top`. All texts come from a file, so every line
 * is encoded. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/live.h"
#include "report/table.h"
#include "report/words.h"
#include "util/text.h"

#define MOST 8     /* lines of a table */
#define FAILURES 3 /* kinds of failures */
#define NARROW 60  /* columns of a narrow screen */

struct screen {
    FILE *out;
    int rows, columns; /* rows left; columns of a line */
    const char *end;
};

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text != NULL ? text : "?";
}

static double number_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static int64_t count_of(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

static bool has(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);
    return value != NULL && !json_is_null(value);
}

/* Number of bytes that fit into a line of `columns`, up to a blank if
 * possible. */
static int break_at(const char *text, int columns)
{
    int n = bats_words_cut(text, columns), blank = n;
    if (text[n] == '\0')
        return n;
    while (blank > 0 && text[blank] != ' ')
        blank--;
    return blank > 0 ? blank : n > 0 ? n : (int)strlen(text);
}

/* Prints a line, unless the screen is full. A long one wraps, indented by
 * `indent`; if indent < 0 it is cut off. */
__attribute__((format(printf, 3, 4))) static void
put(struct screen *s, int indent, const char *format, ...)
{
    char raw[4096], text[8192];
    const char *at = text;
    va_list args;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    bats_encode_terminal(text, sizeof text, raw);
    if (indent < 0)
        text[bats_words_cut(text, s->columns)] = '\0';
    if (indent > s->columns / 2)
        indent = 0;
    for (int left = 0; s->rows > 0; left = indent) {
        int n = break_at(at, s->columns - left);
        fprintf(s->out, "%*s%.*s%s", left, "", n, at, s->end);
        s->rows--;
        at += n;
        at += strspn(at, " ");
        if (*at == '\0')
            break;
    }
}

#define line(s, ...) put(s, 8, __VA_ARGS__)
#define cut(s, ...) put(s, -1, __VA_ARGS__)

/* Prints a table without the last columns that do not fit. */
static void print_table(struct screen *s, struct bats_table *t)
{
    char *text = NULL;
    size_t size;
    while (t->n_columns > 1 && bats_table_width(t) > s->columns)
        t->n_columns--;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return;
    bats_table_print(out, t);
    if (fclose(out) == 0)
        for (char *at = strtok(text, "\n"); at != NULL;
             at = strtok(NULL, "\n"))
            cut(s, "%s", at);
    free(text);
}

static struct bats_phrase moment(double seconds)
{
    double us = seconds * BATS_SECOND;
    return bats_words_moment(us > 0 && us < (double)BATS_NEVER ? (bats_time)us
                                                               : 0);
}

/* ---- the head ---- */

static int64_t within(int64_t n, int64_t most)
{
    return n < 0 ? 0 : n < most ? n : most;
}

static void print_tasks(struct screen *s, const json_t *o)
{
    int64_t tasks = within(count_of(o, "tasks"), UINT32_MAX);
    int64_t ended = within(count_of(o, "done"), tasks) +
                    within(count_of(o, "failed"), tasks);
    char head[32], numbers[160], bar[512] = "";
    ended = within(ended, tasks);
    int used = snprintf(head, sizeof head, "tasks   %3" PRId64 "%%",
                        tasks > 0 ? 100 * ended / tasks : 100);
    used += snprintf(numbers, sizeof numbers,
                     " %" PRId64 "/%" PRId64 "%s, %" PRId64
                     " running, %" PRId64 " failed",
                     ended, tasks, has(o, "so_far") ? " so far" : "",
                     count_of(o, "running"), count_of(o, "failed"));
    int wide = s->columns - used - (int)strlen(" []");
    if (wide >= 5 && wide < (int)sizeof bar - 4) {
        int full = tasks > 0 ? (int)(wide * ended / tasks) : wide;
        memset(bar, '-', (size_t)wide + 2);
        memset(bar + 2, '#', (size_t)full);
        memcpy(bar, " [", 2);
        strcpy(bar + 2 + wide, "]");
    }
    line(s, "%s%s%s", head, bar, numbers);
}

static void print_graph(struct screen *s, const json_t *o)
{
    char chain[192] = "";
    if (!has(o, "blocked"))
        return;
    if (has(o, "longest_chain_s"))
        snprintf(chain, sizeof chain,
                 "; the longest chain of what is left takes %s",
                 moment(number_of(o, "longest_chain_s")).s);
    line(s, "graph   %" PRId64 " ready, %" PRId64 " wait for others%s",
         count_of(o, "ready"), count_of(o, "blocked"), chain);
}

static void print_time(struct screen *s, const json_t *o)
{
    char text[1024];
    double rate = number_of(o, "tasks_per_hour");
    snprintf(text, sizeof text, "%s", moment(number_of(o, "time_s")).s);
    if (strcmp(text_of(o, "phase"), "running") != 0)
        bats_append(text, sizeof text, ", %s", text_of(o, "phase"));
    if (rate > 0)
        bats_append(text, sizeof text, ", %s",
                    bats_words_rate(rate, " tasks").s);
    if (number_of(o, "end_s") > number_of(o, "time_s"))
        bats_append(text, sizeof text, ", end at about %s",
                    moment(number_of(o, "end_s")).s);
    line(s, "time    %s", text);
}

static void print_goal(struct screen *s, const json_t *o)
{
    char text[256] = "";
    if (has(o, "promised_s"))
        snprintf(text, sizeof text, "promised %s",
                 moment(number_of(o, "promised_s")).s);
    if (has(o, "promised_at_most_s"))
        bats_append(text, sizeof text, ", at most %s",
                    moment(number_of(o, "promised_at_most_s")).s);
    if (has(o, "deadline_s"))
        bats_append(text, sizeof text, "%sdeadline %s", text[0] ? "; " : "",
                    moment(number_of(o, "deadline_s")).s);
    if (text[0] != '\0')
        line(s, "goal    %s", text);
}

static void print_money(struct screen *s, const json_t *o)
{
    const json_t *m = json_object_get(o, "money");
    const char *currency = text_of(m, "currency");
    const char *blank = currency[0] != '\0' ? " " : "";
    char text[512];
    snprintf(text, sizeof text, "%s", text_of(m, "charged"));
    if (has(m, "budget"))
        bats_append(text, sizeof text, " of %s", text_of(m, "budget"));
    bats_append(text, sizeof text, "%s%s charged", blank, currency);
    if (has(m, "held") && strcmp(text_of(m, "held"), "0") != 0)
        bats_append(text, sizeof text, ", %s held", text_of(m, "held"));
    if (has(m, "left"))
        bats_append(text, sizeof text, ", left %s", text_of(m, "left"));
    if (has(m, "reserved"))
        bats_append(text, sizeof text, ", %s reserved",
                    text_of(m, "reserved"));
    line(s, "money   %s", text);
    snprintf(text, sizeof text, "%s%s%s an hour now", text_of(m, "per_hour"),
             blank, currency);
    if (has(m, "runs_out_s"))
        bats_append(text, sizeof text, ": lasts until %s",
                    moment(number_of(m, "runs_out_s")).s);
    line(s, "        %s", text);
}

static void print_head(struct screen *s, const json_t *o, int64_t now_us)
{
    char old[128] = "";
    double seconds = (double)now_us / 1e6 - number_of(o, "written_unix");
    if (seconds >= 10)
        snprintf(old, sizeof old, "; NOT CURRENT, written %s ago",
                 moment(seconds).s);
    else
        snprintf(old, sizeof old, "; %.0fs ago", seconds > 0 ? seconds : 0);
    line(s, "%s, policy %s%s", text_of(o, "bag"), text_of(o, "policy"), old);
    print_tasks(s, o);
    print_graph(s, o);
    print_time(s, o);
    print_goal(s, o);
    print_money(s, o);
}

/* ---- the parts ---- */

static void print_rows(struct screen *s, const json_t *rows, const char *what,
                       const struct bats_column *columns)
{
    struct bats_table t = {.n_rows = 0};
    size_t n = json_array_size(rows), shown = n > MOST ? MOST - 1 : n;
    bats_table_fill(&t, columns, rows, shown);
    if (shown < n)
        bats_table_set(&t, shown + 1, 0, "... %zu more %s", n - shown, what);
    print_table(s, &t);
}

static void print_clusters(struct screen *s, const json_t *o)
{
    static const struct bats_column columns[] = {
        {"cluster", "name", BATS_FIGURE_SHORT, NULL, false},
        {"held", "held", BATS_FIGURE_OF, "machines", false},
        {"busy", "busy", BATS_FIGURE_OF, "slots", false},
        {"charged", "charged", BATS_FIGURE_TEXT, NULL, false},
        {"in use", "in_use", BATS_FIGURE_PERCENT, NULL, false},
        {"mean", "mean_s", BATS_FIGURE_MOMENT, NULL, false},
        {"profit", "profitability", BATS_FIGURE_RATIO, NULL, false},
        {0},
    };
    print_rows(s, json_object_get(o, "clusters"), "clusters", columns);
}

static void print_workflows(struct screen *s, const json_t *o)
{
    static const struct bats_column columns[] = {
        {"workflow", "name", BATS_FIGURE_SHORT, NULL, false},
        {"done", "tasks_done", BATS_FIGURE_OF, "tasks", false},
        {"failed", "tasks_failed", BATS_FIGURE_TEXT, NULL, false},
        {"charged", "charged", BATS_FIGURE_TEXT, NULL, false},
        {"left", "left", BATS_FIGURE_TEXT, NULL, false},
        {"deadline", "deadline_s", BATS_FIGURE_LATE, "late", false},
        {"skipped", "tasks_skipped", BATS_FIGURE_TEXT, NULL, false},
        {"held", "held", BATS_FIGURE_TEXT, NULL, false},
        {0},
    };
    const json_t *list = json_object_get(o, "workflows");
    if (json_array_size(list) > 0)
        print_rows(s, list, "workflows", columns);
}

/* 0: no task has needs. */
static int width_of_needs(const json_t *longest)
{
    size_t i, most = 0;
    json_t *t;
    json_array_foreach(longest, i, t)
    {
        size_t n = has(t, "needs") ? strlen(text_of(t, "needs")) + 2 : 0;
        most = n > most ? n : most;
    }
    return (int)most;
}

/* A narrow screen has no room for machines and needs. */
static void print_running(struct screen *s, const json_t *o)
{
    size_t i;
    json_t *t;
    int wide = s->columns < NARROW ? 0 : 14;
    const char *between = wide > 0 ? "  " : "";
    int needs = wide > 0 ? width_of_needs(json_object_get(o, "longest")) : 0;
    cut(s, "%8s  %9s  %-*.*s%s%-*.*s%s", "task", "runs for", wide, wide,
        "machine", between, needs, needs, "needs", "command");
    json_array_foreach(json_object_get(o, "longest"), i, t)
        cut(s, "%8" PRId64 "  %9s  %-*.*s%s%-*.*s%s", count_of(t, "task"),
            moment(number_of(o, "time_s") - number_of(t, "since_s")).s, wide,
            wide, text_of(t, "machine"), between, needs, needs,
            has(t, "needs") ? text_of(t, "needs") : "", text_of(t, "command"));
}

static void print_failures(struct screen *s, const json_t *o)
{
    const json_t *list = json_object_get(o, "causes");
    size_t n = json_array_size(list);
    for (size_t i = 0; i < n && i < FAILURES; i++) {
        const json_t *c = json_array_get(list, i);
        const json_t *host = json_array_get(json_object_get(c, "hosts"), 0);
        size_t hosts = json_array_size(json_object_get(c, "hosts"));
        const char *last = text_of(c, "last_line");
        line(s,
             "failed  %" PRId64 " on %s%s, %s: %s (first: task %" PRId64 ")",
             count_of(c, "tasks"), text_of(host, "host"),
             hosts > 1 ? " and others" : "", text_of(c, "end"),
             last[0] != '\0' ? last : "nothing on standard error",
             count_of(c, "first_task"));
    }
}

void bats_live_print(FILE *out, const json_t *object, int rows, int columns,
                     int64_t now_us, const char *end)
{
    struct screen s = {out, rows, columns, end};
    print_head(&s, object, now_us);
    line(&s, "%s", "");
    print_clusters(&s, object);
    print_workflows(&s, object);
    print_failures(&s, object);
    line(&s, "%s", "");
    print_running(&s, object);
}
