#include "report/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/text.h"
#include "util/usage.h"

#define CONFIGURATION (BATS_CLUSTERS_MAX * (BATS_CLUSTER_NAME + 16))

__attribute__((format(printf, 1, 2))) static struct bats_phrase
phrase(const char *format, ...)
{
    struct bats_phrase phrase;
    va_list args;
    va_start(args, format);
    vsnprintf(phrase.s, sizeof phrase.s, format, args);
    va_end(args);
    return phrase;
}

struct bats_phrase bats_words_amount(bats_money amount)
{
    char text[BATS_UNITS_TEXT];
    return phrase("%s", bats_money_format(text, amount));
}

struct bats_phrase bats_words_money(bats_money amount, const char *currency)
{
    char number[BATS_UNITS_TEXT], name[BATS_UNITS_TEXT];
    bool bare = amount == BATS_UNLIMITED || currency[0] == '\0';
    return phrase("%s%s%s", bats_money_format(number, amount), bare ? "" : " ",
                  bare ? ""
                       : bats_encode_terminal(name, sizeof name, currency));
}

struct bats_phrase bats_words_duration(bats_time time)
{
    char text[BATS_UNITS_TEXT];
    return phrase("%s", bats_duration_format(text, time));
}

struct bats_phrase bats_words_moment(bats_time time)
{
    return bats_words_duration(time - time % BATS_SECOND);
}

struct bats_phrase bats_words_clock(int64_t us)
{
    struct bats_phrase p = {"?"};
    time_t at = (time_t)(us / 1000000);
    struct tm tm;
    if (localtime_r(&at, &tm) != NULL)
        strftime(p.s, sizeof p.s, "%Y-%m-%d %H:%M:%S", &tm);
    return p;
}

struct bats_phrase bats_words_makespan(double us)
{
    bats_time time = us < 9e18 ? (bats_time)us : BATS_NEVER;
    return time >= BATS_MINUTE && time < BATS_NEVER
               ? bats_words_moment(time)
               : bats_words_duration(time);
}

