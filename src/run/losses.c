/* losses: machines that will not come back. See master.h. */
#include "bats/sched.h"
#include "bats/status.h"
#include "run/master.h"
#include "run/results.h"

int bats_master_part(struct master *m, uint32_t machine,
                     struct bats_error *err)
{
    for (size_t k = 0; k < m->crew.n; k++) {
        if (m->survey.platform.slot_of[k].machine != machine ||
            m->crew.workers[k].state != BATS_WORKER_WORKS)
            continue;
        int rc = bats_crew_say(
            &m->crew, k,
            BATS_SAY(BATS_MESSAGE_STOP, .u.leave = BATS_LEAVE_NOT), err);
        if (rc < 0)
            return rc;
        m->crew.workers[k].state = BATS_WORKER_RETIRED;
    }
    for (size_t k = 0; k < m->crew.n; k++)
        if (m->survey.platform.slot_of[k].machine == machine &&
            m->crew.workers[k].to_come > 0) {
            bats_master_notice(
                m, machine, BATS_MASTER_NONE,
                "output of a task that has ended is lost with rank %d",
                m->crew.ranks[k].rank);
            int rc = bats_results_end_output(m, k, err);
            if (rc < 0)
                return rc;
        }
    struct bats_event event = {.type = BATS_EVENT_LOST, .machine = machine};
    size_t before = m->journal.n;
    int rc = bats_master_handle(m, &event, err);
    for (size_t k = before; rc == 0 && k < m->journal.n; k++)
        if (m->journal.commands[k].type == BATS_NOTICE_LOSE &&
            bats_sched_has_failed(m->sched, m->journal.commands[k].task))
            rc = bats_results_lost(m, &m->journal.commands[k], err);
    return rc;
}

int bats_master_lose(struct master *m, size_t i, const char *why,
                     struct bats_error *err)
{
    uint32_t machine = m->survey.platform.slot_of[i].machine;
    bats_master_notice(m, machine, BATS_MASTER_NONE,
                       "rank %d on %s is lost: %s", m->crew.ranks[i].rank,
                       m->crew.ranks[i].host, why);
    return bats_master_part(m, machine, err);
}
