/* ready: what the nodes do before the first task (pernode.h). See master.h. */
#include "run/clock.h"
#include "run/master.h"
#include "run/signals.h"

/* delay before people are told what the run waits for */
#define PATIENCE_US 2000000

static void give_up(struct master *m, size_t i, const char *why)
{
    m->crew.workers[i].state = BATS_WORKER_RETIRED;
    bats_master_notice(m, m->survey.platform.slot_of[i].machine,
                       BATS_MASTER_NONE, "rank %d on %s gets no tasks: %s",
                       m->crew.ranks[i].rank, m->crew.ranks[i].host, why);
}

static int take(struct master *m, size_t i, const struct bats_message *message,
                struct bats_error *err)
{
    switch (message->type) {
    case BATS_MESSAGE_READY:
        m->crew.workers[i].is_ready = true;
        return 0;
    case BATS_MESSAGE_ERROR:
        if (m->crew.workers[i].state == BATS_WORKER_WORKS)
            give_up(m, i, message->u.sentence);
        return 0;
    case BATS_MESSAGE_HEARTBEAT:
    case BATS_MESSAGE_NOTICE: /* its end will be reported */
        return 0;
    default:
        return bats_error_set(err, BATS_EPROTO,
                              "rank %d sent a message of type %d",
                              m->crew.ranks[i].rank, (int)message->type);
    }
}

static int take_all(struct master *m, struct bats_error *err)
{
    size_t i;
    struct bats_message message;
    int rc;
    while ((rc = bats_crew_receive(&m->crew, &i, &message, err)) > 0)
        if ((rc = take(m, i, &message, err)) < 0)
            return rc;
    return rc;
}

/* Sleeps, or runs the first command of this rank's own node. */
static void wait(struct master *m)
{
    struct bats_error why;
    struct bats_worker *own = &m->crew.workers[0];
    if (m->crew.own == NULL || own->is_ready ||
        own->state != BATS_WORKER_WORKS)
        bats_clock_sleep(BATS_CLOCK_MASTER_US);
    else if (bats_executor_poll(m->crew.own, BATS_CLOCK_MASTER_US, &why) < 0)
        give_up(m, 0, why.text);
    else
        own->is_ready = bats_executor_ready(m->crew.own);
}

static size_t count(const struct master *m, bool is_ready)
{
    size_t n = 0;
    for (size_t i = 0; i < m->crew.n; i++)
        n += m->crew.workers[i].state == BATS_WORKER_WORKS &&
             m->crew.workers[i].is_ready == is_ready;
    return n;
}

int bats_master_await_ready(struct master *m, struct bats_error *err)
{
    int64_t since_us = bats_clock_now_us();
    bool told = false;
    for (size_t n; (n = count(m, false)) > 0 && bats_signals_count() == 0;) {
        size_t i;
        int rc = take_all(m, err);
        if (rc < 0)
            return rc;
        for (const char *why; (why = bats_crew_lost(&m->crew, &i)) != NULL;)
            bats_master_notice(m, BATS_MASTER_NONE, BATS_MASTER_NONE,
                               "rank %d on %s is lost: %s",
                               m->crew.ranks[i].rank, m->crew.ranks[i].host,
                               why);
        if (!told && bats_clock_now_us() - since_us > PATIENCE_US) {
            told = true;
            bats_master_notice(m, BATS_MASTER_NONE, BATS_MASTER_NONE,
                               "%zu of %zu ranks wait for the PERENGINE START "
                               "of their nodes",
                               n, m->crew.n);
        }
        wait(m);
    }
    if (count(m, true) > 0 || bats_signals_count() > 0)
        return 0;
    return bats_error_set(err, BATS_ESYS,
                          "no node can run tasks: see the output of "
                          "PERENGINE START");
}

bool bats_master_is_ready(const struct master *m, uint32_t machine)
{
    const uint32_t *workers = m->worker + m->first[machine];
    for (uint32_t k = 0; k < m->survey.platform.machines[machine].slots; k++) {
        const struct bats_worker *worker = &m->crew.workers[workers[k]];
        if (!worker->is_ready || worker->state != BATS_WORKER_WORKS)
            return false;
    }
    return true;
}
