/*
 * propose: who proposes a task for an idle slot, and why there is none.
 *
 * Layer: engine, below assign.c, which asks and carries out. A proposer puts
 * one kind of question to an advisor. Each pass over the idle slots (assign.c)
 * asks a list of proposers, and the first proposal is taken. If there is none,
 * the slot notes the reason that the last proposer gave
 * (bats_sched_next_idle).
 */
#ifndef BATS_ENGINE_PROPOSE_H
#define BATS_ENGINE_PROPOSE_H

#include "engine/engine.h"

enum proposal_kind {
    PROPOSAL_TASK,      /* of the bag */
    PROPOSAL_POINT,     /* for its runtime alone, beside other executions */
    PROPOSAL_TAKE_OVER, /* it goes on here, and stops elsewhere */
    PROPOSAL_COPY,
    PROPOSAL_INSTANCE /* of the tail, be the task in the bag or elsewhere */
};

struct proposal {
    struct bats_position task; /* BATS_NO_POSITION: none, */
    enum bats_idle reason;     /* for this reason */
};

struct proposer {
    enum proposal_kind kind;
    /* It has anything to propose, to some slot. */
    bool (*open)(const struct bats_sched *e);
    struct proposal (*propose)(struct bats_sched *e, uint32_t slot);
};

extern const struct proposer
    propose_point,     /* a task that the sampling runs on every cluster */
    propose_migration, /* the tail moves a task that runs */
    propose_waiting,   /* for money, and its workflow has paid there */
    propose_ready,     /* as the policy places tasks, or else in order */
    propose_copy, propose_instance;

/* May the machine start a task now? BATS_IDLE_NOT: yes; or why not. */
enum bats_idle propose_refused(const struct bats_sched *e, uint32_t machine);

/* There is money for the task, or for any. */
bool propose_affords(const struct state *s, uint32_t machine,
                     struct bats_position task);

#endif
