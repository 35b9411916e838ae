#include "report/trace.h"
#include "bats/sched.h"
#include "bats/status.h"
#include "report/finish.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

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

void bats_trace_event(struct bats_trace *trace, bats_time now,
                      const struct bats_event *event)
{
    static const char *const ends[] = {
        [BATS_EVENT_DONE] = "done after",
        [BATS_EVENT_FAILED] = "failed after",
        [BATS_EVENT_PREEMPTED] = "was stopped",
        [BATS_EVENT_YIELDED] = "wants to be run again",
        [BATS_EVENT_FOUND] = "was begun in an earlier session",
    };
    char name[BATS_MACHINE_NAME], runtime[BATS_UNITS_TEXT] = "";
    switch (event->type) {
    case BATS_EVENT_JOINED: /* all machines, at the start */
    case BATS_EVENT_TICK:
    case BATS_EVENT_CHOSEN: /* shown as a decision */
    case BATS_EVENT_DRAIN:
    case BATS_EVENT_STOP:
    case BATS_EVENT_HOLD:
    case BATS_EVENT_GO:
    case BATS_EVENT_KILLED:
    case BATS_EVENT_BILLED: /* shown as a charge */
    case BATS_EVENT_CLOSED:
    case BATS_EVENT_ADDED:
    case BATS_EVENT_WITHDRAWN:
    case BATS_EVENT_SHUT:
        return;
    case BATS_EVENT_ENDS:
    case BATS_EVENT_NOTICE:
        bats_duration_format(runtime, event->runtime);
        line(trace, now,
             event->type == BATS_EVENT_ENDS ? "the job of %s ends in %s"
                                            : "%s will be taken away in %s",
             bats_machine_name(name, trace->platform->clusters,
                               trace->platform->machines, event->machine),
             runtime);
        return;
    case BATS_EVENT_LOST:
    case BATS_EVENT_RETIRED:
        line(trace, now,
             event->type == BATS_EVENT_LOST ? "%s is lost"
                                            : "%s gets no more tasks",
             bats_machine_name(name, trace->platform->clusters,
                               trace->platform->machines, event->machine));
        return;
    case BATS_EVENT_DONE:
    case BATS_EVENT_FAILED:
        bats_duration_format(runtime, event->runtime);
        break;
    case BATS_EVENT_PREEMPTED:
    case BATS_EVENT_YIELDED:
    case BATS_EVENT_FOUND:
        break;
    }
    line(trace, now, "%s: task %" PRIu32 " %s%s%s",
         bats_machine_name(name, trace->platform->clusters,
                           trace->platform->machines, event->machine),
         event->task + 1, ends[event->type], runtime[0] != '\0' ? " " : "",
         runtime);
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

void bats_trace_command(struct bats_trace *trace, bats_time now,
                        const struct bats_command *command)
{
    char name[BATS_MACHINE_NAME] = "";
    if (command->type != BATS_NOTICE_FINISHED &&
        command->type != BATS_NOTICE_SAMPLED &&
        command->machine != BATS_NO_MACHINE)
        bats_machine_name(name, trace->platform->clusters,
                          trace->platform->machines, command->machine);
    switch (command->type) {
    case BATS_COMMAND_ACQUIRE:
        line(trace, now, "%s is acquired", name);
        break;
    case BATS_COMMAND_RUN:
        line(trace, now, "%s: task %" PRIu32 "%s", name, command->task + 1,
             command->replica > 0 ? ", a replica" : "");
        break;
    case BATS_COMMAND_CANCEL:
        line(trace, now, "%s: task %" PRIu32 " is told to stop", name,
             command->task + 1);
        break;
    case BATS_COMMAND_PARK:
        line(trace, now, "%s is parked", name);
        break;
    case BATS_NOTICE_CHARGE:
        say_charge(trace, now, name, command);
        break;
    case BATS_NOTICE_QUARANTINE:
        line(trace, now, "%s gets no more tasks", name);
        break;
    case BATS_NOTICE_READMIT:
        line(trace, now, "%s gets tasks again", name);
        break;
    case BATS_NOTICE_LOSE:
        line(trace, now, "%s has lost task %" PRIu32, name, command->task + 1);
        break;
    case BATS_NOTICE_SKIP:
        line(trace, now, "task %" PRIu32 " is skipped: %s", command->task + 1,
             command->unpaid ? "the budget of its workflow does not cover it"
                             : "it waits for one that has failed");
        break;
    case BATS_NOTICE_SHARE:
        line(trace, now, "workflow %" PRIu32 " pays %s of it",
             command->purse + 1, bats_words_amount(command->amount).s);
        break;
    case BATS_NOTICE_SAMPLED:
        line(trace, now, "the sampling phase is over");
        break;
    case BATS_NOTICE_FINISHED:
        line(trace, now, "the end: %s",
             bats_finish_row(command->finish, 0)->sentence);
        break;
    case BATS_COMMAND_RELEASE: /* all machines, at the end */
        break;
    }
}

void bats_trace_decisions(struct bats_trace *trace,
                          const struct bats_sched *sched)
{
    size_t n;
    const struct bats_decision *d = bats_sched_decisions(sched, &n);
    for (; trace->n_decisions < n; trace->n_decisions++) {
        char text[TEXT];
        line(trace, d[trace->n_decisions].time, "%s",
             bats_words_listed(text, sizeof text, trace->platform, d, n,
                               trace->n_decisions));
    }
}
