#include "report/trace.h"
#include "bats/sched.h"
#include "bats/status.h"

#include <inttypes.h>
#include <stdarg.h>

#include "report/words.h"

#define TEXT 4096

__attribute__((format(printf, 3, 4))) static void
line(const struct bats_trace *t, bats_time now, const char *format, ...)
{
    char charged[BATS_UNITS_TEXT];
    bats_time s = now / BATS_SECOND;
    va_list args;
    fprintf(t->out, "%4" PRId64 ":%02d:%02d.%03d %9s  ", s / 3600,
            (int)(s / 60 % 60), (int)(s % 60),
            (int)(now / (BATS_SECOND / 1000) % 1000),
            bats_money_format(charged, t->charged));
    va_start(args, format);
    vfprintf(t->out, format, args);
    va_end(args);
    putc('\n', t->out);
}

static const char *name_of(const struct bats_trace *trace, uint32_t machine,
                           char name[BATS_MACHINE_NAME])
{
    return bats_machine_name(name, trace->platform->clusters,
                             trace->platform->machines, machine);
}

/* Shows what happens to a machine or a task. Not shown: all machines join at
 * the start; choices appear as decisions, and bills as charges. */
void bats_trace_event(void *context, bats_time now,
                      const struct bats_event *event)
{
    struct bats_trace *trace = context;
    static const char *const of_machine[BATS_EVENT_NOTICE + 1] = {
        [BATS_EVENT_ENDS] = "the job of %s ends in %s",
        [BATS_EVENT_NOTICE] = "%s will be taken away in %s",
        [BATS_EVENT_LOST] = "%s is lost",
        [BATS_EVENT_RETIRED] = "%s gets no more tasks"};
    static const char *const of_task[BATS_EVENT_NOTICE + 1] = {
        [BATS_EVENT_DONE] = "%s: task %" PRIu32 " done after %s",
        [BATS_EVENT_FAILED] = "%s: task %" PRIu32 " failed after %s",
        [BATS_EVENT_PREEMPTED] = "%s: task %" PRIu32 " was stopped",
        [BATS_EVENT_YIELDED] = "%s: task %" PRIu32 " wants to be run again",
        [BATS_EVENT_FOUND] =
            "%s: task %" PRIu32 " was begun in an earlier session"};
    char name[BATS_MACHINE_NAME], runtime[BATS_UNITS_TEXT];

    if (of_machine[event->type] == NULL && of_task[event->type] == NULL)
        return;
    bats_duration_format(runtime, event->runtime);
    name_of(trace, event->machine, name);
    if (of_task[event->type] != NULL)
        line(trace, now, of_task[event->type], name, event->task + 1, runtime);
    else
        line(trace, now, of_machine[event->type], name, runtime);
}

static void say_charge(struct bats_trace *trace, bats_time now,
                       const char *name, const struct bats_command *command)
{
    struct bats_phrase amount = bats_words_amount(command->amount);
    trace->charged += command->amount;
    if (command->machine == BATS_NO_MACHINE)
        line(trace, now, "the allocation was billed %s", amount.s);
    else
        line(trace, now,
             trace->terms.idle_is_free ? "%s was used for %s"
             : trace->terms.later      ? "the job of %s was billed %s"
                                       : "%s enters a window for %s",
             name, amount.s);
}

void bats_trace_command(void *context, bats_time now,
                        const struct bats_command *c)
{
    struct bats_trace *trace = context;
    static const char *const formats[BATS_NOTICE_SHARE + 1] = {
        [BATS_COMMAND_ACQUIRE] = "%s is acquired",
        [BATS_COMMAND_CANCEL] = "%s: task %" PRIu32 " is told to stop",
        [BATS_COMMAND_PARK] = "%s is parked",
        [BATS_NOTICE_QUARANTINE] = "%s gets no more tasks",
        [BATS_NOTICE_READMIT] = "%s gets tasks again",
        [BATS_NOTICE_LOSE] = "%s has lost task %" PRIu32};
    char name[BATS_MACHINE_NAME] = "";

    if (c->type != BATS_NOTICE_FINISHED && c->type != BATS_NOTICE_SAMPLED &&
        c->machine != BATS_NO_MACHINE)
        name_of(trace, c->machine, name);
    switch (c->type) {
    case BATS_COMMAND_RUN:
        line(trace, now, "%s: task %" PRIu32 "%s", name, c->task + 1,
             c->replica > 0 ? ", a replica" : "");
        break;
    case BATS_NOTICE_CHARGE:
        say_charge(trace, now, name, c);
        break;
    case BATS_NOTICE_SKIP:
        line(trace, now, "task %" PRIu32 " is skipped: %s", c->task + 1,
             c->unpaid ? "the budget of its workflow does not cover it"
                       : "it waits for one that has failed");
        break;
    case BATS_NOTICE_SHARE:
        line(trace, now, "workflow %" PRIu32 " pays %s of it", c->purse + 1,
             bats_words_amount(c->amount).s);
        break;
    case BATS_NOTICE_SAMPLED:
        line(trace, now, "the sampling phase is over");
        break;
    case BATS_NOTICE_FINISHED:
        line(trace, now, "the end: %s",
             bats_finish_row(c->finish, 0)->sentence);
        break;
    default: /* all machines are released at the end */
        if (formats[c->type] != NULL)
            line(trace, now, formats[c->type], name, c->task + 1);
    }
}

void bats_trace_decisions(void *context, const struct bats_sched *sched)
{
    struct bats_trace *trace = context;
    size_t n;
    const struct bats_decision *d = bats_sched_decisions(sched, &n);
    for (; trace->n_decisions < n; trace->n_decisions++) {
        char text[TEXT];
        line(trace, d[trace->n_decisions].time, "%s",
             bats_words_listed(text, sizeof text, trace->platform, d, n,
                               trace->n_decisions));
    }
}
