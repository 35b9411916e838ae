/* tail: which task an idle machine copies. See tail.h and sched_state.h. */
#include "core/sched_state.h"

#include <string.h>

static const char *const names[] = {"none", "random"};

bool bats_tail_find(const char *name, enum bats_tail *tail)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) {
            *tail = (enum bats_tail)i;
            return true;
        }
    return false;
}

const char *bats_tail_name(enum bats_tail tail)
{
    return names[tail];
}

/* A number below n > 0. (splitmix64: Steele, Lea and Flood, 2014.) */
static uint32_t draw(struct bats_sched *s, uint32_t n)
{
    uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((((z ^ (z >> 31)) >> 32) * n) >> 32);
}

static double mean_of(const struct bats_sched *s, uint32_t slot)
{
    return s->clusters[s->machines[s->slots[slot].machine].cluster].stats.mean;
}

/* The mean runtime on the fastest machine that executes the task. */
static double fastest(const struct bats_sched *s, uint32_t task)
{
    const struct task *t = &s->tasks[task];
    double mean = mean_of(s, t->slot);
    for (uint32_t at = t->copies; at != NO_SLOT; at = s->slots[at].next_copy)
        if (mean_of(s, at) < mean)
            mean = mean_of(s, at);
    return mean;
}

/* A task that runs on slower machines only, or BATS_NO_TASK. */
static uint32_t choose(struct bats_sched *s, uint32_t slot)
{
    uint32_t machine = s->slots[slot].machine, n = 0, chosen = BATS_NO_TASK;
    double mean = mean_of(s, slot);
    for (uint32_t i = 0; mean > 0 && i < s->n_slots; i++) {
        uint32_t task = s->slots[i].head;
        if (task == BATS_NO_TASK || s->slots[i].is_copy ||
            !copies_allowed(s, task) || s->tasks[task].avoid == machine ||
            fastest(s, task) <= mean)
            continue;
        if (draw(s, ++n) == 0) /* each of the n with the same chance */
            chosen = task;
    }
    return chosen;
}

void tail_fill(struct bats_sched *s)
{
    if (s->tail == BATS_TAIL_NONE || s->draining ||
        s->bag.count[BATS_TASK_PENDING] > 0)
        return;
    bool none[BATS_CLUSTERS_MAX] = {false}; /* of use to this cluster */
    for (uint32_t slot = s->idle_first, next; slot != NO_SLOT; slot = next) {
        next = s->slots[slot].next_idle;
        const struct machine *m = &s->machines[s->slots[slot].machine];
        if (none[m->cluster] || m->quarantined ||
            forecast_too_late(s, m->cluster))
            continue;
        uint32_t task = choose(s, slot);
        if (task == BATS_NO_TASK)
            none[m->cluster] = true;
        else
            copies_start(s, slot, task);
    }
}