struct bats_phrase bats_words_count(uint64_t n, const char *noun)
{
    return phrase("%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
}

struct bats_phrase bats_words_rate(double per_hour, const char *noun)
{
    double unit = per_hour >= 3600 ? 3600 : per_hour >= 60 ? 60 : 1;
    double rate = per_hour / unit;
    return phrase("%.*f%s/%s", rate < 9.95 ? 1 : 0, rate, noun,
                  unit > 60  ? "s"
                  : unit > 1 ? "min"
                             : "h");
}

struct bats_phrase bats_words_end(int exit_status, int signal)
{
    const char *name = signal != 0 ? sigabbrev_np(signal) : NULL;
    if (exit_status == BATS_STATUS_TOO_LONG)
        return phrase("too long");
    if (exit_status == BATS_STATUS_WITHDRAWN)
        return phrase("withdrawn");
    if (exit_status == BATS_STATUS_OUT_OF_MEMORY)
        return phrase("out of memory");
    if (exit_status < 0)
        return phrase("timed out");
    if (signal == 0)
        return phrase("exit %d", exit_status);
    return name != NULL ? phrase("signal %d (%s)", signal, name)
                        : phrase("signal %d", signal);
}

const char *bats_words_machines(char *text, size_t size,
                                const struct bats_cluster *clusters, size_t n,
                                const uint32_t *machines,
                                const char *separator)
{
    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        if (machines[i] > 0)
            bats_append(text, size, "%s%s %" PRIu32,
                        text[0] != '\0' ? separator : "", clusters[i].name,
                        machines[i]);
    if (text[0] == '\0')
        snprintf(text, size, "no machines");
    return text;
}

static void append_why(char *text, size_t size, const struct bats_decision *d)
{
    static const char *const reasons[] = {
        [BATS_REASON_START] = "start",
        [BATS_REASON_SAMPLED] = "every cluster sampled",
        [BATS_REASON_VIOLATION] = "the plan no longer fits",
        [BATS_REASON_LOST] = "machines were lost",
        [BATS_REASON_STALLED] = "tasks are left, but no machine is held",
        [BATS_REASON_CHOSEN] = "the chosen schedule",
        [BATS_REASON_PLANNED] = "planned again",
        [BATS_REASON_LATE] = "the deadline will not be kept"};
    const char *cause = bats_trigger_name(d->trigger);
    char why[256] = "";
    if (d->reason == BATS_REASON_PLANNED) {
        snprintf(why, sizeof why, "%s", cause != NULL ? cause : "");
    } else if (d->reason == BATS_REASON_VIOLATION && d->tasks_paid >= 0) {
        snprintf(why, sizeof why, "it pays for %" PRId64 " of %s left",
                 d->tasks_paid,
                 bats_words_count((uint64_t)d->tasks_left, "task").s);
    }
    bats_append(text, size, "%s%s%s%s: ", reasons[d->reason],
                why[0] != '\0' ? " (" : "", why, why[0] != '\0' ? ")" : "");
}

/* Appends the machines. True: some will be parked. */
static bool append_machines(char *text, size_t size,
                            const struct bats_platform *platform,
                            const struct bats_decision *d)
{
    char words[CONFIGURATION];
    uint32_t stay[BATS_CLUSTERS_MAX], n_stay = 0, ending = 0;
    for (size_t i = 0; i < platform->n_clusters; i++) {
        stay[i] = d->machines[i] - d->ending[i];
        n_stay += stay[i];
        ending += d->ending[i];
    }
    if (n_stay == 0) {
        bats_append(text, size,
                    ending > 0 ? "all machines will be parked"
                               : "none is bought");
        return ending > 0;
    }
    bats_append(text, size, "%s",
                bats_words_machines(words, sizeof words, platform->clusters,
                                    platform->n_clusters, stay, ", "));
    if (d->reason != BATS_REASON_START && d->windows > 0)
        bats_append(text, size, " for %s",
                    bats_words_count((uint64_t)d->windows, "window").s);
    if (ending > 0)
        bats_append(text, size, "; %s will be parked",
                    bats_words_count(ending, "machine").s);
    return ending > 0;
}

const char *bats_words_decision(char *text, size_t size,
                                const struct bats_platform *platform,
                                const struct bats_decision *d)
{
    int64_t left = d->tasks_open > 0 ? d->tasks_open : d->tasks_left;
    text[0] = '\0';
    append_why(text, size, d);
    const char *mark = append_machines(text, size, platform, d) ? ";" : ",";
    if (d->reason == BATS_REASON_START)
        return text;
    if (d->tasks_left <= 0)
        bats_append(text, size, "%s the windows already paid suffice", mark);
    else if (!(d->reason == BATS_REASON_VIOLATION && d->tasks_paid >= 0))
        bats_append(text, size, "%s %s left%s", mark,
                    bats_words_count((uint64_t)left, "task").s,
                    d->is_open ? " so far" : "");
    if (d->end > 0)
        bats_append(text, size, "; to end after %s for %s",
                    bats_words_moment(d->end).s,
                    bats_words_money(d->cost, platform->currency).s);
    if (!d->feasible)
        bats_append(text, size, "; the budget is too small for all tasks");
    if (d->is_guess)
        bats_append(text, size,
                    "; a guess: on one cluster no task has succeeded");
    return text;
}

static bool keeps_same(const struct bats_platform *platform,
                       const struct bats_decision *a,
                       const struct bats_decision *b)
{
    for (size_t i = 0; i < platform->n_clusters; i++)
        if (a->machines[i] - a->ending[i] != b->machines[i] - b->ending[i])
            return false;
    return a->feasible == b->feasible;
}

bool bats_words_counts(const struct bats_platform *platform,
                       const struct bats_decision *list, size_t n, size_t i)
{
    size_t first = i;
    if (i + 1 < n && list[i + 1].replaces)
        return false;
    while (first > 0 && list[first].replaces)
        first--;
    return first == i || first == 0 ||
           !keeps_same(platform, &list[i], &list[first - 1]);
}

const char *bats_words_advice(int exit_status)
{
    return exit_status == BATS_STATUS_TOO_LONG
               ? ": it did not end within three whole jobs, and needs a "
                 "longer --window or time limit of the partition"
           : exit_status == BATS_STATUS_OUT_OF_MEMORY
               ? ": it held more than --memory or the bag says that it "
                 "needs, or than its node had"
               : "";
}

int bats_words_cut(const char *text, int columns)
{
    int n = 0;
    for (; text[n] != '\0'; n++)
        if ((text[n] & 0xc0) != 0x80 && columns-- == 0)
            break;
    return n;
}

void bats_words_wrap(FILE *out, const char *text, int column, int indent,
                     int width)
{
    bool first = true;
    while (*text != '\0') {
        int word = (int)strcspn(text, " ");
        if (!first && column + 1 + word > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            first = true;
        }
        column += fprintf(out, "%s%.*s", first ? "" : " ", word, text);
        first = false;
        text += word;
        text += strspn(text, " ");
    }
    putc('\n', out);
}

void bats_words_put(FILE *out, enum bats_encoding encoding, const char *text)
{
    char few[512], *all = NULL;
    size_t n = bats_encode(encoding, few, sizeof few, text);
    if (n >= sizeof few && (all = malloc(n + 1)) != NULL)
        bats_encode(encoding, all, n + 1, text);
    fputs(all != NULL ? all : few, out);
    free(all);
}

void bats_words_line(FILE *out, const char *format, ...)
{
    char *line;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&line, format, args);
    va_end(args);
    if (n >= 0) {
        bats_words_put(out, BATS_ENCODE_TERMINAL, line);
        free(line);
    }
    putc('\n', out);
}

/* ---- the end of a run ---- */

static const struct bats_finish_row rows[] = {
    [BATS_FINISH_NOT_YET] = {"unfinished", "not finished", BATS_EXIT_SYSTEM},
    [BATS_FINISH_ALL_DONE] = {"all_done", "every task has a result",
                              BATS_EXIT_OK},
    [BATS_FINISH_BUDGET] = {"budget_exhausted", "budget exhausted",
                            BATS_EXIT_BUDGET},
    [BATS_FINISH_STOPPED] = {"stopped", "stopped", BATS_EXIT_SYSTEM},
    [BATS_FINISH_NO_MACHINES] = {"no_machines", "no machine is left",
                                 BATS_EXIT_SYSTEM},
    [BATS_FINISH_HALTED] = {"halted", "too many tasks failed (--halt)",
                            BATS_EXIT_FAILED},
    [BATS_FINISH_SAMPLED] = {"sampled", "sampled", BATS_EXIT_OK},
    [BATS_FINISH_TIME_LIMIT] = {"deadline", "the time limit is reached",
                                BATS_EXIT_DEADLINE},
    [BATS_FINISH_TOO_LATE] = {"too_late",
                              "no task that is left can end by the deadline",
                              BATS_EXIT_DEADLINE},
};

static const struct bats_finish_row some_failed = {
    "tasks_failed", "every task has a result", BATS_EXIT_FAILED};

const struct bats_finish_row *bats_finish_row(enum bats_finish finish,
                                              uint32_t failed)
{
    return finish == BATS_FINISH_ALL_DONE && failed > 0 ? &some_failed
                                                        : &rows[finish];
}
