/*
 * propose: proposes a task for an idle slot, or says why there is none.
 *
 * Layer: engine, below assign.c, which carries out the proposals. A proposer
 * asks an advisor one kind of question. Each pass over the idle slots
 * (assign.c) asks a list of proposers, and the first proposal is taken. If
 * there is none, the slot records the last proposer's reason
 * (bats_sched_next_idle).
 */
#ifndef BATS_ENGINE_PROPOSE_H
#define BATS_ENGINE_PROPOSE_H

#include "engine/engine.h"

enum proposal_kind {
    PROPOSAL_TASK,      /* draw from the bag */
    PROPOSAL_POINT,     /* run once more, only to measure it */
    PROPOSAL_TAKE_OVER, /* move a running task to this slot */
    PROPOSAL_COPY,
    PROPOSAL_INSTANCE /* of the tail; the task may be pending or running */
};

struct proposal {
    struct bats_position task; /* BATS_NO_POSITION: none; */
    enum bats_idle reason;     /* then the reason */
};

struct proposer {
    enum proposal_kind kind;
    /* Whether it may have a proposal for any slot. */
    bool (*open)(const struct state *s);
    struct proposal (*propose)(struct state *s, uint32_t slot);
};

extern const struct proposer
    propose_point,     /* a task that sampling runs on every cluster */
    propose_migration, /* a running task that the tail moves */
    propose_waiting,   /* a task waiting for money whose workflow has already
                          paid here */
    propose_ready,     /* as the policy places tasks, else in order */
    propose_copy, propose_instance;

/* Why the machine may not start a task now; BATS_IDLE_NOT: it may. */
enum bats_idle propose_refused(const struct state *s, uint32_t machine);

/* Whether the money suffices for the task; BATS_NO_POSITION: for any task. */
bool propose_affords(const struct state *s, uint32_t machine,
                     struct bats_position task);

#endif
