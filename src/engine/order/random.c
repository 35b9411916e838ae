/*
 * random: draws tasks in the bag's random order; a task that failed on a
 * machine goes to another one. See order.h.
 */
#include "engine/order/order.h"

/* A slot never queues more than this, however short the tasks. */
#define DEPTH_MAX 512
/* Tasks searched for one that did not fail on this machine. */
#define LOOK_AHEAD 4

static struct bats_position next(void *self, const struct state *s,
                                 uint32_t slot)
{
    (void)self;
    uint32_t machine = s->slots[slot].machine;
    uint32_t ready = bats_bag_ready(&s->bag);
    uint32_t look = ready < LOOK_AHEAD ? ready : LOOK_AHEAD;
    for (uint32_t behind = 0; behind < look; behind++) {
        struct bats_position task = bats_bag_peek(&s->bag, behind);
        if (s->tasks[task.i].avoid != machine)
            return task;
    }
    /* If no other slot can take the task, it runs here. */
    bool elsewhere = s->n_open > s->machines[machine].n_slots;
    return elsewhere && s->n_busy > 0 ? BATS_NO_POSITION
                                      : bats_bag_peek(&s->bag, 0);
}

/* The running task and enough others to fill the prefetch time, at most the
 * slot's share of the remaining tasks, so that no task queues while another
 * slot is idle. */
uint32_t order_depth(const struct state *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    double mean = s->clusters[m->cluster].stats.mean;
    if (mean == 0 || m->marked || s->run.phase == PHASE_SAMPLING)
        return 1;
    uint32_t share = bats_bag_ready(&s->bag) / s->n_open;
    double ahead = (double)s->run.prefetch / mean;
    uint32_t n = ahead < DEPTH_MAX - 1 ? (uint32_t)ahead : DEPTH_MAX - 1;
    return 1 + (n < share ? n : share);
}

const struct order order_random = {.advisor = {.name = "random"},
                                   .refusal = BATS_IDLE_FAILED_HERE,
                                   .next = next};
