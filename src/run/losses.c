/* losses: machines that will not come back. See master.h. */
#include "run/master.h"
#include "run/results.h"

int bats_master_part(struct master *m, uint32_t machine,
                     struct bats_error *err)
{
    for (size_t k = 0; k < m->crew.n; k++) {
        if (m->survey.platform.places[k].machine != machine ||
            m->crew.members[k].state != BATS_MEMBER_WORKS)
            continue;
        struct bats_packet packet = {0};
        bats_proto_stop(&packet, BATS_LEAVE_NOT);
        int rc = bats_crew_send(&m->crew, k, &packet, err);
        if (rc < 0)
            return rc;
        m->crew.members[k].state = BATS_MEMBER_RETIRED;
    }
    for (size_t k = 0; k < m->crew.n; k++)
        if (m->survey.platform.places[k].machine == machine &&
            m->to_come[k] > 0) {
            bats_master_notice(
                m, machine, BATS_MASTER_NONE,
                "output of a task that has ended is lost with rank %d",
                m->crew.workers[k].rank);
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
    uint32_t machine = m->survey.platform.places[i].machine;
    bats_master_notice(m, machine, BATS_MASTER_NONE,
                       "rank %d on %s is lost: %s", m->crew.workers[i].rank,
                       m->crew.workers[i].host, why);
    return bats_master_part(m, machine, err);
}
