/* shared: functions for all parts of the master. See master.h. */
#include <stdarg.h>
#include <stdio.h>

#include "bats/sched.h"
#include "run/master.h"

bats_time bats_master_now(const struct master *m)
{
    return bats_virtual_time(m->options, bats_clock_now_us() - m->start_us);
}

const char *bats_master_machine_name(struct master *m, uint32_t machine)
{
    const struct bats_platform *p = &m->survey.platform;
    return bats_machine_name(m->machine_name, p->clusters, p->machines,
                             machine);
}

void bats_master_notice(struct master *m, uint32_t machine, uint32_t task,
                        const char *format, ...)
{
    char text[600];
    if (m->observer->notice == NULL)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    m->observer->notice(m->observer->context, text);
    if (m->journal.record != NULL)
        bats_record_notice(m->journal.record, bats_master_now(m), machine,
                           task, text, NULL);
}

int bats_master_handle(struct master *m, const struct bats_event *event,
                       struct bats_error *err)
{
    return bats_journal_handle(&m->journal, m->sched, bats_master_now(m),
                               event, err);
}

int bats_master_stop(struct master *m, struct bats_error *err)
{
    if (m->stopping || m->finished)
        return 0;
    m->stopping = true;
    m->answers_by_us = bats_clock_now_us() + m->options->grace_ms * 1000 +
                       BATS_MASTER_ANSWER_US;
    struct bats_event event = {.type = BATS_EVENT_STOP};
    return bats_master_handle(m, &event, err);
}
