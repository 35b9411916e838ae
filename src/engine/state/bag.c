#include "bats/bag.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

int bats_bag_init(struct bats_bag *bag, uint32_t n, uint64_t seed,
                  struct bats_error *err)
{
    *bag = (struct bats_bag){.n = n};
    bag->count[BATS_TASK_PENDING] = n;
    bag->state = calloc(n, sizeof *bag->state);
    bag->order = malloc(n * sizeof *bag->order);
    bag->index = malloc(n * sizeof *bag->index);
    bag->position = malloc(n * sizeof *bag->position);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (!bag->state || !bag->order || !bag->index || !bag->position || !rng) {
        gsl_rng_free(rng);
        bats_bag_release(bag);
        return bats_error_set(err, BATS_ENOMEM,
                              "no memory for a bag of %u tasks", n);
    }
    for (uint32_t i = 0; i < n; i++) {
        bag->index[i] = i;
        bag->order[i].i = i;
    }
    gsl_rng_set(rng, (unsigned long)seed);
    gsl_ran_shuffle(rng, bag->index, n, sizeof *bag->index);
    gsl_rng_free(rng);
    for (uint32_t i = 0; i < n; i++)
        bag->position[bag->index[i]].i = i;
    return 0;
}

void bats_bag_release(struct bats_bag *bag)
{
    free(bag->state);
    free(bag->order);
    free(bag->index);
    free(bag->position);
    *bag = (struct bats_bag){0};
}

static void move(struct bats_bag *bag, struct bats_position task,
                 enum bats_task_state to)
{
    bag->count[bag->state[task.i]]--;
    bag->count[to]++;
    bag->state[task.i] = (uint8_t)to;
}

void bats_bag_resume(struct bats_bag *bag, const uint8_t *state)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < bag->n; i++) {
        const struct bats_position task = {i};
        uint8_t now = state[bag->index[i]];
        if (now == BATS_TASK_DONE || now == BATS_TASK_FAILED ||
            now == BATS_TASK_LEFT_OUT)
            move(bag, task, (enum bats_task_state)now);
        else
            bag->order[kept++] = task;
    }
}

struct bats_position bats_bag_draw(struct bats_bag *bag, uint32_t behind)
{
    assert(behind < bats_bag_ready(bag));
    struct bats_position *at = &bag->order[bats_bag_ready(bag) - 1 - behind];
    struct bats_position task = *at;
    if (behind > 0)
        memmove(at, at + 1, behind * sizeof *at);
    move(bag, task, BATS_TASK_ASSIGNED);
    return task;
}

void bats_bag_cancel(struct bats_bag *bag, struct bats_position task)
{
    assert(bag->state[task.i] == BATS_TASK_ASSIGNED);
    move(bag, task, BATS_TASK_CANCELLING);
}

static bool on_machine(const struct bats_bag *bag, struct bats_position task)
{
    return bag->state[task.i] == BATS_TASK_ASSIGNED ||
           bag->state[task.i] == BATS_TASK_CANCELLING;
}

void bats_bag_put_aside(struct bats_bag *bag, struct bats_position task)
{
    assert(on_machine(bag, task));
    move(bag, task, BATS_TASK_WAITING);
}

void bats_bag_put_back(struct bats_bag *bag, struct bats_position task)
{
    assert(on_machine(bag, task) || bag->state[task.i] == BATS_TASK_WAITING);
    bag->order[bag->count[BATS_TASK_PENDING]] = task;
    move(bag, task, BATS_TASK_PENDING);
}

void bats_bag_finish(struct bats_bag *bag, struct bats_position task,
                     enum bats_task_state state)
{
    assert(on_machine(bag, task));
    assert(state == BATS_TASK_DONE || state == BATS_TASK_FAILED);
    move(bag, task, state);
}

void bats_bag_check(const struct bats_bag *bag)
{
    uint32_t count[BATS_TASK_STATES] = {0};
    for (uint32_t i = 0; i < bag->n; i++) {
        assert(bag->state[i] < BATS_TASK_STATES);
        assert(bag->index[i] < bag->n && bag->position[bag->index[i]].i == i);
        count[bag->state[i]]++;
    }
    for (int state = 0; state < BATS_TASK_STATES; state++)
        assert(count[state] == bag->count[state]);
    for (uint32_t i = 0; i < bag->count[BATS_TASK_PENDING]; i++)
        assert(bag->state[bag->order[i].i] == BATS_TASK_PENDING);
}
